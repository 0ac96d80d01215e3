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
  const soon = Date.now() + 3000;
  const keep = (name: string, more: object) => daemon.client.snapshot("base", { name, memory: false, ...more });
  const names = async () => (await daemon.client.snapshots.list()).map(({ name }) => name);
  await keep("first", { expiresAt: new Date(soon).toISOString() });
  await keep("pinned", { expiresAt: new Date(soon).toISOString(), pinned: true });
  await keep("never", {});
  await daemon.terminate();
  await eventually(
    async () => Date.now(),
    (now) => now > soon,
  );
  await daemon.launch();
  await eventually(names, (left) => left.join() === "pinned,never");
  await daemon.client.snapshots.update("never", { expiresAt: new Date(Date.now() + 1000).toISOString() });
  await eventually(names, (left) => left.join() === "pinned");
  // What it held is freed a moment after its record.
  await eventually(
    async () => holdings(daemon).disks,
    (disks) => disks === 2,
  );
  await removeAll(daemon.client);
});
