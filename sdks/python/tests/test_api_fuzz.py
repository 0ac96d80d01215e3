"""Calls made up from the API's own description, against a daemon: whatever comes is refused or done, and never a fault."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemon import ROOT, Daemon
from proxy import Proxy

from torpor import Torpor

pytest.importorskip("schemathesis", reason="the newest Python has it")

#: Sockets are no plain calls; an archive cannot be made up.
NO_CALLS = ["execSocket", "attachSession", "writeArchive"]


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    """One of its own: made-up calls remove images and fill lists."""
    with Daemon() as daemon:
        yield daemon


def fuzz(daemon: Daemon, directory: Path, *options: str, examples: int, config: str = "") -> None:
    (directory / "schemathesis.toml").write_text(config)
    with Proxy(daemon.socket, tcp=True) as proxy:
        command = [
            Path(sys.executable).parent / "schemathesis",
            f"--config-file={directory}/schemathesis.toml",
            "run",
            ROOT / "api" / "openapi.json",
            f"--url={proxy.url}",
            "--checks=not_a_server_error",
            "--phases=examples,coverage,fuzzing",
            f"--max-examples={examples}",
            "--seed=7",
            "--generation-database=none",
            "--request-timeout=120",
            "--continue-on-failure",
            "--warnings=off",
            "--no-color",
            *options,
        ]
        done = subprocess.run(command, capture_output=True, text=True, cwd=directory, check=False)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr


def test_no_call_is_a_fault(daemon: Daemon, tmp_path: Path) -> None:
    # Webhooks would be delivered to made-up addresses.
    leave_out = [f"--exclude-operation-id={name}" for name in [*NO_CALLS, "createWebhook"]]
    fuzz(daemon, tmp_path, *leave_out, examples=3)


def test_no_call_to_a_sandbox_that_is_there_is_a_fault(daemon: Daemon, tmp_path: Path) -> None:
    # The sandboxes of this daemon are processes and directories of this machine: nothing made up is run or written in them.
    leave_out = [f"--exclude-tag={tag}" for tag in ("files", "sessions", "images", "webhooks", "system")]
    leave_out.append("--exclude-operation-id=removeSandbox")
    with Torpor(socket=daemon.socket) as torpor, torpor.create("debian", name="fuzzed") as sandbox:
        sandbox.snapshot("fuzzed", pinned=True)
        fuzz(daemon, tmp_path, *leave_out, examples=8, config='[parameters]\n"path.id" = "fuzzed"\n"path.nid" = "fuzzed"\n')
        # Calls reached it: it was more than looked at.
        assert len(torpor.operations.list(sandbox.id)) > 2
