from __future__ import annotations

from torpor._async.process import AsyncProcess
from torpor._async.transport import AsyncTransport
from torpor.models import Session


class AsyncSessions:
    """The commands and terminals of a sandbox, those that have ended too."""

    def __init__(self, transport: AsyncTransport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    async def get(self, id: str) -> Session:
        return Session.model_validate(await self._transport.json("getSession", params=self._params(id)))

    async def list(self) -> list[Session]:
        answer = await self._transport.json("listSessions", params={"id": self._sandbox})
        return [Session.model_validate(each) for each in answer["sessions"]]

    def attach(self, id: str, *, after: int = 0) -> AsyncProcess:
        """A session again, with its output after a sequence number; 0: all that is kept."""
        return AsyncProcess(self._transport, self._sandbox, id, after=after)

    async def remove(self, id: str, *, force: bool = False) -> None:
        """Forgets one that has ended; with force kills it first."""
        await self._transport.json("removeSession", params=self._params(id), query={"force": force or None})

    def _params(self, id: str) -> dict[str, str]:
        return {"id": self._sandbox, "sid": id}
