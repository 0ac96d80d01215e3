import { describe, expect, test } from "vitest";
import { withSandbox } from "./testing/scenes.ts";

describe("the family", () => {
  test("has parents before children, in the order of the forks", async () => {
    const { lifecycle } = await withSandbox();
    await lifecycle.create({ image: "debian", name: "other" });
    await lifecycle.fork("base", { names: ["z", "a"] });
    await lifecycle.fork("z", { name: "deep" });
    const all = await lifecycle.family();
    expect(all.map(({ name }) => name)).toEqual(["base", "z", "deep", "a", "other"]);
    expect(all[1]).toMatchObject({ parentId: all[0]?.id, state: "running", fork: { index: 1, count: 2 }, removedAt: null });
    for (const one of ["base", "a", "deep"])
      expect((await lifecycle.family(one)).map(({ name }) => name)).toEqual(["base", "z", "deep", "a"]);
    expect((await lifecycle.family("other")).map(({ name }) => name)).toEqual(["other"]);
    await expect(lifecycle.family("nobody")).rejects.toMatchObject({ code: "sandbox_not_found" });
  });

  test("keeps removed ones as long as others come from them, and no longer", async () => {
    const { world, lifecycle } = await withSandbox();
    const { id } = await lifecycle.get("base");
    await lifecycle.fork("base", { names: ["one", "two"] });
    await lifecycle.fork("one", { name: "deep" });
    for (const name of ["base", "one"]) await lifecycle.remove(name, { force: true });
    const told = (await lifecycle.family("deep")).map(({ name, state, fork }) => [name, state, fork?.index]);
    expect(told).toEqual([
      ["base", "gone", undefined],
      ["one", "gone", 1],
      ["deep", "running", 1],
      ["two", "running", 2],
    ]);
    expect((await lifecycle.family(id))[0]).toMatchObject({ id, removedAt: expect.any(String) });
    await lifecycle.remove("deep", { force: true });
    expect((await lifecycle.family()).map(({ name }) => name)).toEqual(["base", "two"]);
    await lifecycle.remove("two", { force: true });
    expect(await world.store.listAncestors()).toEqual([]);
    await expect(lifecycle.family(id)).rejects.toMatchObject({ code: "sandbox_not_found" });
  });

  test("shows a parent of which nothing is kept by its id", async () => {
    const { world, lifecycle } = await withSandbox();
    const { fork: _, ...record } = (await world.store.findSandbox("base"))!;
    await world.store.commit({ sandboxes: [{ ...record, parentId: "sb_before" }] });
    expect(await lifecycle.family("base")).toMatchObject([
      { id: "sb_before", name: null, state: "gone" },
      { name: "base", parentId: "sb_before", fork: null },
    ]);
  });
});
