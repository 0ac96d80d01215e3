import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { CutProxy } from "./cut-proxy.ts";
import { patienceMs } from "./inside.ts";
import { hostNetwork, quietNetwork } from "./quiet-network.ts";
import { TestDaemon } from "./test-daemon.ts";

const images = fileURLToPath(new URL("../../../docs/images/", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A daemon, a network that can be cut, and a browser that is signed in. */
export class PageWorld implements AsyncDisposable {
  readonly daemon: TestDaemon;
  readonly proxy: CutProxy;
  /** Of the page, as the browser has it. */
  readonly url: string;
  readonly context: BrowserContext;
  /** What the pages complained of: nothing of it is expected but while the network is cut. */
  readonly complaints: string[] = [];
  readonly #browser: Browser;
  readonly #held: AsyncDisposableStack;

  /** The browser is in a network of its own, or for times of the network itself in the host's. */
  static async open(where: "apart" | "host" = "apart"): Promise<PageWorld> {
    await using held = new AsyncDisposableStack();
    const daemon = held.use(await TestDaemon.start({ args: ["--listen", "127.0.0.1:0"] }));
    const proxy = held.use(new CutProxy(await addressOf(daemon)));
    const network = held.use(await (where === "apart" ? quietNetwork : hostNetwork)(proxy.server));
    const browser = await chromium.launch({
      executablePath: network.programOf(process.env.TORPOR_CHROMIUM ?? "/usr/bin/chromium"),
      // The tests are root's, and Chromium has no sandbox for root.
      args: ["--no-sandbox", "--disable-dev-shm-usage"],
    });
    held.defer(() => browser.close());
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    return new PageWorld(held.move(), daemon, proxy, `http://127.0.0.1:${network.port}`, browser, context);
  }

  private constructor(
    held: AsyncDisposableStack,
    daemon: TestDaemon,
    proxy: CutProxy,
    url: string,
    browser: Browser,
    context: BrowserContext,
  ) {
    this.#held = held;
    this.daemon = daemon;
    this.proxy = proxy;
    this.url = url;
    this.#browser = browser;
    this.context = context;
  }

  /** A tab at a path of the page. */
  async tab(at: string): Promise<Page> {
    const page = await this.context.newPage();
    page.setDefaultTimeout(patienceMs);
    page.on("console", (message) => message.type() === "error" && this.complaints.push(`${message.text()} ${message.location().url}`));
    page.on("pageerror", (error) => this.complaints.push(error.message));
    await page.goto(this.url + at);
    return page;
  }

  /** What a call to a script gives, in a page of the daemon's own, with its policy, in a browser that nobody has signed in. */
  async runScript<T>(script: string, call: string): Promise<T> {
    const context = await this.#browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(this.url);
      // One that a test puts in place of an answer would be of no address, from which a browser lets nobody call this host.
      await page.evaluate(script);
      return await page.evaluate<T>(call);
    } finally {
      await context.close();
    }
  }

  /** A tab that the one-time link has signed in. */
  async signIn(): Promise<Page> {
    const { code } = await this.daemon.client.access.loginCode();
    const page = await this.tab(`/#code=${code}`);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    return page;
  }

  /** Ends the daemon as a crash would, and puts another one in its place. */
  async restartDaemon(): Promise<void> {
    await this.daemon.kill();
    await this.daemon.launch();
    this.proxy.retarget(await addressOf(this.daemon));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#held.disposeAsync();
  }
}

/** The lines of the terminal that are in sight, of one of the panes. */
export async function screenOf(page: Page, pane = 0): Promise<string[]> {
  const rows = await page.locator(".xterm-rows").nth(pane).locator("> div").allTextContents();
  return rows.map((row) => row.replaceAll("\u00a0", " ").trimEnd()).filter((row) => row !== "");
}

/** Resolves with the terminal's lines when they are as wanted. */
export async function screenUntil(page: Page, wanted: (lines: readonly string[]) => boolean, pane = 0): Promise<string[]> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const lines = await screenOf(page, pane).catch(() => []);
    if (wanted(lines)) return lines;
    if (performance.now() > end) throw new Error(`the terminal does not come to it:\n${lines.join("\n")}`);
    // The emulator paints once a frame.
    await page.evaluate("new Promise(requestAnimationFrame)");
  }
}

/** What examples/count.py has said: all numbers in sight, and its PID. */
export function countsOf(lines: readonly string[]): { readonly numbers: number[]; readonly last: number; readonly pid: number } {
  const said = lines.flatMap((line) => [...line.matchAll(/^(\d+) \(pid (\d+)\)$/g)]);
  const numbers = said.map(([, number]) => Number(number));
  return { numbers, last: numbers.at(-1) ?? 0, pid: Number(said.at(-1)?.[2] ?? 0) };
}

/** Breaches of WCAG 2 AA: labels, contrast, roles, order. The terminal's own inside is its library's. */
export async function breachesOf(page: Page, rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]): Promise<string[]> {
  // The policy of the page forbids scripts from elsewhere, not those of a debugger.
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>(`axe.run({ exclude: [".xterm"] }, { runOnly: ${JSON.stringify(rules)} })`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}

/** Pictures for the documents are made when they are asked for: TORPOR_PICTURES=1. */
export const wantsPictures = process.env.TORPOR_PICTURES !== undefined;

export async function picture(page: Page, name: string): Promise<void> {
  if (!wantsPictures) return;
  mkdirSync(images, { recursive: true });
  for (const message of await page.getByRole("button", { name: "Close this message" }).all()) await message.click();
  // What a click has focused is not what is to be shown.
  await page.mouse.move(0, 0);
  await page.screenshot({ path: path.join(images, `${name}.png`) });
}

async function addressOf(daemon: TestDaemon): Promise<string> {
  const [address] = (await daemon.client.info()).listening.addresses;
  if (address === undefined) throw new Error("torpord listens at no address");
  return address;
}
