import { access, readdir, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import type { CheckpointManifest } from "@torpor/core";
import { expect, test } from "vitest";
import { renderManifest } from "../../../packages/daemon/src/checkpoints/manifest.ts";
import { createPoolCheckpoints } from "../../../packages/daemon/src/checkpoints/pool-checkpoints.ts";
import { temporaryPool } from "./temporary-pool.ts";

test("a sealed checkpoint is read back after a reboot; an unsealed one is only listed", async () => {
  await using it = await temporaryPool();
  const checkpoints = createPoolCheckpoints(it.pool);
  await writeFile(path.join(await checkpoints.begin("ck_one", 1024), "pages.img"), "pages");
  await checkpoints.seal(manifestOf("ck_one"));
  await checkpoints.begin("ck_half", 1024);
  await checkpoints.seal(manifestOf("ck_one"));

  const again = createPoolCheckpoints(await it.reopen({ unmount: true }));
  expect(await again.read("ck_one")).toEqual(manifestOf("ck_one"));
  await access(path.join(again.locate("ck_one"), "pages.img"));
  expect(await again.read("ck_half")).toBeUndefined();
  expect((await again.list()).sort()).toEqual(["ck_half", "ck_one"]);
});

test("a short or missing part is never sealed", async () => {
  await using it = await temporaryPool();
  const checkpoints = createPoolCheckpoints(it.pool);
  const place = await checkpoints.begin("ck_one", 0);
  await expect(checkpoints.seal(manifestOf("ck_one"))).rejects.toMatchObject({
    code: "checkpoint_corrupt",
    details: { part: "pages.img" },
  });
  await writeFile(path.join(place, "pages.img"), "page");
  await expect(checkpoints.seal(manifestOf("ck_one"))).rejects.toMatchObject({ code: "checkpoint_corrupt" });
  expect(await checkpoints.read("ck_one")).toBeUndefined();
});

test("beginning again empties the place, removing takes sealed and unsealed", async () => {
  await using it = await temporaryPool();
  const checkpoints = createPoolCheckpoints(it.pool);
  await writeFile(path.join(await checkpoints.begin("ck_one", 0), "stale"), "");
  const place = await checkpoints.begin("ck_one", 0);
  expect(await readdir(place)).toEqual([]);
  await writeFile(path.join(place, "pages.img"), "pages");
  await checkpoints.seal(manifestOf("ck_one"));
  await expect(checkpoints.begin("ck_one", 0)).rejects.toMatchObject({ code: "storage_failed" });
  await checkpoints.begin("ck_two", 0);
  for (const id of ["ck_one", "ck_two", "ck_one"]) {
    await checkpoints.remove(id);
  }
  expect(await checkpoints.list()).toEqual([]);
});

test("a manifest that can't be read or was changed is corrupt; whose it is, is for the lifecycle to say", async () => {
  await using it = await temporaryPool();
  const checkpoints = createPoolCheckpoints(it.pool);
  await writeFile(path.join(await checkpoints.begin("ck_one", 0), "pages.img"), "pages");
  await checkpoints.seal(manifestOf("ck_one"));
  const file = path.join(checkpoints.locate("ck_one"), "manifest.json");
  await writeFile(file, JSON.stringify({ ...manifestOf("ck_one"), parts: [{ name: "../../escape", sizeBytes: 5, hash: "" }] }));
  await expect(checkpoints.read("ck_one")).rejects.toMatchObject({ code: "checkpoint_corrupt" });
  const text = renderManifest(manifestOf("ck_two"));
  await writeFile(file, text.replace("ck_two", "ck_six"));
  await expect(checkpoints.read("ck_one")).rejects.toMatchObject({ code: "checkpoint_corrupt" });
  await writeFile(file, text);
  expect(await checkpoints.read("ck_one")).toEqual(manifestOf("ck_two"));
  await truncate(file, 10);
  await expect(checkpoints.read("ck_one")).rejects.toMatchObject({ code: "checkpoint_corrupt" });
});

test("more than the pool has is refused before anything is written", async () => {
  await using it = await temporaryPool();
  const checkpoints = createPoolCheckpoints(it.pool);
  await expect(checkpoints.begin("ck_one", 1024 ** 4)).rejects.toMatchObject({ code: "disk_full", details: { neededBytes: 1024 ** 4 } });
  expect(await checkpoints.list()).toEqual([]);
});

function manifestOf(id: string): CheckpointManifest {
  return {
    version: 1,
    id,
    sandboxId: "sb_one",
    diskId: "dk_one",
    generation: 3,
    createdAt: "2026-01-02T03:04:05.000Z",
    engine: { name: "gvisor", version: "1", sha256: "00" },
    guest: { sha256: "00" },
    image: { digest: "sha256:00" },
    cpu: { architecture: "x64", features: ["avx2"] },
    restore: { flags: ["--a"] },
    parts: [{ name: "pages.img", sizeBytes: 5, hash: "xxh3:00000000000000000000000000000000" }],
  };
}
