import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, inject, onTestFinished, test } from "vitest";
import { blocksFor } from "../documents/blocks.ts";

test.each(blocksFor(import.meta.url))("the program of $document in line $line prints what it says", async ({ text: block }) => {
  // Below the checkout, where the package is found by its name.
  const directory = mkdtempSync(fileURLToPath(new URL("reference-", import.meta.url)));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const needs = block.includes("import {") && block.includes("Torpor }") ? "" : 'import { Torpor } from "@torpor/sdk";\n';
  writeFileSync(path.join(directory, "program.ts"), `${needs}${block}`);
  const program = spawn(process.execPath, ["program.ts"], {
    cwd: directory,
    env: { ...process.env, TORPOR_SOCKET: inject("torporSocket"), NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(program, "exit");
  const [stdout, stderr, [code]] = await Promise.all([text(program.stdout), text(program.stderr), ended]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const promised = [...block.matchAll(/console\.log\(.*\); \/\/ (.+)$/gm)].map(([, line]) => line ?? "");
  expect(promised.length).toBeGreaterThan(0);
  expect(stdout.split("\n")).toEqual(expect.arrayContaining(promised));
});
