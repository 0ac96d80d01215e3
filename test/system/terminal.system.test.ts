import { expect, inject, test } from "vitest";
import { cycle } from "./harness/cycle.ts";
import { Follower } from "./harness/follow.ts";
import { HostTerminal } from "./harness/host-terminal.ts";
import { atOnceMs, eventually, output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";
import { torporMain } from "./harness/torpor-process.ts";

const client = sharedClient();
const size = { rows: 40, columns: 120 };

test("a bash keeps variables, directory, history and a running child over pauses", async () => {
  const name = await startSandbox(client);
  let shell = new Follower(await client.stream(name, { argv: ["bash", "--norc"], stdin: true, terminal: size, env: { PS1: "ready> " } }));
  await shell.until(({ text }) => text.includes("ready> "));
  const ask = (line: string, answer: RegExp) => shell.say(`${line}\n`, (text) => answer.test(text) && text.endsWith("ready> "));
  await ask("X=kept; cd /usr/share; sleep 4321 & f() { echo function-$1; }; echo set$((1+1))", /set2/);
  const [, job] = /job-(\d+)/.exec(await ask("echo job-$!", /job-\d+\r/)) ?? [];
  const { pid, sessionId } = shell;
  for (let i = 0; i < 3; i++) {
    await client.pause(name);
    await shell.finished;
    expect(shell.end?.reason).toBe("paused");
    await client.resume(name, { memory: "require" });
    shell = new Follower(await client.attach(name, sessionId, { after: shell.lastSeq }));
    expect(await ask("echo $X $PWD $$ $(f here); stty size", /kept .*\r\n/)).toContain(
      `kept /usr/share ${pid} function-here\r\n40 120\r\n`,
    );
    expect(await ask("echo job-$(jobs -p)", /job-\d+\r/)).toContain(`job-${job}\r\n`);
    expect(await ask("history | head -1", / 1 .*\r\n/)).toContain("X=kept; cd /usr/share");
    expect(await output(client, name, `ps -o args= -p ${job}`)).toBe("sleep 4321");
  }
  await ask("kill %1; wait; echo ended$?", /ended\d+/);
  await shell.stream.write(Buffer.from("exit 3\n"));
  await shell.finished;
  expect(shell.end).toMatchObject({ reason: "exited", exitCode: 3 });
});

test("a terminal has its size from the first instruction on (Y01)", async () => {
  const name = await startSandbox(client);
  for (let i = 0; i < 50; i++) {
    const sizes = new Follower(await client.stream(name, { argv: ["stty", "size"], terminal: size }));
    await sizes.finished;
    expect([sizes.text, sizes.end?.exitCode]).toEqual(["40 120\r\n", 0]);
  }
});

test("a resize reaches the foreground program, and Ctrl-C the foreground job only", async () => {
  const name = await startSandbox(client);
  const shell = new Follower(await client.stream(name, { argv: ["bash", "--norc"], stdin: true, terminal: size, env: { PS1: "ready> " } }));
  await shell.until(({ text }) => text.includes("ready> "));
  await shell.say(
    'sleep 1234 & python3 -c \'import signal; signal.signal(signal.SIGWINCH, lambda *_: print("winch", flush=True)); print("up", flush=True); [signal.pause() for _ in range(9)]\'\n',
    (text) => /\nup/.test(text),
  );
  await shell.stream.resize(50, 133);
  await shell.until(({ text }) => text.includes("winch"));
  await shell.say("\u0003", (text) => text.includes("KeyboardInterrupt") && text.endsWith("ready> "));
  await shell.say("stty size\n", (text) => text.includes("50 133"));
  expect(await output(client, name, "pgrep -fx 'sleep 1234'")).toMatch(/^\d+$/);
  await client.resize(name, shell.sessionId, 20, 60);
  await shell.say("stty size\n", (text) => text.includes("20 60"));
});

test("a shell in a shell's terminal ends with exit and with ^D (Y12)", async () => {
  const name = await startSandbox(client);
  for (const goodbye of ["exit\n", "\u0004"]) {
    const nested = new Follower(
      await client.stream(name, { argv: ["python3", "-c", "import pty; pty.spawn('sh')"], stdin: true, terminal: size }),
    );
    await nested.until(({ text }) => text.includes("# "));
    await nested.stream.write(Buffer.from(goodbye));
    const said = performance.now();
    await nested.finished;
    expect(nested.end).toMatchObject({ reason: "exited", exitCode: 0 });
    expect(performance.now() - said).toBeLessThan(atOnceMs);
  }
});

test("exec -it on a terminal of the host: size, input, resize, the exit code, and the terminal's settings back (Y01)", async () => {
  const name = await startSandbox(client);
  await using host = await HostTerminal.open(size);
  const settings = await host.settings();
  await host.type(
    `${process.execPath} ${torporMain} --socket ${inject("torporSocket")} exec -it -e 'PS1=in> ' ${name} bash --norc; echo code-$?\n`,
  );
  await host.until((text) => text.includes("hin> "));
  await host.type("stty size; tty; echo $TERM-$((40+2))\n");
  await host.until((text) => /40 120\r\n\/dev\/pts\/\d+\r\n[\w-]+-42\r\n/.test(text));
  await host.resize({ rows: 30, columns: 90 });
  await eventually(
    async () => {
      await host.type("stty size\n");
      return host.text;
    },
    (text) => text.includes("30 90"),
  );
  expect(await host.settings()).not.toBe(settings);
  await host.type("sleep 77\n");
  await eventually(
    () => output(client, name, "pgrep -fx 'sleep 77' || true"),
    (pid) => pid !== "",
  );
  await host.type("\u0003");
  await host.type("exit 9\n");
  await host.until((text) => text.includes("code-9"));
  expect(await host.settings()).toBe(settings);
});

test("exec -it that a pause cuts gives the host's terminal back and says how to go on", async () => {
  const name = await startSandbox(client);
  await using host = await HostTerminal.open(size);
  const settings = await host.settings();
  await host.type(
    `${process.execPath} ${torporMain} --socket ${inject("torporSocket")} exec -it -e 'PS1=in> ' ${name} bash --norc; echo code-$?\n`,
  );
  await host.until((text) => text.includes("hin> "));
  await cycle(client, name);
  await host.until((text) => text.includes("code-1"));
  expect(host.text).toContain(`sandbox ${name} was paused`);
  expect(await host.settings()).toBe(settings);
});
