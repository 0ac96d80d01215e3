# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from collections import deque

from torpor._concurrent import Turn, sleep
from torpor._error import TorporError
from torpor._frames import InputTaken, Output, decode
from torpor._socket import Socket, SocketClosed
from torpor._sync.input import Input
from torpor._sync.transport import Transport
from torpor._units import Deadline
from torpor.errors import ConnectionLostError, DaemonUnreachableError, SessionEndedError, SessionNotFoundError
from torpor.models import Session, SessionEnd

#: How long a reader waits for output at most, in seconds.
_READ_SECONDS = 3600.0
#: How long a writer looks for what came, in seconds.
_LOOK_SECONDS = 0.01
#: Frames that are taken beside writing, at most.
_AHEAD_FRAMES = 256
#: Input is waited for so many looks.
_ARRIVAL_LOOKS = 50
#: After so many without a word about input the session is asked.
_ASK_LOOKS = 100
#: A writer tries so often to connect, and so many seconds apart.
_TRIES = 5
_AGAIN_SECONDS = 0.2
#: Input that may wait for its process before a writer has to, in bytes.
_WAITING_BYTES = 1024 * 1024


class Channel:
    """The connection to a session. Who reads and who writes may be two; either makes it anew when it is gone."""

    def __init__(
        self,
        transport: Transport,
        sandbox: str,
        session: str,
        record: Session | None,
        after: int,
        socket: Socket | None,
        given: Input | None,
    ) -> None:
        self._transport = transport
        self._params = {"id": sandbox, "sid": session}
        self._record: Session | None = record
        self._socket = socket
        self._end: SessionEnd | None = None
        #: What was received and is not seen yet, and how far that goes.
        self._frames: deque[Output | SessionEnd | TorporError] = deque()
        self._read_seq = after
        self._input = given or Input()
        self._feeding = False
        self._turn = Turn()
        self._opening = Turn()

    def close(self) -> None:
        """Gives the connection back. The process goes on."""
        self._feeding = False
        if self._socket is not None:
            self._drop(self._socket)

    def _give(self, data: bytes | None) -> None:
        """Input, None for its end. As long as there is no connection it is refused as reading is; once it is sent it arrives, once."""
        looks, tries = 0, _TRIES
        while True:
            # A connection that a pause has ended says so.
            while self._look(0):
                pass
            if self._is_over():
                return
            try:
                socket = self._connection()
            except (SocketClosed, ConnectionLostError, DaemonUnreachableError) as error:
                # As a new connection may be cut too, in its first bytes.
                tries -= 1
                if tries > 0 and not self._transport.closed:
                    sleep(_AGAIN_SECONDS)
                    continue
                if isinstance(error, SocketClosed):
                    raise DaemonUnreachableError("the connection to torpord broke off before the input was sent") from error
                raise
            end = self._input.send(socket, data)
            if end is not None:
                self._arrived(end)
                return
            self._look(_LOOK_SECONDS)
            looks += 1
            if looks % _ASK_LOOKS == 0 and not self._takes_input():
                return

    def _pour(self, data: bytes | None) -> bool:
        """Input, None for its end, beside a reader, who makes the connections anew that break. False: nothing is taken any more."""
        sent = False
        while self._feeding and not self._is_over():
            socket = self._socket
            if not sent and socket is not None:
                sent = self._input.send(socket, data) is not None
            if sent and self._input.waiting <= _WAITING_BYTES:
                return True
            sleep(_LOOK_SECONDS)
        return False

    def _is_over(self) -> bool:
        """After its end nobody wants input."""
        ends = [frame for frame in self._frames if isinstance(frame, SessionEnd)]
        return self._end is not None or any(end.reason != "paused" for end in ends)

    def _arrived(self, end: int) -> None:
        """Waits until the process has the input; not for long where it does not read, or nobody reads what it writes."""
        looks = 0
        while self._input.taken < end and not self._is_over():
            if looks >= _ARRIVAL_LOOKS and self._input.waiting <= _WAITING_BYTES:
                return
            looks += 1
            if self._socket is None:
                try:
                    self._connection()
                except (TorporError, SocketClosed):
                    # It is sent with the next connection, which its reader makes.
                    return
            self._look(_LOOK_SECONDS)

    def _takes_input(self) -> bool:
        """Of a session that does not say what it has of it."""
        query = {"client": self._input.client}
        try:
            self._transport.upload("writeSession", params=self._params, query=query, content=b"")
        except (SessionEndedError, SessionNotFoundError):
            return False
        return True

    def _look(self, seconds: float) -> bool:
        """Takes what comes in this time, unless somebody reads: what has arrived, or the end of the connection."""
        socket = self._socket
        full = len(self._frames) >= _AHEAD_FRAMES and self._input.ready(socket)
        if socket is None or full or not self._turn.try_begin():
            sleep(seconds)
            return False
        try:
            message = socket.receive(seconds)
            if message is not None:
                self._keep(message, socket)
            return message is not None
        except SocketClosed:
            self._drop(socket)
            return False
        finally:
            self._turn.end()

    def _connection(self) -> Socket:
        self._opening.begin()
        try:
            if self._socket is None:
                query = {"after": self._read_seq, "hold": True, "client": self._input.client}
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
            if not self._frames and (message := socket.receive(deadline.left(_READ_SECONDS))) is not None:
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
        elif isinstance(frame, InputTaken):
            self._input.told(frame.bytes, socket)
        elif frame is not None:
            # The last one.
            self._frames.append(frame)
            self._drop(socket)
