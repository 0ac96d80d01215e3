from __future__ import annotations

import re
from pathlib import Path

import pytest
from daemon import ROOT, Daemon


@pytest.mark.parametrize("page", [ROOT / "docs" / "sdk-python.md", ROOT / "sdks" / "python" / "README.md"], ids=lambda page: page.name)
def test_every_example_of_the_page_works(page: Path, daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORPOR_SOCKET", daemon.socket)
    text = page.read_text()
    blocks = [*re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)]
    assert blocks
    names: dict[str, object] = {"__name__": "docs"}
    for block in blocks:
        # So that a traceback has the line of the page.
        code = "\n" * (text[: block.start()].count("\n") + 1) + block[1]
        exec(compile(code, str(page), "exec"), names)
