# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Literal, TypeAlias

from typing_extensions import Self

from torpor._concurrent import Beside, Callback, Content, call, chunks, sleep
from torpor._error import TorporError
from torpor._frames import Output
from torpor._result import ExecResult, result_of
from torpor._socket import Socket, SocketClosed
from torpor._sync.channel import Channel
from torpor._sync.input import Input
from torpor._sync.transport import Transport
from torpor._sync.wait_for import wait_for
from torpor._tail import Tail
from torpor._units import Deadline, Duration
from torpor.errors import (
    ConnectionLostError,
    DaemonUnreachableError,
    OperationActiveError,
    SandboxNotRunningError,
    SessionEndedError,
    SessionNotFoundError,
    SessionOutputGoneError,
    SessionPausedError,
    TorporTimeoutError,
)
from torpor.models import Session

#: Of a pause in the middle: go on reading when the sandbox runs again, or raise SessionPausedError.
OverPause: TypeAlias = Literal["wait", "raise"]

#: A server that was restarted is waited for so often, a second each.
_RECONNECTS = 60
#: Bytes of input a message.
_INPUT_BYTES = 64 * 1024


class Command(Channel):
    """A command or terminal in a sandbox. It goes on when nobody looks, and over a pause, and so does this: what it wrote comes
    once and in order, whenever the sandbox is resumed.

    `for output in command` gives its output as it comes, `wait` its end. Leaving it (`close`, or the end of `with`) leaves it running.
    """

    def __init__(
        self,
        transport: Transport,
        sandbox: str,
        session: str,
        record: Session | None = None,
        *,
        after: int = 0,
        socket: Socket | None = None,
        given: Input | None = None,
        over_pause: OverPause = "wait",
    ) -> None:
        super().__init__(transport, sandbox, session, record, after, socket, given)
        self._over_pause: OverPause = over_pause
        self._stdout = Tail()
        self._stderr = Tail()
        self._lost_bytes = 0
        #: The last output that was seen: one who attaches after it gets the rest.
        self.seq = after

    @property
    def id(self) -> str:
        """Of its session: `sandbox.attach(id)` finds it again, from another process too."""
        return self._params["sid"]

    @property
    def pid(self) -> int | None:
        """In the sandbox. None until it is known."""
        return self._record.pid if self._record else None

    @property
    def ended(self) -> bool:
        """As far as was seen: `inspect` asks."""
        return self._end is not None

    def inspect(self) -> Session:
        """What the sandbox knows of it."""
        self._record = Session.model_validate(self._transport.json("getSession", params=self._params))
        return self._record

    def __iter__(self) -> Iterator[Output]:
        """Its output until its end. A reader that is slow holds the process up; what is not read is not lost."""
        for output in self._outputs(Deadline(None)):
            yield output

    def wait(
        self,
        timeout: Duration | None = None,
        *,
        on_stdout: Callback[str] | None = None,
        on_stderr: Callback[str] | None = None,
        check: bool = False,
    ) -> ExecResult:
        """Its end, with the output that came since this object was made. TorporTimeoutError leaves it running.

        SandboxNotRunningError says that it ended with its sandbox. With `check` an exit code other than 0 is raised as CommandFailedError.
        """
        decoders = {kind: codecs.getincrementaldecoder("utf-8")("replace") for kind in ("stdout", "stderr", "terminal")}
        deadline = Deadline(timeout)
        for output in self._outputs(deadline):
            callback = on_stderr if output.stream == "stderr" else on_stdout
            if callback is not None and (text := decoders[output.stream].decode(output.data)):
                call(callback, text)
        for kind, callback in (("stdout", on_stdout), ("terminal", on_stdout), ("stderr", on_stderr)):
            if callback is not None and (text := decoders[kind].decode(b"", True)):
                call(callback, text)
        result = self.result
        if result is None:
            raise TorporTimeoutError(f"session {self.id} had not ended in time", hint="It goes on.", details={"sessionId": self.id})
        return result.check() if check else result

    @property
    def result(self) -> ExecResult | None:
        """How it ended and what came of its output, once that was seen. SandboxNotRunningError if it ended with its sandbox."""
        if self._end is None:
            return None
        lost = self._lost_bytes + self._stdout.lost_bytes + self._stderr.lost_bytes
        return result_of(self._params["id"], self.id, self._end, self._stdout.content(), self._stderr.content(), lost)

    def write(self, content: Content) -> None:
        """Input. It is typed once: what a connection that breaks, or a pause, had not delivered goes with the next connection.

        Where this raises an error, as it does while the sandbox is paused, nothing of the piece at hand was typed.
        """
        for chunk in chunks(content):
            for start in range(0, len(chunk), _INPUT_BYTES):
                self._give(chunk[start : start + _INPUT_BYTES])

    def close_stdin(self) -> None:
        """The end of its input; output goes on."""
        self._give(None)

    def signal(self, signal: str) -> None:
        """Sends a signal, such as "INT", to its process group. One that has ended is no error."""
        try:
            self._transport.json("signalSession", params=self._params, body={"signal": signal})
        except SessionEndedError:
            return

    def kill(self, signal: str = "KILL") -> None:
        """Ends it. `wait` tells when it has ended."""
        self.signal(signal)

    def remove(self, *, force: bool = False) -> None:
        """Forgets it and its output, once it has ended; with `force` it is killed first."""
        self._transport.json("removeSession", params=self._params, query={"force": force or None})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def begin_with(self, stdout: Tail, stderr: Tail) -> None:
        """Output that came over another connection."""
        self._stdout, self._stderr = stdout, stderr

    def feed(self, content: Content) -> Beside:
        """Input beside reading: a process may write before it has read all. Where a connection breaks the reader makes a new one, and
        the input is typed once. One whose source fails is not taken for a whole one: the command is killed, and `end` raises the failure.
        """
        self._feeding = True

        def pour() -> None:
            for chunk in chunks(content):
                for start in range(0, len(chunk), _INPUT_BYTES):
                    if not self._pour(chunk[start : start + _INPUT_BYTES]):
                        return
            self._pour(None)

        def work() -> None:
            try:
                pour()
            except Exception:
                with suppress(TorporError):
                    self.kill()
                raise

        return Beside(work)

    def _outputs(self, deadline: Deadline) -> Iterator[Output]:
        """To the end, over pauses, or until the deadline."""
        tries = _RECONNECTS
        while self._end is None and not deadline.over:
            try:
                for output in self._attached(deadline):
                    tries = _RECONNECTS
                    yield output
            except (SandboxNotRunningError, OperationActiveError):
                self._resumed(deadline)
            except SessionOutputGoneError as gone:
                self._skip(gone)
            except (SocketClosed, ConnectionLostError, DaemonUnreachableError) as error:
                tries -= 1
                if tries == 0 or self._record is None or self._transport.closed:
                    raise DaemonUnreachableError(
                        "the connection to torpord broke off before the command's end", hint="The command goes on."
                    ) from error
                sleep(deadline.left(1))

    def _attached(self, deadline: Deadline) -> Iterator[Output]:
        """What comes over one connection."""
        while not deadline.over:
            if not self._frames:
                self._receive(deadline)
                continue
            frame = self._frames.popleft()
            if isinstance(frame, Output):
                self.seq = frame.seq
                (self._stderr if frame.stream == "stderr" else self._stdout).add(frame.data)
                yield frame
            elif isinstance(frame, TorporError):
                raise frame
            elif frame.reason != "paused":
                self._end = frame
                return
            elif self._over_pause == "raise":
                raise paused_failure(self._params["id"], self.id, self.seq)
            else:
                self._resumed(deadline)
                return

    def _skip(self, gone: SessionOutputGoneError) -> None:
        """Nobody had read it in time, and nothing waited for one who would: what is there of its output comes."""
        record = self.inspect()
        if record.first_seq - 1 <= self.seq:
            raise gone
        self.seq = self._read_seq = record.first_seq - 1
        self._lost_bytes += 1

    def _resumed(self, deadline: Deadline) -> None:
        """Returns when the sandbox runs again, or the deadline is over."""
        try:
            record = wait_for(self._transport, self._params["id"], ("running", "stopped", "failed"), deadline)
        except TorporTimeoutError:
            return
        if record.state != "running":
            raise SessionNotFoundError(
                f"sandbox {record.name} is {record.state}: session {self.id} has ended with its runtime",
                hint="A paused sandbox that is resumed goes on, one that is stopped does not.",
            )


def paused_failure(sandbox: str, session: str, after: int) -> SessionPausedError:
    return SessionPausedError(
        f"sandbox {sandbox} was paused: resume it; the command continues then",
        hint="sandbox.attach(session_id) reads on",
        details={"sessionId": session, "after": after},
    )
