"""Bodies of requests, from keyword arguments."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Literal, TypeAlias, TypedDict, overload

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


def time_settings(times: TimeSettings) -> dict[str, object]:
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


def start_body(
    line: CommandLine,
    *,
    env: Mapping[str, str] | None,
    workdir: str | None,
    user: str | None,
    timeout: Duration | None,
    **more: object,
) -> dict[str, object]:
    return given(
        argv=argv_of(line),
        env=None if env is None else {**env},
        workdir=workdir,
        user=user,
        timeoutMs=milliseconds(timeout),
        **more,
    )


def _bytes(mib: float | None) -> int | None:
    return None if mib is None else round(mib * MIB)


__all__ = ["UNSET", "CommandLine", "given", "instant", "resources", "settings", "start_body", "time_settings"]
