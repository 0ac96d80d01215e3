from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from torpor._error import TorporError
from torpor.errors import ERRORS, InternalError
from torpor.models import Operation


def failure_of(body: Any) -> TorporError:
    """The error that an error body tells of. Its fields come from outside, so they are taken as nothing but text."""
    error = cast("Mapping[str, Any]", body)["error"]
    code, hint, details = str(error["code"]), error.get("hint"), error.get("details")
    # A newer server may have codes that this client does not know: they keep their code.
    kind = ERRORS.get(code, TorporError)
    return kind(
        str(error["message"]),
        code=code,
        hint=None if hint is None else str(hint),
        details=cast("Mapping[str, Any]", details) if isinstance(details, dict) else None,
    )


def answer_failure(status: int, content: bytes) -> TorporError:
    """The error of an answer that is no success; one that is not Torpor's comes from something between."""
    try:
        return failure_of(json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError):
        text = content[:200].decode(errors="replace")
        return InternalError(f"an answer with status {status} that is not torpord's: {text}")


def operation_failure(operation: Operation) -> TorporError | None:
    if operation.error is None:
        return None
    error = operation.error.model_dump(exclude_none=True)
    error["details"] = {**error.get("details", {}), "operationId": operation.id}
    return failure_of({"error": error})
