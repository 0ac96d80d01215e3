import { afterAll, beforeAll } from "vitest";
import { type Server, startServer } from "./server.ts";
import { torpor } from "./torpor.ts";

/** The test server of a file, from its first test to its last, with a sandbox `base`. */
export function serverWithBase(): Pick<Server, "socket"> {
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
    await torpor(server, ["create", "--name", "base", "debian"]);
  });
  afterAll(async () => server[Symbol.asyncDispose]());
  return {
    get socket() {
      return server.socket;
    },
  };
}
