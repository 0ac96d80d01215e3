# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from collections import deque
from contextlib import suppress

from torpor._concurrent import Turn, sleep
from torpor._error import TorporError
from torpor._frames import Output, decode
from torpor._socket import Socket, SocketClosed
from torpor._sync.transport import Transport
from torpor._units import Deadline
from torpor.models import Session, SessionEnd

#: How long one look for output takes at most, in seconds.
_LOOK_SECONDS = 3600.0
#: Frames that are taken beside writing, at most.
_AHEAD_FRAMES = 256
#: Of 10 ms each.
_ECHO_LOOKS = 50


class Channel:
    """The connection to a session. Who reads and who writes may be two; either makes it anew when it is gone."""

    def __init__(self, transport: Transport, sandbox: str, session: str, record: Session | None, after: int, socket: Socket | None) -> None:
        self._transport = transport
        self._params = {"id": sandbox, "sid": session}
        self._record: Session | None = record
        self._socket = socket
        self._end: SessionEnd | None = None
        #: What was received and is not seen yet, and how far that goes.
        self._frames: deque[Output | SessionEnd | TorporError] = deque()
        self._read_seq = after
        self._turn = Turn()
        self._opening = Turn()

    def close(self) -> None:
        """Gives the connection back. The process goes on."""
        if self._socket is not None:
            self._drop(self._socket)

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
