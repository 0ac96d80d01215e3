from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torpor._error import TorporError
from torpor._failure import failure_of
from torpor.models import Operation


class ForkFailedError(TorporError):
    """Some children of a fork failed. `sandboxes` has those that are there, `failures` why the others are not."""

    def __init__(self, failures: Sequence[TorporError], sandboxes: Sequence[Any]) -> None:
        first = failures[0]
        super().__init__(
            f"{len(failures)} of {len(failures) + len(sandboxes)} children failed: {first.message}",
            code=first.code,
            hint=first.hint,
            details=first.details,
        )
        self.failures = [*failures]
        self.sandboxes = [*sandboxes]


def children_of(operation: Operation) -> tuple[list[str], list[TorporError]]:
    """The ids of a fork's children, and the errors of those that failed."""
    children: list[dict[str, Any]] = operation.result["children"]
    made = [str(child["id"]) for child in children if child.get("error") is None]
    return made, [failure_of(child) for child in children if child.get("error") is not None]
