from __future__ import annotations

from torpor._async.command import AsyncCommand
from torpor.models import Session, Supervision


class AsyncSupervised(AsyncCommand):
    """A session whose process is kept running: begun again when it ends, after a boot, and after the server was away. It has one id and one
    output over all its processes, and ends when it is removed.
    """

    @property
    def supervision(self) -> Supervision | None:
        """What its process is doing, as it was seen last: `inspect` asks anew."""
        return self._record.supervision if self._record else None

    async def start(self) -> Session:
        """Its process runs; one that was given up is tried again."""
        return await self._ask("startSupervised")

    async def stop(self) -> Session:
        """Its process has ended, and stays so."""
        return await self._ask("stopSupervised")

    async def restart(self) -> Session:
        """Another process of it runs."""
        return await self._ask("restartSupervised")

    async def _ask(self, name: str) -> Session:
        self._record = Session.model_validate(await self._transport.json(name, params=self._params))
        return self._record
