from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class TorporError(Exception):
    """What every refusal and failure is. Match on the class or on `code`; `hint` says the next step."""

    code: str = "internal"
    status: ClassVar[int] = 500
    #: The same call may succeed later without a change.
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, Any] = dict(details or {})
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message} ({self.hint})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Across processes too: exceptions are pickled by their arguments alone otherwise.
        return (_restore, (type(self), self.message, self.code, self.hint, self.details))


def _restore(kind: type[TorporError], message: str, code: str, hint: str | None, details: dict[str, Any]) -> TorporError:
    return kind(message, code=code, hint=hint, details=details)


class InvalidError(TorporError):
    """The request is wrong as it is."""


class DeniedError(TorporError):
    """It is not allowed to this token, user or process."""


class NotFoundError(TorporError):
    """There is no such thing, or no more."""


class ConflictError(TorporError):
    """It does not go with the present state."""


class UnusableError(TorporError):
    """What it needs cannot be used, or cannot do this."""


class LimitExceededError(TorporError):
    """There is no room, or there are too many."""


class ServerFaultError(TorporError):
    """The server, or what it relies on, failed or was not reached."""
