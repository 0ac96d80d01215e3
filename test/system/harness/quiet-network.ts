import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Has an interface beside the loopback one, without which a browser takes itself for offline. */
const setUp =
  'ip link set lo up; ip link add eth0 type veth peer name eth1; ip addr add 192.0.2.2/24 dev eth0; ip link set eth0 up; ip link set eth1 up; exec "$@"';

export interface BrowserNetwork extends AsyncDisposable {
  readonly port: number;
  /** What runs the program in it. */
  readonly programOf: (program: string) => string;
}

/** The host's own. */
export async function hostNetwork(server: Server): Promise<BrowserNetwork> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, programOf: (program) => program, [Symbol.asyncDispose]: async () => {} };
}

/**
 * A network in which nothing happens, for a browser: it breaks off what it loads whenever an interface comes or goes (net::ERR_NETWORK_CHANGED), as those of sandboxes
 * beside the test do all the time, and asks for no script of a page again. In it a port of 127.0.0.1 leads to the server, which is given a Unix socket to listen on.
 */
export async function quietNetwork(server: Server): Promise<BrowserNetwork> {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-quiet-"));
  const socket = path.join(directory, "socket");
  server.listen(socket);
  await once(server, "listening");
  const door = fileURLToPath(new URL("./quiet-network-door.ts", import.meta.url));
  const child = spawn("unshare", ["--net", "sh", "-euc", setUp, "sh", process.execPath, door, socket], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const said = once(createInterface(child.stdout), "line") as Promise<[string]>;
  const [port] = await Promise.race([said, ended.then(() => Promise.reject(new Error("the quiet network could not be made")))]);
  return {
    port: Number(port),
    programOf: (program) => {
      const script = path.join(directory, path.basename(program));
      writeFileSync(script, `#!/bin/sh\nexec nsenter --net=/proc/${child.pid}/ns/net '${program}' "$@"\n`, { mode: 0o755 });
      return script;
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await ended;
      rmSync(directory, { recursive: true });
    },
  };
}
