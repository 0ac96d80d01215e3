import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { blocksFor } from "../documents/blocks.ts";
import { readersShell } from "../documents/shell.ts";
import { quietPort } from "./harness/quiet-port.ts";
import { removeAll } from "./harness/remove-all.ts";
import { TestDaemon } from "./harness/test-daemon.ts";

const guides = [...Map.groupBy(blocksFor(import.meta.url), ({ document }) => document)].map(
  ([document, blocks]) => [document, blocks.map(({ text }) => text).join("\n")] as const,
);

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start({ args: ["--listen", "127.0.0.1:0"] });
});
afterAll(() => daemon[Symbol.asyncDispose]());
beforeEach(() => removeAll(daemon.client));

/** What each guide leads to, in its last words on stdout. */
const outcomes: Readonly<Record<string, RegExp>> = {
  "docs/guides/database.md": /^sb_\w+\n990\nshop\nshop\n10 orders\nsb_\w+\nsb_\w+\n10 orders in test-2\n[\s\S]*10 orders again\n/,
  "docs/guides/deploy.md": /no line is missing\n[\s\S]*kept\n[\s\S]*(worker|sleeper) paused\n(worker|sleeper) paused\n/,
  "docs/guides/ports.md": /(web\n){4}PORT .*\n8000 +public +http/,
  "docs/guides/services.md": /ready[\s\S]*stopped +\S+ +python3 -u -m http.server 8000\n$/,
  "docs/quickstart.md": /^sb_\w+\nhello from base\n[\s\S]* paused [\s\S]*\n\d+\n[\s\S]*1\nnot here\nbase [\s\S]*└── try-b/,
  "docs/guides/three-fixes.md": /C \/root\/add\.py +\(content\)[\s\S]*bug +running\n└── fix-2/,
  "docs/guides/wait-for-a-person.md": /yes\n$/,
  "docs/guides/wakes.md": /^sb_\w+\n(wk_\w+\n){3}/,
  "docs/guides/warm-base.md": /warm/,
};

test.each(guides)("every command of %s works, in its order", async (name, commands) => {
  if (commands.includes("torpor daemon stop")) onTestFinished(() => takeBack());
  // The guide's own port may be another's on this host.
  const port = String(await quietPort());
  expect(run(commands.replaceAll("18000", port))).toMatch(outcomes[name] ?? /never/);
});

/** A guide has put a daemon of its own in this one's place. */
async function takeBack(): Promise<void> {
  run("torpor daemon stop");
  await daemon.terminate();
  await daemon.launch();
}

/** As a reader types it: one shell, `torpor` in the PATH. */
function run(commands: string): string {
  const shell = readersShell({ TORPOR_SOCKET: daemon.socket, TORPOR_DATA: daemon.data });
  return execFileSync("bash", ["-euc", commands], { ...shell, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}
