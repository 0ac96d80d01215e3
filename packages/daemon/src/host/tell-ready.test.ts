import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { tellReady } from "./tell-ready.ts";

// Node.js has no such sockets. The word comes first; then a pipe, which is closed to say that it was read.
const systemd = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
print(s.recv(4096).decode(), end="", flush=True)
for fd in socket.recv_fds(s, 4096, 4)[1]: os.close(fd)
`;

const has = (program: string) => spawnSync(program, ["--version"]).status === 0;

test.skipIf(!has("systemd-notify") || !has("python3"))("systemd is told that torpord is ready", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-notify-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const socket = path.join(directory, "notify");
  const listener = spawn("python3", ["-c", systemd, socket], { stdio: ["ignore", "pipe", "inherit"] });
  const said = text(listener.stdout);
  await once(listener.stdout, "data");
  await tellReady(socket);
  expect(await said).toContain("READY=1");
});

test("without systemd nobody is told", async () => {
  await tellReady(undefined);
});
