# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from torpor._sync.command import Command
from torpor.models import Session, Supervision


class Supervised(Command):
    """A session whose process is kept running: begun again when it ends, after a boot, and after the server was away. It has one id and one
    output over all its processes, and ends when it is removed.
    """

    @property
    def supervision(self) -> Supervision | None:
        """What its process is doing, as it was seen last: `inspect` asks anew."""
        return self._record.supervision if self._record else None

    def start(self) -> Session:
        """Its process runs; one that was given up is tried again."""
        return self._ask("startSupervised")

    def stop(self) -> Session:
        """Its process has ended, and stays so."""
        return self._ask("stopSupervised")

    def restart(self) -> Session:
        """Another process of it runs."""
        return self._ask("restartSupervised")

    def _ask(self, name: str) -> Session:
        self._record = Session.model_validate(self._transport.json(name, params=self._params))
        return self._record
