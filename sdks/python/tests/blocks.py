from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from daemon import ROOT


@dataclass(frozen=True)
class Block:
    """A fenced block of a document. Its line is that of its first one."""

    document: str
    language: str
    line: int
    text: str


def blocks_for(file: str) -> list[Block]:
    """What a test has to run, by test/documents/runners.json: blocks_for(__file__)."""
    runners: dict[str, dict[str, object]] = json.loads((ROOT / "test" / "documents" / "runners.json").read_text())
    test = Path(file).resolve().relative_to(ROOT).as_posix()
    documents = [path.relative_to(ROOT).as_posix() for part in ("docs", "sdks/python") for path in sorted((ROOT / part).rglob("*.md"))]
    return [
        block
        for name, languages in runners.items()
        for document in documents
        if fnmatch(document, name)
        for block in _blocks_of(document)
        if languages.get(block.language) == test
    ]


def _blocks_of(document: str) -> list[Block]:
    text = (ROOT / document).read_text()
    found = re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [Block(document, block[1], text[: block.start()].count("\n") + 2, block[2]) for block in found]
