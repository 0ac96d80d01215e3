import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { CommandError, run } from "./spawn.ts";

test("arguments arrive as they are, without a shell", async () => {
  expect((await run("printf", ["%s|", "a b", "$(id)", "'"])).stdout).toBe("a b|$(id)|'|");
});

test("a failure names the program, its exit code and its last words", async () => {
  await expect(run("sh", ["-c", "echo first >&2; echo last >&2; exit 3"])).rejects.toMatchObject({
    ending: "exit",
    exitCode: 3,
    message: expect.stringMatching(/sh failed with exit code 3: first\nlast/),
  });
});

test("a program that isn't there is named with its package", async () => {
  await expect(run("torpor-no-such-program", [])).rejects.toMatchObject({
    code: "storage_failed",
    hint: expect.stringContaining("apt-get install torpor-no-such-program"),
  });
});

test("an abort ends the program and its children", async () => {
  const controller = new AbortController();
  const child = Promise.withResolvers<number>();
  const running = run("sh", ["-c", "sleep 600 & echo $!; wait"], {
    signal: controller.signal,
    onLine: (line) => child.resolve(Number(line)),
  });
  const pid = await child.promise;
  controller.abort();
  await expect(running).rejects.toMatchObject({ ending: "aborted" });
  // Gone, or dead and not yet reaped by whoever inherited it; its files are closed a moment earlier.
  await expect.poll(() => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "gone")).toMatch(/^gone$|\) [ZX] /);
});

test("the time limit is the first cause, also if the program then ends well", async () => {
  await expect(run("sh", ["-c", "trap 'exit 0' TERM; sleep 600 & wait"], { timeLimitMs: 50 })).rejects.toMatchObject({ ending: "timeout" });
});

test("lines come whole, and input is read to its end", async () => {
  const lines: string[] = [];
  await run("cat", [], { input: "one\ntwo\r\nthree\n", onLine: (line) => lines.push(line) });
  expect(lines).toEqual(["one", "two", "three"]);
});

test("an aborted signal starts nothing", async () => {
  await expect(run("true", [], { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(CommandError);
});
