import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { put } from "./harness/content.ts";
import { output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();

test("the clock is right at the first command of a new sandbox (C03)", async () => {
  const name = await startSandbox(client);
  expect(await skewMs(name)).toBeLessThan(1000);
});

test("the clock is right after a pause, also for certificates made meanwhile (C01)", async () => {
  const name = await startSandbox(client);
  await skewMs(name);
  await client.pause(name);
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-certificate-"));
  try {
    // Time that passes is what this is about.
    await sleep(4000);
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
        "key.pem",
        "-out",
        "cert.pem",
        "-days",
        "1",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost",
      ],
      { cwd: directory, stdio: "ignore" },
    );
    await client.resume(name, { memory: "require" });
    expect(await skewMs(name)).toBeLessThan(1000);
    for (const file of ["key.pem", "cert.pem"]) {
      await put(client, name, `/root/${file}`, readFileSync(path.join(directory, file)));
    }
  } finally {
    await rm(directory, { recursive: true });
  }
  expect(await output(client, name, ["python3", "-c", tlsOverLoopback])).toBe("hello");
});

const tlsOverLoopback = `
import socket, ssl, threading
server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
server.load_cert_chain('/root/cert.pem', '/root/key.pem')
l = socket.create_server(('127.0.0.1', 0))
def serve():
    with server.wrap_socket(l.accept()[0], server_side=True) as s:
        s.sendall(b'hello')
threading.Thread(target=serve, daemon=True).start()
client = ssl.create_default_context(cafile='/root/cert.pem')
with client.wrap_socket(socket.create_connection(l.getsockname()), server_hostname='localhost') as s:
    print(s.recv(5).decode())
`;

/** How far the sandbox's wall clock is outside of the time in which the question was on its way. */
async function skewMs(name: string): Promise<number> {
  const before = Date.now();
  const guest = Number(await output(client, name, ["date", "+%s.%N"])) * 1000;
  return Math.max(before - guest, guest - Date.now(), 0);
}
