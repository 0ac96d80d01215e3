import { expect, test } from "vitest";
import { temporaryImages } from "./temporary-images.ts";

test("packages that Debian has not are named, and a cancelled build leaves nothing", async () => {
  await using it = await temporaryImages();
  await expect(it.images.build({ reference: "x", packages: ["no-such-package-anywhere"] }, () => {})).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("no-such-package-anywhere"),
  });
  const controller = new AbortController();
  const onProgress = ({ text }: { text: string }) => text.includes("apt-get update") && controller.abort();
  await expect(it.images.build({ reference: "x", packages: [] }, onProgress, controller.signal)).rejects.toThrow();
  expect(await it.leftovers()).toEqual([]);
  expect(await it.images.list()).toEqual([]);
});
