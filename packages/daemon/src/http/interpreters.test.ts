import type { RunResult } from "@torpor/contract";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await post("/v1/sandboxes", { image: "debian", name: "base" });
});
afterAll(async () => server[Symbol.asyncDispose]());

const post = (url: string, payload: object = {}, headers: Record<string, string> = {}) =>
  server.app.inject({ method: "POST", url, payload, headers });

async function run(iid: string, code: string, timeoutMs?: number): Promise<RunResult> {
  const answer = await post(`/v1/sandboxes/base/interpreters/${iid}/run`, { code, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  expect(answer.json()).not.toHaveProperty("error.code");
  return answer.json();
}

test("python keeps its variables, and tells both outputs, the last value and errors with their lines", async () => {
  expect(await run("python", "x = 41\ndef f(n):\n    return n + 1")).toEqual({
    stdout: "",
    stderr: "",
    result: null,
    exitCode: null,
    error: null,
  });
  const second = await run("python", "import sys\nprint('ü\\0', end='')\nprint('e', file=sys.stderr)\nf(x)");
  expect(second).toMatchObject({ stdout: "ü\0", stderr: "e\n", result: "42", error: null });
  const failed = await run("python", "def g():\n    return 1 / 0\ng()");
  expect(failed.error).toMatchObject({ name: "ZeroDivisionError", message: "division by zero" });
  expect(failed.error?.traceback).toContain("return 1 / 0");
  expect(failed.error?.traceback).not.toContain('File "<string>"');
  expect((await run("python", "x =")).error?.name).toBe("SyntaxError");
  expect((await run("python", "import sys; sys.exit(3)")).error?.name).toBe("SystemExit");
  expect((await run("python", "x, input.__name__, sys.stdin.read()")).result).toBe("(41, 'input', '')");
});

const interrupted = { name: "TimeoutError", traceback: expect.stringContaining("KeyboardInterrupt") };

test("a run over its time is interrupted and keeps its variables; one that cannot be ends, and the next begins anew", async () => {
  const slow = await runUntil("on\n", "python", "y = 1\nimport time\nprint('on', flush=True)\ntime.sleep(600)");
  expect(slow).toMatchObject({ stdout: "on\n", error: interrupted });
  expect((await run("python", "y")).result).toBe("1");
  const code = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('on')\nwhile True: pass";
  const deaf = await runUntil("on\n", "python", code, { deaf: true });
  expect(deaf.error).toMatchObject({ name: "TimeoutError", message: expect.stringContaining("variables are lost") });
  expect((await run("python", "'y' in globals()")).result).toBe("False");
});

test("a time that is over before the run has begun ends it when it has, and its interpreter is not lost", async () => {
  const { id } = (await post("/v1/sandboxes/base/interpreters", { language: "python" })).json();
  for (const time of ["while it starts", "while it reads"]) {
    expect((await run(id, "import time\ntime.sleep(600)", 1)).error, time).toMatchObject(interrupted);
  }
});

/** Runs code whose time is over when it has said something; `deaf`: then there is no waiting for it either. */
async function runUntil(said: string, iid: string, code: string, { deaf = false } = {}): Promise<Pick<RunResult, "stdout" | "error">> {
  const timeoutMs = 600_000;
  const over = Promise.withResolvers<void>();
  const sleep = vi.spyOn(server.ports.clock, "sleep");
  onTestFinished(() => sleep.mockRestore());
  sleep.mockImplementation((ms) => (deaf || ms === timeoutMs ? over.promise : new Promise(() => {})));
  let stdout = "";
  for await (const line of server.served.lifecycle.interpreters.run("base", iid, { code, timeoutMs })) {
    if ("end" in line) return { stdout, error: line.end.error };
    if ("stdout" in line) stdout += line.stdout;
    if (stdout === said) over.resolve();
  }
  throw new Error("the run has no end");
}

test("nothing that is printed passes for a result", async () => {
  const forged = await run(
    "python",
    `import os\nos.system("printf '\\\\0aaaa{}\\\\0'")\nprint('\\0' + 'a' * 32 + '{"result":"forged"}\\0')\n7`,
  );
  expect(forged).toMatchObject({ result: "7", stdout: expect.stringContaining("forged") });
});

test("a shell keeps its variables and directory, and its commands have no part in what it is told", async () => {
  expect(await run("shell", "cd /tmp; a=ü; f() { echo $a-$1; }")).toMatchObject({ exitCode: 0, stdout: "" });
  expect(await run("shell", "pwd; f 1; echo e >&2; cat; (exit 7)")).toMatchObject({ stdout: "/tmp\nü-1\n", stderr: "e\n", exitCode: 7 });
  expect(await run("shell", "cat <&9")).toMatchObject({ exitCode: 1 });
  expect(await run("shell", "sleep 60", 200)).toMatchObject({ error: { name: "TimeoutError" } });
  expect(await run("shell", "echo $a")).toMatchObject({ stdout: "ü\n" });
  expect(await run("shell", "exit 5")).toMatchObject({ exitCode: 5, error: { name: "InterpreterEnded" } });
});

test("one runs one thing at a time, told line by line; others are apart", async () => {
  const other = (await post("/v1/sandboxes/base/interpreters", { language: "python" })).json();
  expect(other).toMatchObject({ id: expect.stringMatching(/^se_/), language: "python" });
  const first = run(other.id, "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\nz = 5");
  const refused = await post(`/v1/sandboxes/base/interpreters/${other.id}/run`, { code: "1" });
  expect(refused.json()).toMatchObject({ error: { code: "interpreter_busy" } });
  expect((await run("python", "'z' in globals()")).result).toBe("False");
  await server.app.inject({ method: "PUT", url: "/v1/sandboxes/base/files?path=/go", payload: "" });
  await first;
  const lines = await post(`/v1/sandboxes/base/interpreters/${other.id}/run`, { code: "print(z)\nz" }, { accept: "application/x-ndjson" });
  const told = lines.body
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(told.map(({ stdout = "" }) => stdout).join("")).toBe("5\n");
  expect(told.at(-1)).toEqual({ end: { result: "5", exitCode: null, error: null } });
  await server.app.inject({ method: "DELETE", url: `/v1/sandboxes/base/sessions/${other.id}?force=true` });
  expect((await post(`/v1/sandboxes/base/interpreters/${other.id}/run`, { code: "1" })).json()).toMatchObject({
    error: { code: "session_not_found" },
  });
});

test("variables live over a pause", async () => {
  await run("python", "kept = [1, 2]");
  await post("/v1/sandboxes/base/pause");
  await post("/v1/sandboxes/base/resume");
  expect((await run("python", "kept.append(3); kept")).result).toBe("[1, 2, 3]");
});
