import { z } from "zod";
import { ExposedPort } from "./port.ts";
import { timeSettings, timingFields } from "./timing.ts";
import { longestWakeMs } from "./wake.ts";

/** Where a sandbox is in its life. The four in -ing are transitional: an operation is at work. */
export const SandboxState = z.enum(["creating", "running", "pausing", "paused", "resuming", "stopping", "stopped", "failed", "removing"]);
export type SandboxState = z.infer<typeof SandboxState>;

/** Lower-case letters, digits, `-` and `_`, at most 63, starting with a letter or digit; never the shape of an id. */
export const SandboxName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "a name has lower-case letters, digits, - and _, at most 63, and starts with a letter or digit")
  .refine((name) => !/^(sb|rt|op|ck|dk|im|ev|se|sn|wh|wk|wd)_/.test(name), "a name must not look like an id (sb_…)");

/** What a sandbox may use. Defaults: 512 MiB, 1 CPU, 10 GiB, 4096 processes. */
export const Resources = z.object({
  memoryBytes: z.number().int().positive(),
  /** CPUs as a quota; fractions are allowed. */
  cpus: z.number().positive().max(1024),
  diskBytes: z.number().int().positive(),
  pids: z.number().int().min(16).max(1_000_000),
});
export type Resources = z.infer<typeof Resources>;

export const NetworkMode = z.enum(["default", "none"]);
export type NetworkMode = z.infer<typeof NetworkMode>;

/** Whether a runtime that ended by itself is followed by a fresh boot. */
export const RestartPolicy = z.enum(["never", "on-failure", "always"]);
export type RestartPolicy = z.infer<typeof RestartPolicy>;

export const EnvironmentName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "an environment variable's name has letters, digits and _");
export const Environment = z.record(EnvironmentName, z.string());

const LabelName = z.string().min(1).max(63);
const LabelValue = z.string().max(255);
export const Labels = z.record(LabelName, LabelValue);

/** Of a record that is there. */
export const LabelChanges = z.record(LabelName, LabelValue.nullable());
export type LabelChanges = z.infer<typeof LabelChanges>;

/** What a sandbox's own processes may ask for it, by the command `torpor` in it. */
export const SelfVerb = z.enum(["pause", "fork", "snapshot", "wake"]);
export type SelfVerb = z.infer<typeof SelfVerb>;

const createFields = z.strictObject({
  /** Reference (`python:3.12`, `registry:5000/x@sha256:…`), or the id of an image. Either this or `snapshot` is needed. */
  image: z.string().min(1).max(512).optional(),
  /** Id or name of a snapshot: its files, and its memory if it has one. It settles the resources, and unless overridden the settings. */
  snapshot: z.string().min(1).max(63).optional(),
  /** Of a snapshot with memory. Default true. false: its files only, which boot fresh. */
  memory: z.boolean().optional(),
  /** So many from a snapshot in one call; with more than one they are called `<name>-1`, `<name>-2`, … Default 1, at most 100. */
  count: z.number().int().min(1).max(100).optional(),
  name: SandboxName.optional(),
  resources: Resources.partial().strict().optional(),
  env: Environment.optional(),
  /** Over the image's WORKDIR. Absolute. */
  workdir: z.string().startsWith("/").max(4096).optional(),
  /** Over the image's USER: name, uid, name:group or uid:gid. */
  user: z.string().min(1).max(128).optional(),
  network: NetworkMode.optional(),
  labels: Labels.optional(),
  /** A fresh boot after its runtime ended by itself, after 1 s, doubling up to 60 s. Default never. What somebody ended stays ended. */
  restart: RestartPolicy.optional(),
  /** What its processes may do with it. Default: nothing. */
  selfControl: z.array(SelfVerb).max(SelfVerb.options.length).optional(),
  ...timeSettings,
  /** Pull the image if it is not here. Default true. */
  pull: z.boolean().optional(),
});
const oneOrigin = { error: "either image or snapshot is needed, and not both", path: ["image"] };
export const CreateSandboxRequest = createFields
  .refine(({ image, snapshot }) => (image === undefined) !== (snapshot === undefined), oneOrigin)
  .refine(({ snapshot, count, memory }) => snapshot !== undefined || (count === undefined && memory === undefined), {
    error: "count and memory are for a create from a snapshot",
    path: ["snapshot"],
  })
  .refine(({ snapshot, resources, pull }) => snapshot === undefined || (resources === undefined && pull === undefined), {
    error: "resources and pull are for a create from an image: a snapshot has its own",
    path: ["snapshot"],
  });
export type CreateSandboxRequest = z.infer<typeof CreateSandboxRequest>;

export const UpdateSandboxRequest = z.strictObject({
  /** Merged with those it has; null takes one away. */
  labels: LabelChanges.optional(),
  ...timeSettings,
});
export type UpdateSandboxRequest = z.infer<typeof UpdateSandboxRequest>;

export const PauseRequest = z.strictObject({
  /** Default true. false: processes end as in a shutdown, files stay. */
  memory: z.boolean().optional(),
});
export type PauseRequest = z.infer<typeof PauseRequest>;

/** `torpor pause --wake-after` in a sandbox. */
export const SelfPauseRequest = PauseRequest.extend({
  /** It is resumed so long afterwards. Default: when somebody else does it. */
  wakeAfterMs: z.number().int().min(1).max(longestWakeMs).optional(),
});
/** `torpor wake-url` in a sandbox. */
export const SelfWakeRequest = z.strictObject({});

export const ResumeMemory = z.enum(["prefer", "require", "discard"]);
export type ResumeMemory = z.infer<typeof ResumeMemory>;
export const ResumeRequest = z.strictObject({ memory: ResumeMemory.optional() });
export type ResumeRequest = z.infer<typeof ResumeRequest>;

/** Children of one fork. */
export const forkLimit = 100;

export const ForkRequest = z
  .strictObject({
    /** Name of the child; with `count` over 1 the children are called `<name>-1`, `<name>-2`, … */
    name: SandboxName.optional(),
    /** A name for each child, in place of `name`; there are as many children as names. */
    names: z.array(SandboxName).min(1).max(forkLimit).optional(),
    /** Children. Default 1, or as many as `names`; at most 100. */
    count: z.number().int().min(1).max(forkLimit).optional(),
    /** Default true. false forks files only: the children boot fresh. */
    memory: z.boolean().optional(),
    /** Over the source's environment, for new sessions of the children. */
    env: Environment.optional(),
    /** Over the source's labels. */
    labels: Labels.optional(),
    /** Over the source's bounds in time. */
    ...timeSettings,
  })
  .refine(({ name, names }) => name === undefined || names === undefined, "give name or names, not both")
  .refine(({ names, count }) => (names?.length ?? count) === (count ?? names?.length), "count is not the number of names");
export type ForkRequest = z.infer<typeof ForkRequest>;

export const StopRequest = z.strictObject({
  /** Time between TERM and KILL. Default 10 s. */
  graceMs: z.number().int().min(0).max(600_000).optional(),
});
export type StopRequest = z.infer<typeof StopRequest>;

export const StartRequest = z.strictObject({});
export type StartRequest = z.infer<typeof StartRequest>;

export const Failure = z.object({ code: z.string(), message: z.string(), at: z.iso.datetime() });
export type Failure = z.infer<typeof Failure>;

/** What the last boot or resume brought back: memory with processes, or files only. */
export const Restored = z.enum(["memory", "files"]);

/** Of a fork's child. */
export const ForkOrigin = z.object({
  /** When the fork was asked for. */
  at: z.iso.datetime(),
  /** 1 for the first child. */
  index: z.number().int(),
  /** Children that were asked for. */
  count: z.number().int(),
});
export type ForkOrigin = z.infer<typeof ForkOrigin>;

/** It runs, but is kept from going on until the pool has room: what it writes would be lost. Its guest answers no calls. */
export const Held = z.object({
  reason: z.literal("disk_full"),
  since: z.iso.datetime(),
  /** Room on the pool when it began. */
  freeBytes: z.number(),
  /** Why not everything that it had written before is on the pool; absent: it is. */
  lost: z.string().optional(),
});
export type Held = z.infer<typeof Held>;

export const Sandbox = z.object({
  id: z.string(),
  name: z.string(),
  state: SandboxState,
  image: z.object({ reference: z.string(), digest: z.string() }),
  engine: z.string(),
  resources: Resources,
  env: Environment,
  workdir: z.string().nullable(),
  user: z.string().nullable(),
  network: NetworkMode,
  /** The sandbox's own IPv4 address, kept over pause and stop; null without network. */
  address: z.string().nullable(),
  labels: Labels,
  /** Whose tokens see it. Absent: `default`. */
  team: z.string().optional(),
  /** Absent: never. */
  restart: RestartPolicy.optional(),
  /** Absent: nothing. */
  selfControl: z.array(SelfVerb).optional(),
  /** Ports that have an address. Absent: none. */
  ports: z.array(ExposedPort).optional(),
  ...timingFields,
  generation: z.number().int(),
  runtimeId: z.string().nullable(),
  /** The operation at work, if any. */
  operation: z.object({ id: z.string(), kind: z.string(), phase: z.string() }).nullable(),
  /** Absent or null: it is not. */
  held: Held.nullable().optional(),
  checkpoint: z.object({ id: z.string(), storedBytes: z.number(), createdAt: z.iso.datetime() }).nullable(),
  /** The sandbox it was forked from, or that the snapshot was taken of from which it was made. */
  parentId: z.string().nullable(),
  /** Which child of its fork it is. Absent or null: it comes from no fork. */
  fork: ForkOrigin.nullable().optional(),
  /** The snapshot it was made from or last restored to. Absent: none. */
  snapshotId: z.string().nullable().optional(),
  restored: Restored.nullable(),
  failure: Failure.nullable(),
  createdAt: z.iso.datetime(),
  /** Start of the present runtime; null when there is none. */
  startedAt: z.iso.datetime().nullable(),
  pausedAt: z.iso.datetime().nullable(),
  stoppedAt: z.iso.datetime().nullable(),
  updatedAt: z.iso.datetime(),
});
export type Sandbox = z.infer<typeof Sandbox>;

export const SandboxList = z.object({
  sandboxes: z.array(Sandbox),
  /** `after` of the next page; null when this is the last. */
  next: z.string().nullable(),
});
