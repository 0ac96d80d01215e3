import { describe, expect, test } from "vitest";
import { FakeClock, MemoryWorld } from "./testing/index.ts";

describe("a list", () => {
  test("A04: page by page has each sandbox exactly once, the paused ones too, whatever is made and removed meanwhile", async () => {
    const clock = new FakeClock({ auto: false });
    const lifecycle = new MemoryWorld({ clock }).lifecycle();
    const make = async (name: string) => {
      clock.advance(1);
      await lifecycle.create({ image: "debian", name, network: "none", labels: { half: name.endsWith("1") ? "yes" : "no" } });
    };
    for (let i = 0; i < 250; i++) await make(`s${i}`);
    for (let i = 0; i < 250; i += 2) await lifecycle.pause(`s${i}`);
    const seen: string[] = [];
    let turn = 0;
    for (let after: string | undefined; ; turn++) {
      const { sandboxes, next } = await lifecycle.page({ limit: 20, ...(after === undefined ? {} : { after }) });
      seen.push(...sandboxes.map(({ name }) => name));
      if (next === null) break;
      // Of those that were told, the last too; and new ones.
      await lifecycle.remove(seen.at(-1) ?? "", { force: true });
      await make(`new${turn}`);
      after = next;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((name) => name.startsWith("s"))).toEqual(Array.from({ length: 250 }, (_, i) => `s${i}`));
    expect(seen).toContain("new0");
    const paused = await lifecycle.page({ states: ["paused"] });
    expect(paused.sandboxes.every(({ state }) => state === "paused")).toBe(true);
    expect(paused.sandboxes.length).toBeGreaterThan(100);
    const both = await lifecycle.page({ states: ["running"], labels: { half: "yes" }, limit: 3 });
    expect(both.sandboxes.map(({ state, labels }) => [state, labels.half])).toEqual(Array(3).fill(["running", "yes"]));
    expect(both.next).not.toBeNull();
  });

  test.each([{ after: "nonsense" }, { after: "2026-01-01T00:00:00.000Z_rt_x" }, { limit: 0 }])("refuses %j", async (filter) => {
    await expect(new MemoryWorld().lifecycle().page(filter)).rejects.toMatchObject({ code: "invalid_request" });
  });
});
