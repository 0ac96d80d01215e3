from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def ruff_format(source: str) -> str:
    """The source as `npm run format` would leave it: imports in order, lines joined and wrapped."""
    config = str(Path(__file__).parents[1] / "pyproject.toml")
    ruff = [str(Path(sys.executable).parent / "ruff")]
    sort = [
        *ruff,
        "check",
        "--config",
        config,
        "--select",
        "I,RUF022",
        "--fix-only",
        "--unsafe-fixes",
        "--quiet",
        "--no-cache",
        "-",
    ]
    format = [*ruff, "format", "--config", config, "--quiet", "--no-cache", "-"]
    for command in (sort, format):
        source = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    return source
