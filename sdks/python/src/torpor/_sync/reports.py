# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from torpor._sync.events import Events
from torpor._sync.transport import Transport
from torpor.models import Difference, Event, SandboxStats


class Reports:
    """What is told of a sandbox."""

    _transport: Transport

    @property
    def id(self) -> str:
        raise NotImplementedError

    def stats(self) -> SandboxStats:
        """What it uses now. One that does not run uses no memory, CPU or network."""
        return SandboxStats.model_validate(self._transport.json("sandboxStats", params={"id": self.id}))

    def history(self, *, after: int = 0, limit: int | None = None) -> list[Event]:
        """What has happened to it, oldest first, as long as it is kept."""
        answer = self._transport.json("listEvents", params={"id": self.id}, query={"after": after, "limit": limit})
        return [Event.model_validate(each) for each in answer["events"]]

    def events(self, *, after: int | None = None, types: Sequence[str] | None = None) -> Iterator[Event]:
        """What happens to it, as it comes: from now on, or after a seq; 0: all that is kept."""
        return Events(self._transport, self.id)(after=after, types=types)

    def diff(self, other: str | None = None, *, limit: int | None = None) -> Iterator[Difference]:
        """How its files differ from its image's; with another sandbox, what that one has otherwise. Nothing is woken for it."""
        query = {"with": other, "limit": limit}
        with closing(self._transport.lines("diffSandbox", params={"id": self.id}, query=query)) as lines:
            for line in lines:
                if "end" in line:
                    return
                yield Difference.model_validate(line["difference"])

    def logs(self, limit_bytes: int | None = None) -> str:
        """What its guest and engine wrote, newest last."""
        with self._transport.stream("sandboxLogs", params={"id": self.id}, query={"limit": limit_bytes}) as answer:
            return (answer.read()).decode(errors="replace")
