import { Operation, Sandbox, Snapshot, TorporError } from "@torpor/contract";
import { type Damage, defaultResources, type OperationRecord, type SandboxRecord, type SnapshotRecord } from "@torpor/core";
import { z } from "zod";
import { setLatest } from "../../set-latest.ts";
import type { OperationRow, SandboxRow, SnapshotRow } from "./schema.ts";

type Json = Readonly<Record<string, unknown>>;

/** What the JSON of a row must be. Fields that are not named are left as they are: a newer version may have written them. */
const sandboxShape = z.object({
  ...Sandbox.omit({ operation: true }).shape,
  diskId: z.string().nullable(),
  operationId: z.string().nullable(),
});
const operationShape = z.object({
  ...Operation.omit({ cancelable: true }).shape,
  request: z.record(z.string(), z.unknown()),
  notes: z.record(z.string(), z.unknown()),
});
const snapshotShape = z.object({ ...Snapshot.omit({ failure: true }).shape, diskId: z.string() });

/** Of sandboxes, by id, what was found sound last: a page asks for all of them again and again, and most are as they were. */
const soundRecords = new Map<string, { readonly text: string; readonly json: Json }>();
/** Of some KB each. */
const soundRecordLimit = 1000;

function remember({ id, record }: SandboxRow, json: Json): void {
  setLatest(soundRecords, id, { text: record, json }, soundRecordLimit);
}

/** The column is the truth of the version; that in the JSON is the one it was based on. */
export function readSandbox(row: SandboxRow): SandboxRecord {
  const known = soundRecords.get(row.id);
  const isKnown = known?.text === row.record;
  const { json, damage } = isKnown ? { json: known.json, damage: undefined } : check(sandboxShape, row.record);
  if (damage === undefined) {
    if (!isKnown) remember(row, json);
    return { ...(json as unknown as SandboxRecord), version: row.version };
  }
  return { ...repairSandbox(row, json, damage), version: row.version, damage };
}

export function readSnapshot({ id, name, version, created_at, record }: SnapshotRow): SnapshotRecord {
  const { json, damage } = check(snapshotShape, record);
  if (damage === undefined) return { ...(json as unknown as SnapshotRecord), version };
  const blank = {
    ...blankSettings,
    source: { id: "", name: "" },
    diskId: "",
    diskBytes: 0,
    pinned: false,
    expiresAt: null,
    rollbackOf: null,
  };
  const createdAt = z.iso.datetime().safeParse(created_at).data ?? epoch;
  return { ...blank, ...sound(snapshotShape, json), id, name, version, createdAt, damage };
}

export function readOperation(row: OperationRow & { ordinal?: unknown }): OperationRecord {
  const record = readRunning(row);
  if (record.damage === undefined) return record;
  throw new TorporError(
    "storage_failed",
    `the stored record of operation ${row.id} can't be read: ${record.damage.field} is not what it should be`,
    {
      details: { operation: row.id, sandbox: row.sandbox_id, field: record.damage.field },
    },
  );
}

/** As `readOperation`, for recovery, which has to deal with all of them. */
export function readRunning({ id, version, sandbox_id, status, record }: OperationRow & { ordinal?: unknown }): OperationRecord {
  const { json, damage } = check(operationShape, record);
  if (damage === undefined) return { ...(json as unknown as OperationRecord), version };
  const { kind: known } = operationShape.shape;
  const kind = known.safeParse(json.kind);
  const blank = {
    phase: "",
    attempt: 1,
    actor: "recovery" as const,
    error: null,
    result: {},
    startedAt: epoch,
    endedAt: null,
    request: {},
    notes: {},
  };
  return {
    ...blank,
    ...sound(operationShape, json),
    id,
    version,
    sandboxId: sandbox_id,
    kind: kind.success ? kind.data : "stop",
    status: status === "running" ? "running" : "failed",
    // Whoever does not know the kind must not touch it, whatever else is wrong.
    damage: kind.success || typeof json.kind !== "string" ? damage : { ...damage, field: "kind" },
  };
}

/** What sandboxes and snapshots both have, where it can't be read. */
const blankSettings = {
  image: { reference: "", digest: "" },
  engine: "",
  resources: defaultResources,
  env: {},
  workdir: null,
  user: null,
  network: "default" as const,
  labels: {},
  checkpoint: null,
  parentId: null,
};

const epoch = new Date(0).toISOString();
/** Ids of what it has, and the digest of its image. */
const ids = /\b[a-z]{2}_[a-z0-9]{16}\b|\bsha256:[0-9a-f]{64}\b/g;

function check(shape: z.ZodObject, text: string): { readonly json: Json; readonly damage: Damage | undefined } {
  const json = parse(text);
  const { success, error } = shape.safeParse(json);
  if (success) return { json: json as Json, damage: undefined };
  const field = String(error.issues[0]?.path[0] ?? "record");
  return { json: isObject(json) ? json : {}, damage: { field, mentions: text.match(ids) ?? [] } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Those of its fields that are what they should be. */
function sound(shape: z.ZodObject, json: Json): Json {
  return Object.fromEntries(Object.entries(json).filter(([field, value]) => shape.shape[field]?.safeParse(value).success ?? false));
}

function repairSandbox({ id, name, address, created_at }: SandboxRow, json: Json, { field }: Damage): SandboxRecord {
  const createdAt = z.iso.datetime().safeParse(created_at).data ?? epoch;
  const message = `the stored record of sandbox ${name} (${id}) can't be read: ${field} is not what it should be`;
  const blank = {
    ...blankSettings,
    generation: 0,
    runtimeId: null,
    diskId: null,
    operationId: null,
    restored: null,
    startedAt: null,
    pausedAt: null,
    stoppedAt: null,
    updatedAt: createdAt,
  };
  const failure = { code: "storage_failed", message, at: createdAt };
  return { ...blank, ...sound(sandboxShape, json), id, name, address, createdAt, version: 0, state: "failed", failure };
}
