from __future__ import annotations

import re

from torpor._async.command import AsyncCommand
from torpor._units import Deadline, Duration
from torpor.errors import TorporTimeoutError


class AsyncTerminal(AsyncCommand):
    """A terminal: its output is one stream, as a screen has it. It goes on over a pause as every process does."""

    async def resize(self, rows: int, columns: int) -> None:
        """The programs in it are told."""
        await self._transport.json("resizeSession", params=self._params, body={"rows": rows, "columns": columns})

    async def read_until(self, pattern: str, timeout: Duration | None = 30) -> str:
        """Output until a regular expression matches what came since this call; that text, up to the match's end."""
        text = ""
        async for output in self._outputs(Deadline(timeout)):
            text += output.text
            if match := re.search(pattern, text):
                return text[: match.end()]
        if self.ended:
            raise EOFError(f"the terminal ended before {pattern!r} came: {text[-200:]!r}")
        raise TorporTimeoutError(f"{pattern!r} did not come in time: {text[-200:]!r}", details={"sessionId": self.id})
