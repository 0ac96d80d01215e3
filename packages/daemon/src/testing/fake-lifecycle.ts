import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Operation, type OperationKind, type Sandbox, type SandboxState, TorporError } from "@torpor/contract";
import type { Lifecycle } from "../http/lifecycle.ts";
import { createProcessGuest, type ProcessGuest } from "./process-guest.ts";

interface Kept {
  sandbox: Sandbox;
  readonly root: string;
  readonly guest: ProcessGuest;
}

export const nextId = (prefix: string) =>
  `${prefix}_${[...randomBytes(16)].map((byte) => "abcdefghijklmnopqrstuvwxyz234567"[byte % 32]).join("")}`;

/** A lifecycle without operations that last: it stands in for the core in tests of HTTP and the CLI. */
export function createFakeLifecycle(): Lifecycle & { close(): Promise<void> } {
  const all = new Map<string, Kept>();
  const operations: Operation[] = [];

  const find = (idOrName: string): Kept => {
    const kept = [...all.values()].find(({ sandbox }) => sandbox.id === idOrName || sandbox.name === idOrName);
    if (kept === undefined)
      throw new TorporError("sandbox_not_found", `there is no sandbox ${idOrName}`, { hint: "torpor list shows what there is" });
    return kept;
  };
  const add = async (source: Partial<Sandbox> & Pick<Sandbox, "name">): Promise<Kept> => {
    if ([...all.values()].some(({ sandbox }) => sandbox.name === source.name))
      throw new TorporError("name_taken", `another sandbox has the name ${source.name}: take another or remove that one`);
    const root = await mkdtemp(join(tmpdir(), "torpor-test-"));
    const at = new Date().toISOString();
    const sandbox: Sandbox = {
      ...blank,
      ...source,
      id: nextId("sb"),
      state: "running",
      createdAt: at,
      startedAt: at,
      updatedAt: at,
      runtimeId: nextId("rt"),
    };
    const kept = { sandbox, root, guest: createProcessGuest(root) };
    all.set(sandbox.id, kept);
    return kept;
  };
  const done = (kind: OperationKind, sandbox: Sandbox, result: Record<string, unknown> = {}) => {
    const at = new Date().toISOString();
    const operation: Operation = {
      id: nextId("op"),
      kind,
      sandboxId: sandbox.id,
      status: "succeeded",
      phase: "done",
      attempt: 1,
      actor: "user",
      error: null,
      result,
      startedAt: at,
      endedAt: at,
    };
    operations.unshift(operation);
    return { operation, sandbox: kind === "remove" ? null : sandbox };
  };
  const become = (kept: Kept, state: SandboxState, changes: Partial<Sandbox> = {}) => {
    kept.sandbox = { ...kept.sandbox, ...changes, state };
    return kept.sandbox;
  };
  const refuse = (
    kept: Kept,
    code: "sandbox_not_running" | "sandbox_not_paused" | "sandbox_not_stopped" | "sandbox_live",
    step: string,
  ): never => {
    throw new TorporError(code, `sandbox ${kept.sandbox.name} is ${kept.sandbox.state}: ${step}`, {
      details: { state: kept.sandbox.state },
    });
  };

  return {
    async create(request) {
      if (request.image === "nothere")
        throw new TorporError("image_not_found", "there is no image nothere", { hint: "torpor image list shows what there is" });
      const name = request.name ?? nextId("x").slice(2, 10);
      const kept = await add({
        name,
        image: { reference: request.image, digest: "sha256:0" },
        resources: { ...blank.resources, ...withoutUndefined(request.resources ?? {}) },
        env: request.env ?? {},
      });
      return done("create", kept.sandbox);
    },
    async pause(id) {
      const kept = find(id);
      if (kept.sandbox.state !== "running") refuse(kept, "sandbox_not_running", "pause takes a running sandbox");
      become(kept, "paused", {
        pausedAt: new Date().toISOString(),
        checkpoint: { id: "ck", storedBytes: 3_000_000, createdAt: new Date().toISOString() },
      });
      kept.guest.close("paused");
      return done("pause", kept.sandbox, { memory: true, releasedBytes: 48_000_000, checkpointBytes: 3_000_000 });
    },
    async resume(id, { memory }) {
      const kept = find(id);
      if (kept.sandbox.state !== "paused") refuse(kept, "sandbox_not_paused", "resume takes a paused sandbox");
      kept.guest.reopen();
      return done(
        "resume",
        become(kept, "running"),
        memory === "discard" ? { restored: "files", reason: "asked for" } : { restored: "memory" },
      );
    },
    async fork(id, request) {
      const kept = find(id);
      if (kept.sandbox.state !== "running") refuse(kept, "sandbox_not_running", "fork takes a running sandbox");
      const child = await add({ ...kept.sandbox, name: request.name ?? nextId("x").slice(2, 10), parentId: kept.sandbox.id });
      return done("fork", kept.sandbox, { frozenMs: 1, children: [{ id: child.sandbox.id, name: child.sandbox.name, error: null }] });
    },
    async stop(id) {
      const kept = find(id);
      await kept.guest.destroy();
      return done("stop", become(kept, "stopped", { startedAt: null, checkpoint: null }));
    },
    async start(id) {
      const kept = find(id);
      if (kept.sandbox.state !== "stopped") refuse(kept, "sandbox_not_stopped", "start takes a stopped sandbox");
      return done("start", become(kept, "running"));
    },
    async remove(id, { force }) {
      const kept = find(id);
      if (kept.sandbox.state !== "stopped" && force !== true) refuse(kept, "sandbox_live", "stop it first or use --force");
      await kept.guest.destroy();
      await rm(kept.root, { recursive: true });
      all.delete(kept.sandbox.id);
      return done("remove", kept.sandbox);
    },
    get: async (id) => find(id).sandbox,
    list: async () => [...all.values()].map(({ sandbox }) => sandbox),
    operation: async (id) =>
      operations.find((operation) => operation.id === id) ??
      Promise.reject(new TorporError("operation_not_found", `there is no operation ${id}`)),
    operations: async (id) => operations.filter(({ sandboxId }) => sandboxId === find(id).sandbox.id),
    events: async () => [],
    async guest(id) {
      const kept = find(id);
      if (kept.sandbox.state !== "running")
        refuse(
          kept,
          "sandbox_not_running",
          `${kept.sandbox.state === "paused" ? "resume" : "start"} it with torpor ${kept.sandbox.state === "paused" ? "resume" : "start"} ${kept.sandbox.name}`,
        );
      return kept.guest;
    },
    logs: async (id) => `boot of ${find(id).sandbox.name}\n`,
    async close() {
      for (const { guest, root } of all.values()) {
        await guest.destroy();
        await rm(root, { recursive: true });
      }
    },
  };
}

const blank: Sandbox = {
  id: "",
  name: "",
  state: "running",
  image: { reference: "", digest: "" },
  engine: "test",
  resources: { memoryBytes: 536_870_912, cpus: 1, diskBytes: 10_737_418_240, pids: 4096 },
  env: {},
  workdir: null,
  user: null,
  network: "default",
  address: null,
  labels: {},
  generation: 1,
  runtimeId: null,
  operation: null,
  checkpoint: null,
  parentId: null,
  restored: null,
  failure: null,
  createdAt: "",
  startedAt: null,
  pausedAt: null,
  stoppedAt: null,
  updatedAt: "",
};

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
