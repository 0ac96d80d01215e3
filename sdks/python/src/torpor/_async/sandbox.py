from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any

from typing_extensions import Unpack

from torpor._async.change import AsyncWaiting, async_change, sandbox_of
from torpor._async.commands import AsyncCommands
from torpor._async.files import AsyncFiles
from torpor._async.interpreter import AsyncInterpreter
from torpor._async.ports import AsyncPorts
from torpor._async.reports import AsyncReports
from torpor._async.transport import AsyncTransport
from torpor._async.wait_for import async_wait_for
from torpor._async.wakes import AsyncWakes
from torpor._concurrent import AsyncCallback
from torpor._forked import ForkFailedError, children_of
from torpor._requests import ResumeMemory, TimeSettings, given, instant, settings, time_settings
from torpor._units import UNSET, Deadline, Duration, Unset, milliseconds
from torpor.errors import SandboxNotFoundError
from torpor.models import Operation, OperationAnswer, SandboxRecord, Snapshot

#: What a yes or no about memory means to a resume.
_RESUME: dict[bool, ResumeMemory] = {True: "prefer", False: "discard"}


class AsyncSandbox(AsyncCommands, AsyncReports):
    """A sandbox. What it says of itself is what was seen last: each change brings it up to date, and so does `inspect`.

    At the end of `with` it is removed; without `with` it stays until somebody removes it. Changes take `timeout` (then TorporTimeoutError;
    the change goes on), `key` (calls with the same key are one change) and `on_progress` (told of each phase).
    """

    def __init__(self, transport: AsyncTransport, record: SandboxRecord) -> None:
        self._transport = transport
        self._record = record
        self.files = AsyncFiles(transport, record.id)
        self.wakes = AsyncWakes(transport, record.id)
        self.ports = AsyncPorts(transport, record.id)
        #: Its own Python, and its own shell.
        self.python = AsyncInterpreter(transport, record.id, "python")
        self.shell = AsyncInterpreter(transport, record.id, "shell")

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

    async def inspect(self) -> SandboxRecord:
        """Its record as it is now."""
        self._record = SandboxRecord.model_validate(await self._transport.json("getSandbox", params={"id": self.id}))
        return self._record

    async def refresh(self) -> AsyncSandbox:
        """Brings what it says of itself up to date. SandboxNotFoundError when it is gone."""
        await self.inspect()
        return self

    async def pause(
        self,
        *,
        memory: bool = True,
        timeout: Duration | None = None,
        key: str | None = None,
        on_progress: AsyncCallback[Operation] | None = None,
    ) -> AsyncSandbox:
        """Saves its memory and frees all it holds but disk. Without `memory` its processes end and its files stay."""
        return await self._change("pauseSandbox", AsyncWaiting(timeout, None, key, on_progress), {"memory": memory})

    async def resume(
        self,
        *,
        memory: ResumeMemory | bool = True,
        timeout: Duration | None = None,
        wait_capacity: Duration | None = None,
        key: str | None = None,
        on_progress: AsyncCallback[Operation] | None = None,
    ) -> AsyncSandbox:
        """Brings its processes back. Where its memory cannot be restored it boots fresh, and `record.restored` says so;
        with memory="require" it stays paused, with an error. False boots fresh in any case.
        """
        mode = _RESUME[memory] if isinstance(memory, bool) else memory
        waiting = AsyncWaiting(timeout, wait_capacity, key, on_progress)
        return await self._change("resumeSandbox", waiting, {"memory": mode})

    async def pause_and_wait(self, *, memory: bool = True, timeout_sec: Duration | None = None) -> AsyncSandbox:
        """`pause` by another name."""
        return await self.pause(memory=memory, timeout=timeout_sec)

    async def resume_and_wait(self, *, memory: ResumeMemory | bool = True, timeout_sec: Duration | None = None) -> AsyncSandbox:
        """`resume` by another name."""
        return await self.resume(memory=memory, timeout=timeout_sec)

    async def stop(
        self,
        *,
        grace: Duration | None = None,
        timeout: Duration | None = None,
        key: str | None = None,
        on_progress: AsyncCallback[Operation] | None = None,
    ) -> AsyncSandbox:
        """Ends it and deletes its checkpoint; files stay. `grace` is the time between TERM and KILL."""
        body = given(graceMs=milliseconds(grace))
        return await self._change("stopSandbox", AsyncWaiting(timeout, None, key, on_progress), body)

    async def start(
        self,
        *,
        timeout: Duration | None = None,
        wait_capacity: Duration | None = None,
        key: str | None = None,
        on_progress: AsyncCallback[Operation] | None = None,
    ) -> AsyncSandbox:
        """Boots it fresh from its files."""
        return await self._change("startSandbox", AsyncWaiting(timeout, wait_capacity, key, on_progress), {})

    async def remove(self, *, force: bool = False, timeout: Duration | None = None, key: str | None = None) -> None:
        """Removes it and frees everything; one that is live only with `force`."""
        query = {"force": force or None}
        waiting = AsyncWaiting(timeout, None, key)
        await async_change(self._transport, "removeSandbox", waiting, id=self.id, query=query)

    async def fork(
        self,
        *,
        name: str | None = None,
        memory: bool = True,
        env: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
        wait_capacity: Duration | None = None,
        key: str | None = None,
        on_progress: AsyncCallback[Operation] | None = None,
        **times: Unpack[TimeSettings],
    ) -> AsyncSandbox:
        """Copies it with the memory and the processes of this instant; without `memory` its files alone. It goes on."""
        body = given(name=name, memory=memory, env=env, labels=labels) | time_settings(times)
        return (await self._fork(body, AsyncWaiting(timeout, wait_capacity, key, on_progress)))[0]

    async def fork_many(
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
        on_progress: AsyncCallback[Operation] | None = None,
        **times: Unpack[TimeSettings],
    ) -> list[AsyncSandbox]:
        """Several copies of one instant, called `names`, or `name` with -1, -2, … after it.

        If some of them fail, ForkFailedError has the others as `sandboxes`.
        """
        body = given(name=name, names=None if names is None else [*names], count=count, memory=memory, env=env, labels=labels)
        return await self._fork(body | time_settings(times), AsyncWaiting(timeout, wait_capacity, key, on_progress))

    async def snapshot(
        self,
        name: str | None = None,
        *,
        memory: bool = True,
        labels: Mapping[str, str] | None = None,
        pinned: bool | None = None,
        expires_at: datetime | None = None,
        timeout: Duration | None = None,
        key: str | None = None,
        on_progress: AsyncCallback[Operation] | None = None,
    ) -> Snapshot:
        """Keeps its state under a name. It goes on, or stays as paused or stopped as it is."""
        body = given(name=name, memory=memory, labels=labels, pinned=pinned, expiresAt=instant(expires_at))
        operation = (await self._answer("createSnapshot", AsyncWaiting(timeout, None, key, on_progress), body)).operation
        made = str(operation.result["snapshot"]["id"])
        return Snapshot.model_validate(await self._transport.json("getSnapshot", params={"nid": made}))

    async def restore(
        self, snapshot: str, *, memory: bool | None = None, timeout: Duration | None = None, key: str | None = None
    ) -> AsyncSandbox:
        """Puts it, paused or stopped, back to a snapshot. What it had is given up."""
        body = given(snapshot=snapshot, memory=memory)
        return await self._change("restoreSandbox", AsyncWaiting(timeout, None, key), body)

    async def rebase(
        self, image: str, *, rollback: Duration | None = None, timeout: Duration | None = None, key: str | None = None
    ) -> AsyncSandbox:
        """Puts its files, paused or stopped, over another image. Its state before is kept for a while, for `roll_back`."""
        body = given(image=image, rollbackMs=milliseconds(rollback))
        return await self._change("rebaseSandbox", AsyncWaiting(timeout, None, key), body)

    async def roll_back(self, *, timeout: Duration | None = None, key: str | None = None) -> AsyncSandbox:
        """Takes its last rebase back."""
        return await self._change("rollbackSandbox", AsyncWaiting(timeout, None, key), {})

    async def update(self, *, labels: Mapping[str, str | None] | Unset = UNSET, **times: Unpack[TimeSettings]) -> AsyncSandbox:
        """Changes its labels, and how its life is bounded in time. None takes a label or a bound away; what is not named stays."""
        return await self._settle("updateSandbox", {**settings(labels=labels), **time_settings(times)})

    async def extend(self, ttl: Duration | None = None) -> AsyncSandbox:
        """Lets it run on: its ttl begins anew, or it may run so long from now on at least."""
        return await self._settle("refreshSandbox", given(ttlMs=milliseconds(ttl)))

    async def wait_for(
        self,
        state: str | Sequence[str],
        timeout: Duration | None = None,
        *,
        on_progress: AsyncCallback[SandboxRecord] | None = None,
    ) -> AsyncSandbox:
        """Returns when it is in the state, or in one of them. `on_progress` is told of each change of state or phase."""
        states = (state,) if isinstance(state, str) else state
        self._record = await async_wait_for(self._transport, self.id, states, Deadline(timeout), on_progress)
        return self

    async def __aenter__(self) -> AsyncSandbox:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            await self.remove(force=True)
        except SandboxNotFoundError:
            return

    async def _change(self, name: str, waiting: AsyncWaiting, body: Mapping[str, Any]) -> AsyncSandbox:
        await self._answer(name, waiting, body)
        return self

    async def _answer(self, name: str, waiting: AsyncWaiting, body: Mapping[str, Any]) -> OperationAnswer:
        answer = await async_change(self._transport, name, waiting, id=self.id, body=body)
        self._record = sandbox_of(answer)
        return answer

    async def _settle(self, name: str, body: Mapping[str, Any]) -> AsyncSandbox:
        answer = await self._transport.json(name, params={"id": self.id}, body=body)
        self._record = SandboxRecord.model_validate(answer)
        return self

    async def _fork(self, body: Mapping[str, Any], waiting: AsyncWaiting) -> list[AsyncSandbox]:
        answer = await async_change(self._transport, "forkSandbox", waiting, id=self.id, body=body)
        made, failures = children_of(answer.operation)
        records = [await self._transport.json("getSandbox", params={"id": child}) for child in made]
        children = [AsyncSandbox(self._transport, SandboxRecord.model_validate(record)) for record in records]
        if failures:
            raise ForkFailedError(failures, children)
        return children
