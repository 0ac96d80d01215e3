import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { PageWorld } from "./page.ts";

/** Browses, makes, changes, up- and downloads on the files' page of `demo`, which is one click away. */
export async function workWithFiles(world: PageWorld, page: Page): Promise<void> {
  await page.getByRole("link", { name: "Files" }).click();
  await page.getByRole("button", { name: "New directory" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("made");
  await page.getByRole("dialog").getByRole("button", { name: "Make it" }).click();
  await page.getByRole("button", { name: "made/" }).click();
  const name = "<img src=x onerror=alert(1)>.txt";
  await page.getByLabel("Files to upload").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from("first\n") });
  await page.getByRole("button", { name, exact: true }).click();
  await page.getByLabel(`Text of ${name}`).fill("second\n");
  await page.keyboard.press("Control+S");
  await page.getByText(`${name} is saved`).waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: `Download ${name}` }).click()]);
  expect(String(readFileSync(await download.path()))).toBe("second\n");
  await page.getByLabel("Files to upload").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from("third\n") });
  await page
    .getByRole("dialog", { name: `Replace ${name}?` })
    .getByRole("button", { name: "Keep" })
    .click();
  await page.getByRole("button", { name: `Delete ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("Nothing is here.").waitFor();
  const said = async (script: string) => {
    const { stdout } = await world.daemon.client.exec("demo", { argv: ["sh", "-c", `cd /made && ${script}`] });
    return Buffer.from(stdout, "base64").toString();
  };
  await said("touch $(printf 'odd\\377') && ln -s /usr/share link && printf 'a\\r\\nb\\r\\n' >lines.txt");
  await page.getByRole("button", { name: "/", exact: true }).click();
  await page.getByRole("button", { name: "made/" }).click();
  // What it looks like is text of bare line feeds; what it is stays.
  await page.getByRole("button", { name: "lines.txt", exact: true }).click();
  await page.getByLabel("Text of lines.txt").fill("a\nc\n");
  await page.keyboard.press("Control+S");
  await page.getByText("lines.txt is saved").waitFor();
  expect(await said("cat lines.txt")).toBe("a\r\nc\r\n");
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("button", { name: "link → /usr/share" }).click();
  await page.getByRole("button", { name: "doc/" }).waitFor();
  // The address has the directory: it is there after a reload, and the way back leads to the one before.
  await page.reload();
  await page.getByRole("button", { name: "doc/" }).waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "lines.txt", exact: true }).waitFor();
  const odd = page.getByRole("row").filter({ hasText: "Its name is not UTF-8" });
  await odd.getByText("odd").waitFor();
  expect(await odd.getByRole("button").or(odd.getByRole("link")).count()).toBe(0);
}
