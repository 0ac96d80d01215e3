import { testImage } from "./harness/test-image.ts";

/** What is made once a machine, from Debian's archive: before the tests, whose limits are not for that. */
// biome-ignore lint/style/noDefaultExport: vitest takes a global setup by its default export.
export default async function prepare(): Promise<void> {
  await testImage();
}
