import { startTestServer } from "./test-server.ts";

/** A server for tests of clients: prints its socket's path, and with --tcp its URL, and serves until its input ends. */
const server = await startTestServer(process.argv.includes("--tcp") ? { tcp: {} } : {});
process.stdout.write(`${`${server.socketPath} ${server.url}`.trim()}\n`);
process.stdin.resume();
process.stdin.once("end", () => {
  server[Symbol.asyncDispose]().then(
    () => process.exit(0),
    (error) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
