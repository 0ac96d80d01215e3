# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from torpor._concurrent import Callback
from torpor._requests import ResumeMemory
from torpor._sync.change import Waiting, change, sandbox_of
from torpor._sync.transport import Transport
from torpor._units import Duration
from torpor.models import Operation, SandboxRecord


class Sandboxes:
    """Pause and resume of sandboxes of which one knows no more than the id or name."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def pause_and_wait(
        self,
        id: str,
        *,
        memory: bool = True,
        timeout_sec: Duration | None = None,
        on_progress: Callback[Operation] | None = None,
    ) -> SandboxRecord:
        """Returns when it is paused; with `memory`, when its memory is saved. TorporTimeoutError leaves the pause going on."""
        return self._change("pauseSandbox", id, {"memory": memory}, timeout_sec, on_progress)

    def resume_and_wait(
        self,
        id: str,
        *,
        memory: ResumeMemory | bool = True,
        timeout_sec: Duration | None = None,
        on_progress: Callback[Operation] | None = None,
    ) -> SandboxRecord:
        """Returns when it runs. The record's `restored` says whether its memory came back, or its files alone."""
        mode = {True: "prefer", False: "discard"}[memory] if isinstance(memory, bool) else memory
        return self._change("resumeSandbox", id, {"memory": mode}, timeout_sec, on_progress)

    def _change(
        self,
        name: str,
        id: str,
        body: dict[str, object],
        timeout: Duration | None,
        on_progress: Callback[Operation] | None,
    ) -> SandboxRecord:
        waiting = Waiting(timeout, on_progress=on_progress)
        return sandbox_of(change(self._transport, name, waiting, id=id, body=body))
