import type { Locator, Page } from "playwright-core";
import { PageWorld, screenUntil } from "../test/system/harness/page.ts";
import { Times } from "../test/system/harness/times.ts";
import { openBarePage } from "./floor/bare-page.ts";
import type { Benchmark, NamedMeasurement } from "./lib/benchmark.ts";
import { median } from "./lib/median.ts";
import { timed } from "./lib/timed.ts";

/** What a click may take on top of the operation that it begins. */
const overheadMs = 150;

/** What a key may take on top of one that the same browser sends away, has back at once, and draws; at the 99th percentile in all. */
const echoMs = { p50: 5, p99: 30 };

/** In a browser, beside the same operations by the client; each in turn, so that both meet the same machine. */
const suspending: Benchmark = {
  name: "page: suspend and resume",
  unit: "ms",
  bound: 1,
  async run(context) {
    const world = await PageWorld.open();
    context.onEnd(() => world[Symbol.asyncDispose]());
    const page = await world.signIn();
    const { client } = world.daemon;
    await client.create({ image: "debian", name: "demo" });
    await page.goto(`${world.url}/sandboxes/demo`);
    await page.getByRole("button", { name: "Open a terminal" }).click();
    await screenUntil(page, (lines) => lines.at(-1)?.endsWith("#") === true);
    return compare(page, client, context.runs);
  },
};

/** As somebody at the page sees it: from the key's event to the echo in the document. */
const typing: Benchmark = {
  name: "page: a key",
  unit: "ms",
  bound: 1,
  async run(context) {
    const world = await PageWorld.open("host");
    context.onEnd(() => world[Symbol.asyncDispose]());
    const { client } = world.daemon;
    const bare = await openBarePage();
    context.onEnd(async () => bare[Symbol.asyncDispose]());
    await client.create({ image: "debian", name: "demo" });
    const { id } = await client.startSession("demo", { argv: ["cat"], stdin: true, terminal: { rows: 24, columns: 80 } });
    const page = await world.signIn();
    // What moves by itself is part of what is measured.
    await page.emulateMedia({ reducedMotion: "no-preference" });
    // Not over the proxy, which a browser elsewhere does not have: the cookie is the host's.
    const [address] = (await client.info()).listening.addresses;
    await page.goto(`${address}/sandboxes/demo/terminal/${id}`);
    await page.getByText("live", { exact: true }).waitFor();
    await page.locator(".emulator").click();
    const keys = Math.max(200, context.runs * 20);
    const ours = await typeInto(page, ".xterm-rows", keys);
    await page.goto(bare.url);
    await page.evaluate('document.title === "open" || new Promise((resolve) => { socket.addEventListener("open", resolve); })');
    const floor = await typeInto(page, "pre", keys);
    return [
      {
        name: `a key to its echo on the page, p50, of one without a terminal + ${echoMs.p50} ms`,
        value: ours.at(0.5),
        floor: floor.at(0.5) + echoMs.p50,
      },
      { name: `a key to its echo on the page, p99, of ${echoMs.p99} ms`, value: ours.at(0.99), floor: echoMs.p99 },
    ];
  },
};

export const benchmarks = [suspending, typing];

/** At the pace of somebody who types fast; each key waits for the echo of the one before. Times are taken in the page, by the clock of its events. */
async function typeInto(page: Page, rows: string, count: number): Promise<Times> {
  const times = new Times();
  await page.evaluate(watchKeys(rows));
  for (let key = 0; key < count; key++) {
    // At no fixed point between two frames.
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 40 + Math.random() * 40))");
    await page.keyboard.press("x");
    times.add(await page.evaluate<number>(`globalThis.echoOf(${key})`));
  }
  return times;
}

/**
 * The echo is there when the rows have as many x as keys were pressed: a session of cat shows nothing else. Nothing is drawn or asked for at the key:
 * Chromium gives a page whose key asks for a frame nothing to do before that frame, neither what comes from the network.
 */
const watchKeys = (selector: string) => `(() => {
  const rows = document.querySelector("${selector}");
  const [pressed, echoes] = [[], []];
  let told = () => {};
  addEventListener("keydown", ({ timeStamp }) => pressed.push(timeStamp), { capture: true });
  new MutationObserver(() => {
    const shown = Math.min(rows.textContent.split("x").length - 1, pressed.length);
    while (echoes.length < shown) echoes.push(performance.now() - pressed[echoes.length]);
    told();
  }).observe(rows, { childList: true, characterData: true, subtree: true });
  globalThis.echoOf = (key) => new Promise((resolve) => {
    told = () => echoes.length > key && resolve(echoes[key]);
    told();
  });
})()`;

async function compare(page: Page, client: PageWorld["daemon"]["client"], runs: number): Promise<NamedMeasurement[]> {
  const times: Record<"suspend" | "pause" | "wake" | "resume", number[]> = { suspend: [], pause: [], wake: [], resume: [] };
  const resumeButton = page.getByRole("region", { name: "demo sleeps" }).getByRole("button", { name: "Resume" });
  for (let run = 0; run < runs; run++) {
    const released = '[...document.querySelectorAll("dt")].some(({ textContent }) => textContent === "Memory released")';
    times.suspend.push(await clickUntil(page, page.getByRole("button", { name: "Suspend" }), released));
    // Pressed at once: what is typed before there is a connection is typed when there is one.
    const echoed = `document.querySelector(".xterm-rows").textContent.includes("${"x".repeat(run + 1)}")`;
    times.wake.push(await clickUntil(page, resumeButton, echoed, "x"));
    times.pause.push((await timed(() => client.pause("demo"))).ms);
    times.resume.push(
      (
        await timed(async () => {
          await client.resume("demo");
          await client.exec("demo", { argv: ["true"] });
        })
      ).ms,
    );
    await page.getByText("live", { exact: true }).waitFor();
  }
  return [
    {
      name: `suspend: click to "released", of a pause + ${overheadMs} ms`,
      value: median(times.suspend),
      floor: median(times.pause) + overheadMs,
    },
    {
      name: `resume: click to the first echo of a key, of a resume and a command + ${overheadMs} ms`,
      value: median(times.wake),
      floor: median(times.resume) + overheadMs,
    },
  ];
}

/** Milliseconds from the click, as the page sees it, to the first frame in which it is as wanted: what steers the browser takes no part. */
async function clickUntil(page: Page, button: Locator, wanted: string, key?: string): Promise<number> {
  await page.evaluate("addEventListener('click', () => { globalThis.clickedAt = performance.now(); }, { capture: true, once: true })");
  await button.click();
  if (key !== undefined) {
    await page.evaluate(untilInPage('document.activeElement.matches(".xterm-helper-textarea")'));
    await page.keyboard.press(key);
  }
  return page.evaluate<number>(untilInPage(wanted));
}

/** Looks at each frame; the page's policy has no room for Playwright's own way. */
function untilInPage(wanted: string): string {
  return `new Promise((resolve) => {
    const look = () => (${wanted} ? resolve(performance.now() - globalThis.clickedAt) : requestAnimationFrame(look));
    look();
  })`;
}
