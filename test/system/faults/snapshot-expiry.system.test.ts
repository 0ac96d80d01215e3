import { test } from "vitest";
import { importBare } from "../harness/bare-image.ts";
import { holdings } from "../harness/holdings.ts";
import { eventually } from "../harness/inside.ts";
import { removeAll } from "../harness/remove-all.ts";
import { TestDaemon } from "../harness/test-daemon.ts";

test("snapshots that expire while no daemon is there are gone after its next start, others soon after their time; pinned ones stay", async () => {
  await using daemon = await TestDaemon.start({ image: false });
  await importBare(daemon.client);
  await daemon.client.create({ image: "bare", name: "base" });
  const keep = (name: string, more: object) => daemon.client.snapshot("base", { name, memory: false, ...more });
  const names = async () => (await daemon.client.snapshots.list()).map(({ name }) => name);
  const expires = (name: string, atMs: number) => daemon.client.snapshots.update(name, { expiresAt: new Date(atMs).toISOString() });
  await keep("first", {});
  await keep("pinned", { pinned: true });
  await keep("never", {});
  // Set when all is there: how long that takes is nobody's matter.
  const soon = Date.now() + 5000;
  await Promise.all(["first", "pinned"].map((name) => expires(name, soon)));
  await daemon.terminate();
  await eventually(
    async () => Date.now(),
    (now) => now > soon,
  );
  await daemon.launch();
  await eventually(names, (left) => left.join() === "pinned,never");
  await expires("never", Date.now() + 3000);
  await eventually(names, (left) => left.join() === "pinned");
  // What it held is freed a moment after its record.
  await eventually(
    async () => holdings(daemon).disks,
    (disks) => disks === 2,
  );
  await removeAll(daemon.client);
});
