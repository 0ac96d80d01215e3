import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RuntimeEnd } from "../ports/engine.ts";
import { bootOne, bytes, type EngineHarness, greeted, run, specFor, textOf } from "./engine-harness.ts";
import { memoryConformance } from "./engine-memory-conformance.ts";

/** Every engine, real ones included: it uses nothing but the ports and what the harness gives. */
export function engineConformance(name: string, make: () => Promise<EngineHarness>): void {
  describe(`${name} keeps the contract of an engine`, () => {
    let harness: EngineHarness;
    beforeEach(async () => {
      harness = await make();
    });
    afterEach(() => harness.dispose());

    test("says what it can, with a reason for what it can't", async () => {
      const { name: engine, version, capabilities } = await harness.engine.describe();
      expect(engine).toBe(harness.engine.name);
      expect(version).not.toBe("");
      for (const [capability, { supported, reason }] of Object.entries(capabilities)) expect(reason === "", capability).toBe(supported);
    });

    test("refuses too little memory before anything is made", () => {
      expect(() => harness.engine.validate(harness.resources)).not.toThrow();
      expect(() => harness.engine.validate({ ...harness.resources, memoryBytes: 1024 })).toThrow(
        expect.objectContaining({ code: "invalid_request" }),
      );
    });

    test("boots, runs commands and gives their exit codes and output", async () => {
      const { engine, ids } = harness;
      const { spec, guest } = await bootOne(harness);
      expect(await engine.inspect(spec.runtimeId)).toEqual({ state: "running" });
      expect(await engine.list()).toContain(spec.runtimeId);
      expect(await engine.memoryBytes(spec.runtimeId)).toBeGreaterThan(0);
      expect(await engine.guest(spec.runtimeId)).toBe(guest);
      expect(await run(guest, ids, ["true"])).toEqual({ exitCode: 0, output: "" });
      expect(await run(guest, ids, ["sh", "-c", "exit 3"])).toEqual({ exitCode: 3, output: "" });
      expect(await run(guest, ids, ["echo", "hello", "there"])).toEqual({ exitCode: 0, output: "hello there\n" });
    });

    test("tells what a runtime uses", async () => {
      const { engine, ids, network } = harness;
      const { spec, guest } = await bootOne(harness);
      const before = await engine.stats(spec.runtimeId);
      expect(before.processes).toBeGreaterThan(0);
      expect(before.memoryBytes).toBeGreaterThan(0);
      expect(before.network === null).toBe(network === null);
      await guest.sessions.start({ sessionId: ids.next("se"), argv: [...harness.counter], hold: false });
      const grows = async () => {
        const { processes, cpuMs } = await engine.stats(spec.runtimeId);
        return (processes ?? 0) > (before.processes ?? 0) && cpuMs > before.cpuMs;
      };
      while (!(await grows())) await harness.advance(3);
      await engine.destroy(spec.runtimeId);
      await expect(engine.stats(spec.runtimeId)).rejects.toThrow();
    });

    test("gives a session its input up to the end of it", async () => {
      const { guest } = await bootOne(harness);
      const sessionId = harness.ids.next("se");
      await guest.sessions.start({ sessionId, argv: ["cat"], stdin: true, hold: false });
      await guest.sessions.write(sessionId, { client: "", offset: 0, data: new TextEncoder().encode("in and out"), end: true });
      let output = "";
      for await (const frame of guest.sessions.attach(sessionId, 0, true)) {
        if (frame.type === "output") output += new TextDecoder().decode(frame.data);
        if (frame.type === "end") expect(frame.end).toMatchObject({ reason: "exited", exitCode: 0 });
      }
      expect(output).toBe("in and out");
    });

    test("connects to what listens inside, without a network of its own, and says so when nothing does", async () => {
      const { guest } = await bootOne(harness);
      const hello = () => guest.ports.connect(8077, bytes("hello"));
      await expect(hello()).rejects.toMatchObject({ code: "port_closed" });
      await guest.sessions.start({ sessionId: harness.ids.next("se"), argv: [...harness.echoServer(8077)], hold: false });
      const { content } = await retried(hello);
      expect(await textOf(content)).toBe("hello");
    });

    test("keeps files on the disk over a stop and a boot", async () => {
      const { engine, ids } = harness;
      const { spec, guest, diskId } = await bootOne(harness);
      await guest.files.write("/data/x", bytes("kept"), { parents: true });
      expect(await guest.files.stat("/data/x", {})).toMatchObject({ type: "file", size: 4 });
      await expect(guest.files.stat("/data/none", {})).rejects.toMatchObject({ code: "file_not_found" });
      const sessionId = ids.next("se");
      await guest.sessions.start({ sessionId, argv: [...harness.counter], hold: false });
      await guest.prepareStop();
      await guest.sessions.signal(sessionId, "KILL");
      expect((await guest.sessions.awaitEnd(sessionId, 1)).end).toMatchObject({ reason: "stopped", exitCode: 137 });
      await guest.shutdown(1000);
      await engine.destroy(spec.runtimeId);
      const again = { ...spec, runtimeId: ids.next("rt"), disk: harness.disks.locate(diskId) };
      await engine.boot(again);
      const { content } = await (await greeted(harness, again, "boot")).files.read("/data/x", {});
      expect(await textOf(content)).toBe("kept");
    });

    test("syncs while it runs, and no runtime that there is not", async () => {
      const { engine, ids } = harness;
      const { spec, guest } = await bootOne(harness);
      await guest.files.write("/data/x", bytes("kept"), { parents: true });
      await engine.sync(spec.runtimeId);
      expect(await run(guest, ids, ["true"])).toEqual({ exitCode: 0, output: "" });
      await expect(engine.sync(ids.next("rt"))).rejects.toMatchObject({ name: "TorporError" });
    });

    test("destroys in any state, twice, and what it never knew", async () => {
      const { engine } = harness;
      const { spec, guest } = await bootOne(harness);
      await engine.destroy(spec.runtimeId);
      await engine.destroy(spec.runtimeId);
      await engine.destroy(harness.ids.next("rt"));
      expect(await engine.inspect(spec.runtimeId)).toEqual({ state: "absent" });
      expect(await engine.list()).not.toContain(spec.runtimeId);
      await expect(guest.sessions.list()).rejects.toMatchObject({ code: "sandbox_not_running" });
      await expect(engine.guest(spec.runtimeId)).rejects.toMatchObject({ name: "TorporError" });
    });

    test("leaves nothing behind when a boot fails", async () => {
      const { engine, ids } = harness;
      const before = await engine.list();
      await expect(engine.boot(specFor(harness, ids.next("dk")))).rejects.toMatchObject({ name: "TorporError" });
      expect(await engine.list()).toEqual(before);
    });

    test("tells of an end that nobody asked for, once, and keeps its cause", async () => {
      const { engine } = harness;
      const { spec, guest } = await bootOne(harness);
      const ends: [string, RuntimeEnd][] = [];
      const told = new Promise<void>((resolve) => {
        engine.onEnd((runtimeId, end) => {
          ends.push([runtimeId, end]);
          resolve();
        });
      });
      await guest.shutdown(1000);
      await told;
      expect(await engine.inspect(spec.runtimeId)).toMatchObject({ state: "ended", cause: { reason: "exited", exitCode: 0 } });
      await engine.destroy(spec.runtimeId);
      expect(ends).toMatchObject([[spec.runtimeId, { reason: "exited", exitCode: 0 }]]);
    });

    memoryConformance(() => harness);
  });
}

/** Until the program listens. */
async function retried<T>(call: () => Promise<T>): Promise<T> {
  for (let left = 200; ; left--) {
    try {
      return await call();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}
