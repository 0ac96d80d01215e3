import type { Page } from "playwright-core";
import { expect } from "vitest";
import { type PageWorld, picture } from "./page.ts";

/** Takes memory and CPU by and by, so that there is something to plot. */
const work = [
  "import time",
  "kept = []",
  "while True:",
  "    kept = kept[-9:] + [bytearray(16 << 20)]",
  "    end = time.monotonic() + 0.4 * (1 + len(kept) % 4)",
  "    while time.monotonic() < end: pass",
  "    time.sleep(1.5)",
].join("\n");

/** So many looks at the figures make a line that is one: half a minute. */
const looks = 15;

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
  await client.startSession("try-b", {
    argv: ["python3", "-m", "http.server", "8000"],
    supervise: { restart: "always", readiness: { port: 8000 } },
  });
  for (const name of ["try-b", "from-base"]) await client.startSession(name, { argv: ["python3", "-c", work] });
  await Promise.all(["reviewer", "try-a"].map((name) => client.pause(name)));
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`${world.url}/`);
  const line = page.getByRole("row", { name: /try-b/ }).locator(".plot path:last-child").first();
  const seen = async () => (await line.getAttribute("d"))?.split("L").length;
  await expect.poll(seen, { timeout: 120_000, interval: 500 }).toBeGreaterThanOrEqual(looks);
  await picture(page, "console");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "console-dark");
  await page.setViewportSize({ width: 360, height: 740 });
  await picture(page, "phone");
  await page.goto(`${world.url}/sandboxes/reviewer`);
  await page.getByText("Memory released").waitFor();
  await picture(page, "phone-suspended");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
  for (const [name, at, shown] of [
    ["family", "/family", "warm-base"],
    ["sessions", "/sandboxes/try-b/sessions", "ready, since port 8000 is open"],
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
