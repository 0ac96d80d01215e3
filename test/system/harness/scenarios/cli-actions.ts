import { setTimeout as sleep } from "node:timers/promises";
import { CuttingProxy } from "../../../../sdks/typescript/src/testing/cutting-proxy.ts";
import { outcomeOf, spawnTorporOn } from "../torpor-process.ts";
import { cutsOf, inputOf, nameOf } from "./arguments.ts";
import { factsOf } from "./expectation.ts";
import { type Actions, type Names, Refused, type Step } from "./scenario.ts";
import { utf8Of } from "./sdk-actions.ts";

interface Ran {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** By command lines, as a person types them. */
export function cliActions(socket: string): Actions {
  const sessions = new Map<string, readonly [box: string, session: string]>();
  const run = async (args: readonly string[], input?: Uint8Array, way = socket): Promise<Ran> => {
    const child = spawnTorporOn(way, ...args);
    child.stdin.end(input);
    return outcomeOf(child);
  };
  /** One that succeeds, or is refused in the form that refusals have. */
  const done = async (args: readonly string[], input?: Uint8Array): Promise<Buffer> => {
    const ran = await run(args, input);
    if (ran.code === 0) return ran.stdout;
    throw refusalOf(ran, 1);
  };
  const json = async (...args: string[]) => JSON.parse((await done(args)).toString()) as { sandbox: unknown };
  const record = async (...args: string[]) => (await json(...args)).sandbox;
  const inspect = (name: string) => json("inspect", name);
  const exec = async (step: Step, names: Names) => {
    const { input, inputBase64 } = step as { input?: string; inputBase64?: string };
    const given = input === undefined ? inputBase64 && Buffer.from(inputBase64, "base64") : Buffer.from(input);
    const interactive = given === undefined || given === "" ? [] : ["-i"];
    const ran = await run(["exec", ...interactive, ...commandLine(step, names)], given || undefined);
    const refused = ran.stderr.startsWith("torpor: ") && !/ran into its time limit|was killed: out of memory/.test(ran.stderr);
    if (refused) throw refusalOf(ran, 1, 126, 127);
    return { stdout: ran.stdout.toString(), stderr: ran.stderr, exitCode: ran.code };
  };
  const actions: Actions = {
    create: async (step, names) => {
      const from = step.snapshot === undefined ? [String(step.image)] : ["--snapshot", names.of(String(step.snapshot))];
      return json("create", "--json", "--name", nameOf(step, names), ...createOptions(step), ...from);
    },
    inspect: (step, names) => inspect(nameOf(step, names)),
    list: async ({ states = [], labels = {} }, names) => {
      const filters = [...(states as string[]).flatMap((state) => ["--state", state]), ...pairs("--label", labels)];
      const printed = (await done(["list", "--format", "{name}", ...filters])).toString();
      return {
        names: printed
          .split("\n")
          .flatMap((name) => names.from(name) ?? [])
          .sort(),
      };
    },
    pause: (step, names) => record("pause", "--json", ...filesOnly(step), nameOf(step, names)),
    resume: (step, names) =>
      record("resume", "--json", ...(step.memory === undefined ? [] : ["--memory", String(step.memory)]), nameOf(step, names)),
    fork: async (step, names) => {
      const child = names.of(String(step.as));
      await done(["fork", "--name", child, ...filesOnly(step), ...pairs("-e", step.env ?? {}), nameOf(step, names)]);
      return inspect(child);
    },
    "fork-many": async (step, names) => {
      const children = (step.as as string[]).flatMap((name) => ["--name", names.of(name)]);
      const ids = (await done(["fork", ...children, nameOf(step, names)])).toString().trim().split("\n");
      return {
        names: (await done(["inspect", "--format", "{name}", ...ids]))
          .toString()
          .trim()
          .split("\n")
          .map((name) => names.from(name)),
      };
    },
    snapshot: async (step, names) => {
      await done(["snapshot", "create", "--name", names.of(String(step.as)), ...filesOnly(step), nameOf(step, names)]);
      return json("snapshot", "inspect", names.of(String(step.as)));
    },
    "remove-snapshot": async ({ snapshot }, names) => void (await done(["snapshot", "remove", names.of(String(snapshot))])),
    stop: (step, names) => record("stop", "--json", nameOf(step, names)),
    start: (step, names) => record("start", "--json", nameOf(step, names)),
    update: (step, names) => json("update", "--json", ...timeOptions(step), nameOf(step, names)),
    remove: async (step, names) => void (await done(["remove", ...(step.force === true ? ["--force"] : []), nameOf(step, names)])),
    exec,
    background: async (step, names) => {
      const interactive = step.stdin === true ? ["-i"] : [];
      const session = (await done(["exec", "--detach", ...interactive, ...commandLine(step, names)])).toString().trim();
      sessions.set(String(step.as), [nameOf(step, names), session]);
    },
    wait: async ({ command }) => {
      const { code, stdout, stderr } = await run(["logs", ...(sessions.get(String(command)) ?? [])]);
      return { stdout: stdout.toString(), stderr, exitCode: code };
    },
    type: async (step) => {
      await using proxy = await CuttingProxy.open(socket);
      void proxy.cutAfter(...cutsOf(step));
      const { code, stdout, stderr } = await run(["attach", ...(sessions.get(String(step.command)) ?? [])], inputOf(step), proxy.socket);
      return { stdout: stdout.toString(), stderr, exitCode: code, cuts: proxy.cuts };
    },
    supervise: async (step, names) => {
      const restart = String(step.restart ?? "on-failure");
      const session = (await done(["exec", "--supervise", restart, ...commandLine(step, names)])).toString().trim();
      sessions.set(String(step.as), [nameOf(step, names), session]);
    },
    "start-service": async ({ command }) => void (await done(["sessions", "start", ...(sessions.get(String(command)) ?? [])])),
    "stop-service": async ({ command }) => void (await done(["sessions", "stop", ...(sessions.get(String(command)) ?? [])])),
    "restart-service": async ({ command }) => void (await done(["sessions", "restart", ...(sessions.get(String(command)) ?? [])])),
    until: async (step, names) => {
      for (const end = Date.now() + 30_000; Date.now() < end; await sleep(100))
        if ((await exec(step, names)).stdout === step.stdout) return;
      throw new Refused(`${step.command} did not print ${JSON.stringify(step.stdout)}`);
    },
    write: async (step, names) => {
      const mode = step.mode === undefined ? [] : ["--mode", Number(step.mode).toString(8)];
      await done(
        ["file", "write", ...(step.parents === true ? ["-p"] : []), ...mode, nameOf(step, names), String(step.path)],
        inputOf(step),
      );
    },
    read: async (step, names) => {
      const read = await done(["file", "read", nameOf(step, names), String(step.path)]);
      return { ...factsOf(read), text: utf8Of(read) };
    },
    stat: (step, names) => json("file", "stat", nameOf(step, names), String(step.path)),
    "list-files": async (step, names) => {
      const printed = (await done(["file", "list", "--format", "{name}", nameOf(step, names), String(step.path)])).toString();
      return {
        names: printed
          .split("\n")
          .filter((name) => name !== "")
          .sort(),
      };
    },
    "make-directory": async (step, names) =>
      void (await done(["file", "mkdir", ...(step.parents === true ? ["-p"] : []), nameOf(step, names), String(step.path)])),
    "move-file": async (step, names) => void (await done(["file", "move", nameOf(step, names), String(step.from), String(step.to)])),
    "remove-file": async (step, names) =>
      void (await done(["file", "remove", ...(step.recursive === true ? ["-r"] : []), nameOf(step, names), String(step.path)])),
  };
  return actions;
}

function commandLine(step: Step, names: Names): string[] {
  const {
    command,
    env = {},
    workdir,
    user,
    timeoutMs,
  } = step as { command?: string | string[]; workdir?: string; user?: string; timeoutMs?: number; env?: object };
  return [
    ...pairs("-e", env),
    ...(workdir === undefined ? [] : ["-w", workdir]),
    ...(user === undefined ? [] : ["-u", user]),
    ...(timeoutMs === undefined ? [] : ["--timeout", `${timeoutMs}ms`]),
    nameOf(step, names),
    ...(typeof command === "string" ? ["sh", "-c", command] : (command ?? [])),
  ];
}

function createOptions(step: Step): string[] {
  return [
    ...(step.memoryMiB === undefined ? [] : ["--memory", `${step.memoryMiB}MiB`]),
    ...(step.workdir === undefined ? [] : ["--workdir", String(step.workdir)]),
    ...pairs("-e", step.env ?? {}),
    ...pairs("--label", step.labels ?? {}),
    ...timeOptions(step),
  ];
}

function timeOptions({ ttlMs, idleMs, autoResume }: Step): string[] {
  const bound = (option: string, value: unknown) => (value === undefined ? [] : [option, value === null ? "none" : `${value}ms`]);
  const wakes = autoResume === undefined ? [] : [autoResume === true ? "--auto-resume" : "--no-auto-resume"];
  return [...bound("--ttl", ttlMs), ...bound("--idle", idleMs), ...wakes];
}

function filesOnly({ memory }: Step): string[] {
  return memory === false ? ["--files-only"] : [];
}

function pairs(option: string, values: unknown): string[] {
  return Object.entries(values as Record<string, string>).flatMap(([name, value]) => [option, `${name}=${value}`]);
}

/** What stands on stderr after `torpor: `. Another form than that, or another code, is a failure of the command line. */
function refusalOf({ code, stderr }: Ran, ...codes: number[]): Error {
  const [, message] = /^(?:.*\n)*?torpor: (.+)\n/.exec(stderr) ?? [];
  if (message === undefined || code === null || !codes.includes(code)) return new Error(`exit code ${code} with: ${stderr}`);
  return new Refused(message);
}
