from __future__ import annotations

import json
from collections.abc import AsyncIterator

from torpor._async.transport import AsyncTransport
from torpor._lines import LineReader
from torpor.models import NodeStats, SandboxUsage


class AsyncStats:
    """What sandboxes use. Nothing is woken for it."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def __call__(self) -> NodeStats:
        """Of all sandboxes now, with the pool. Of one: `sandbox.stats()`."""
        return NodeStats.model_validate(await self._transport.json("stats"))

    async def follow(self) -> AsyncIterator[NodeStats]:
        """The same each 2 s, until the connection's end."""
        lines = LineReader()
        async with self._transport.stream("stats", headers={"accept": "text/event-stream"}) as answer:
            async for chunk in answer.aiter_bytes():
                for line in lines.feed(chunk):
                    if line.startswith("data: "):
                        yield NodeStats.model_validate(json.loads(line.removeprefix("data: ")))

    async def usage(self) -> list[SandboxUsage]:
        """What each has used so far, those that were removed lately too."""
        return [SandboxUsage.model_validate(each) for each in (await self._transport.json("usage"))["usage"]]
