from __future__ import annotations

import time
from datetime import timedelta
from typing import Final, TypeAlias

#: Seconds, or a timedelta.
Duration: TypeAlias = float | timedelta


class Unset:
    """What was not given, where None means something."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset()

MIB = 1024 * 1024


def milliseconds(duration: Duration | None) -> int | None:
    if duration is None:
        return None
    return round((duration.total_seconds() if isinstance(duration, timedelta) else duration) * 1000)


class Deadline:
    """When a wait is over; never, without a duration."""

    def __init__(self, duration: Duration | None) -> None:
        after = milliseconds(duration)
        self._at = None if after is None else time.monotonic() + after / 1000

    def left(self, limit: float) -> float:
        """Seconds that are left, at most `limit`."""
        return limit if self._at is None else max(0.0, min(limit, self._at - time.monotonic()))

    @property
    def over(self) -> bool:
        return self._at is not None and time.monotonic() >= self._at
