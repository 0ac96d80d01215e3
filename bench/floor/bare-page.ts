import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

/** A page that sends each key over a WebSocket and shows at its next frame what comes back, which is the same: no terminal, no sandbox, no daemon. */
export interface BarePage extends AsyncDisposable {
  readonly url: string;
}

const html = `<!doctype html><title>bare</title><pre></pre><script>
  const socket = new WebSocket(location.origin.replace("http", "ws"));
  socket.binaryType = "arraybuffer";
  addEventListener("keydown", ({ key }) => socket.send(new TextEncoder().encode(key)));
  socket.onmessage = ({ data }) => requestAnimationFrame(() => document.querySelector("pre").append(new TextDecoder().decode(data)));
  socket.onopen = () => { document.title = "open"; };
</script>`;

export async function openBarePage(): Promise<BarePage> {
  const sockets = new Set<Duplex>();
  const server = createServer((_request, response) => response.setHeader("content-type", "text/html").end(html));
  server.on("upgrade", (request, socket: Duplex) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptOf(request.headers["sec-websocket-key"])}\r\n\r\n`,
    );
    socket.on("data", (chunk: Buffer) => giveBack(socket, chunk));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** RFC 6455, of what a key needs: whole frames of at most 125 bytes, masked. */
function giveBack(socket: Duplex, chunk: Buffer): void {
  for (let at = 0; at + 6 <= chunk.length; ) {
    const length = (chunk[at + 1] as number) & 0x7f;
    const mask = chunk.subarray(at + 2, at + 6);
    const data = chunk.subarray(at + 6, at + 6 + length).map((byte, i) => byte ^ (mask[i % 4] as number));
    if (((chunk[at] as number) & 0x0f) === 2) socket.write(Buffer.concat([Buffer.of(0x82, length), data]));
    at += 6 + length;
  }
}

function acceptOf(key = ""): string {
  return createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}
