import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { toured } from "../../sdks/typescript/src/testing/tour.ts";
import { readProgram } from "./harness/elf.ts";
import { leftBehind } from "./harness/host-state.ts";
import { greet, Installed, otherNodes, otherRuntimes } from "./harness/installed.ts";
import { testImage } from "./harness/test-image.ts";

const node = process.execPath;
const compiler = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
let installed: Installed;

beforeAll(() => {
  installed = Installed.make();
});

afterAll(() => installed.remove());

test("the programs of a sandbox are built for arm64 too, static", () => {
  const checkout = fileURLToPath(new URL("../..", import.meta.url));
  const env = { ...process.env, TORPOR_ARCHES: "arm64" };
  execFileSync(path.join(checkout, "scripts/bootstrap"), ["native"], { cwd: checkout, env, stdio: ["ignore", "ignore", "inherit"] });
  for (const name of ["torpor", "torpor-connect", "torpor-guest", "torpor-shim"])
    expect(readProgram(path.join(checkout, "native/bin/linux-arm64", name)), name).toEqual({ processor: "arm64", isStatic: true });
});

describe("the published packages, installed by npm in a clean folder", () => {
  test("run sandboxes with the engine and the programs that came along; the client works on the oldest and the newest Node.js, on Bun and on Deno", async () => {
    // Also when the test fails; after it has passed there is nothing to end.
    onTestFinished(() => installed.endDaemon(node));
    await installed.torpor(node, "daemon", "start");
    const { instance } = JSON.parse(readFileSync(path.join(installed.data, "instance.json"), "utf8")) as { instance: string };
    const { engine } = JSON.parse(await installed.torpor(node, "info", "--json")) as { engine: { source: string; path: string } };
    expect([engine.source, engine.path.startsWith(installed.data)]).toEqual(["package", true]);

    await installed.torpor(node, "image", "import", await testImage(), "debian");
    await installed.torpor(node, "create", "--name", "packed", "debian");
    const pid = await installed.torpor(node, "exec", "packed", "sh", "-c", "sleep 98765 >/dev/null 2>&1 & echo $!");
    await installed.torpor(node, "pause", "packed");
    await installed.torpor(node, "resume", "--memory", "require", "packed");
    expect(await installed.torpor(node, "exec", "packed", "cat", `/proc/${pid}/cmdline`)).toBe("sleep\u000098765\u0000");
    for (const runtime of otherRuntimes) expect(await installed.tour(runtime, "toured")).toEqual(toured);
    for (const other of otherNodes) expect(await greet(installed, other, "packed")).toBe(await installed.run(other, "--version"));

    await installed.endDaemon(node);
    expect(await leftBehind([installed.data, instance])).toEqual([]);
  });

  test("have types that a strict compiler takes, those of what they depend on too", async () => {
    writeFileSync(
      path.join(installed.app, "typed.ts"),
      `import { Torpor } from "@torpor/sdk";
       const sandbox = await new Torpor().get("packed");
       export const name: string = sandbox.name;
       // @ts-expect-error: it is no number
       export const wrong: number = sandbox.name;\n`,
    );
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--lib", "es2024,esnext.disposable"];
    await installed.run(node, compiler, ...options, "--types", "node", "typed.ts");
  });
});
