import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Disks } from "../ports/disks.ts";

export interface DisksHarness {
  readonly disks: Disks;
  /** Bytes of a disk's content, written and read from outside while no runtime has it. */
  write(id: string, text: string): Promise<void>;
  read(id: string): Promise<string>;
  dispose(): Promise<void>;
}

const sizeBytes = 64 * 1024 * 1024;

export function disksConformance(name: string, make: () => Promise<DisksHarness>): void {
  describe(`${name} keep the contract of disks`, () => {
    let harness: DisksHarness;
    let disks: Disks;
    beforeEach(async () => {
      harness = await make();
      disks = harness.disks;
    });
    afterEach(() => harness.dispose());

    test("makes a disk once, however often it is told", async () => {
      await disks.create("dk_a", sizeBytes);
      await harness.write("dk_a", "kept");
      await disks.create("dk_a", sizeBytes);
      expect(await harness.read("dk_a")).toBe("kept");
      expect(await disks.exists("dk_a")).toBe(true);
      expect(await disks.list()).toEqual(["dk_a"]);
      expect(disks.locate("dk_a")).not.toBe("");
      expect(await disks.storedBytes("dk_a")).toBeGreaterThanOrEqual(0);
    });

    test("a copy is the disk as it was, and lives by itself", async () => {
      await disks.create("dk_a", sizeBytes);
      await harness.write("dk_a", "before");
      await disks.clone("dk_a", "dk_b");
      await harness.write("dk_a", "after");
      expect(await harness.read("dk_b")).toBe("before");
      await disks.clone("dk_a", "dk_b");
      expect(await harness.read("dk_b")).toBe("before");
      await disks.remove("dk_a");
      expect(await harness.read("dk_b")).toBe("before");
    });

    test("syncs what is there, and nothing else", async () => {
      await disks.create("dk_a", sizeBytes);
      await disks.sync("dk_a");
      await disks.sync("dk_a");
      await expect(disks.sync("dk_none")).rejects.toMatchObject({ code: "storage_failed" });
    });

    test("a copy of nothing fails and makes nothing", async () => {
      await expect(disks.clone("dk_none", "dk_b")).rejects.toMatchObject({ name: "TorporError" });
      expect(await disks.exists("dk_b")).toBe(false);
      expect(await disks.list()).toEqual([]);
    });

    test("removes a disk, twice, and one that never was", async () => {
      await disks.create("dk_a", sizeBytes);
      await disks.remove("dk_a");
      await disks.remove("dk_a");
      await disks.remove("dk_none");
      expect(await disks.exists("dk_a")).toBe(false);
      expect(await disks.list()).toEqual([]);
      await disks.create("dk_a", sizeBytes);
      expect(await disks.exists("dk_a")).toBe(true);
    });
  });
}
