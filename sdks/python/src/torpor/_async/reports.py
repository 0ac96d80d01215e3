from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

from torpor._async.events import AsyncEvents
from torpor._async.transport import AsyncTransport
from torpor.models import Difference, Event, SandboxStats


class AsyncReports:
    """What is told of a sandbox."""

    _transport: AsyncTransport

    @property
    def id(self) -> str:
        raise NotImplementedError

    async def stats(self) -> SandboxStats:
        """What it uses now. One that does not run uses no memory, CPU or network."""
        return SandboxStats.model_validate(await self._transport.json("sandboxStats", params={"id": self.id}))

    async def history(self, *, after: int = 0, limit: int | None = None) -> list[Event]:
        """What has happened to it, oldest first, as long as it is kept."""
        answer = await self._transport.json("listEvents", params={"id": self.id}, query={"after": after, "limit": limit})
        return [Event.model_validate(each) for each in answer["events"]]

    def events(self, *, after: int | None = None, types: Sequence[str] | None = None) -> AsyncIterator[Event]:
        """What happens to it, as it comes: from now on, or after a seq; 0: all that is kept."""
        return AsyncEvents(self._transport, self.id)(after=after, types=types)

    async def diff(self, other: str | None = None, *, limit: int | None = None) -> AsyncIterator[Difference]:
        """How its files differ from its image's; with another sandbox, what that one has otherwise. Nothing is woken for it."""
        query = {"with": other, "limit": limit}
        async with aclosing(self._transport.lines("diffSandbox", params={"id": self.id}, query=query)) as lines:
            async for line in lines:
                if "end" in line:
                    return
                yield Difference.model_validate(line["difference"])

    async def logs(self, limit_bytes: int | None = None) -> str:
        """What its guest and engine wrote, newest last."""
        async with self._transport.stream("sandboxLogs", params={"id": self.id}, query={"limit": limit_bytes}) as answer:
            return (await answer.aread()).decode(errors="replace")
