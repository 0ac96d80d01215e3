import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { removeAll } from "./harness/remove-all.ts";
import { TestDaemon } from "./harness/test-daemon.ts";
import { torporMain } from "./harness/torpor-process.ts";

const documents = fileURLToPath(new URL("../../docs", import.meta.url));
const guides = ["quickstart.md", ...readdirSync(path.join(documents, "guides")).map((name) => `guides/${name}`)];

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start({ args: ["--listen", "127.0.0.1:0"] });
});
afterAll(() => daemon[Symbol.asyncDispose]());
beforeEach(() => removeAll(daemon.client));

/** What each guide leads to, in its last words on stdout. */
const outcomes: Readonly<Record<string, RegExp>> = {
  "guides/database.md": /^sb_\w+\n990\nshop\nshop\n10 orders\nsb_\w+\nsb_\w+\n10 orders in test-2\n[\s\S]*10 orders again\n/,
  "guides/deploy.md": /no line is missing\n[\s\S]*kept\n[\s\S]*(worker|sleeper) paused\n(worker|sleeper) paused\n/,
  "guides/ports.md": /(web\n){4}PORT .*\n8000 +public +http/,
  "guides/services.md": /ready[\s\S]*stopped +\S+ +python3 -u -m http.server 8000\n$/,
  "quickstart.md": /^sb_\w+\nhello from base\n[\s\S]* paused [\s\S]*\n\d+\n[\s\S]*1\nnot here\nbase [\s\S]*└── try-b/,
  "guides/three-fixes.md": /C \/root\/add\.py +\(content\)[\s\S]*bug +running\n└── fix-2/,
  "guides/wait-for-a-person.md": /yes\n$/,
  "guides/wakes.md": /^sb_\w+\n(wk_\w+\n){3}/,
  "guides/warm-base.md": /warm/,
};

test.each(guides)("every command of %s works, in its order", { timeout: 120_000 }, async (name) => {
  const blocks = blocksOf(readFileSync(path.join(documents, name), "utf8"));
  if (blocks.includes("torpor daemon stop")) onTestFinished(() => takeBack());
  expect(run(blocks)).toMatch(outcomes[name] ?? /never/);
});

/** A guide has put a daemon of its own in this one's place. */
async function takeBack(): Promise<void> {
  run("torpor daemon stop");
  await daemon.terminate();
  await daemon.launch();
}

function blocksOf(guide: string): string {
  return [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? "").join("\n");
}

/** As a reader types it: one shell, `torpor` in the PATH. */
function run(commands: string): string {
  const bin = mkdtempSync(path.join(tmpdir(), "torpor-guide-"));
  onTestFinished(() => rmSync(bin, { recursive: true }));
  writeFileSync(path.join(bin, "torpor"), `#!/bin/sh\nexec '${process.execPath}' '${torporMain}' "$@"\n`, { mode: 0o755 });
  return execFileSync("bash", ["-euc", commands], {
    cwd: bin,
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, TORPOR_SOCKET: daemon.socket, TORPOR_DATA: daemon.data, NO_COLOR: "1" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}
