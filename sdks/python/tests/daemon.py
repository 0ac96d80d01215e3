"""A real torpord as a process of its own, over the process engine: no root, no gVisor."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).parents[3]
MAIN = ROOT / "packages" / "daemon" / "src" / "testing" / "main.ts"


class Daemon:
    def __init__(self, *args: str) -> None:
        node = os.environ.get("TORPOR_NODE") or shutil.which("node", path=str(ROOT / "node_modules" / ".bin")) or "node"
        self._process = subprocess.Popen([node, str(MAIN), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.socket = self._process.stdout.readline().strip()

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # It ends with its input, and takes all that it began with it.
        self._process.communicate(timeout=120)
        assert self._process.returncode == 0
