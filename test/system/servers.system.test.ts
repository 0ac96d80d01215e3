import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { put } from "./harness/content.ts";
import { cycle } from "./harness/cycle.ts";
import { atOnceMs, eventually, inside, output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();
const cycles = 20;
/** What answers where; each tells how often it was asked, which a server that began anew could not. */
const servers = { python: 8001, node: 8002, go: 8003, "python with edge-triggered epoll": 8004 } as const;

test("web servers answer the first request after each of 20 pauses, from inside and from the host (P10)", async () => {
  const name = await startSandbox(client, { resources: { cpus: 2 } });
  const { address } = await client.get(name);
  await client.files.write(name, "/srv/node", createReadStream(nodeBinary()), { mode: 0o755 });
  await buildInto(name, "/srv/go");
  await put(client, name, "/srv/server.js", nodeServer);
  for (const argv of [["python3", "-c", pythonServer], ["/srv/node", "/srv/server.js"], ["/srv/go"], ["python3", "-c", epollServer]]) {
    await client.startSession(name, { argv });
  }
  for (const port of Object.values(servers)) {
    await eventually(
      () => inside(client, name, ["curl", "-s", `http://127.0.0.1:${port}/`]),
      ({ end }) => end.exitCode === 0,
    );
  }
  const counts = await askAll(name, address);
  for (let i = 1; i <= cycles; i++) {
    await cycle(client, name);
    expect(await askAll(name, address), `after pause ${i}`).toEqual(counts.map((count) => count + 2 * i));
  }
});

/** Once from inside and once from the host, each a first request that is answered at once; gives what the last one said. */
async function askAll(name: string, address: string | null): Promise<number[]> {
  const counts: number[] = [];
  for (const port of Object.values(servers)) {
    const first = Number(await output(client, name, ["curl", "-sf", "--max-time", String(atOnceMs / 1000), `http://127.0.0.1:${port}/`]));
    const answer = await fetch(`http://${address}:${port}/`, { signal: AbortSignal.timeout(atOnceMs), headers: { connection: "close" } });
    counts.push(Number(await answer.text()));
    expect(counts.at(-1)).toBe(first + 1);
  }
  return counts;
}

function nodeBinary(): string {
  return path.join(path.dirname(createRequire(import.meta.url).resolve(`node-linux-${process.arch}/package.json`)), "bin", "node");
}

/** A static program, so that it runs in any image. */
async function buildInto(name: string, target: string): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "torpor-go-"));
  try {
    await writeFile(path.join(directory, "main.go"), goServer);
    await promisify(execFile)("go", ["build", "-o", "server", "main.go"], {
      cwd: directory,
      env: { ...process.env, CGO_ENABLED: "0", GO111MODULE: "off", GOFLAGS: "" },
    });
    await client.files.write(name, target, createReadStream(path.join(directory, "server")), { mode: 0o755 });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const pythonServer = `
import http.server
n = 0
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global n
        n += 1
        body = str(n).encode()
        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
http.server.ThreadingHTTPServer(('0.0.0.0', ${servers.python}), H).serve_forever()
`;

const nodeServer = `
let n = 0;
require("node:http").createServer((_, answer) => answer.end(String(++n))).listen(${servers.node}, "0.0.0.0");
`;

const goServer = `package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
)

var n atomic.Int64

func main() {
	http.ListenAndServe("0.0.0.0:${servers.go}", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, n.Add(1)) }))
}
`;

const epollServer = `
import select, socket
l = socket.create_server(('0.0.0.0', ${servers["python with edge-triggered epoll"]})); l.setblocking(False)
e = select.epoll(); e.register(l.fileno(), select.EPOLLIN | select.EPOLLET)
n = 0
while True:
    e.poll()
    while True:
        try:
            c, _ = l.accept()
        except BlockingIOError:
            break
        c.settimeout(60)
        c.recv(65536)
        n += 1
        body = str(n)
        c.sendall(f'HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n{body}'.encode())
        c.close()
`;
