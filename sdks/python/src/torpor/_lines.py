from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from torpor.models import Event


class LineReader:
    """Lines of a stream of text; what comes after the last line end is none."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[str]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode()


@dataclass(frozen=True)
class Block:
    """A block of server-sent events: what was looked at counts as read, also without an event."""

    id: str | None
    event: Event | None


class BlockReader:
    """Server-sent events: fields in lines, and an empty line after each block."""

    def __init__(self) -> None:
        self._lines = LineReader()
        self._id: str | None = None
        self._event: Event | None = None

    def feed(self, chunk: bytes) -> Iterator[Block]:
        for line in self._lines.feed(chunk):
            if line.startswith("id: "):
                self._id = line.removeprefix("id: ")
            elif line.startswith("data: "):
                self._event = Event.model_validate(json.loads(line.removeprefix("data: ")))
            elif line == "":
                block = Block(self._id, self._event)
                self._id = self._event = None
                yield block
