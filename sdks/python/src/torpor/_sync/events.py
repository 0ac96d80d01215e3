# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

import httpx

from torpor._concurrent import sleep
from torpor._lines import Block, BlockReader
from torpor._sync.transport import Transport
from torpor._units import Deadline
from torpor.errors import ConnectionLostError, DaemonUnreachableError, ShuttingDownError
from torpor.models import Event, EventPage

#: A server that says nothing for so long, not even that it is there, is gone: it says so each 10 s.
_SILENT_SECONDS = 35
_RECONNECT_SECONDS = 1
#: A server that was restarted is waited for so long.
_PATIENCE_SECONDS = 60


class Events:
    """Events of all sandboxes. `for event in torpor.events()` follows them as they come."""

    def __init__(self, transport: Transport, sandbox: str | None = None) -> None:
        self._transport = transport
        self._sandbox = sandbox

    def list(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        sandbox: str | None = None,
        types: Sequence[str] | None = None,
    ) -> EventPage:
        """A page, oldest first; its `next` is the `after` of the next one."""
        query = {"after": after, "limit": limit, "sandbox": sandbox or self._sandbox, "type": _joined(types)}
        return EventPage.model_validate(self._transport.json("events", query=query))

    def __call__(self, *, after: int | None = None, sandbox: str | None = None, types: Sequence[str] | None = None) -> Iterator[Event]:
        """The same as `follow`."""
        return self.follow(after=after, sandbox=sandbox, types=types)

    def follow(self, *, after: int | None = None, sandbox: str | None = None, types: Sequence[str] | None = None) -> Iterator[Event]:
        """Events as they come: from now on, or after a seq; 0: all that are kept.

        A connection that breaks is made anew, and goes on after the last event: none is missed and none comes twice.
        EventsGoneError is raised if the server has forgotten some of them meanwhile.
        """
        with closing(self.blocks(after=after, sandbox=sandbox, types=types)) as blocks:
            for block in blocks:
                if block.event is not None:
                    yield block.event

    def blocks(
        self,
        *,
        after: int | None = None,
        sandbox: str | None = None,
        types: Sequence[str] | None = None,
        deadline: Deadline | None = None,
    ) -> Generator[Block, None, None]:
        """Also those without an event: the first comes as soon as the server looks, others as signs of life."""
        last = None if after is None else str(after)
        met = False
        lost_at: float | None = None
        while True:
            try:
                headers = {"accept": "text/event-stream", **({} if last is None else {"last-event-id": last})}
                query = {"sandbox": sandbox or self._sandbox, "type": _joined(types)}
                silent = (deadline or Deadline(None)).left(_SILENT_SECONDS) or 0.001
                with self._transport.stream("events", query=query, headers=headers, timeout=silent) as answer:
                    met, lost_at = True, None
                    reader = BlockReader()
                    for chunk in answer.iter_bytes():
                        for block in reader.feed(chunk):
                            yield block
                            # Only now: whoever took it has it.
                            last = block.id or last
            except (ConnectionLostError, DaemonUnreachableError, ShuttingDownError, httpx.TransportError):
                if deadline is not None and deadline.over:
                    return
                lost_at = lost_at or time.monotonic()
                if not met or time.monotonic() - lost_at > _PATIENCE_SECONDS:
                    raise
            sleep(_RECONNECT_SECONDS)


def _joined(types: Sequence[str] | None) -> str | None:
    return None if types is None else ",".join(types)
