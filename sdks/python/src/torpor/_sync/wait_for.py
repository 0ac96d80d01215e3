# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from torpor._concurrent import Callback, call
from torpor._lines import Block
from torpor._sync.events import Events
from torpor._sync.transport import Transport
from torpor._units import Deadline
from torpor.errors import TorporTimeoutError
from torpor.models import SandboxRecord


def wait_for(
    transport: Transport,
    id: str,
    states: Sequence[str],
    deadline: Deadline,
    on_progress: Callback[SandboxRecord] | None = None,
) -> SandboxRecord:
    """The record of a sandbox once it is in one of the states. It is looked at when its events are being listened to, so none is missed."""
    told = None
    with closing(Events(transport, id).blocks(deadline=deadline)) as blocks, closing(_and_once_more(blocks)) as looks:
        for _ in looks:
            record = SandboxRecord.model_validate(transport.json("getSandbox", params={"id": id}))
            now = (record.state, record.operation and record.operation.phase)
            if on_progress is not None and now != told:
                call(on_progress, record)
            told = now
            if record.state in states:
                return record
            if deadline.over:
                break
    raise TorporTimeoutError(f"sandbox {id} was not {' or '.join(states)} in time")


def _and_once_more(blocks: Iterator[Block]) -> Generator[Block | None, None, None]:
    """The time may be over before the server has answered: nobody is told that it is late by who has not looked."""
    for block in blocks:
        yield block
    yield None
