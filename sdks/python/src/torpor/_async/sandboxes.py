from __future__ import annotations

from torpor._async.change import AsyncWaiting, async_change, sandbox_of
from torpor._async.transport import AsyncTransport
from torpor._concurrent import AsyncCallback
from torpor._requests import ResumeMemory
from torpor._units import Duration
from torpor.models import Operation, SandboxRecord


class AsyncSandboxes:
    """Pause and resume of sandboxes of which one knows no more than the id or name."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def pause_and_wait(
        self,
        id: str,
        *,
        memory: bool = True,
        timeout_sec: Duration | None = None,
        on_progress: AsyncCallback[Operation] | None = None,
    ) -> SandboxRecord:
        """Returns when it is paused; with `memory`, when its memory is saved. TorporTimeoutError leaves the pause going on."""
        return await self._change("pauseSandbox", id, {"memory": memory}, timeout_sec, on_progress)

    async def resume_and_wait(
        self,
        id: str,
        *,
        memory: ResumeMemory | bool = True,
        timeout_sec: Duration | None = None,
        on_progress: AsyncCallback[Operation] | None = None,
    ) -> SandboxRecord:
        """Returns when it runs. The record's `restored` says whether its memory came back, or its files alone."""
        mode = {True: "prefer", False: "discard"}[memory] if isinstance(memory, bool) else memory
        return await self._change("resumeSandbox", id, {"memory": mode}, timeout_sec, on_progress)

    async def _change(
        self,
        name: str,
        id: str,
        body: dict[str, object],
        timeout: Duration | None,
        on_progress: AsyncCallback[Operation] | None,
    ) -> SandboxRecord:
        waiting = AsyncWaiting(timeout, on_progress=on_progress)
        return sandbox_of(await async_change(self._transport, name, waiting, id=id, body=body))
