import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startDaemon } from "./testing/daemon.ts";

const main = fileURLToPath(new URL("testing/many-clients-main.ts", import.meta.url));

test("A03: clients leave no connection behind, and keep no process alive", { timeout: 180_000 }, async () => {
  await using daemon = await startDaemon();
  const child = spawn(process.execPath, [main, daemon.socket], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit") as Promise<[number | null]>;
  const [told, complaints, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  expect({ code, complaints }).toEqual({ code: 0, complaints: "" });
  const open = JSON.parse(told) as number[];
  expect(open).toHaveLength(500);
  // A socket that was closed a moment ago may still be there: a few, and not more towards the end.
  expect(Math.max(...open.slice(250)) - Math.max(...open.slice(0, 250))).toBeLessThanOrEqual(3);
  expect(Math.max(...open)).toBeLessThan((open[0] ?? 0) + 20);
});
