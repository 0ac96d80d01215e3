from __future__ import annotations

import uuid
from contextlib import suppress

from torpor._concurrent import AsyncTurn
from torpor._frames import STDIN_END, encode, encode_input
from torpor._socket import AsyncSocket, SocketClosed
from torpor._unacknowledged import Unacknowledged


class AsyncInput:
    """What one client types into a session, its bytes numbered: over connections that come and go it is typed once."""

    def __init__(self) -> None:
        #: How the session knows this client again.
        self.client = uuid.uuid4().hex
        self._pending = Unacknowledged()
        self._ended = False
        #: The connection over which the server has told what it has: from then on input is sent as it comes.
        self._ready: AsyncSocket | None = None
        self._turn = AsyncTurn()

    @property
    def taken(self) -> int:
        """Bytes that the process has."""
        return self._pending.taken

    @property
    def waiting(self) -> int:
        """Bytes that it is not known to have."""
        return self._pending.size

    def ready(self, socket: AsyncSocket | None) -> bool:
        return self._ready is not None and self._ready is socket

    async def told(self, taken: int, socket: AsyncSocket) -> None:
        """The server says what the process has. The first time over a connection all else is sent again."""
        await self._turn.begin()
        try:
            self._pending.take(taken)
            if self._ready is socket:
                return
            self._ready = socket
            for position, data in self._pending.all():
                await socket.send(encode_input(position, data))
            if self._ended:
                await socket.send(encode(STDIN_END))
        finally:
            self._turn.end()

    async def send(self, socket: AsyncSocket, data: bytes | None) -> int | None:
        """Input, None for its end. Gives the position after it; None: nothing was taken, the connection is not ready for it.

        What was taken is sent again with the next connection when this one has broken.
        """
        await self._turn.begin()
        try:
            if self._ready is not socket:
                return None
            with suppress(SocketClosed):
                if data is None:
                    self._ended = True
                    await socket.send(encode(STDIN_END))
                else:
                    await socket.send(encode_input(self._pending.add(data), data))
            return self._pending.taken + self._pending.size
        finally:
            self._turn.end()
