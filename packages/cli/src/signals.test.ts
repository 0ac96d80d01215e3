import type { TorporClient } from "@torpor/sdk/calls";
import { expect, onTestFinished, test, vi } from "vitest";
import { forwardSignals, type SignalTarget } from "./signals.ts";

function target(): { readonly target: SignalTarget; readonly sent: string[] } {
  const sent: string[] = [];
  const client = {
    signal: async (_sandbox: string, sessionId: string, name: string) => void sent.push(`${sessionId} ${name}`),
  };
  return { target: { client: client as unknown as TorporClient, sandbox: "base", sessionId: undefined }, sent };
}

function forwarding(to: SignalTarget): void {
  onTestFinished(forwardSignals(to, false));
}

test("a signal that comes before the command runs is handed on when it does (E09)", () => {
  const { target: to, sent } = target();
  forwarding(to);
  process.emit("SIGINT");
  expect(sent).toEqual([]);
  to.sessionId = "se_1";
  to.onStarted?.(to.sessionId);
  process.emit("SIGTERM");
  expect(sent).toEqual(["se_1 SIGINT", "se_1 SIGTERM"]);
});

test("who asks twice, or whose command does not begin to run, gets out", () => {
  vi.useFakeTimers();
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  onTestFinished(() => void vi.useRealTimers());
  onTestFinished(() => exit.mockRestore());
  const { target: to } = target();
  forwarding(to);
  process.emit("SIGINT");
  expect(() => process.emit("SIGINT")).toThrow("exit 130");
  const { target: late } = target();
  forwarding(late);
  expect(() => process.emit("SIGTERM")).toThrow("exit 143"); // of the first one, whose handler is the earlier
  expect(() => vi.advanceTimersByTime(2000)).toThrow("exit 130");
});
