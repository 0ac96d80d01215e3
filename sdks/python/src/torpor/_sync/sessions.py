# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from torpor._sync.transport import Transport

from torpor._sync.process import Process
from torpor.models import Session


class Sessions:
    """The commands and terminals of a sandbox, those that have ended too."""

    def __init__(self, transport: Transport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    def get(self, id: str) -> Session:
        return Session.model_validate(self._transport.json("getSession", params=self._params(id)))

    def list(self) -> list[Session]:
        answer = self._transport.json("listSessions", params={"id": self._sandbox})
        return [Session.model_validate(each) for each in answer["sessions"]]

    def attach(self, id: str, *, after: int = 0) -> Process:
        """A session again, with its output after a sequence number; 0: all that is kept."""
        return Process(self._transport, self._sandbox, id, after=after)

    def remove(self, id: str, *, force: bool = False) -> None:
        """Forgets one that has ended; with force kills it first."""
        self._transport.json("removeSession", params=self._params(id), query={"force": force or None})

    def _params(self, id: str) -> dict[str, str]:
        return {"id": self._sandbox, "sid": id}
