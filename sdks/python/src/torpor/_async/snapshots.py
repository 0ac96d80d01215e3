from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from torpor._async.transport import AsyncTransport
from torpor._requests import instant, settings
from torpor._units import UNSET, Unset
from torpor.models import Snapshot


class AsyncSnapshots:
    """The snapshots of a server; `sandbox.snapshot` makes one, and `torpor.create(snapshot=…)` a sandbox of it."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> list[Snapshot]:
        return [Snapshot.model_validate(each) for each in (await self._transport.json("listSnapshots"))["snapshots"]]

    async def get(self, id: str) -> Snapshot:
        """By id or name."""
        return Snapshot.model_validate(await self._transport.json("getSnapshot", params={"nid": id}))

    async def update(
        self,
        id: str,
        *,
        labels: Mapping[str, str | None] | Unset = UNSET,
        pinned: bool | Unset = UNSET,
        expires_at: datetime | Unset | None = UNSET,
    ) -> Snapshot:
        """Labels are merged with those it has, None takes one away. None for `expires_at` keeps it for good."""
        body = settings(labels=labels, pinned=pinned, expiresAt=instant(expires_at))
        return Snapshot.model_validate(await self._transport.json("updateSnapshot", params={"nid": id}, body=body))

    async def remove(self, id: str, *, force: bool = False) -> Snapshot:
        """What was made from it stays as it is. With force also when its record cannot be read."""
        answer = await self._transport.json("removeSnapshot", params={"nid": id}, query={"force": force or None})
        return Snapshot.model_validate(answer)
