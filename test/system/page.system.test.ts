import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle } from "../../sdks/typescript/src/testing/bundle.ts";
import { toured } from "../../sdks/typescript/src/testing/tour.ts";
import { eventually } from "./harness/inside.ts";
import { breachesOf, countsOf, PageWorld, picture, screenUntil, wantsPictures } from "./harness/page.ts";
import { seeEndings } from "./harness/page-endings.ts";
import { workWithFiles } from "./harness/page-files.ts";
import { takePictures } from "./harness/pictures.ts";

// One sandbox, `demo`, whose counter the tests follow from its start through all that may happen to it.
let world: PageWorld;
let page: Page;
beforeAll(async () => {
  world = await PageWorld.open();
});
afterAll(() => world?.[Symbol.asyncDispose]());

const firstLoadLimitBytes = 300_000;
const stateOf = async (name: string) => (await world.daemon.client.get(name)).state;
/** What came since the counter was started last: what is typed before that is not for it. */
const sinceCommand = (lines: readonly string[]) => {
  const at = lines.findLastIndex((line) => line.endsWith("# python3 count.py"));
  return at < 0 ? [] : lines.slice(at + 1);
};
/** No number is missing and none comes twice; a counter that was started anew begins at 1. */
const follows = (numbers: readonly number[]) =>
  numbers.every((number, i) => i === 0 || number === 1 || number === (numbers[i - 1] as number) + 1);

test("without a link the page asks who is there; a link signs in once, and the first load has at most 300 KB", async () => {
  let total = 0;
  world.context.on("response", (response) => {
    if (!response.url().includes("/v1/")) total += Number(response.headers()["content-length"] ?? firstLoadLimitBytes);
  });
  const stranger = await world.tab("/sandboxes/demo");
  await stranger.getByRole("heading", { name: "Who is there?" }).waitFor();
  expect(await breachesOf(stranger)).toEqual([]);
  // The answer to the question is a refusal, which a browser writes down.
  expect(world.complaints.splice(0).every((text) => text.includes("401"))).toBe(true);
  await stranger.close();
  page = await world.signIn();
  await page.getByRole("heading", { name: /Start something/ }).waitFor();
  expect(total).toBeGreaterThan(50_000);
  expect(total).toBeLessThan(firstLoadLimitBytes);
  expect(new URL(page.url()).hash).toBe("");
  await picture(page, "launch");
});

test("launch, count, suspend, close the tab, come back, resume: the count goes on in the same process", async () => {
  await page.getByLabel("Name", { exact: true }).fill("demo");
  await page.getByRole("button", { name: "Launch sandbox" }).click();
  await screenUntil(page, (lines) => lines.some((line) => line.endsWith("# python3 count.py")));
  await page.keyboard.press("Enter");
  const before = countsOf(await screenUntil(page, (lines) => countsOf(lines).last >= 5));
  await picture(page, "terminal");
  await page.getByRole("button", { name: "Suspend" }).click();
  const card = page.getByRole("region", { name: "demo sleeps" });
  await card.getByText("Memory released").waitFor();
  expect(await card.textContent()).toMatch(/\d\d:\d\d.*Memory released[\d.]+ MiB.*Checkpoint[\d.]+ MiB/);
  expect(await stateOf("demo")).toBe("paused");
  const asleep = countsOf(await screenUntil(page, (lines) => countsOf(lines).last >= before.last));
  // A clock that stands at zero is no picture.
  if (wantsPictures) await card.getByText("00:08").waitFor();
  await picture(page, "suspended");
  expect(await breachesOf(page)).toEqual([]);
  const address = new URL(page.url()).pathname;
  await page.close();

  page = await world.tab(address);
  await page.getByRole("region", { name: "demo sleeps" }).getByRole("button", { name: "Resume" }).click();
  const after = countsOf(await screenUntil(page, (lines) => countsOf(lines).last > asleep.last + 3));
  expect(after.pid).toBe(before.pid);
  // All that was said is there once and in order: what the closed tab had seen, and what came after it.
  expect(follows(after.numbers)).toBe(true);
});

test("suspended and resumed in the same tab it keeps what was on the screen, and the history behind the up arrow", async () => {
  await page.getByRole("button", { name: "Suspend" }).click();
  await page.getByRole("region", { name: "demo sleeps" }).getByRole("button", { name: "Resume" }).click();
  const { last } = countsOf(await screenUntil(page, (lines) => countsOf(lines).last > 0));
  expect(follows(countsOf(await screenUntil(page, (lines) => countsOf(lines).last > last + 2)).numbers)).toBe(true);
  await page.keyboard.press("Control+C");
  await screenUntil(page, (lines) => lines.at(-1)?.endsWith("#") === true);
  await page.keyboard.press("ArrowUp");
  await screenUntil(page, (lines) => lines.at(-1)?.endsWith("# python3 count.py") === true);
  await page.keyboard.press("Enter");
  await screenUntil(page, (lines) => countsOf(sinceCommand(lines)).last >= 2);
});

test("Y04, Y06: two tabs on one terminal see the same, each can type, and a program's question in a replay is not answered again", async () => {
  await page.keyboard.press("Control+C");
  // The terminal types its answer, seven bytes, which are read away: nothing is left that could be typed.
  await page.keyboard.type("stty -icanon -echo; printf '\\033[c'; head -c 7 >/dev/null; stty sane; echo asked''-once\n");
  await screenUntil(page, (lines) => lines.includes("asked-once"));
  const other = await world.tab(new URL(page.url()).pathname);
  await other.getByText("live", { exact: true }).waitFor();
  await screenUntil(other, (lines) => lines.includes("asked-once"));
  // Letters of more than one byte arrive as letters, though the image has no locale.
  await other.keyboard.type("echo from-the-other 日本語 é\n");
  await screenUntil(page, (lines) => lines.includes("from-the-other 日本語 é"));
  // The size is that of the tab in which somebody works.
  await other.setViewportSize({ width: 800, height: 600 });
  await other.evaluate("new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))");
  await other.keyboard.type("echo columns-$(stty size | cut -d' ' -f2)\n");
  const columns = (lines: readonly string[]) => Number(lines.findLast((line) => /^columns-\d+$/.test(line))?.split("-")[1] ?? 0);
  const narrow = columns(await screenUntil(other, (lines) => columns(lines) > 0));
  await page.bringToFront();
  await page.locator(".emulator").click();
  await page.keyboard.type("echo columns-$(stty size | cut -d' ' -f2)\n");
  await screenUntil(page, (lines) => columns(lines) > narrow);
  await page.keyboard.type("python3 count.py\n");
  await screenUntil(other, (lines) => countsOf(sinceCommand(lines)).last >= 2);
  await other.close();
});

test("Y09: a cut network is shown, what is typed meanwhile is typed once, and no byte is lost", async () => {
  world.proxy.cut();
  await page.getByText(/^reconnecting/).waitFor();
  await page.keyboard.press("Control+C");
  await page.keyboard.type("echo on''ce; python3 count.py\n");
  world.proxy.mend();
  const lines = await screenUntil(page, (shown) => shown.includes("once") && countsOf(splitAt(shown, "once")[1]).last >= 3);
  expect(lines.filter((line) => line === "once")).toHaveLength(1);
  const [first, second] = splitAt(lines, "once");
  expect([follows(countsOf(first).numbers), follows(countsOf(second).numbers), countsOf(second).numbers[0]]).toEqual([true, true, 1]);
  await page.getByText("live", { exact: true }).waitFor();
  world.complaints.length = 0;
});

test("a daemon that is killed and started again is found again, and the count has gone on", async () => {
  const before = countsOf(await screenUntil(page, (lines) => countsOf(lines).last >= 5));
  await world.restartDaemon();
  const after = countsOf(await screenUntil(page, (lines) => countsOf(lines).last > before.last + 10));
  expect([after.pid, follows(after.numbers)]).toEqual([before.pid, true]);
  world.complaints.length = 0;
});

test("a fork opens beside it, with the same count in the same process", async () => {
  const source = countsOf(await screenUntil(page, (lines) => countsOf(lines).last > 0));
  await page.getByRole("button", { name: "Fork" }).click();
  const goesOn = (lines: readonly string[]) => countsOf(lines).pid === source.pid && countsOf(lines).last > source.last + 3;
  const [beside, here] = [await screenUntil(page, goesOn, 1), await screenUntil(page, goesOn)];
  expect([follows(countsOf(beside).numbers), follows(countsOf(here).numbers)]).toEqual([true, true]);
  await picture(page, "fork");
  await page.getByRole("button", { name: /^Close the terminal of/ }).click();
  await page.locator(".pane").nth(1).waitFor({ state: "detached" });
  expect(await page.locator(".pane").count()).toBe(1);
});

test("the console: what each uses, search, a bulk pause with an outcome for each, and the family", async () => {
  await page.getByRole("link", { name: "Sandboxes", exact: true }).click();
  const row = page.getByRole("row", { name: /demo debian/ });
  await row.getByRole("img", { name: /^Memory: [\d.]+ MiB of 512 MiB$/ }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("nothing=such");
  await page.getByRole("heading", { name: "None of them matches" }).waitFor();
  await page.getByRole("button", { name: /^Show all/ }).click();
  await page.getByLabel("Choose all that are shown").check();
  await page.getByRole("region", { name: "All that are chosen" }).getByRole("button", { name: "Suspend" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Suspend 2 sandboxes" }).click();
  await page.getByText("2 of 2 suspended").waitFor();
  expect((await world.daemon.client.list()).map(({ state }) => state)).toEqual(["paused", "paused"]);
  await page.getByRole("link", { name: "Family" }).click();
  const branch = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "demo paused" }) });
  await branch
    .getByRole("list")
    .getByRole("link", { name: /paused/ })
    .waitFor();
  await branch.getByRole("link", { name: "demo paused" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "demo sleeps" }).getByRole("button", { name: "Resume" }).click();
  await screenUntil(page, (lines) => countsOf(lines).last > 0);
});

test("files: a directory, an upload, an edit, a download; a name that is markup is shown as it is; line ends and links", () =>
  workWithFiles(world, page));

test("the timeline, a snapshot, bounds in time, and labels", async () => {
  await page.getByRole("link", { name: "Timeline" }).click();
  const fork = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "fork" }) });
  expect(await fork.first().textContent()).toMatch(/freeze \d+ ms.*frozen for/);
  await page.getByRole("link", { name: "Snapshots" }).click();
  await page.getByRole("button", { name: "Take a snapshot" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("kept");
  await page.getByRole("dialog").getByRole("button", { name: "Take it" }).click();
  await page.getByRole("heading", { name: "kept" }).waitFor();
  await page.getByRole("button", { name: "Remove", exact: true }).last().click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "No snapshot yet" }).waitFor();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel(/^Runs for at most/).fill("8h");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("demo has its new bounds").waitFor();
  expect((await world.daemon.client.get("demo")).ttlMs).toBe(8 * 3_600_000);
  await page.getByRole("button", { name: "Add a label" }).click();
  await page.getByLabel("Name of label 1").fill("owner");
  await page.getByLabel("Value of owner").fill("me");
  await page.getByRole("button", { name: "Save labels" }).click();
  await page.getByText("demo has its new labels").waitFor();
  expect((await world.daemon.client.get("demo")).labels).toEqual({ owner: "me" });
  await page.getByRole("button", { name: "Take owner away" }).click();
  await page.getByRole("button", { name: "Save labels" }).click();
  await page.getByText("It has none.").waitFor();
  await page.getByRole("button", { name: "Save labels" }).and(page.locator(":disabled")).waitFor();
  expect((await world.daemon.client.get("demo")).labels).toEqual({});
});

test("a session that is kept running is restarted, stopped, started and removed", async () => {
  const { id } = await world.daemon.client.startSession("demo", { argv: ["sleep", "600"], supervise: { restart: "always" } });
  const supervision = async () => (await world.daemon.client.session("demo", id)).supervision;
  await page.getByRole("link", { name: "Sessions" }).click();
  const item = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "sleep 600" }) });
  await item.getByText("ready", { exact: true }).waitFor();
  await item
    .getByText(/is to be running · process 1, pid \d+ · 0 restarts of at most 5 within 1 min · no check whether it is ready/)
    .waitFor();
  await item.getByRole("button", { name: "Restart", exact: true }).click();
  await item.getByText(/process 2, pid \d+/).waitFor();
  await item.getByRole("button", { name: "Stop" }).click();
  await item.getByText(/is to be stopped/).waitFor();
  await eventually(supervision, (seen) => seen?.desired === "stopped" && seen.state === "stopped");
  await item.getByRole("button", { name: "Start", exact: true }).click();
  await item.getByText(/is to be running · process 3, pid \d+/).waitFor();
  await item.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await item.waitFor({ state: "detached" });
  await expect(supervision()).rejects.toMatchObject({ code: "session_not_found" });
});

test("a session without a terminal is shown as it is, and takes no keys", async () => {
  const { id } = await world.daemon.client.startSession("demo", { argv: ["sh", "-c", "printf 'first\nsecond\n'; exec sleep 600"] });
  await page.goto(`${world.url}/sandboxes/demo/terminal/${id}`);
  await screenUntil(page, (lines) => lines.join(" ") === "first second");
  await page.getByText("live", { exact: true }).waitFor();
  await page.locator(".emulator").click();
  await page.keyboard.type("typed\n");
  await page.getByRole("button", { name: /^bash \d+$/ }).click();
  expect(countsOf(await screenUntil(page, (lines) => countsOf(lines).last > 0)).last).toBeGreaterThan(0);
  expect((await world.daemon.client.session("demo", id)).end).toBeNull();
});

test("what was paused with its files only, stopped or removed says what is left of it, and what to do next", () => seeEndings(world, page));

test("every page keeps to WCAG AA in light and dark, and fits a phone", async () => {
  const paths = [
    "/docs/",
    "/docs/reference/cli.html",
    "/",
    "/family",
    ...["terminal", "sessions", "timeline", "files", "snapshots", "ports", "settings"].map((tab) => `/sandboxes/demo/${tab}`),
  ];
  const breaches: string[] = [];
  for (const at of paths) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(world.url + at);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.emulateMedia({ colorScheme: "light" });
    breaches.push(...(await breachesOf(page)).map((breach) => `${at}: ${breach}`));
    await page.emulateMedia({ colorScheme: "dark" });
    breaches.push(...(await breachesOf(page, ["cat.color"])).map((breach) => `${at} in the dark: ${breach}`));
    await page.setViewportSize({ width: 360, height: 740 });
    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    if (width > 360) breaches.push(`${at} is ${width} wide on a phone`);
  }
  expect(breaches).toEqual([]);
});

if (wantsPictures) test("pictures of a node with more on it", () => takePictures(world, page));

test("no page complained, and the keys are told", async () => {
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).getByText("Launch a sandbox").waitFor();
  expect(await breachesOf(page)).toEqual([]);
  expect(world.complaints).toEqual([]);
});

function splitAt(lines: readonly string[], mark: string): [string[], string[]] {
  const at = lines.indexOf(mark);
  return [lines.slice(0, at), lines.slice(at + 1)];
}

// Last: whoever looks at the list while a sandbox goes asks for one that is no more, which Chromium says.
test("the TypeScript SDK does in a page what it does elsewhere, by a token alone", async () => {
  const { secret } = await world.daemon.client.access.createToken({ name: "script" });
  const call = `sdk.tour(${JSON.stringify({ token: secret })}, "scripted")`;
  expect(await world.runScript(await bundle("tour.ts", "iife"), call)).toEqual(toured);
});
