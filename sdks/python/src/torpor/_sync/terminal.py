# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

import re

from torpor._sync.command import Command
from torpor._units import Deadline, Duration
from torpor.errors import TorporTimeoutError


class Terminal(Command):
    """A terminal: its output is one stream, as a screen has it. It goes on over a pause as every process does."""

    def resize(self, rows: int, columns: int) -> None:
        """The programs in it are told."""
        self._transport.json("resizeSession", params=self._params, body={"rows": rows, "columns": columns})

    def read_until(self, pattern: str, timeout: Duration | None = 30) -> str:
        """Output until a regular expression matches what came since this call; that text, up to the match's end."""
        text = ""
        for output in self._outputs(Deadline(timeout)):
            text += output.text
            if match := re.search(pattern, text):
                return text[: match.end()]
        if self.ended:
            raise EOFError(f"the terminal ended before {pattern!r} came: {text[-200:]!r}")
        raise TorporTimeoutError(f"{pattern!r} did not come in time: {text[-200:]!r}", details={"sessionId": self.id})
