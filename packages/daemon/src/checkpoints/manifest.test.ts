import type { CheckpointManifest } from "@torpor/core";
import { expect, test } from "vitest";
import { parseManifest, renderManifest } from "./manifest.ts";

const manifest: CheckpointManifest = {
  version: 1,
  id: "ck_one",
  sandboxId: "sb_one",
  diskId: "dk_one",
  generation: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
  engine: { name: "gvisor", version: "1", sha256: "aa" },
  guest: { sha256: "bb" },
  image: { digest: "sha256:cc" },
  cpu: { architecture: "x86_64", features: ["sse"] },
  restore: { flags: ["--a"], spec: {} },
  parts: [{ name: "pages.img", sizeBytes: 5, hash: "dd" }],
};

test("a manifest is read as it was written, and is JSON", () => {
  const text = renderManifest(manifest);
  expect(parseManifest(text)).toEqual(manifest);
  expect(JSON.parse(text)).toMatchObject(manifest);
});

test("any byte of it that is another is found", () => {
  const bytes = Buffer.from(renderManifest(manifest));
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => parseManifest(changed.toString("utf8")), `byte ${at}`).toThrow();
  }
  expect(() => parseManifest(bytes.subarray(0, -1).toString("utf8"))).toThrow();
});
