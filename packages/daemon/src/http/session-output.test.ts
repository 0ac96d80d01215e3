import { EventEmitter } from "node:events";
import type { WebSocket } from "@fastify/websocket";
import type { Session } from "@torpor/contract";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ReaderFrame } from "./session-frames.ts";
import { pumpFrames } from "./session-output.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A socket whose other side takes nothing, until it is given up. */
class StuckSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  #waiting: (() => void)[] = [];

  send(data: Buffer, sent?: () => void): void {
    this.bufferedAmount += data.length;
    if (sent !== undefined) this.#waiting.push(sent);
  }

  terminate(): void {
    this.readyState = 3;
    for (const sent of this.#waiting) sent();
  }
}

async function* flood(terminal: boolean): AsyncGenerator<ReaderFrame> {
  yield { type: "started", session: { id: "se_1", terminal } as Session };
  for (let seq = 1; ; seq++) yield { type: "output", seq, stream: terminal ? "terminal" : "stdout", data: Buffer.alloc(64 * 1024) };
}

test("a terminal that takes nothing for a minute is given up, so that its process goes on", async () => {
  const socket = new StuckSocket();
  const pumped = pumpFrames(socket as unknown as WebSocket, flood(true), () => {});
  await vi.advanceTimersByTimeAsync(59_000);
  expect(socket.readyState).toBe(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(socket.readyState).toBe(3);
  await pumped;
});

test("whoever reads a pipe is waited for as long as it takes", async () => {
  const socket = new StuckSocket();
  const pumped = pumpFrames(socket as unknown as WebSocket, flood(false), () => {});
  await vi.advanceTimersByTimeAsync(24 * 3_600_000);
  expect(socket.readyState).toBe(1);
  socket.terminate();
  await pumped;
});
