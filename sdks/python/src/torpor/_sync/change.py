# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from torpor._concurrent import Callback, call, sleep
from torpor._failure import operation_failure
from torpor._sync.transport import Transport, Values
from torpor._units import Deadline, Duration, milliseconds
from torpor.errors import TorporTimeoutError
from torpor.models import Operation, OperationAnswer, OperationAnswerSibling, SandboxRecord

#: How long one call waits for its operation before it is asked again, in seconds. It bounds how late a dead connection is noticed.
_WAIT_SECONDS = 60
#: The answer to such a call may come so much later.
_GRACE_SECONDS = 30
#: Between two looks at an operation when somebody wants to know how far it is, in seconds.
_PROGRESS_SECONDS = 0.1


@dataclass(frozen=True)
class Waiting:
    """How a call that begins an operation waits for its end."""

    #: After so long TorporTimeoutError is raised, with `details["operationId"]`; the operation goes on.
    timeout: Duration | None = None
    #: For room on the node, where others hold what is asked for.
    capacity: Duration | None = None
    #: Calls with the same key are the same operation.
    key: str | None = None
    #: Told of the operation whenever it is in another phase.
    on_progress: Callback[Operation] | None = None


def change(
    transport: Transport,
    name: str,
    waiting: Waiting,
    *,
    id: str | None = None,
    query: Values | None = None,
    body: Mapping[str, object] | None = None,
) -> OperationAnswer:
    """Makes a call that begins an operation, waits for its end, and raises its error."""
    deadline = Deadline(waiting.timeout)
    key = waiting.key or str(uuid.uuid4())
    told = False
    while True:
        # With the same key it is the same operation, and the call waits on for it.
        wait = 0.0 if waiting.on_progress else deadline.left(_WAIT_SECONDS)
        answer = OperationAnswer.model_validate(
            transport.json(
                name,
                params=None if id is None else {"id": id},
                query={**(query or {}), "wait": milliseconds(wait), "waitCapacity": milliseconds(waiting.capacity)},
                body=body,
                key=key,
                timeout=wait + _GRACE_SECONDS + (0 if waiting.capacity is None else (milliseconds(waiting.capacity) or 0) / 1000),
            )
        )
        running = next((each.operation for each in _outcomes(answer) if each.operation.status == "running"), None)
        if running is None:
            if waiting.on_progress is not None and not told:
                call(waiting.on_progress, answer.operation)
            return _ended(answer)
        if waiting.on_progress is not None:
            told = True
            _watch(transport, running, waiting.on_progress, deadline)
        if deadline.over:
            raise _late(running)


def _watch(transport: Transport, operation: Operation, on_progress: Callback[Operation], deadline: Deadline) -> None:
    call(on_progress, operation)
    while operation.status == "running" and not deadline.over:
        sleep(_PROGRESS_SECONDS)
        now = Operation.model_validate(transport.json("getOperation", params={"oid": operation.id}))
        if (now.phase, now.status) != (operation.phase, operation.status):
            call(on_progress, now)
        operation = now


def _outcomes(answer: OperationAnswer) -> list[OperationAnswerSibling]:
    first = OperationAnswerSibling(operation=answer.operation, sandbox=answer.sandbox)
    return [first, *(answer.siblings or [])]


def _ended(answer: OperationAnswer) -> OperationAnswer:
    failures = [operation_failure(each.operation) for each in _outcomes(answer)]
    # Of several that one call began one has to be there; each tells of itself.
    if failures[0] is not None and all(failures):
        raise failures[0]
    return answer


def _late(operation: Operation) -> TorporTimeoutError:
    return TorporTimeoutError(
        f"the {operation.kind} had not ended in time (it is at {operation.phase})",
        hint=f"It goes on: operation {operation.id} tells how it ends.",
        details={"operationId": operation.id},
    )


def sandbox_of(answer: OperationAnswer) -> SandboxRecord:
    """The record that comes with the end of every operation but a removal."""
    assert answer.sandbox is not None
    return answer.sandbox
