from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from torpor._calls import Call
from torpor._endpoint import Endpoint
from torpor._error import TorporError
from torpor.errors import ERRORS, ConnectionLostError, DaemonUnreachableError, RouteNotFoundError, VersionMismatchError
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


def answer_failure(endpoint: Endpoint, call: Call, status: int, content: bytes) -> TorporError:
    """The error of an answer that is no success. Who does not know the call is an older server; who speaks another language is none."""
    try:
        error = failure_of(json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError):
        return not_torpord(endpoint, status, content)
    if not isinstance(error, RouteNotFoundError):
        return error
    return VersionMismatchError(
        f"the daemon at {endpoint.name} does not know {call.method} {call.path}: it is older than this client",
        hint="upgrade torpord there, or use a client of its version (torpor version shows both)",
    )


def not_torpord(endpoint: Endpoint, status: int, content: bytes) -> TorporError:
    text = content[:200].decode(errors="replace")
    return DaemonUnreachableError(
        f"what answers at {endpoint.name} is not torpord: status {status}, {text}", hint="look at the address, and at proxies in between"
    )


def connection_lost(endpoint: Endpoint, error: Exception) -> TorporError:
    return ConnectionLostError(
        f"the connection to {endpoint.name} broke off in the middle of an answer: {str(error) or type(error).__name__}",
        hint="what the call began goes on: look at its outcome, or call again",
    )


def operation_failure(operation: Operation) -> TorporError | None:
    if operation.error is None:
        return None
    error = operation.error.model_dump(exclude_none=True)
    error["details"] = {**error.get("details", {}), "operationId": operation.id}
    return failure_of({"error": error})
