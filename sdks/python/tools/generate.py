"""Writes what is made from others: the models, calls and errors from api/, and the sync client from the async one.

python tools/generate.py: with the tools of requirements/tools.txt, from any directory.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from calls import render_calls
from failures import render_errors
from models import render_models
from ruff_format import ruff_format
from unasync import render_sync

python = Path(__file__).parents[1]
api = python.parents[1] / "api"
package = python / "src" / "torpor"


def main() -> None:
    document = json.loads((api / "openapi.json").read_text())
    errors = json.loads((api / "errors.json").read_text())
    (package / "models.py").write_text(ruff_format(render_models(document)))
    (package / "_calls.py").write_text(ruff_format(render_calls(document)))
    (package / "errors.py").write_text(ruff_format(render_errors(errors)))
    sync = package / "_sync"
    sync.mkdir(exist_ok=True)
    for old in sync.glob("*.py"):
        old.unlink()
    for source in sorted((package / "_async").glob("*.py")):
        (sync / source.name).write_text(ruff_format(render_sync(source.read_text())))


if __name__ == "__main__":
    main()
