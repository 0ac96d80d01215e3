import { once } from "node:events";
import { connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { bundle } from "./testing/bundle.ts";
import { startDaemon } from "./testing/daemon.ts";

test("in a browser the SDK is made of fetch and WebSocket alone, and does the same", { timeout: 60_000 }, async () => {
  const code = await bundle("browser-page.ts");
  expect(code).not.toMatch(/from ?["']|require\(|node:|__vite-browser-external/);

  await using daemon = await startDaemon();
  // A browser knows no Unix socket.
  const line = createServer((socket) => {
    const inner = connect(daemon.socket);
    socket
      .on("error", () => {})
      .pipe(inner.on("error", () => {}))
      .pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(line, "listening");
  const { port } = line.address() as { port: number };
  const { page } = (await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`)) as {
    page(url: string): Promise<unknown>;
  };
  expect(await page(`http://127.0.0.1:${port}`)).toEqual({
    stdout: "grüße",
    text: "12",
    exitCode: 4,
    lines: 1001,
    event: "sandbox.resumed",
    paused: "sandbox_not_running",
    copied: "invalid_request",
    gone: true,
  });
  line.close();
});
