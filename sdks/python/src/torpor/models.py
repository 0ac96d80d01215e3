"""Generated from api/openapi.json by tools/generate.py: what the server answers with. Not to be edited."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

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


class InfoNetwork(Model):
    resolver: str | None
    subnet: str


class InfoPool(Model):
    file_system: str
    free_bytes: int
    loop_backed: bool
    path: str
    reflink: bool
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
    network: InfoNetwork
    pool: InfoPool
    version: str


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
    ttl_ms: int | None = None
    updated_at: datetime
    user: str | None
    workdir: str | None


class SessionEnd(Model):
    exit_code: int | None
    oom: bool
    reason: Literal["exited", "timeout", "oom", "killed", "paused", "stopped", "lost"] | str
    signal: str | None


class SnapshotSource(Model):
    id: str
    name: str


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
    source: SnapshotSource
    user: str | None
    workdir: str | None


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
    types: list[str]
    updated_at: datetime
    url: str


class WebhookTest(Model):
    delivered: bool
    duration_ms: float
    error: str | None
    status: int | None


class ExecAnswer(Model):
    end: SessionEnd
    last_seq: int
    lost_bytes: int
    session_id: str
    stderr: str
    stdout: str


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
    started_at: datetime
    terminal: bool
    user: str
    workdir: str
