from __future__ import annotations

from collections import deque

from torpor._async.input import AsyncInput
from torpor._async.transport import AsyncTransport
from torpor._concurrent import AsyncTurn, async_sleep
from torpor._error import TorporError
from torpor._frames import InputTaken, Output, decode
from torpor._socket import AsyncSocket, SocketClosed
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


class AsyncChannel:
    """The connection to a session. Who reads and who writes may be two; either makes it anew when it is gone."""

    def __init__(
        self,
        transport: AsyncTransport,
        sandbox: str,
        session: str,
        record: Session | None,
        after: int,
        socket: AsyncSocket | None,
        given: AsyncInput | None,
    ) -> None:
        self._transport = transport
        self._params = {"id": sandbox, "sid": session}
        self._record: Session | None = record
        self._socket = socket
        self._end: SessionEnd | None = None
        #: What was received and is not seen yet, and how far that goes.
        self._frames: deque[Output | SessionEnd | TorporError] = deque()
        self._read_seq = after
        self._input = given or AsyncInput()
        self._feeding = False
        self._turn = AsyncTurn()
        self._opening = AsyncTurn()

    async def close(self) -> None:
        """Gives the connection back. The process goes on."""
        self._feeding = False
        if self._socket is not None:
            await self._drop(self._socket)

    async def _give(self, data: bytes | None) -> None:
        """Input, None for its end. As long as there is no connection it is refused as reading is; once it is sent it arrives, once."""
        looks, tries = 0, _TRIES
        while True:
            # A connection that a pause has ended says so.
            while await self._look(0):
                pass
            if self._is_over():
                return
            try:
                socket = await self._connection()
            except (SocketClosed, ConnectionLostError, DaemonUnreachableError) as error:
                # As a new connection may be cut too, in its first bytes.
                tries -= 1
                if tries > 0 and not self._transport.closed:
                    await async_sleep(_AGAIN_SECONDS)
                    continue
                if isinstance(error, SocketClosed):
                    raise DaemonUnreachableError("the connection to torpord broke off before the input was sent") from error
                raise
            end = await self._input.send(socket, data)
            if end is not None:
                await self._arrived(end)
                return
            await self._look(_LOOK_SECONDS)
            looks += 1
            if looks % _ASK_LOOKS == 0 and not await self._takes_input():
                return

    async def _pour(self, data: bytes | None) -> bool:
        """Input, None for its end, beside a reader, who makes the connections anew that break. False: nothing is taken any more."""
        sent = False
        while self._feeding and not self._is_over():
            socket = self._socket
            if not sent and socket is not None:
                sent = await self._input.send(socket, data) is not None
            if sent and self._input.waiting <= _WAITING_BYTES:
                return True
            await async_sleep(_LOOK_SECONDS)
        return False

    def _is_over(self) -> bool:
        """After its end nobody wants input."""
        ends = [frame for frame in self._frames if isinstance(frame, SessionEnd)]
        return self._end is not None or any(end.reason != "paused" for end in ends)

    async def _arrived(self, end: int) -> None:
        """Waits until the process has the input; not for long where it does not read, or nobody reads what it writes."""
        looks = 0
        while self._input.taken < end and not self._is_over():
            if looks >= _ARRIVAL_LOOKS and self._input.waiting <= _WAITING_BYTES:
                return
            looks += 1
            if self._socket is None:
                try:
                    await self._connection()
                except (TorporError, SocketClosed):
                    # It is sent with the next connection, which its reader makes.
                    return
            await self._look(_LOOK_SECONDS)

    async def _takes_input(self) -> bool:
        """Of a session that does not say what it has of it."""
        query = {"client": self._input.client}
        try:
            await self._transport.upload("writeSession", params=self._params, query=query, content=b"")
        except (SessionEndedError, SessionNotFoundError):
            return False
        return True

    async def _look(self, seconds: float) -> bool:
        """Takes what comes in this time, unless somebody reads: what has arrived, or the end of the connection."""
        socket = self._socket
        full = len(self._frames) >= _AHEAD_FRAMES and self._input.ready(socket)
        if socket is None or full or not await self._turn.try_begin():
            await async_sleep(seconds)
            return False
        try:
            message = await socket.receive(seconds)
            if message is not None:
                await self._keep(message, socket)
            return message is not None
        except SocketClosed:
            await self._drop(socket)
            return False
        finally:
            self._turn.end()

    async def _connection(self) -> AsyncSocket:
        await self._opening.begin()
        try:
            if self._socket is None:
                query = {"after": self._read_seq, "hold": True, "client": self._input.client}
                socket = await self._transport.socket("attachSession", self._params, query)
                await self._begin(socket)
                self._socket = socket
            return self._socket
        finally:
            self._opening.end()

    async def _begin(self, socket: AsyncSocket) -> None:
        """Until its first message input would be lost, were the connection left at once."""
        try:
            while (message := await socket.receive()) is None:
                pass
            await self._keep(message, socket)
        except BaseException:
            await socket.close()
            raise

    async def _drop(self, socket: AsyncSocket) -> None:
        if self._socket is socket:
            self._socket = None
        await socket.close()

    async def _receive(self, deadline: Deadline) -> None:
        socket = await self._connection()
        await self._turn.begin()
        try:
            # Who wrote meanwhile may have read ahead.
            if not self._frames and (message := await socket.receive(deadline.left(_READ_SECONDS))) is not None:
                await self._keep(message, socket)
        except SocketClosed:
            await self._drop(socket)
            raise
        finally:
            self._turn.end()

    async def _keep(self, message: bytes, socket: AsyncSocket) -> None:
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
            await self._input.told(frame.bytes, socket)
        elif frame is not None:
            # The last one.
            self._frames.append(frame)
            await self._drop(socket)
