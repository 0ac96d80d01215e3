# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

import builtins

from torpor._sync.transport import Transport
from torpor.models import Operation


class Operations:
    """The changes of sandboxes that were begun."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, id: str) -> Operation:
        """How far one is, or how it ended."""
        return Operation.model_validate(self._transport.json("getOperation", params={"oid": id}))

    def list(self, sandbox: str) -> builtins.list[Operation]:
        """Those of one sandbox, newest first."""
        answer = self._transport.json("listOperations", params={"id": sandbox})
        return [Operation.model_validate(each) for each in answer["operations"]]

    def cancel(self, id: str) -> Operation:
        """Undoes one that has not gone too far: it has failed then, with `operation_cancelled`."""
        answer = self._transport.json("cancelOperation", params={"oid": id})
        return Operation.model_validate(answer["operation"])
