"""Generated from api/openapi.json by tools/generate.py: what the server answers with. Not to be edited."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from torpor._model import Model


class CapabilitiesCapability(Model):
    reason: str
    supported: bool


class Capabilities(Model):
    capabilities: dict[str, CapabilitiesCapability]
    engine: str


class CreatedWake(Model):
    created_at: datetime
    cron: str | None
    id: str
    kind: Literal["at", "cron", "url"] | str
    label: str | None
    last_at: datetime | None
    next_at: datetime | None
    path: str | None
    sandbox_id: str
    secret: str | None
    signed: bool
    timezone: str | None


class Delivery(Model):
    attempts: int
    created_at: datetime
    ended_at: datetime | None
    id: str
    last_attempt_at: datetime | None
    last_error: str | None
    last_status: int | None
    next_at: datetime | None
    sandbox_id: str
    seq: int
    status: Literal["pending", "delivered", "dead"] | str
    type: str
    webhook_id: str


class DifferenceAfter(Model):
    gid: int
    mode: int
    size: int
    target: str | None
    target_base64: str | None = None
    type: Literal["file", "directory", "symlink", "other"] | str
    uid: int


class Difference(Model):
    after: DifferenceAfter | None
    before: DifferenceAfter | None
    change: Literal["added", "changed", "removed", "unread"] | str
    path: str
    path_base64: str | None = None
    reason: str | None = None
    what: list[Literal["type", "content", "mode", "owner"] | str]


class Entry(Model):
    gid: int
    group: str
    mode: int
    modified_at: datetime
    name: str
    owner: str
    path: str
    size: int
    symlink_target: str | None
    type: Literal["file", "directory", "symlink", "other"] | str
    uid: int


class Event(Model):
    at: datetime
    data: dict[str, Any]
    operation_id: str | None
    sandbox_id: str
    seq: int
    type: str


class EventPage(Model):
    events: list[Event]
    next: int


class IdentityToken(Model):
    id: str
    name: str


class Identity(Model):
    expires_at: datetime | None
    scopes: list[
        Literal[
            "sandbox:read",
            "sandbox:write",
            "sandbox:delete",
            "exec",
            "port",
            "snapshot",
            "image",
            "webhook",
            "secret:read",
            "secret:write",
            "policy:read",
            "policy:write",
            "metrics",
            "sandbox:*",
            "secret:*",
            "policy:*",
            "*",
        ]
        | str
    ]
    team: str | None
    token: IdentityToken | None
    via: Literal["socket", "token", "cookie"] | str


class ImageConfig(Model):
    cmd: list[str]
    entrypoint: list[str]
    env: dict[str, str]
    user: str | None
    workdir: str | None


class Image(Model):
    config: ImageConfig
    created_at: datetime
    digest: str
    platform: str
    references: list[str]
    source: Literal["registry", "oci-layout", "docker-archive", "rootfs", "mmdebstrap"] | str
    stored_bytes: int


class InfoCapacity(Model):
    cpus: float
    disk_bytes: int
    memory_bytes: int


class InfoEngine(Model):
    name: str
    path: str
    sha256: str
    source: str
    version: str


class InfoHost(Model):
    architecture: str
    cgroup: Literal["v1", "v2"] | str
    cpus: float
    kernel: str
    memory_bytes: int


class InfoListening(Model):
    addresses: list[str]
    public_url: str | None


class InfoNetwork(Model):
    resolver: str | None
    subnet: str


class InfoPool(Model):
    file_system: str
    free_bytes: int
    loop_backed: bool
    path: str
    reflink: bool
    reserve_bytes: int | None = None
    size_bytes: int
    warning: str | None


class Info(Model):
    capabilities: dict[str, CapabilitiesCapability]
    capacity: InfoCapacity
    data_directory: str
    engine: InfoEngine
    held: InfoCapacity
    host: InfoHost
    instance: str
    listening: InfoListening
    network: InfoNetwork
    pool: InfoPool
    version: str


class LoginCode(Model):
    code: str
    expires_at: datetime


class NodeStatsPool(Model):
    free_bytes: int
    size_bytes: int


class OperationError(Model):
    code: str
    details: dict[str, Any] | None = None
    hint: str | None = None
    message: str


class Operation(Model):
    actor: Literal["user", "self", "ttl", "autoResume", "wake", "recovery", "budget", "engine"] | str
    attempt: int
    cancelable: bool
    ended_at: datetime | None
    error: OperationError | None
    id: str
    kind: Literal["create", "pause", "resume", "fork", "stop", "start", "remove", "snapshot", "restore", "rebase"] | str
    phase: str
    result: dict[str, Any]
    sandbox_id: str
    started_at: datetime
    status: Literal["running", "succeeded", "failed"] | str


class Prices(Model):
    cpu_second: float
    debt_share: float
    memory_gib_second: float
    stored_gib_month: float


class ReachablePort(Model):
    exposed_at: datetime
    label: str
    port: int
    public: bool
    url: str | None


class SandboxCheckpoint(Model):
    created_at: datetime
    id: str
    stored_bytes: int


class SandboxFailure(Model):
    at: datetime
    code: str
    message: str


class SandboxFork(Model):
    at: datetime
    count: int
    index: int


class SandboxHeld(Model):
    free_bytes: int
    lost: str | None = None
    reason: Literal["disk_full"]
    since: datetime


class SandboxImage(Model):
    digest: str
    reference: str


class SandboxOperation(Model):
    id: str
    kind: str
    phase: str


class SandboxPort(Model):
    exposed_at: datetime
    label: str
    port: int
    public: bool


class SandboxResources(Model):
    cpus: float
    disk_bytes: int
    memory_bytes: int
    pids: int


class SandboxRecord(Model):
    address: str | None
    auto_resume: bool | None = None
    checkpoint: SandboxCheckpoint | None
    created_at: datetime
    engine: str
    env: dict[str, str]
    expires_at: datetime | None = None
    failure: SandboxFailure | None
    fork: SandboxFork | None = None
    generation: int
    hard_expires_at: datetime | None = None
    hard_ttl_ms: int | None = None
    held: SandboxHeld | None = None
    id: str
    idle_ms: int | None = None
    image: SandboxImage
    labels: dict[str, str]
    last_active_at: datetime | None = None
    name: str
    network: Literal["default", "none"] | str
    on_timeout: Literal["pause", "stop", "remove"] | str | None = None
    operation: SandboxOperation | None
    parent_id: str | None
    paused_at: datetime | None
    ports: list[SandboxPort] | None = None
    resources: SandboxResources
    restart: Literal["never", "on-failure", "always"] | str | None = None
    restored: Literal["memory", "files"] | str | None
    runtime_id: str | None
    self_control: list[Literal["pause", "fork", "snapshot", "wake"] | str] | None = None
    snapshot_id: str | None = None
    started_at: datetime | None
    state: Literal["creating", "running", "pausing", "paused", "resuming", "stopping", "stopped", "failed", "removing"] | str
    stopped_at: datetime | None
    team: str | None = None
    ttl_ms: int | None = None
    updated_at: datetime
    user: str | None
    workdir: str | None


class SandboxStatsCpu(Model):
    limit: int
    percent: float
    used_ms: float


class SandboxStatsDisk(Model):
    limit_bytes: int
    used_bytes: int


class SandboxStatsNetwork(Model):
    received_bytes: int
    sent_bytes: int


class SandboxStats(Model):
    checkpoint_bytes: int
    cpu: SandboxStatsCpu
    disk: SandboxStatsDisk
    id: str
    memory: SandboxStatsDisk
    name: str
    network: SandboxStatsNetwork | None
    processes: int | None
    state: Literal["creating", "running", "pausing", "paused", "resuming", "stopping", "stopped", "failed", "removing"] | str


class SandboxUsage(Model):
    cpu_seconds: float
    memory_gib_seconds: float
    name: str
    removed_at: datetime | None
    running_seconds: float
    sandbox_id: str
    since: datetime
    stored_gib_seconds: float
    team: str
    until: datetime


class SessionSize(Model):
    columns: int
    rows: int


class SessionEnd(Model):
    exit_code: int | None
    oom: bool
    reason: Literal["exited", "timeout", "oom", "killed", "paused", "stopped", "lost"] | str
    signal: str | None


class SessionOutput(Model):
    data: str
    seq: int
    stream: Literal["stdout", "stderr", "terminal"] | str


class Snapshot(Model):
    checkpoint: SandboxCheckpoint | None
    created_at: datetime
    disk_bytes: int
    engine: str
    env: dict[str, str]
    expires_at: datetime | None
    failure: SandboxFailure | None
    id: str
    image: SandboxImage
    labels: dict[str, str]
    name: str
    network: Literal["default", "none"] | str
    parent_id: str | None
    pinned: bool
    resources: SandboxResources
    rollback_of: str | None
    source: IdentityToken
    team: str | None = None
    user: str | None
    workdir: str | None


class SupervisionPolicyReadiness(Model):
    argv: list[str] | None = Field(None, max_length=1000, min_length=1)
    interval_ms: int | None = None
    port: int | None = None
    timeout_ms: int | None = None


class SupervisionPolicy(Model):
    backoff_ms: int | None = None
    max_restarts: int | None = None
    readiness: SupervisionPolicyReadiness | None = None
    restart: Literal["never", "on-failure", "always"] | str | None = None
    runtime_recovery: Literal["restart", "stop"] | str | None = None
    stop_grace_ms: int | None = None
    stop_order: int | None = None
    window_ms: int | None = None


class Supervision(Model):
    attempt: int
    desired: Literal["running", "stopped"] | str
    last_end: SessionEnd | None
    next_at: datetime | None
    policy: SupervisionPolicy
    reason: str | None
    restarts: int
    state: Literal["starting", "ready", "backoff", "stopped", "failed"] | str


class TeamInfoBudgetLastTopUp(Model):
    amount: float
    at: datetime


class TeamInfoBudget(Model):
    balance: float
    credit: float
    exhausted: bool
    last_top_up: TeamInfoBudgetLastTopUp
    used: float


class TeamInfoHeld(Model):
    cpus: float
    disk_bytes: int
    memory_bytes: int
    sandboxes: int


class TeamInfoLimits(Model):
    cpus: float | None
    disk_bytes: int | None
    memory_bytes: int | None
    sandboxes: int | None


class TeamInfo(Model):
    budget: TeamInfoBudget | None
    held: TeamInfoHeld
    limits: TeamInfoLimits
    name: str


class Token(Model):
    created_at: datetime
    expires_at: datetime | None
    id: str
    name: str
    scopes: list[
        Literal[
            "sandbox:read",
            "sandbox:write",
            "sandbox:delete",
            "exec",
            "port",
            "snapshot",
            "image",
            "webhook",
            "secret:read",
            "secret:write",
            "policy:read",
            "policy:write",
            "metrics",
            "sandbox:*",
            "secret:*",
            "policy:*",
            "*",
        ]
        | str
    ]
    team: str | None


class Wake(Model):
    created_at: datetime
    cron: str | None
    id: str
    kind: Literal["at", "cron", "url"] | str
    label: str | None
    last_at: datetime | None
    next_at: datetime | None
    sandbox_id: str
    signed: bool
    timezone: str | None


class Webhook(Model):
    created_at: datetime
    dead: int
    description: str | None
    id: str
    labels: dict[str, str]
    pending: int
    sandbox_id: str | None
    state: Literal["enabled", "paused"] | str
    team: str | None = None
    types: list[str]
    updated_at: datetime
    url: str


class WebhookTest(Model):
    delivered: bool
    duration_ms: float
    error: str | None
    status: int | None


class CreatedToken(Model):
    secret: str
    token: Token


class ExecAnswer(Model):
    end: SessionEnd
    last_seq: int
    lost_bytes: int
    session_id: str
    stderr: str
    stdout: str


class NodeStats(Model):
    at: datetime
    pool: NodeStatsPool
    sandboxes: list[SandboxStats]


class OperationAnswerSibling(Model):
    operation: Operation
    sandbox: SandboxRecord | None


class OperationAnswer(Model):
    operation: Operation
    sandbox: SandboxRecord | None
    siblings: list[OperationAnswerSibling] | None = None


class Session(Model):
    argv: list[str]
    end: SessionEnd | None
    first_seq: int
    id: str
    last_seq: int
    pid: int
    size: SessionSize | None
    started_at: datetime
    supervision: Supervision | None = None
    terminal: bool
    user: str
    workdir: str
