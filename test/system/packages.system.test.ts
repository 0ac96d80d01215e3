import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { leftovers, readHostState } from "./harness/host-state.ts";
import { Installed, otherNode } from "./harness/installed.ts";
import { testImage } from "./harness/test-image.ts";

const pinned = process.execPath;
const checkout = fileURLToPath(new URL("../..", import.meta.url));
let installed: Installed;

beforeAll(() => {
  installed = Installed.make();
});

afterAll(() => installed.remove());

/** What the command prints; its words when it fails. */
async function told(node: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await installed.torpor(node, ...args);
  if (code !== 0) throw new Error(`torpor ${args.join(" ")} ended with ${code}: ${stderr}`);
  return stdout.trim();
}

/** A daemon is needed to remove the sandboxes. */
async function endDaemon(): Promise<void> {
  await told(pinned, "daemon", "start");
  await told(pinned, "daemon", "stop", "--remove-data");
}

describe("the published packages, installed by npm in a clean folder", () => {
  test("run sandboxes with the engine and the programs that came along, on the oldest, the pinned and the newest Node.js", {
    timeout: 300_000,
  }, async () => {
    // Also when the test fails; after it has passed there is nothing to end.
    onTestFinished(() => (existsSync(installed.data) ? endDaemon() : undefined));
    await told(pinned, "daemon", "start");
    const { instance } = JSON.parse(readFileSync(path.join(installed.data, "instance.json"), "utf8")) as { instance: string };
    const { engine } = JSON.parse(await told(pinned, "info", "--json")) as { engine: { source: string; path: string } };
    expect([engine.source, engine.path.startsWith(installed.data)]).toEqual(["package", true]);

    await told(pinned, "image", "import", await testImage(), "debian");
    await told(pinned, "create", "--name", "packed", "debian");
    const pid = await told(pinned, "exec", "packed", "sh", "-c", "sleep 98765 >/dev/null 2>&1 & echo $!");
    for (const node of [pinned, otherNode("22.18.0"), otherNode("26.12.1")]) {
      // Sandboxes go on while one daemon ends and the next begins.
      if (node !== pinned) await told(node, "daemon", "start");
      await told(node, "pause", "packed");
      await told(node, "resume", "--memory", "require", "packed");
      expect(await told(node, "exec", "packed", "cat", `/proc/${pid}/cmdline`)).toBe("sleep\u000098765\u0000");
      const smoke = await installed.program(
        node,
        `import { Torpor } from "@torpor/sdk";
         const torpor = new Torpor();
         const { stdout } = await (await torpor.get("packed")).exec("echo from inside to " + process.version);
         process.stdout.write(stdout);
         await torpor[Symbol.asyncDispose]();`,
      );
      const { stdout: version } = await installed.run(node, "--version");
      expect(smoke).toEqual({ code: 0, stderr: "", stdout: `from inside to ${version}` });
      await told(node, "daemon", "stop");
    }
    await endDaemon();
    expect(leftovers(readHostState([installed.data, instance]))).toEqual([]);
  });

  test("have types that a compiler takes", () => {
    const file = path.join(installed.directory, "app/typed.ts");
    writeFileSync(
      file,
      `import { Torpor } from "@torpor/sdk";
       const sandbox = await new Torpor().get("packed");
       export const name: string = sandbox.name;
       // @ts-expect-error: it is no number
       export const wrong: number = sandbox.name;\n`,
    );
    const options = [
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2024",
      "--lib",
      "es2024,esnext.disposable",
      "--types",
      "node",
    ];
    const compiler = path.join(checkout, "node_modules/typescript/bin/tsc");
    execFileSync(pinned, [compiler, ...options, "--typeRoots", path.join(checkout, "node_modules/@types"), "--ignoreConfig", file], {
      cwd: path.dirname(file),
      encoding: "utf8",
    });
  });
});
