import type { Locator, Page } from "playwright-core";
import { PageWorld, screenUntil } from "../test/system/harness/page.ts";
import type { Benchmark, NamedMeasurement } from "./lib/benchmark.ts";
import { median } from "./lib/median.ts";
import { timed } from "./lib/timed.ts";

/** What a click may take on top of the operation that it begins. */
const overheadMs = 150;

/** In a browser, beside the same operations by the client; each in turn, so that both meet the same machine. */
export const benchmark: Benchmark = {
  name: "page: suspend and resume",
  unit: "ms",
  bound: 1,
  async run(context) {
    const world = await PageWorld.open();
    context.onEnd(() => world[Symbol.asyncDispose]());
    const page = await world.signIn();
    const { client } = world.daemon;
    await client.create({ image: "debian", name: "demo" });
    await page.goto(`${world.proxy.url}/sandboxes/demo`);
    await page.getByRole("button", { name: "Open a terminal" }).click();
    await screenUntil(page, (lines) => lines.at(-1)?.endsWith("#") === true);
    return compare(page, client, context.runs);
  },
};

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
