import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CheckpointManifest, Checkpoints } from "../ports/checkpoints.ts";

export interface CheckpointsHarness {
  readonly checkpoints: Checkpoints;
  /** Writes a part into a place, and reads one from it. undefined: it isn't there. */
  write(location: string, part: string, text: string): Promise<void>;
  read(location: string, part: string): Promise<string | undefined>;
  /** Makes the manifest of a sealed checkpoint unreadable. */
  damageManifest(id: string): Promise<void>;
  dispose(): Promise<void>;
}

export function checkpointsConformance(name: string, make: () => Promise<CheckpointsHarness>): void {
  describe(`${name} keep the contract of checkpoints`, () => {
    let harness: CheckpointsHarness;
    let checkpoints: Checkpoints;
    beforeEach(async () => {
      harness = await make();
      checkpoints = harness.checkpoints;
    });
    afterEach(() => harness.dispose());

    test("nothing is seen of a checkpoint before it is sealed, but the sweep can find it", async () => {
      const location = await checkpoints.begin("ck_a", 0);
      await harness.write(location, "pages", "half");
      expect(await checkpoints.read("ck_a")).toBeUndefined();
      expect(await checkpoints.read("ck_none")).toBeUndefined();
      expect(await checkpoints.list()).toEqual(["ck_a"]);
    });

    test("a sealed one has its manifest and its parts; sealing again changes nothing", async () => {
      await harness.write(await checkpoints.begin("ck_a", 0), "pages", "whole");
      await checkpoints.seal(manifestOf("ck_a"));
      await checkpoints.seal(manifestOf("ck_a"));
      expect(await checkpoints.read("ck_a")).toEqual(manifestOf("ck_a"));
      expect(await harness.read(checkpoints.locate("ck_a"), "pages")).toBe("whole");
      expect(await checkpoints.list()).toEqual(["ck_a"]);
    });

    test("beginning again empties an unsealed place", async () => {
      await harness.write(await checkpoints.begin("ck_a", 0), "old", "half");
      const location = await checkpoints.begin("ck_a", 0);
      expect(await harness.read(location, "old")).toBeUndefined();
      await harness.write(location, "pages", "whole");
      await checkpoints.seal(manifestOf("ck_a"));
      expect(await harness.read(checkpoints.locate("ck_a"), "pages")).toBe("whole");
      expect(await harness.read(checkpoints.locate("ck_a"), "old")).toBeUndefined();
    });

    test("refuses to begin without the room, and leaves nothing", async () => {
      await expect(checkpoints.begin("ck_a", Number.MAX_SAFE_INTEGER)).rejects.toMatchObject({ code: "disk_full" });
      expect(await checkpoints.list()).toEqual([]);
    });

    test("a copy is sealed under its own manifest, and lives by itself", async () => {
      await harness.write(await checkpoints.begin("ck_a", 0), "pages", "whole");
      await checkpoints.seal(manifestOf("ck_a"));
      const copy = { ...manifestOf("ck_b"), diskId: "dk_b", sandboxId: "sb_b" };
      // As a copy that was killed in the middle leaves it.
      await harness.write(await checkpoints.begin("ck_b", 0), "old", "half");
      await checkpoints.clone("ck_a", copy);
      await checkpoints.clone("ck_a", copy);
      await checkpoints.remove("ck_a");
      await checkpoints.clone("ck_a", copy);
      expect(await checkpoints.list()).toEqual(["ck_b"]);
      expect(await checkpoints.read("ck_b")).toEqual(copy);
      expect(await harness.read(checkpoints.locate("ck_b"), "pages")).toBe("whole");
      expect(await harness.read(checkpoints.locate("ck_b"), "old")).toBeUndefined();
    });

    test("a copy of nothing, or of what is not sealed, fails and makes nothing", async () => {
      await harness.write(await checkpoints.begin("ck_half", 0), "pages", "half");
      for (const source of ["ck_none", "ck_half"]) {
        await expect(checkpoints.clone(source, manifestOf("ck_b"))).rejects.toMatchObject({ code: "storage_failed" });
      }
      expect(await checkpoints.read("ck_b")).toBeUndefined();
      expect(await checkpoints.list()).toEqual(["ck_half"]);
    });

    test("a manifest that can't be read is corrupt, not absent", async () => {
      await harness.write(await checkpoints.begin("ck_a", 0), "pages", "whole");
      await checkpoints.seal(manifestOf("ck_a"));
      await harness.damageManifest("ck_a");
      await expect(checkpoints.read("ck_a")).rejects.toMatchObject({ code: "checkpoint_corrupt" });
    });

    test("removes sealed and unsealed ones, twice, and what never was", async () => {
      await checkpoints.begin("ck_a", 0);
      await harness.write(await checkpoints.begin("ck_b", 0), "pages", "whole");
      await checkpoints.seal(manifestOf("ck_b"));
      for (const id of ["ck_a", "ck_b", "ck_b", "ck_none"]) await checkpoints.remove(id);
      expect(await checkpoints.list()).toEqual([]);
      expect(await checkpoints.read("ck_b")).toBeUndefined();
    });
  });
}

function manifestOf(id: string): CheckpointManifest {
  return {
    version: 1,
    id,
    sandboxId: "sb_a",
    diskId: "dk_a",
    generation: 3,
    createdAt: "2026-01-01T00:00:00.000Z",
    engine: { name: "memory", version: "1", sha256: "0".repeat(64) },
    guest: { sha256: "1".repeat(64) },
    image: { digest: `sha256:${"2".repeat(64)}` },
    cpu: { architecture: "amd64", features: ["sse2"] },
    restore: { flags: ["--one"], spec: { nested: true } },
    parts: [{ name: "pages", sizeBytes: 5, hash: `xxh3:${"3".repeat(32)}` }],
  };
}
