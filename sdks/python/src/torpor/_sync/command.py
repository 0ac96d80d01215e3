# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Literal, TypeAlias

from torpor._sync.transport import Transport
from torpor._sync.wait_for import wait_for
from typing_extensions import Self

from torpor._concurrent import Beside, Callback, Content, Turn, call, chunks, sleep
from torpor._error import TorporError
from torpor._frames import STDIN, STDIN_END, Output, decode, encode
from torpor._result import ExecResult, result_of
from torpor._socket import Socket, SocketClosed
from torpor._tail import Tail
from torpor._units import Deadline, Duration
from torpor.errors import (
    DaemonUnreachableError,
    JournalGoneError,
    SandboxNotRunningError,
    SessionEndedError,
    SessionNotFoundError,
    SessionPausedError,
    TorporTimeoutError,
)
from torpor.models import Session, SessionEnd

#: Of a pause in the middle: go on reading when the sandbox runs again, or raise SessionPausedError.
OverPause: TypeAlias = Literal["wait", "raise"]

#: How long one look for output takes at most, in seconds.
_LOOK_SECONDS = 3600.0
#: A server that was restarted is waited for so often, a second each.
_RECONNECTS = 60
#: Frames that are taken beside writing, at most.
_AHEAD_FRAMES = 256
#: Of 10 ms each.
_ECHO_LOOKS = 50
#: Bytes of input a message.
_INPUT_BYTES = 64 * 1024


class Command:
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
        over_pause: OverPause = "wait",
    ) -> None:
        self._transport = transport
        self._params = {"id": sandbox, "sid": session}
        self._socket = socket
        self._over_pause: OverPause = over_pause
        self._record = record
        self._stdout = Tail()
        self._stderr = Tail()
        self._end: SessionEnd | None = None
        self._lost_bytes = 0
        #: The last output that was seen: one who attaches after it gets the rest.
        self.seq = after
        #: What was received and is not seen yet, and how far that goes.
        self._frames: deque[Output | SessionEnd | TorporError] = deque()
        self._read_seq = after
        self._turn = Turn()
        self._opening = Turn()

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

        With `check` an exit code other than 0 is raised as CommandFailedError.
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
        """How it ended and what came of its output, once that was seen."""
        if self._end is None:
            return None
        lost = self._lost_bytes + self._stdout.lost_bytes + self._stderr.lost_bytes
        return result_of(self.id, self._end, self._stdout.content(), self._stderr.content(), lost)

    def write(self, content: Content) -> None:
        """Input. When this returns, the server has it; what is written in the very moment of a pause may be lost."""
        for chunk in chunks(content):
            for start in range(0, len(chunk), _INPUT_BYTES):
                self._tell(encode(STDIN, chunk[start : start + _INPUT_BYTES]))

    def close_stdin(self) -> None:
        """The end of its input; output goes on."""
        self._tell(encode(STDIN_END))

    def signal(self, signal: str) -> None:
        """Sends a signal, such as "INT", to its process group. One that has ended is no error."""
        try:
            self._transport.json("signalSession", params=self._params, body={"signal": signal})
        except SessionEndedError:
            return

    def kill(self, signal: str = "KILL") -> None:
        """Ends it. `wait` tells when it has ended."""
        self.signal(signal)

    def close(self) -> None:
        """Gives the connection back. The process goes on."""
        if self._socket is not None:
            self._drop(self._socket)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _tell(self, message: bytes) -> None:
        """Sends a message over a connection that lives: to one that has ended with a pause it would be lost."""
        while not self._is_over():
            self._read_ahead()
            socket = self._connection()
            try:
                self._echo(socket)
                socket.send(message)
            except SocketClosed:
                if not self._read_ahead():
                    # Its reader makes the connection anew.
                    sleep(0.02)
                continue
            with suppress(SocketClosed):
                self._echo(socket)
            return

    def _is_over(self) -> bool:
        """After its end nobody wants input."""
        ends = [frame for frame in self._frames if isinstance(frame, SessionEnd)]
        return self._end is not None or any(end.reason != "paused" for end in ends)

    def _echo(self, socket: Socket) -> None:
        """Waits until the server has taken what was sent; not for long where the process does not read, or nobody reads what it writes."""
        for _ in range(_ECHO_LOOKS):
            if socket.echo(0.01):
                return
            self._read_ahead()

    def _read_ahead(self) -> bool:
        """Takes what has come, unless somebody reads: the end of the connection may be in it."""
        socket = self._socket
        if socket is None or not self._turn.try_begin():
            return socket is None
        try:
            while len(self._frames) < _AHEAD_FRAMES and (message := socket.receive(0)) is not None:
                self._keep(message, socket)
        except SocketClosed:
            self._drop(socket)
        finally:
            self._turn.end()
        return True

    def begin_with(self, stdout: Tail, stderr: Tail) -> None:
        """Output that came over another connection."""
        self._stdout, self._stderr = stdout, stderr

    def feed(self, content: Content) -> Beside:
        """Input beside output: a process may write before it has read all."""

        def work() -> None:
            # Whatever becomes of it the reader tells.
            with suppress(SocketClosed):
                socket = self._connection()
                for chunk in chunks(content):
                    for start in range(0, len(chunk), _INPUT_BYTES):
                        socket.send(encode(STDIN, chunk[start : start + _INPUT_BYTES]))
                socket.send(encode(STDIN_END))

        return Beside(work)

    def _connection(self) -> Socket:
        self._opening.begin()
        try:
            if self._socket is None:
                query = {"after": self._read_seq, "hold": True}
                socket = self._transport.socket("attachSession", self._params, query)
                self._begin(socket)
                self._socket = socket
            return self._socket
        finally:
            self._opening.end()

    def _begin(self, socket: Socket) -> None:
        """Until its first message input would be lost, were the connection left at once."""
        try:
            while (message := socket.receive()) is None:
                pass
            self._keep(message, socket)
        except BaseException:
            socket.close()
            raise

    def _drop(self, socket: Socket) -> None:
        if self._socket is socket:
            self._socket = None
        socket.close()

    def _outputs(self, deadline: Deadline) -> Iterator[Output]:
        """To the end, over pauses, or until the deadline."""
        tries = _RECONNECTS
        while self._end is None and not deadline.over:
            try:
                for output in self._attached(deadline):
                    tries = _RECONNECTS
                    yield output
            except SandboxNotRunningError:
                self._resumed(deadline)
            except (SocketClosed, DaemonUnreachableError) as error:
                tries -= 1
                if tries == 0 or self._record is None:
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
            elif isinstance(frame, JournalGoneError):
                self._skip(frame)
                return
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

    def _receive(self, deadline: Deadline) -> None:
        socket = self._connection()
        self._turn.begin()
        try:
            # Who wrote meanwhile may have read ahead.
            if not self._frames and (message := socket.receive(deadline.left(_LOOK_SECONDS))) is not None:
                self._keep(message, socket)
        except SocketClosed:
            self._drop(socket)
            raise
        finally:
            self._turn.end()

    def _keep(self, message: bytes, socket: Socket) -> None:
        try:
            frame = decode(message)
        except TorporError as error:
            frame = error
        if isinstance(frame, Session):
            self._record = frame
        elif isinstance(frame, Output):
            self._read_seq = frame.seq
            self._frames.append(frame)
        elif frame is not None:
            # The last one.
            self._frames.append(frame)
            self._drop(socket)

    def _skip(self, gone: JournalGoneError) -> None:
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
