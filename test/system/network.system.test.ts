import { networkInterfaces } from "node:os";
import type { SandboxRecord as Sandbox } from "@torpor/sdk";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { HostServer } from "./harness/host-server.ts";
import { eventually, inside, output } from "./harness/inside.ts";
import { Outside, outsidePorts } from "./harness/outside.ts";
import { runtimeNamespace } from "./harness/runtime-namespace.ts";
import { TestDaemon } from "./harness/test-daemon.ts";

let outside: Outside;
let daemon: TestDaemon;
beforeAll(async () => {
  outside = await Outside.open();
  daemon = await TestDaemon.start({ args: ["--dns", outside.resolver] });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await outside[Symbol.asyncDispose]();
});

test("names and connections to the outside work, from the host's address", async () => {
  const { name } = await create("nat");
  expect(await output(daemon.client, name, "curl -sS --max-time 60 http://outside.test/from-nat")).toBe("outside");
  expect(await outside.sees(({ type, text }) => type === "request" && text === "/from-nat")).toMatchObject({ from: outside.hostAddress });
  expect((await inside(daemon.client, name, "curl -sS --max-time 60 http://outside.invalid/")).end.exitCode).toBe(6);
});

test("private ranges, link-local addresses, the host and other sandboxes are out of reach, from the first instruction on, also after a resume and in a fork (N09, P25)", async () => {
  await using host = await HostServer.open();
  const forbidden = [
    `10.255.77.${outside.block}`,
    `172.31.77.${outside.block}`,
    `192.168.77.${outside.block}`,
    `169.254.77.${outside.block}`,
    `100.127.77.${outside.block}`,
    `198.19.77.${outside.block}`,
  ];
  for (const address of forbidden) {
    outside.alsoAt(address);
    // Otherwise nobody could say whether the rules keep a sandbox from it.
    expect(await (await fetch(`http://${address}/control`)).text()).toBe("outside\n");
  }
  const victim = await create("victim");
  await serveHostname(victim.name);
  expect(await (await fetch(`http://${victim.address}:8000`)).text()).toBe("victim");

  const name = "prober";
  onTestFinished(() => removeAll(name));
  const hostAddresses = [
    // Those of sandboxes come and go, and each takes the prober half a second: the gateway below is one of them.
    ...Object.entries(networkInterfaces())
      .filter(([name]) => !name.startsWith("tp"))
      .flatMap(([, all = []]) => all.filter(({ family, internal }) => family === "IPv4" && !internal).map(({ address }) => address)),
  ];
  const targets = [
    [outside.address, outsidePorts.http, outsidePorts.datagrams], // the one that is allowed
    ...[...forbidden, "169.254.169.254"].map((address) => [address, outsidePorts.http, outsidePorts.datagrams]),
    ...hostAddresses.map((address) => [address, host.port, host.port]),
    ["gateway", host.port, host.port],
    [victim.address, 8000, 8000],
  ];
  await daemon.client.create({ image: "debian", name, env: { TARGETS: JSON.stringify(targets) } });
  host.seen.length = 0;
  const start = outside.seen.length;
  await daemon.client.startSession(name, { argv: ["python3", "-u", "-c", prober] });
  const fromSandbox = () => outside.seen.slice(start).filter(({ type, from }) => type !== "query" && from !== outside.hostAddress);
  const allowed = () =>
    outside.seen
      .slice(start)
      .filter(
        ({ type, text, to }) =>
          (type === "connection" && to === outside.address) || (type === "datagram" && text.endsWith(`to ${outside.address}`)),
      );
  const rounds = async (sandbox: string) => Number(await output(daemon.client, sandbox, "cat /tmp/rounds 2>/dev/null || echo 0"));
  await eventually(
    () => rounds(name),
    (count) => count >= 2,
  );

  await daemon.client.pause(name);
  const paused = allowed().length;
  await daemon.client.resume(name, { memory: "require" });
  const resumed = await rounds(name);
  await eventually(
    () => rounds(name),
    (count) => count >= resumed + 2,
  );
  // The outside tells of it when it comes to it.
  await eventually(
    async () => allowed().length,
    (count) => count > paused,
  );
  await daemon.client.fork(name, { name: `${name}-child` });
  const forked = await rounds(`${name}-child`);
  await eventually(
    () => rounds(`${name}-child`),
    (count) => count >= forked + 2,
  );

  expect(fromSandbox()).toEqual([]);
  expect(
    outside.seen
      .slice(start)
      .filter(
        ({ type, to, text }) =>
          (type === "connection" && forbidden.includes(to)) || (type === "datagram" && !text.endsWith(`to ${outside.address}`)),
      ),
  ).toEqual([]);
  expect(host.seen).toEqual([]);
  for (const sandbox of [name, `${name}-child`]) {
    const reached = await eventually(
      async () => JSON.parse(await output(daemon.client, sandbox, "cat /tmp/reached")) as string[],
      (some) => some.length > 0,
    );
    expect(reached).toEqual([`${outside.address}:${outsidePorts.http}`]);
  }
  expect(await output(daemon.client, victim.name, "cat /tmp/visitors")).toBe(gatewayOf(victim));
  expect((await inside(daemon.client, name, "curl -gsS --max-time 3 http://[fd00:ec2::254]/")).end.exitCode).not.toBe(0);
});

test("packets with an address that is not the sandbox's own go nowhere", async () => {
  const { name, address } = await create("spoofer");
  const other = await create("spoofed");
  await using namespace = await runtimeNamespace(daemon, name);
  namespace.ip("addr", "add", `${address}/30`, "dev", "eth0");
  namespace.ip("route", "add", "default", "via", gatewayOf({ address }), "dev", "eth0");
  const send = async (from: string, text: string) => {
    if (from !== address) {
      namespace.ip("addr", "add", `${from}/32`, "dev", "eth0");
    }
    await namespace.sendDatagram(from, outside.address, outsidePorts.datagrams, text);
  };
  await send(String(address), "first");
  await outside.sees(({ type, text }) => type === "datagram" && text === "first");
  for (const from of ["198.51.100.77", "10.1.2.3", String(other.address)]) {
    await send(from, `spoofed ${from}`);
  }
  // It takes the same way, after them.
  await send(String(address), "last");
  await outside.sees(({ type, text }) => type === "datagram" && text === "last");
  expect(outside.seen.filter(({ text }) => text.startsWith("spoofed"))).toEqual([]);
});

test("a sandbox without network has its loopback interface only", async () => {
  const { name, address } = await create("no-network", { network: "none" });
  expect(address).toBeNull();
  expect(await output(daemon.client, name, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")).toBe("lo");
  expect((await inside(daemon.client, name, `curl -sS --max-time 3 http://${outside.address}/`)).end.exitCode).not.toBe(0);
  await serveHostname(name);
  expect(await output(daemon.client, name, "curl -sS --max-time 60 http://127.0.0.1:8000/")).toBe("no-network");
  await daemon.client.pause(name);
  await daemon.client.resume(name, { memory: "require" });
  expect(await output(daemon.client, name, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")).toBe("lo");
  expect(await output(daemon.client, name, "curl -sS --max-time 60 http://127.0.0.1:8000/")).toBe("no-network");
});

test("five forks have addresses of their own, and each answers at its own (C07)", async () => {
  const source = await create("many");
  await serveHostname(source.name);
  const ask = async (address: string | null) =>
    (await fetch(`http://${address}:8000`, { signal: AbortSignal.timeout(60_000), headers: { connection: "close" } })).text();
  let forking = true;
  const answers: string[] = [];
  const asking = (async () => {
    while (forking) {
      answers.push(await ask(source.address));
    }
  })();
  const { operation } = await daemon.client.fork(source.name, { name: "many-child", count: 5 });
  forking = false;
  await asking;
  expect(operation.status).toBe("succeeded");
  expect(new Set(answers)).toEqual(new Set(["many"]));
  const children = (await daemon.client.list()).filter(({ parentId }) => parentId === source.id);
  expect(new Set([source, ...children].map(({ address }) => address)).size).toBe(6);
  for (const { name, address } of [source, ...children]) {
    expect(await output(daemon.client, name, "ip -4 -o addr show eth0 | awk '{print $4}'")).toBe(`${address}/30`);
    expect(await output(daemon.client, name, "hostname")).toBe(name);
    expect(await ask(address)).toBe(name);
  }
});

test("a fork leaves the source's connections to the outside alone; the child sees their end", async () => {
  const { name } = await create("ticked");
  await daemon.client.startSession(name, { argv: ["python3", "-u", "-c", ticked], env: { SERVER: outside.address } });
  const ticks = async (sandbox: string) => (await output(daemon.client, sandbox, "cat /tmp/ticks 2>/dev/null || true")).split("\n");
  await eventually(
    () => ticks(name),
    (lines) => lines.length > 10,
  );
  const connection = await outside.sees(({ type, port }) => type === "connection" && port === outsidePorts.ticker);
  await daemon.client.fork(name, { name: "ticked-child" });
  const before = (await ticks(name)).length;
  const after = await eventually(
    () => ticks(name),
    (lines) => lines.length > before + 20,
  );
  expect(after).toEqual(after.map((_, i) => String(i + 1)));
  const child = await eventually(
    () => ticks("ticked-child"),
    (lines) => lines.at(-1)?.startsWith("end") === true,
  );
  expect(child.at(-1)).toMatch(/^end (EOF|ConnectionResetError)$/);
  expect(outside.seen.filter(({ type, from }) => type === "closed" && from === connection.from)).toEqual([]);
});

/** Connects and sends to each target again and again; writes down what took a connection, and how often it has been round. */
const prober = `
import json, os, socket
gateway = [l.split()[2] for l in open('/proc/net/route').read().splitlines()[1:] if l.split()[1] == '00000000'][0]
gateway = '.'.join(str(b) for b in reversed(bytes.fromhex(gateway)))
reached, rounds = set(), 0
def note(name, text):
    open('/tmp/.' + name, 'w').write(text)
    os.rename('/tmp/.' + name, '/tmp/' + name)
while True:
    for address, tcp, udp in json.loads(os.environ['TARGETS']):
        address = gateway if address == 'gateway' else address
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try: s.sendto(f'to {address}'.encode(), (address, udp))
            except OSError: pass
        with socket.socket() as s:
            s.settimeout(0.5)
            try:
                s.connect((address, tcp))
                s.send(b'GET / HTTP/1.0\\r\\n\\r\\n')
                # A connect that a pause came across may seem to succeed: data says more.
                if s.recv(1): reached.add(f'{address}:{tcp}')
            except OSError: pass
    rounds += 1
    note('reached', json.dumps(sorted(reached)))
    note('rounds', str(rounds))
`;

/** Writes down each line of the ticking server, and at last how the connection ended. */
const ticked = `
import os, socket
s = socket.create_connection((os.environ['SERVER'], ${outsidePorts.ticker}))
with open('/tmp/ticks', 'a', buffering=1) as out:
    try:
        for line in s.makefile(): out.write(line)
        out.write('end EOF\\n')
    except OSError as e:
        out.write(f'end {type(e).__name__}\\n')
import time; time.sleep(1000)
`;

/** Answers with the sandbox's host name at port 8000, and writes down who asked. */
const hostnameServer = `
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open('/tmp/visitors', 'a').write(self.client_address[0] + '\\n')
        self.send_response(200); self.end_headers(); self.wfile.write(os.uname().nodename.encode())
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(('0.0.0.0', 8000), Handler).serve_forever()
`;

async function serveHostname(name: string): Promise<void> {
  await daemon.client.startSession(name, { argv: ["python3", "-c", hostnameServer] });
  await eventually(
    () => inside(daemon.client, name, "python3 -c \"import socket; socket.create_connection(('127.0.0.1', 8000))\""),
    ({ end }) => end.exitCode === 0,
  );
}

async function create(name: string, request: { network?: "none" } = {}): Promise<Sandbox> {
  onTestFinished(() => removeAll(name));
  const { sandbox } = await daemon.client.create({ image: "debian", name, ...request });
  return sandbox as Sandbox;
}

async function removeAll(name: string): Promise<void> {
  for (const sandbox of await daemon.client.list()) {
    if (sandbox.name === name || sandbox.name.startsWith(`${name}-`)) {
      await daemon.client.remove(sandbox.id, { force: true });
    }
  }
}

/** The host's end of its /30. */
function gatewayOf({ address }: Pick<Sandbox, "address">): string {
  const parts = String(address).split(".").map(Number);
  return [...parts.slice(0, 3), (parts[3] ?? 0) - 1].join(".");
}
