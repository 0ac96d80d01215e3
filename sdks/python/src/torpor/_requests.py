"""Bodies of requests, from keyword arguments."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Literal, TypeAlias, TypedDict, overload

from typing_extensions import Unpack

from torpor._units import MIB, UNSET, Duration, Unset, milliseconds
from torpor.errors import InvalidRequestError

#: A text is for `sh -c`; a list is a program and its arguments.
CommandLine: TypeAlias = str | Sequence[str]
OnTimeout: TypeAlias = Literal["pause", "stop", "remove"]
NetworkMode: TypeAlias = Literal["default", "none"]
RestartPolicy: TypeAlias = Literal["never", "on-failure", "always"]
SelfVerb: TypeAlias = Literal["pause", "fork", "snapshot", "wake"]
ResumeMemory: TypeAlias = Literal["prefer", "require", "discard"]


class TimeSettings(TypedDict, total=False):
    """How a sandbox's life is bounded in time. In an update None takes a bound away."""

    #: Running time until `on_timeout`.
    ttl: Duration | None
    #: Time until it is removed, in whatever state it is.
    hard_ttl: Duration | None
    #: Time without a command, session, port or file call until `on_timeout`.
    idle: Duration | None
    on_timeout: OnTimeout
    #: A command, session, port or file call resumes it when it is paused.
    auto_resume: bool


def only_known(options: Mapping[str, object], kind: type) -> None:
    """What is typed as `**options` is not looked at when it is called: a misspelled one would count for nothing."""
    known = [*kind.__annotations__]
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise TypeError(f"there is no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


def time_settings(times: TimeSettings) -> dict[str, object]:
    only_known(times, TimeSettings)
    body: dict[str, object] = {}
    if "ttl" in times:
        body["ttlMs"] = milliseconds(times["ttl"])
    if "hard_ttl" in times:
        body["hardTtlMs"] = milliseconds(times["hard_ttl"])
    if "idle" in times:
        body["idleMs"] = milliseconds(times["idle"])
    if "on_timeout" in times:
        body["onTimeout"] = times["on_timeout"]
    if "auto_resume" in times:
        body["autoResume"] = times["auto_resume"]
    return body


def given(**fields: object) -> dict[str, object]:
    """Without what is None."""
    return {name: value for name, value in fields.items() if value is not None}


def settings(**fields: object) -> dict[str, object]:
    """Without what is not set; None means something here."""
    return {name: value for name, value in fields.items() if not isinstance(value, Unset)}


@overload
def instant(at: datetime | None) -> str | None: ...
@overload
def instant(at: datetime | Unset | None) -> str | Unset | None: ...
def instant(at: datetime | Unset | None) -> str | Unset | None:
    if at is None or isinstance(at, Unset):
        return at
    if at.tzinfo is None:
        raise InvalidRequestError(f"{at.isoformat()} has no time zone", hint="use datetime.now(timezone.utc) or the like")
    return at.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def argv_of(line: CommandLine) -> list[str]:
    if isinstance(line, str):
        return ["sh", "-c", line]
    argv = [*line]
    if not argv:
        raise InvalidRequestError("no command was given", hint=f'such as {shlex.join(["ls", "-l"])!r} or ["ls", "-l"]')
    return argv


def resources(memory_mib: float | None, cpus: float | None, disk_mib: float | None, pids: int | None) -> dict[str, object] | None:
    found = given(memoryBytes=_bytes(memory_mib), cpus=cpus, diskBytes=_bytes(disk_mib), pids=pids)
    return found or None


class StartSettings(TypedDict, total=False):
    env: Mapping[str, str] | None
    workdir: str | None
    user: str | None
    #: Of its running time.
    timeout: Duration | None
    journal_bytes: int | None
    #: After its end.
    keep: Duration | None


def start_body(line: CommandLine, *, stdin: object = None, terminal: object = None, **settings: Unpack[StartSettings]) -> dict[str, object]:
    env = settings.get("env")
    return given(
        argv=argv_of(line),
        env=None if env is None else {**env},
        workdir=settings.get("workdir"),
        user=settings.get("user"),
        timeoutMs=milliseconds(settings.get("timeout")),
        journalBytes=settings.get("journal_bytes"),
        keepMs=milliseconds(settings.get("keep")),
        stdin=stdin,
        terminal=terminal,
    )


class SuperviseSettings(TypedDict, total=False):
    """How a process is kept running; what is not given is the server's default."""

    restart: RestartPolicy
    #: More restarts than this within `window`, and it is given up.
    max_restarts: int
    window: Duration
    #: Before the first restart; each further one within the window waits twice as long.
    backoff: Duration
    #: It counts as ready when this command exits with 0, or this port takes connections.
    ready_command: CommandLine
    ready_port: int
    ready_timeout: Duration
    ready_interval: Duration
    #: After a boot without its memory: a new process, or none.
    runtime_recovery: Literal["restart", "stop"]
    #: When the sandbox stops, lower numbers first.
    stop_order: int
    #: Between TERM and KILL.
    stop_grace: Duration


def supervise_body(line: CommandLine | None, settings: StartSettings, stdin: bool, policy: SuperviseSettings) -> dict[str, object]:
    only_known(policy, SuperviseSettings)
    ready = policy.get("ready_command")
    readiness = given(
        argv=None if ready is None else argv_of(ready),
        port=policy.get("ready_port"),
        timeoutMs=milliseconds(policy.get("ready_timeout")),
        intervalMs=milliseconds(policy.get("ready_interval")),
    )
    supervise = given(
        restart=policy.get("restart"),
        maxRestarts=policy.get("max_restarts"),
        windowMs=milliseconds(policy.get("window")),
        backoffMs=milliseconds(policy.get("backoff")),
        readiness=readiness or None,
        runtimeRecovery=policy.get("runtime_recovery"),
        stopOrder=policy.get("stop_order"),
        stopGraceMs=milliseconds(policy.get("stop_grace")),
    )
    # Without a command it is the image's.
    body = start_body(line or ["image"], **settings, stdin=stdin or None)
    if line is None:
        del body["argv"]
        body["command"] = "image"
    return {**body, "supervise": supervise}


def _bytes(mib: float | None) -> int | None:
    return None if mib is None else round(mib * MIB)


__all__ = ["UNSET", "CommandLine", "given", "instant", "resources", "settings", "start_body", "time_settings"]
