import type { Page } from "playwright-core";
import { type PageWorld, screenUntil } from "./page.ts";

/** A sandbox that is paused, stopped and removed: each time the page says what is left, and leads on. */
export async function seeEndings(world: PageWorld, page: Page): Promise<void> {
  const { client } = world.daemon;
  await client.create({ image: "debian", name: "plain" });
  await client.snapshot("plain", { name: "alone", memory: false });
  await client.pause("plain", { memory: false });
  await page.goto(`${world.url}/sandboxes/plain`);
  const card = page.getByRole("region", { name: "plain sleeps" });
  await card.getByText(/^Its processes have ended; its files are as they were/).waitFor();
  await card.getByRole("button", { name: "Resume" }).click();
  await page.getByText("plain started fresh from its files").waitFor();
  await page.getByRole("button", { name: "Open a terminal" }).click();
  await screenUntil(page, (lines) => lines.at(-1)?.endsWith("#") === true);
  await client.stop("plain", { graceMs: 0 });
  await page.getByRole("region", { name: "plain does not run" }).getByRole("button", { name: "Start" }).click();
  await page.getByText(/^This terminal (has ended|is not to be had)/).waitFor();
  await page.getByRole("button", { name: "Open a new one" }).click();
  await page.getByText("live", { exact: true }).waitFor();
  await page.keyboard.type("echo anew\n");
  await screenUntil(page, (lines) => lines.includes("anew"));
  await client.fork("plain", { names: ["heir"] });
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "Sandboxes" }).waitFor();
  await page.goto(`${world.url}/family`);
  await page.getByRole("button", { name: /alone/ }).click();
  await page.getByLabel("Name of a new sandbox from it").fill("reborn");
  await page.getByRole("button", { name: "New sandbox from it" }).click();
  await page.getByRole("heading", { name: "reborn", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Family" }).click();
  await page.getByRole("link", { name: /^plain gone/ }).click();
  await page.getByRole("heading", { name: "plain was removed" }).waitFor();
  await page.getByRole("heading", { name: "fork" }).waitFor();
  // Who may look at a sandbox, and not into it, is told so where the terminal would be.
  const error = { code: "forbidden", message: "the token has not the scope exec", hint: "make one that has it" };
  await page.route("**/sessions", (route) => route.fulfill({ status: 403, json: { error } }));
  await page.goto(`${world.url}/sandboxes/heir`);
  await page.getByText("the token has not the scope exec — make one that has it").waitFor();
  await page.unroute("**/sessions");
  // Whoever looks at a list while a sandbox goes may ask for one that is no more, which Chromium says.
  await page.goto("about:blank");
  await Promise.all([...["reborn", "heir"].map((name) => client.remove(name, { force: true })), client.snapshots.remove("alone")]);
  world.complaints.length = 0;
}
