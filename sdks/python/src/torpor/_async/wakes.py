from __future__ import annotations

from datetime import datetime

from torpor._async.transport import AsyncTransport
from torpor._requests import given, instant
from torpor._summaries import WakeList
from torpor._units import Duration, milliseconds
from torpor.models import CreatedWake


class AsyncWakes:
    """What resumes a paused sandbox by itself."""

    def __init__(self, transport: AsyncTransport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    async def create(
        self,
        *,
        at: datetime | None = None,
        after: Duration | None = None,
        cron: str | None = None,
        timezone: str | None = None,
        url: bool | None = None,
        signed: bool | None = None,
        label: str | None = None,
    ) -> CreatedWake:
        """One of: once `at` a time, once `after` a while, by a `cron` schedule in a `timezone`, or by a call to a `url`.

        Of a URL the answer has the `path`, and the `secret` if calls have to be signed: nobody is told them again.
        """
        body = given(
            at=instant(at),
            afterMs=milliseconds(after),
            cron=cron,
            timezone=timezone,
            url=url or None,
            signed=signed,
            label=label,
        )
        return CreatedWake.model_validate(await self._transport.json("createWake", params={"id": self._sandbox}, body=body))

    async def list(self) -> WakeList:
        """They, and how many wakes are stored and have not reached the sandbox yet."""
        return WakeList.model_validate(await self._transport.json("listWakes", params={"id": self._sandbox}))

    async def remove(self, id: str) -> None:
        """Revokes one; what it stored already is delivered."""
        await self._transport.json("removeWake", params={"id": self._sandbox, "wid": id})
