# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any

from typing_extensions import Unpack

from torpor._concurrent import Callback
from torpor._forked import ForkFailedError, children_of
from torpor._requests import ResumeMemory, TimeSettings, given, instant, settings, time_settings
from torpor._sync.change import Waiting, change, sandbox_of
from torpor._sync.commands import Commands
from torpor._sync.files import Files
from torpor._sync.interpreter import Interpreter
from torpor._sync.ports import Ports
from torpor._sync.reports import Reports
from torpor._sync.transport import Transport
from torpor._sync.wait_for import wait_for
from torpor._sync.wakes import Wakes
from torpor._units import UNSET, Deadline, Duration, Unset, milliseconds
from torpor.errors import SandboxNotFoundError
from torpor.models import Operation, OperationAnswer, SandboxRecord, Snapshot

#: What a yes or no about memory means to a resume.
_RESUME: dict[bool, ResumeMemory] = {True: "prefer", False: "discard"}


class Sandbox(Commands, Reports):
    """A sandbox. What it says of itself is what was seen last: each change brings it up to date, and so does `inspect`.

    At the end of `with` it is removed; without `with` it stays until somebody removes it. Changes take `timeout` (then TorporTimeoutError;
    the change goes on), `key` (calls with the same key are one change) and `on_progress` (told of each phase).
    """

    def __init__(self, transport: Transport, record: SandboxRecord) -> None:
        self._transport = transport
        self._record = record
        self.files = Files(transport, record.id)
        self.wakes = Wakes(transport, record.id)
        self.ports = Ports(transport, record.id)
        #: Its own Python, and its own shell.
        self.python = Interpreter(transport, record.id, "python")
        self.shell = Interpreter(transport, record.id, "shell")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} ({self.id}) {self.state}>"

    @property
    def record(self) -> SandboxRecord:
        """All that was seen last."""
        return self._record

    @property
    def id(self) -> str:
        return self._record.id

    @property
    def name(self) -> str:
        return self._record.name

    @property
    def state(self) -> str:
        return self._record.state

    @property
    def status(self) -> str:
        """Another word for its state."""
        return self._record.state

    @property
    def paused(self) -> bool:
        return self._record.state == "paused"

    @property
    def runtime_id(self) -> str | None:
        """Of its present runtime; None while there is none."""
        return self._record.runtime_id

    @property
    def runtime_generation(self) -> int:
        """Grows by one with each runtime that it gets."""
        return self._record.generation

    def inspect(self) -> SandboxRecord:
        """Its record as it is now."""
        self._record = SandboxRecord.model_validate(self._transport.json("getSandbox", params={"id": self.id}))
        return self._record

    def refresh(self) -> Sandbox:
        """Brings what it says of itself up to date. SandboxNotFoundError when it is gone."""
        self.inspect()
        return self

    def pause(
        self,
        *,
        memory: bool = True,
        timeout: Duration | None = None,
        key: str | None = None,
        on_progress: Callback[Operation] | None = None,
    ) -> Sandbox:
        """Saves its memory and frees all it holds but disk. Without `memory` its processes end and its files stay."""
        return self._change("pauseSandbox", Waiting(timeout, None, key, on_progress), {"memory": memory})

    def resume(
        self,
        *,
        memory: ResumeMemory | bool = True,
        timeout: Duration | None = None,
        wait_capacity: Duration | None = None,
        key: str | None = None,
        on_progress: Callback[Operation] | None = None,
    ) -> Sandbox:
        """Brings its processes back. Where its memory cannot be restored it boots fresh, and `record.restored` says so;
        with memory="require" it stays paused, with an error. False boots fresh in any case.
        """
        mode = _RESUME[memory] if isinstance(memory, bool) else memory
        waiting = Waiting(timeout, wait_capacity, key, on_progress)
        return self._change("resumeSandbox", waiting, {"memory": mode})

    def pause_and_wait(self, *, memory: bool = True, timeout_sec: Duration | None = None) -> Sandbox:
        """`pause` by another name."""
        return self.pause(memory=memory, timeout=timeout_sec)

    def resume_and_wait(self, *, memory: ResumeMemory | bool = True, timeout_sec: Duration | None = None) -> Sandbox:
        """`resume` by another name."""
        return self.resume(memory=memory, timeout=timeout_sec)

    def stop(
        self,
        *,
        grace: Duration | None = None,
        timeout: Duration | None = None,
        key: str | None = None,
        on_progress: Callback[Operation] | None = None,
    ) -> Sandbox:
        """Ends it and deletes its checkpoint; files stay. `grace` is the time between TERM and KILL."""
        body = given(graceMs=milliseconds(grace))
        return self._change("stopSandbox", Waiting(timeout, None, key, on_progress), body)

    def start(
        self,
        *,
        timeout: Duration | None = None,
        wait_capacity: Duration | None = None,
        key: str | None = None,
        on_progress: Callback[Operation] | None = None,
    ) -> Sandbox:
        """Boots it fresh from its files."""
        return self._change("startSandbox", Waiting(timeout, wait_capacity, key, on_progress), {})

    def remove(self, *, force: bool = False, timeout: Duration | None = None, key: str | None = None) -> None:
        """Removes it and frees everything; one that is live only with `force`."""
        query = {"force": force or None}
        waiting = Waiting(timeout, None, key)
        change(self._transport, "removeSandbox", waiting, id=self.id, query=query)

    def fork(
        self,
        *,
        name: str | None = None,
        memory: bool = True,
        env: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
        wait_capacity: Duration | None = None,
        key: str | None = None,
        on_progress: Callback[Operation] | None = None,
        **times: Unpack[TimeSettings],
    ) -> Sandbox:
        """Copies it with the memory and the processes of this instant; without `memory` its files alone. It goes on."""
        body = given(name=name, memory=memory, env=env, labels=labels) | time_settings(times)
        return (self._fork(body, Waiting(timeout, wait_capacity, key, on_progress)))[0]

    def fork_many(
        self,
        count: int | None = None,
        *,
        name: str | None = None,
        names: Sequence[str] | None = None,
        memory: bool = True,
        env: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
        wait_capacity: Duration | None = None,
        key: str | None = None,
        on_progress: Callback[Operation] | None = None,
        **times: Unpack[TimeSettings],
    ) -> list[Sandbox]:
        """Several copies of one instant, called `names`, or `name` with -1, -2, … after it.

        If some of them fail, ForkFailedError has the others as `sandboxes`.
        """
        body = given(name=name, names=None if names is None else [*names], count=count, memory=memory, env=env, labels=labels)
        return self._fork(body | time_settings(times), Waiting(timeout, wait_capacity, key, on_progress))

    def snapshot(
        self,
        name: str | None = None,
        *,
        memory: bool = True,
        labels: Mapping[str, str] | None = None,
        pinned: bool | None = None,
        expires_at: datetime | None = None,
        timeout: Duration | None = None,
        key: str | None = None,
        on_progress: Callback[Operation] | None = None,
    ) -> Snapshot:
        """Keeps its state under a name. It goes on, or stays as paused or stopped as it is."""
        body = given(name=name, memory=memory, labels=labels, pinned=pinned, expiresAt=instant(expires_at))
        operation = (self._answer("createSnapshot", Waiting(timeout, None, key, on_progress), body)).operation
        made = str(operation.result["snapshot"]["id"])
        return Snapshot.model_validate(self._transport.json("getSnapshot", params={"nid": made}))

    def restore(self, snapshot: str, *, memory: bool | None = None, timeout: Duration | None = None, key: str | None = None) -> Sandbox:
        """Puts it, paused or stopped, back to a snapshot. What it had is given up."""
        body = given(snapshot=snapshot, memory=memory)
        return self._change("restoreSandbox", Waiting(timeout, None, key), body)

    def rebase(self, image: str, *, rollback: Duration | None = None, timeout: Duration | None = None, key: str | None = None) -> Sandbox:
        """Puts its files, paused or stopped, over another image. Its state before is kept for a while, for `roll_back`."""
        body = given(image=image, rollbackMs=milliseconds(rollback))
        return self._change("rebaseSandbox", Waiting(timeout, None, key), body)

    def roll_back(self, *, timeout: Duration | None = None, key: str | None = None) -> Sandbox:
        """Takes its last rebase back."""
        return self._change("rollbackSandbox", Waiting(timeout, None, key), {})

    def update(self, *, labels: Mapping[str, str | None] | Unset = UNSET, **times: Unpack[TimeSettings]) -> Sandbox:
        """Changes its labels, and how its life is bounded in time. None takes a label or a bound away; what is not named stays."""
        return self._settle("updateSandbox", {**settings(labels=labels), **time_settings(times)})

    def extend(self, ttl: Duration | None = None) -> Sandbox:
        """Lets it run on: its ttl begins anew, or it may run so long from now on at least."""
        return self._settle("refreshSandbox", given(ttlMs=milliseconds(ttl)))

    def wait_for(
        self,
        state: str | Sequence[str],
        timeout: Duration | None = None,
        *,
        on_progress: Callback[SandboxRecord] | None = None,
    ) -> Sandbox:
        """Returns when it is in the state, or in one of them. `on_progress` is told of each change of state or phase."""
        states = (state,) if isinstance(state, str) else state
        self._record = wait_for(self._transport, self.id, states, Deadline(timeout), on_progress)
        return self

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self.remove(force=True)
        except SandboxNotFoundError:
            return

    def _change(self, name: str, waiting: Waiting, body: Mapping[str, Any]) -> Sandbox:
        self._answer(name, waiting, body)
        return self

    def _answer(self, name: str, waiting: Waiting, body: Mapping[str, Any]) -> OperationAnswer:
        answer = change(self._transport, name, waiting, id=self.id, body=body)
        self._record = sandbox_of(answer)
        return answer

    def _settle(self, name: str, body: Mapping[str, Any]) -> Sandbox:
        answer = self._transport.json(name, params={"id": self.id}, body=body)
        self._record = SandboxRecord.model_validate(answer)
        return self

    def _fork(self, body: Mapping[str, Any], waiting: Waiting) -> list[Sandbox]:
        answer = change(self._transport, "forkSandbox", waiting, id=self.id, body=body)
        made, failures = children_of(answer.operation)
        records = [self._transport.json("getSandbox", params={"id": child}) for child in made]
        children = [Sandbox(self._transport, SandboxRecord.model_validate(record)) for record in records]
        if failures:
            raise ForkFailedError(failures, children)
        return children
