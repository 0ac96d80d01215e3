from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from daemon import ROOT

from torpor import Sandbox, Torpor
from torpor._requests import TimeSettings
from torpor._sync.commands import Commands
from torpor._sync.snapshots import Snapshots
from torpor._sync.wakes import Wakes

SCHEMAS: dict[str, Any] = json.loads((ROOT / "api" / "openapi.json").read_text())["components"]["schemas"]

#: Fields that have another name here, since durations are no milliseconds and sizes no bytes.
NAMES = {
    "argv": "line",
    "input": "stdin",
    "timeoutMs": "timeout",
    "graceMs": "grace",
    "afterMs": "after",
    "keepMs": "keep",
    "rollbackMs": "rollback",
    "ttlMs": "ttl",
    "hardTtlMs": "hard_ttl",
    "idleMs": "idle",
    "resources": "memory_mib",
}


@pytest.mark.parametrize(
    ("schema", "methods"),
    [
        ("CreateSandboxRequest", [Torpor.create, Torpor.create_many]),
        ("ForkRequest", [Sandbox.fork_many]),
        ("PauseRequest", [Sandbox.pause]),
        ("ResumeRequest", [Sandbox.resume]),
        ("StopRequest", [Sandbox.stop]),
        ("UpdateSandboxRequest", [Sandbox.update]),
        ("RefreshRequest", [Sandbox.extend]),
        ("CreateSnapshotRequest", [Sandbox.snapshot]),
        ("UpdateSnapshotRequest", [Snapshots.update]),
        ("RestoreRequest", [Sandbox.restore]),
        ("RebaseRequest", [Sandbox.rebase]),
        ("CreateWakeRequest", [Wakes.create]),
        ("ExecRequest", [Commands.exec]),
        ("StartSessionRequest", [Commands.exec, Commands.terminal]),
    ],
)
def test_every_field_of_a_request_is_an_argument(schema: str, methods: list[Callable[..., Any]]) -> None:
    arguments = {name for method in methods for name in inspect.signature(method).parameters}
    if "times" in arguments:
        arguments |= set(TimeSettings.__annotations__)
    if Commands.terminal in methods:
        arguments.add("terminal")
    for field in SCHEMAS[schema]["properties"]:
        assert NAMES.get(field, re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), field)) in arguments, field


def test_the_version_is_that_of_all_packages() -> None:
    version = json.loads((ROOT / "package.json").read_text())["version"]
    assert f'version = "{version}"' in (ROOT / "sdks" / "python" / "pyproject.toml").read_text()


def test_a_misspelled_option_is_refused_before_anything_is_asked() -> None:
    with Torpor(socket="/nowhere/s") as torpor:
        with pytest.raises(TypeError, match=r"^there is no option 'auto_resum'; did you mean 'auto_resume'\?$"):
            torpor.create("debian", auto_resum=True)  # pyright: ignore[reportCallIssue]
        with pytest.raises(TypeError, match=r"^there is no option 'nmae'"):
            torpor.create("debian", nmae="x")  # pyright: ignore[reportCallIssue]
