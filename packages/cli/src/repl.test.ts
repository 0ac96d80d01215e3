import { expect, test } from "vitest";
import { serverWithBase } from "./testing/server-with-base.ts";
import { typeOn } from "./testing/terminal.ts";
import { torpor } from "./testing/torpor.ts";

const server = serverWithBase();

test("what is piped in is run where the run before left off; failures have their code", async () => {
  const pipe = (input: string, ...more: string[]) => torpor(server, ["repl", "base", ...more], { input });
  expect(await pipe("x = 41\n")).toMatchObject({ code: 0, text: "", stderr: "" });
  expect(await pipe("print('out')\nx + 1\n")).toMatchObject({ code: 0, text: "out\n42\n" });
  expect(await pipe("1 / 0\n")).toMatchObject({ code: 1, stderr: expect.stringContaining("ZeroDivisionError") });
  expect(await pipe("cd /usr\n", "sh")).toMatchObject({ code: 0 });
  expect(await pipe("pwd; (exit 3)\n", "sh")).toMatchObject({ code: 3, text: "/usr\n" });
  expect(await pipe("import time; time.sleep(60)", "--timeout", "300ms")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("KeyboardInterrupt"),
  });
});

test("on a terminal it asks line by line, and an empty line ends a block", async () => {
  const { code, text } = await typeOn(server, "torpor repl base", [
    { await: ">>> ", type: "for i in range(2):\r" },
    { await: "... ", type: "    print('n', i + 6)\r" },
    { await: "... ", type: "\r" },
    { await: "n 7", type: "\x04" },
  ]);
  expect(text).toContain("n 6");
  expect(code).toBe(0);
});

test("Ctrl-C at the prompt drops what was typed, all lines of it, and the next is whole by itself", async () => {
  const { code, text } = await typeOn(server, "torpor repl base", [
    { await: ">>> ", type: "for i in range(2):\r" },
    { await: "... ", type: "    print('never')\x03" },
    { await: "^C", type: "" },
    { await: ">>> ", type: "print('wrong', \x03" },
    { await: "^C", type: "" },
    { await: ">>> ", type: "print('r' + 'ight')\r" },
    { await: "right", type: "\x04" },
  ]);
  expect(text).not.toMatch(/^never|SyntaxError/m);
  expect(code).toBe(0);
});

test("Ctrl-C during a run interrupts it, and its variables are kept", async () => {
  const { code, text } = await typeOn(server, "torpor repl base", [
    { await: ">>> ", type: "kept = 6\r" },
    { await: ">>> ", type: "import time; print('be' + 'gun'); time.sleep(60)\r" },
    { await: "begun", type: "\x03" },
    { await: "KeyboardInterrupt", type: "" },
    { await: ">>> ", type: "kept * 7\r" },
    { await: "42", type: "\x04" },
  ]);
  expect(text).not.toContain("NameError");
  expect(code).toBe(0);
});
