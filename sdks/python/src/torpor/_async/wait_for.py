from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

from torpor._async.events import AsyncEvents
from torpor._async.transport import AsyncTransport
from torpor._concurrent import AsyncCallback, async_call
from torpor._lines import Block
from torpor._units import Deadline
from torpor.errors import TorporTimeoutError
from torpor.models import SandboxRecord


async def async_wait_for(
    transport: AsyncTransport,
    id: str,
    states: Sequence[str],
    deadline: Deadline,
    on_progress: AsyncCallback[SandboxRecord] | None = None,
) -> SandboxRecord:
    """The record of a sandbox once it is in one of the states. It is looked at when its events are being listened to, so none is missed."""
    told = None
    async with aclosing(AsyncEvents(transport, id).blocks(deadline=deadline)) as blocks, aclosing(_and_once_more(blocks)) as looks:
        async for _ in looks:
            record = SandboxRecord.model_validate(await transport.json("getSandbox", params={"id": id}))
            now = (record.state, record.operation and record.operation.phase)
            if on_progress is not None and now != told:
                await async_call(on_progress, record)
            told = now
            if record.state in states:
                return record
            if deadline.over:
                break
    raise TorporTimeoutError(f"sandbox {id} was not {' or '.join(states)} in time")


async def _and_once_more(blocks: AsyncIterator[Block]) -> AsyncGenerator[Block | None, None]:
    """The time may be over before the server has answered: nobody is told that it is late by who has not looked."""
    async for block in blocks:
        yield block
    yield None
