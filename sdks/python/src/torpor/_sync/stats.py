# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

import json
from collections.abc import Iterator

from torpor._lines import LineReader
from torpor._sync.transport import Transport
from torpor.models import NodeStats, SandboxUsage


class Stats:
    """What sandboxes use. Nothing is woken for it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def __call__(self) -> NodeStats:
        """Of all sandboxes now, with the pool. Of one: `sandbox.stats()`."""
        return NodeStats.model_validate(self._transport.json("stats"))

    def follow(self) -> Iterator[NodeStats]:
        """The same each 2 s, until the connection's end."""
        lines = LineReader()
        with self._transport.stream("stats", headers={"accept": "text/event-stream"}) as answer:
            for chunk in answer.iter_bytes():
                for line in lines.feed(chunk):
                    if line.startswith("data: "):
                        yield NodeStats.model_validate(json.loads(line.removeprefix("data: ")))

    def usage(self) -> list[SandboxUsage]:
        """What each has used so far, those that were removed lately too."""
        return [SandboxUsage.model_validate(each) for each in (self._transport.json("usage"))["usage"]]
