from __future__ import annotations

import pytest
from blocks import Block, blocks_for
from daemon import Daemon

BLOCKS = blocks_for(__file__)


@pytest.mark.parametrize("page", sorted({block.document for block in BLOCKS}))
def test_every_example_of_the_page_works(page: str, daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORPOR_SOCKET", daemon.socket)
    names: dict[str, object] = {"__name__": "docs"}
    for block in BLOCKS:
        if block.document == page:
            _run(block, names)


def _run(block: Block, names: dict[str, object]) -> None:
    # So that a traceback has the line of the page.
    code = "\n" * (block.line - 1) + block.text
    exec(compile(code, block.document, "exec"), names)
