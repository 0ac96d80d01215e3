from __future__ import annotations

import builtins

from torpor._async.transport import AsyncTransport
from torpor.models import Operation


class AsyncOperations:
    """The changes of sandboxes that were begun."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(self, id: str) -> Operation:
        """How far one is, or how it ended."""
        return Operation.model_validate(await self._transport.json("getOperation", params={"oid": id}))

    async def list(self, sandbox: str) -> builtins.list[Operation]:
        """Those of one sandbox, newest first."""
        answer = await self._transport.json("listOperations", params={"id": sandbox})
        return [Operation.model_validate(each) for each in answer["operations"]]

    async def cancel(self, id: str) -> Operation:
        """Undoes one that has not gone too far: it has failed then, with `operation_cancelled`."""
        answer = await self._transport.json("cancelOperation", params={"oid": id})
        return Operation.model_validate(answer["operation"])
