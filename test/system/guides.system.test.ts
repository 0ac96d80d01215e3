import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { removeAll } from "./harness/remove-all.ts";
import { TestDaemon } from "./harness/test-daemon.ts";
import { torporMain } from "./harness/torpor-process.ts";

const guides = fileURLToPath(new URL("../../docs/guides", import.meta.url));

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start({ args: ["--listen", "127.0.0.1:0"] });
});
afterAll(() => daemon[Symbol.asyncDispose]());
beforeEach(() => removeAll(daemon.client));

/** What each guide leads to, in its last words on stdout. */
const outcomes: Readonly<Record<string, RegExp>> = {
  "ports.md": /(web\n){4}PORT .*\n8000 +public +http/,
  "services.md": /ready[\s\S]*stopped +\S+ +python3 -u -m http.server 8000\n$/,
  "three-fixes.md": /C \/root\/add\.py +\(content\)[\s\S]*bug +running\n└── fix-2/,
  "wait-for-a-person.md": /yes\n$/,
  "wakes.md": /^sb_\w+\n(wk_\w+\n){3}/,
  "warm-base.md": /warm/,
};

test.each(readdirSync(guides))("every command of the guide %s works, in its order", { timeout: 120_000 }, (name) => {
  const stdout = run(blocksOf(readFileSync(path.join(guides, name), "utf8")));
  expect(stdout).toMatch(outcomes[name] ?? /never/);
});

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
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, TORPOR_SOCKET: daemon.socket, NO_COLOR: "1" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}
