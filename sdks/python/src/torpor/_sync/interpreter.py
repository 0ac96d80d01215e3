# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from contextlib import closing

from torpor._concurrent import Callback, call
from torpor._requests import given
from torpor._summaries import RunResult
from torpor._sync.transport import Transport
from torpor._units import Duration, milliseconds


class Interpreter:
    """A process of a sandbox that keeps its variables from run to run, over pauses and in the children of forks."""

    def __init__(self, transport: Transport, sandbox: str, id: str) -> None:
        self._transport = transport
        self._params = {"id": sandbox, "iid": id}

    @property
    def id(self) -> str:
        """Of its session; `python` or `shell` for the sandbox's own."""
        return self._params["iid"]

    def run(
        self,
        code: str,
        *,
        timeout: Duration | None = None,
        on_stdout: Callback[str] | None = None,
        on_stderr: Callback[str] | None = None,
    ) -> RunResult:
        """Runs code where the run before left off. `result` is the value of its last line, as `repr` has it; `error` what ended it early.

        After `timeout` it is interrupted, and keeps its variables.
        """
        body = given(code=code, timeoutMs=milliseconds(timeout))
        if on_stdout is None and on_stderr is None:
            return RunResult.model_validate(self._transport.json("runCode", params=self._params, body=body))
        parts: dict[str, list[str]] = {"stdout": [], "stderr": []}
        with closing(self._transport.lines("runCode", params=self._params, body=body)) as lines:
            for line in lines:
                if "end" in line:
                    said = {stream: "".join(texts) for stream, texts in parts.items()}
                    return RunResult.model_validate({**said, **line["end"]})
                for stream, callback in (("stdout", on_stdout), ("stderr", on_stderr)):
                    if stream in line:
                        parts[stream].append(line[stream])
                        if callback is not None:
                            call(callback, line[stream])
        raise AssertionError("lines end with an end or an error")
