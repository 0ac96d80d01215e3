# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from torpor._requests import given
from torpor._sync.transport import Transport
from torpor._units import MIB
from torpor.models import Prices, TeamInfo


class Teams:
    """What teams may hold of a server, and what they pay for it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> list[TeamInfo]:
        """Those that have sandboxes, limits or credit."""
        return [TeamInfo.model_validate(each) for each in (self._transport.json("listTeams"))["teams"]]

    def set_limits(
        self,
        team: str,
        *,
        memory_mib: float | None = None,
        cpus: float | None = None,
        disk_mib: float | None = None,
        sandboxes: int | None = None,
    ) -> TeamInfo:
        """In place of those that were set: what is not named is not limited."""
        body = given(memoryBytes=_bytes(memory_mib), cpus=cpus, diskBytes=_bytes(disk_mib), sandboxes=sandboxes)
        return TeamInfo.model_validate(self._transport.json("setTeamLimits", params={"team": team}, body=body))

    def top_up(self, team: str, amount: float, *, key: str | None = None) -> TeamInfo:
        """Adds to its credit. With a key of one's own it may be asked for again and again, and is done once."""
        answer = self._transport.json("topUpTeam", params={"team": team}, body={"amount": amount}, key=key)
        return TeamInfo.model_validate(answer)

    def prices(self) -> Prices:
        """What use costs teams that have credit."""
        return Prices.model_validate(self._transport.json("getPrices"))

    def set_prices(self, *, cpu_second: float, memory_gib_second: float, stored_gib_month: float, debt_share: float) -> Prices:
        """From now on; what was used before is paid for at the old ones."""
        body = {"cpuSecond": cpu_second, "memoryGibSecond": memory_gib_second, "storedGibMonth": stored_gib_month, "debtShare": debt_share}
        return Prices.model_validate(self._transport.json("setPrices", body=body))


def _bytes(mib: float | None) -> int | None:
    return None if mib is None else round(mib * MIB)
