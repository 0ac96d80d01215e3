export { type Answer, type CallOptions, call, upgrade } from "./call.ts";
export { type Frame, SessionSocket } from "./session-socket.ts";
export { startTestServer, type TestServer, type TestServerOptions } from "./test-server.ts";
export { isSigned, type Received, WebhookReceiver } from "./webhook-receiver.ts";
