import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { importBare } from "./harness/bare-image.ts";
import { removeAll } from "./harness/remove-all.ts";
import { TestDaemon } from "./harness/test-daemon.ts";
import { torpor } from "./harness/torpor-command.ts";

const mib = 2 ** 20;

describe("a node with room for two sandboxes of 64 MiB", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await TestDaemon.start({ image: false, args: ["--max-memory", String(150 * mib)] });
    await importBare(daemon.client);
  });
  afterAll(() => daemon[Symbol.asyncDispose]());
  beforeEach(() => removeAll(daemon.client));
  const create = (name: string) => daemon.client.create({ image: "bare", name, resources: { memoryBytes: 64 * mib } });

  test("refuses a third with the numbers, counts what is held over a restart, and lets it in when another is paused", async () => {
    await create("a");
    await create("b");
    const refused = await torpor(daemon.socket, "create", "--name", "c", "--memory", "64MiB", "bare");
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("not enough memory: 64 MiB asked for, 22 MiB of the node's 150 MiB free");
    expect(refused.stderr).toContain("--wait-capacity");
    await daemon.kill();
    await daemon.launch();
    expect((await daemon.client.info()).held).toMatchObject({ memoryBytes: 128 * mib, cpus: 2 });
    await expect(create("c")).rejects.toMatchObject({ code: "capacity_exceeded" });
    expect((await daemon.client.list()).map(({ name }) => name)).toEqual(["a", "b"]);
    await daemon.client.pause("a");
    await create("c");
    await expect(daemon.client.resume("a")).rejects.toMatchObject({ code: "capacity_exceeded", details: { free: 22 * mib } });
    expect(await daemon.client.get("a")).toMatchObject({ state: "paused", checkpoint: { id: expect.any(String) } });
  });

  test("a resume that waits for room goes on with its memory when there is some", async () => {
    await create("a");
    await daemon.client.pause("a");
    await create("b");
    await create("c");
    const waiting = torpor(daemon.socket, "resume", "--wait-capacity", "1m", "a");
    await daemon.client.remove("b", { force: true });
    expect((await waiting).code).toBe(0);
    expect(await daemon.client.get("a")).toMatchObject({ state: "running", restored: "memory" });
  });
});
