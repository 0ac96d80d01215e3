import type { Page } from "playwright-core";
import { type PageWorld, picture } from "./page.ts";

/** Of a node with more on it than the tests need. */
export async function takePictures(world: PageWorld, page: Page): Promise<void> {
  const { client } = world.daemon;
  await client.create({ image: "debian", name: "reviewer", labels: { team: "docs", step: "2" }, ttlMs: 3_600_000 });
  await client.exec("reviewer", {
    argv: ["sh", "-c", "mkdir -p /root/notes && cd /root/notes && date >today.txt && cp /etc/os-release . && touch .seen"],
  });
  await client.fork("reviewer", { names: ["try-a", "try-b"] });
  await client.snapshot("reviewer", { name: "warm-base" });
  await client.create({ snapshot: "warm-base", name: "from-base" });
  await Promise.all(["reviewer", "try-a"].map((name) => client.pause(name)));
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`${world.url}/`);
  await page
    .getByRole("row", { name: /try-b/ })
    .getByRole("img", { name: /^Memory/ })
    .waitFor();
  await picture(page, "console");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "console-dark");
  await page.setViewportSize({ width: 360, height: 740 });
  await picture(page, "phone");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
  for (const [name, at, shown] of [
    ["family", "/family", "warm-base"],
    ["timeline", "/sandboxes/demo/timeline", "frozen for"],
    ["files", "/sandboxes/try-b/files", "root/"],
    ["snapshots", "/sandboxes/reviewer/snapshots", "warm-base"],
    ["settings", "/sandboxes/try-b/settings", "How long it lives"],
  ] as const) {
    await page.goto(world.url + at);
    await page.getByText(shown).first().waitFor();
    await picture(page, name);
  }
  await client.snapshots.remove("warm-base");
}
