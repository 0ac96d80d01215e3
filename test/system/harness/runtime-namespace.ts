import { execFileSync } from "node:child_process";
import { hostRuntime } from "./runtime.ts";
import type { TestDaemon } from "./test-daemon.ts";

/** A sandbox's network namespace as an engine that was broken out of would have it: with all rights, and any address it likes. */
export interface RuntimeNamespace {
  ip(...args: readonly string[]): void;
  sendDatagram(from: string, to: string, port: number, text: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const send = `
const [from, to, port, text] = process.argv.slice(1);
const socket = require("node:dgram").createSocket("udp4");
socket.bind(0, from, () => socket.send(text, Number(port), to, (error) => { socket.close(); if (error) { console.error(error.message); process.exitCode = 1; } }));
`;

export async function runtimeNamespace(daemon: TestDaemon, sandbox: string): Promise<RuntimeNamespace> {
  const { enginePid } = await hostRuntime(daemon.client, daemon.instance, sandbox);
  const enter = (...command: readonly string[]) =>
    void execFileSync("nsenter", [`--net=/proc/${enginePid}/ns/net`, ...command], { stdio: ["ignore", "ignore", "pipe"] });
  return {
    ip: (...args) => enter("ip", ...args),
    sendDatagram: async (from, to, port, text) => enter(process.execPath, "-e", send, from, to, String(port), text),
    // What was given to the interface would be in the way of the engine.
    [Symbol.asyncDispose]: async () => enter("ip", "addr", "flush", "dev", "eth0"),
  };
}
