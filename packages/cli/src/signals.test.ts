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

test("who asks twice gets out", () => {
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  onTestFinished(() => exit.mockRestore());
  const { target: to } = target();
  forwarding(to);
  process.emit("SIGINT");
  expect(() => process.emit("SIGINT")).toThrow("exit 130");
});

test("a signal waits for a command that begins late, and says so (E09)", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => said.mockRestore());
  const { target: to, sent } = target();
  forwarding(to);
  process.emit("SIGTERM");
  vi.advanceTimersByTime(60_000);
  expect(said.mock.calls.flat().join("")).toMatch(/not begun to run.*again to leave it/);
  to.sessionId = "se_1";
  to.onStarted?.(to.sessionId);
  expect(sent).toEqual(["se_1 SIGTERM"]);
});
