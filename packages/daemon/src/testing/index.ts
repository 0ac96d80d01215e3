export { startTestServer, type TestServer, type TestServerOptions } from "./test-server.ts";
