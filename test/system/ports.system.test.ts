import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";
import { expect, inject, onTestFinished, test } from "vitest";
import { launch } from "../../packages/cli/src/testing/torpor.ts";
import { eventually } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();

/** Answers each connection with its pid and how many there were. */
const counting = (host: string) => `import os, socket
server = socket.create_server(("${host}", 8080), family=socket.AF_INET6 if ":" in "${host}" else socket.AF_INET)
count = 0
while True:
    connection, _ = server.accept()
    count += 1
    connection.sendall(f"{os.getpid()} {count}".encode())
    connection.close()
`;

test("a port of a sandbox without network is reached, through the same forward after a pause and a resume (N03)", async () => {
  const name = await startSandbox(client, { network: "none" });
  await client.startSession(name, { argv: ["python3", "-c", counting("127.0.0.1")] });
  await expect(client.ports.connect(name, 8081)).rejects.toMatchObject({
    code: "port_closed",
    message: "nothing listens on port 8081 in the sandbox",
  });
  const first = await firstAnswer(name);
  const [pid] = first.split(" ");

  const forward = launch({ socket: inject("torporSocket") }, ["port", "forward", name, "0:8080"]);
  onTestFinished(() => void forward.kill("SIGKILL"));
  const [line] = (await once(createInterface(forward.stdout!), "line")) as [string];
  const local = Number(/:(\d+) -> /.exec(line)?.[1]);
  const through = async () => (await buffer(connect(local, "127.0.0.1"))).toString();
  expect(await through()).toBe(`${pid} 2`);
  await client.pause(name);
  await client.resume(name, { memory: "require" });
  expect(await through()).toBe(`${pid} 3`);

  const ended = once(forward, "exit");
  forward.kill("SIGINT");
  expect(await ended).toEqual([0, null]);
});

test("a program that listens on IPv6 alone is reached too (N03)", async () => {
  const name = await startSandbox(client);
  await client.startSession(name, { argv: ["python3", "-c", counting("::1")] });
  expect(await firstAnswer(name)).toMatch(/^\d+ 1$/);
});

/** Once the program listens. */
function firstAnswer(name: string): Promise<string> {
  const read = async () => (await buffer(await client.ports.connect(name, 8080))).toString();
  return eventually(
    () => read().catch(() => ""),
    (text) => text !== "",
  );
}
