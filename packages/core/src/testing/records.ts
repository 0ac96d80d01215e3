import type { CredentialRecord } from "../ports/credential-store.ts";
import type { WebhookRecord } from "../ports/outbox.ts";
import type { OperationRecord, SandboxRecord, SnapshotRecord } from "../ports/store.ts";
import type { SupervisedRecord } from "../ports/supervised-store.ts";
import type { WakeRecord, WakeupRecord } from "../ports/wake-store.ts";

const at = "2026-01-01T00:00:00.000Z";

export function sandboxRecord(changed: Partial<SandboxRecord> = {}): SandboxRecord {
  return {
    id: "sb_a",
    version: 0,
    name: "base",
    state: "running",
    image: { reference: "debian", digest: `sha256:${"0".repeat(64)}` },
    engine: "memory",
    resources: { memoryBytes: 512 * 1024 * 1024, cpus: 1, diskBytes: 10 * 1024 ** 3, pids: 4096 },
    env: {},
    workdir: null,
    user: null,
    network: "default",
    address: "10.0.0.2",
    labels: {},
    generation: 1,
    runtimeId: "rt_a",
    diskId: "dk_a",
    operationId: null,
    checkpoint: null,
    parentId: null,
    restored: null,
    failure: null,
    createdAt: at,
    startedAt: at,
    pausedAt: null,
    stoppedAt: null,
    updatedAt: at,
    ...changed,
  };
}

export function snapshotRecord(changed: Partial<SnapshotRecord> = {}): SnapshotRecord {
  const { image, engine, resources, env, workdir, user, network, labels } = sandboxRecord();
  return {
    id: "sn_a",
    version: 0,
    name: "kept",
    source: { id: "sb_a", name: "base" },
    parentId: null,
    image,
    engine,
    resources,
    env,
    workdir,
    user,
    network,
    checkpoint: { id: "ck_s", storedBytes: 5, createdAt: at },
    diskId: "dk_s",
    diskBytes: 7,
    labels,
    pinned: false,
    expiresAt: null,
    rollbackOf: null,
    createdAt: at,
    ...changed,
  };
}

export function operationRecord(changed: Partial<OperationRecord> = {}): OperationRecord {
  return {
    id: "op_a",
    version: 0,
    kind: "pause",
    sandboxId: "sb_a",
    status: "running",
    phase: "capture",
    attempt: 1,
    actor: "user",
    error: null,
    result: {},
    startedAt: at,
    endedAt: null,
    request: {},
    notes: {},
    ...changed,
  };
}

export function webhookRecord(changed: Partial<WebhookRecord> = {}): WebhookRecord {
  return {
    id: "wh_a",
    version: 0,
    url: "https://receiver.example/hook",
    secret: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    types: ["*"],
    sandboxId: null,
    labels: {},
    description: null,
    state: "enabled",
    createdAt: at,
    updatedAt: at,
    ...changed,
  };
}

export function supervisedRecord(changed: Partial<SupervisedRecord> = {}): SupervisedRecord {
  return {
    sandboxId: "sb_a",
    id: "se_a",
    version: 0,
    policy: {
      restart: "on-failure",
      maxRestarts: 3,
      windowMs: 60_000,
      backoffMs: 1000,
      runtimeRecovery: "restart",
      stopOrder: 0,
      stopGraceMs: 10_000,
    },
    start: { argv: ["sleep", "1"] },
    desired: "running",
    state: "starting",
    attempt: 0,
    judged: 0,
    replaced: 0,
    restartedAt: [],
    nextAt: null,
    lastEnd: null,
    reason: null,
    runtimeId: null,
    lastSeq: 0,
    journal: [],
    createdAt: at,
    ...changed,
  };
}

export function wakeRecord(changed: Partial<WakeRecord> = {}): WakeRecord {
  return {
    id: "wk_a",
    version: 0,
    sandboxId: "sb_a",
    kind: "at",
    label: null,
    cron: null,
    timezone: null,
    nextAt: at,
    signed: false,
    createdAt: at,
    lastAt: null,
    tokenHash: null,
    secret: null,
    ...changed,
  };
}

export function wakeupRecord(changed: Partial<WakeupRecord> = {}): WakeupRecord {
  return {
    id: "wd_a",
    version: 0,
    sandboxId: "sb_a",
    wake: { id: "wk_a", kind: "at", label: null },
    dueAt: at,
    firedAt: at,
    stage: "stored",
    call: null,
    ...changed,
  };
}

export function credentialRecord(changed: Partial<CredentialRecord> = {}): CredentialRecord {
  return {
    id: "tk_a",
    version: 0,
    kind: "token",
    hash: "h",
    tokenId: null,
    name: "a",
    team: "default",
    scopes: ["*"],
    createdAt: at,
    expiresAt: null,
    ...changed,
  };
}
