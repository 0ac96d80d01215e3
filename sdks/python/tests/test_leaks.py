from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

from daemon import ROOT, Daemon

from torpor import Torpor

SOURCE = str(ROOT / "sdks" / "python" / "src")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_A03_clients_and_sandboxes_by_the_hundred_leave_no_descriptor_and_no_thread(daemon: Daemon) -> None:
    def once() -> None:
        with Torpor(socket=daemon.socket) as torpor, torpor.create("debian") as sandbox:
            sandbox.exec("true", on_stdout=print)

    once()
    gc.collect()
    before, threads = descriptors(), threading.active_count()
    for count in range(500):
        # With a stream each fiftieth time.
        if count % 50 == 0:
            once()
        else:
            with Torpor(socket=daemon.socket) as torpor:
                torpor.create("debian").remove(force=True)
    gc.collect()
    assert (descriptors(), threading.active_count()) == (before, threads)


def test_A03_a_program_that_leaves_streams_open_ends_by_itself_and_without_a_warning(daemon: Daemon) -> None:
    program = f"""
import sys
sys.path.insert(0, {SOURCE!r})
from torpor import Torpor
with Torpor(socket={daemon.socket!r}) as torpor:
    sandbox = torpor.create("debian")
    command = sandbox.exec("echo x; sleep 600", background=True)
    assert next(iter(command)).text == "x\\n"
    assert next(torpor.events(after=0)).seq
    terminal = sandbox.terminal()
    terminal.write("x")
    stream = torpor.events()
    sandbox.remove(force=True)
"""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program], capture_output=True, text=True, timeout=120, cwd=Path("/")
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
