import { setTimeout as sleep } from "node:timers/promises";
import { type Command, type CreateOptions, type Sandbox, type Supervised, Torpor, TorporError } from "@torpor/sdk";
import { CuttingProxy } from "../../../../sdks/typescript/src/testing/cutting-proxy.ts";
import { cutsOf, inputOf, nameOf } from "./arguments.ts";
import { factsOf } from "./expectation.ts";
import { type Actions, type Names, Refused, type Step } from "./scenario.ts";

/** By the objects of the TypeScript SDK, held over the steps as a program does. */
export function sdkActions(torpor: Torpor, socket: string): Actions {
  const boxes = new Map<string, Sandbox>();
  const commands = new Map<string, Command>();
  const services = new Map<string, Supervised>();
  const box = async (step: Step, names: Names): Promise<Sandbox> => {
    const name = nameOf(step, names);
    const found = boxes.get(name) ?? (await torpor.get(name));
    boxes.set(name, found);
    return found;
  };
  const exec = async (step: Step, names: Names) => {
    const { stdin, input, inputBase64, command, ...options } = step as Step & { input?: string; inputBase64?: string; command: string };
    const given = input ?? (inputBase64 === undefined ? undefined : Buffer.from(inputBase64, "base64"));
    const result = await (await box(step, names)).exec(command, {
      ...commandOptions(options),
      ...(given === undefined ? {} : { stdin: given }),
    });
    return result;
  };
  const actions: Actions = {
    create: async (step, names) => {
      const { do: _do, box: name, expect: _expect, error: _error, keep: _keep, snapshot, ...rest } = step;
      const from = snapshot === undefined ? {} : { snapshot: names.of(String(snapshot)) };
      const made = await torpor.create({ name: names.of(String(name)), ...from, ...rest } as CreateOptions);
      boxes.set(made.name, made);
      return made.record;
    },
    inspect: async (step, names) => (await box(step, names)).inspect(),
    list: async (step, names) => {
      const found = await torpor.list(only(step, "states", "labels"));
      return { names: found.flatMap(({ name }) => names.from(name) ?? []).sort() };
    },
    pause: async (step, names) => (await (await box(step, names)).pause(only(step, "memory"))).record,
    resume: async (step, names) => (await (await box(step, names)).resume(only(step, "memory"))).record,
    fork: async (step, names) => {
      const child = await (await box(step, names)).fork({ name: names.of(String(step.as)), ...only(step, "memory", "env") });
      boxes.set(child.name, child);
      return child.record;
    },
    "fork-many": async (step, names) => {
      const children = await (await box(step, names)).forkMany({ names: (step.as as string[]).map((name) => names.of(name)) });
      return { names: children.map((child) => (child.error === null ? names.from(child.sandbox.name) : child.error.message)) };
    },
    snapshot: async (step, names) => (await box(step, names)).snapshot({ name: names.of(String(step.as)), ...only(step, "memory") }),
    "remove-snapshot": async ({ snapshot }, names) => void (await torpor.snapshots.remove(names.of(String(snapshot)))),
    stop: async (step, names) => (await (await box(step, names)).stop()).record,
    start: async (step, names) => (await (await box(step, names)).start()).record,
    update: async (step, names) => (await (await box(step, names)).update(only(step, "ttlMs", "idleMs", "autoResume"))).record,
    remove: async (step, names) => (await box(step, names)).remove(only(step, "force")),
    exec,
    background: async (step, names) => {
      const command = await (await box(step, names)).exec(step.command as string, {
        ...commandOptions(step),
        ...only(step, "stdin"),
        background: true,
      });
      commands.set(String(step.as), command);
      // Of any command, to see what is told of one that is none.
      services.set(String(step.as), (await box(step, names)).attachSupervised(command.id));
    },
    wait: async ({ command }) => commands.get(String(command))?.wait(),
    type: async (step, names) => {
      await using proxy = await CuttingProxy.open(socket);
      const other = new Torpor({ socket: proxy.socket });
      const typed = await (await other.get(nameOf(step, names))).attach(commands.get(String(step.command))?.id ?? "");
      void proxy.cutAfter(...cutsOf(step));
      await typed.write(inputOf(step));
      await typed.closeStdin();
      const result = await typed.wait();
      other.close();
      return { ...result, cuts: proxy.cuts };
    },
    supervise: async (step, names) => {
      const sandbox = await box(step, names);
      services.set(String(step.as), await sandbox.supervise(step.command as string, only(step, "restart")));
    },
    "start-service": async ({ command }) => void (await services.get(String(command))?.start()),
    "stop-service": async ({ command }) => void (await services.get(String(command))?.stop()),
    "restart-service": async ({ command }) => void (await services.get(String(command))?.restart()),
    until: async (step, names) => {
      for (const end = Date.now() + 30_000; Date.now() < end; await sleep(100))
        if ((await exec(step, names)).stdout === step.stdout) return;
      throw new Refused(`${step.command} did not print ${JSON.stringify(step.stdout)}`);
    },
    write: async (step, names) => {
      await (await box(step, names)).files.write(String(step.path), inputOf(step), only(step, "parents", "mode"));
    },
    read: async (step, names) => {
      const read = await (await box(step, names)).files.read(String(step.path), { as: "bytes" });
      return { ...factsOf(read), text: utf8Of(read) };
    },
    stat: async (step, names) => (await box(step, names)).files.stat(String(step.path)),
    "list-files": async (step, names) => ({
      names: (await (await box(step, names)).files.list(String(step.path))).map(({ name }) => name).sort(),
    }),
    "make-directory": async (step, names) => void (await (await box(step, names)).files.mkdir(String(step.path), only(step, "parents"))),
    "move-file": async (step, names) => void (await (await box(step, names)).files.move(String(step.from), String(step.to))),
    "remove-file": async (step, names) => (await box(step, names)).files.remove(String(step.path), only(step, "recursive")),
  };
  return Object.fromEntries(Object.entries(actions).map(([name, action]) => [name, (step, names) => refusing(() => action(step, names))]));
}

export function utf8Of(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function commandOptions(step: Readonly<Record<string, unknown>>): Record<string, never> {
  return only(step, "env", "workdir", "user", "timeoutMs");
}

/** Of a step's arguments those that are there; what they are is for the scenario to have right. */
function only(step: Readonly<Record<string, unknown>>, ...fields: string[]): Record<string, never> {
  return Object.fromEntries(fields.filter((field) => field in step).map((field) => [field, step[field]])) as Record<string, never>;
}

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof TorporError ? new Refused(error.message, error.code) : error;
  }
}
