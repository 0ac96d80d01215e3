import { connect } from "node:net";
import { setInterval as ticks } from "node:timers/promises";
import { expect, test } from "vitest";
import { startPython } from "./harness/cycle.ts";
import { atOnceMs, eventually, inside, output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();
const mib = 2 ** 20;

test("a server that is paused under the load of 200 connections a second answers the first requests after each of 20 resumes (P09)", async () => {
  const name = await startSandbox(client);
  const { address } = await client.get(name);
  await startPython(client, name, server);
  const ask = async () => {
    const answer = await fetch(`http://${address}:8000/`, { signal: AbortSignal.timeout(atOnceMs), headers: { connection: "close" } });
    return answer.text();
  };
  await eventually(
    () => inside(client, name, ["curl", "-s", "http://127.0.0.1:8000/"]),
    ({ end }) => end.exitCode === 0,
  );
  let connections = 0;
  for (let round = 1; round <= 20; round++) {
    const load = new AbortController();
    const loading = knock(String(address), load.signal);
    await client.pause(name);
    load.abort();
    connections += await loading;
    await client.resume(name, { memory: "require" });
    // One after the other: the server's backlog is 5, so of 20 at once some would wait for a second SYN, paused or not.
    for (let n = 1; n <= 20; n++) expect(await ask(), `request ${n} after pause ${round}`).toBe("ok");
  }
  expect(connections).toBeGreaterThan(20);
});

test("a sandbox that is shown as running takes a command at once, after each of 50 resumes (P13)", async () => {
  const resources = { memoryBytes: 128 * mib };
  const names = await Promise.all(Array.from({ length: 5 }, () => startSandbox(client, { resources })));
  const rounds = names.map(async (name) => {
    for (let round = 1; round <= 10; round++) {
      await client.pause(name);
      // Every second one asks for the state until it is running, the others send the command right behind the resume.
      const resuming = client.resume(name, { memory: "require" }, { waitMs: 0 });
      if (round % 2 === 0) {
        await eventually(
          () => client.get(name),
          ({ state }) => state === "running",
        );
      } else {
        await resuming;
      }
      expect(await output(client, name, ["echo", "ok"]), `${name}, round ${round}`).toBe("ok");
      await resuming;
    }
  });
  await Promise.all(rounds);
});

/** Opens 200 connections a second, each with a request whose answer nobody waits for; gives how many got through. */
async function knock(host: string, signal: AbortSignal): Promise<number> {
  let through = 0;
  const ended: Promise<void>[] = [];
  try {
    for await (const _ of ticks(5, undefined, { signal })) {
      const socket = connect({ host, port: 8000 });
      socket.once("connect", () => {
        through++;
        socket.end("GET / HTTP/1.0\r\n\r\n");
      });
      socket.on("error", () => {}).resume();
      signal.addEventListener("abort", () => socket.destroy());
      ended.push(new Promise((resolve) => socket.once("close", () => resolve())));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await Promise.all(ended);
  return through;
}

const server = `
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header('Content-Length', '2'); self.end_headers(); self.wfile.write(b'ok')
    def log_message(self, *args): pass
http.server.ThreadingHTTPServer(('0.0.0.0', 8000), H).serve_forever()
`;
