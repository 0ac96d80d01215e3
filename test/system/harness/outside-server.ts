import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createReadStream, existsSync, readdirSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, type Socket } from "node:net";
import path from "node:path";

// The servers of outside.ts, as a process of its own: it runs in another network namespace.
const [address = "", resolver = "", files = ""] = process.argv.slice(2);

await serveNames();
await servePackages();
await serveTicks();
await takeDatagrams();
process.stdout.write("ready\n");

function tell(type: string, port: number, from: string, text: string, to = address): void {
  process.stdout.write(`${JSON.stringify({ type, port, from, to, text, atMs: Date.now() })}\n`);
}

/** Answers an A query for any name that ends in .test with the one address, and other types of it with nothing (RFC 1035). */
async function serveNames(): Promise<void> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { address: from, port }) => {
    const { name, end, type } = question(query);
    tell("query", 53, from, name);
    const known = name.endsWith(".test");
    const answers = known && type === 1;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(known ? 0x8580 : 0x8583, 2);
    header.writeUInt16BE(answers ? 1 : 0, 6);
    header.writeUInt32BE(0, 8);
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split(".").map(Number)]);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...(answers ? [answer] : [])]), port, from);
  });
  socket.bind(53, resolver);
  await once(socket, "listening");
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** The simple index of PEP 503 over a directory of wheels; everything else is answered with a word. */
async function servePackages(): Promise<void> {
  const server = createHttpServer((request, response) => {
    tell("request", 80, request.socket.remoteAddress ?? "", request.url ?? "");
    answer(request, response);
  });
  server.on("connection", (socket: Socket) => tell("connection", 80, socket.remoteAddress ?? "", "", socket.localAddress));
  server.listen(80, "0.0.0.0");
  await once(server, "listening");
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const [, kind, name = ""] = (request.url ?? "").split("/");
  const wheels = existsSync(files) ? readdirSync(files).filter((file) => file.endsWith(".whl")) : [];
  if (kind === "simple") {
    const links = wheels
      .filter((wheel) => normal(wheel.split("-")[0] ?? "") === normal(name))
      .map((wheel) => `<a href="/files/${wheel}">${wheel}</a>`);
    response
      .writeHead(links.length === 0 ? 404 : 200, { "content-type": "text/html" })
      .end(`<!DOCTYPE html><html><body>${links.join("\n")}</body></html>`);
  } else if (kind === "files" && wheels.includes(name)) {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    createReadStream(path.join(files, name)).pipe(response);
  } else {
    response.end("outside\n");
  }
}

function normal(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

/** Sends a numbered line each 50 ms for as long as the connection lasts. */
async function serveTicks(): Promise<void> {
  const server = createServer((socket) => {
    const from = `${socket.remoteAddress}:${socket.remotePort}`;
    let count = 0;
    tell("connection", 7000, from, "");
    const timer = setInterval(() => socket.write(`${++count}\n`), 50);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(timer);
      tell("closed", 7000, from, String(count));
    });
    socket.resume();
  });
  server.listen(7000, address);
  await once(server, "listening");
}

async function takeDatagrams(): Promise<void> {
  const socket = createSocket("udp4");
  socket.on("message", (text, { address: from }) => tell("datagram", 9000, from, text.toString()));
  socket.bind(9000, "0.0.0.0");
  await once(socket, "listening");
}
