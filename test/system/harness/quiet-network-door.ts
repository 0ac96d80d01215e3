import { type AddressInfo, connect, createServer } from "node:net";

// The door of quiet-network.ts, as a process of its own: it runs in another network namespace. It ends with its input.
const [socket = ""] = process.argv.slice(2);

const server = createServer((near) => {
  const far = connect(socket);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.setNoDelay(true);
    // What breaks on one side breaks on the other.
    one.on("error", () => {}).once("close", () => other.destroy());
    one.pipe(other);
  }
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.resume().once("close", () => process.exit());
