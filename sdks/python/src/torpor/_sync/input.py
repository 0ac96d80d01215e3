# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

import uuid
from contextlib import suppress

from torpor._concurrent import Turn
from torpor._frames import STDIN_END, encode, encode_input
from torpor._socket import Socket, SocketClosed
from torpor._unacknowledged import Unacknowledged


class Input:
    """What one client types into a session, its bytes numbered: over connections that come and go it is typed once."""

    def __init__(self) -> None:
        #: How the session knows this client again.
        self.client = uuid.uuid4().hex
        self._pending = Unacknowledged()
        self._ended = False
        #: The connection over which the server has told what it has: from then on input is sent as it comes.
        self._ready: Socket | None = None
        self._turn = Turn()

    @property
    def taken(self) -> int:
        """Bytes that the process has."""
        return self._pending.taken

    @property
    def waiting(self) -> int:
        """Bytes that it is not known to have."""
        return self._pending.size

    def ready(self, socket: Socket | None) -> bool:
        return self._ready is not None and self._ready is socket

    def told(self, taken: int, socket: Socket) -> None:
        """The server says what the process has. The first time over a connection all else is sent again."""
        self._turn.begin()
        try:
            self._pending.take(taken)
            if self._ready is socket:
                return
            self._ready = socket
            for position, data in self._pending.all():
                socket.send(encode_input(position, data))
            if self._ended:
                socket.send(encode(STDIN_END))
        finally:
            self._turn.end()

    def send(self, socket: Socket, data: bytes | None) -> int | None:
        """Input, None for its end. Gives the position after it; None: nothing was taken, the connection is not ready for it.

        What was taken is sent again with the next connection when this one has broken.
        """
        self._turn.begin()
        try:
            if self._ready is not socket:
                return None
            with suppress(SocketClosed):
                if data is None:
                    self._ended = True
                    socket.send(encode(STDIN_END))
                else:
                    socket.send(encode_input(self._pending.add(data), data))
            return self._pending.taken + self._pending.size
        finally:
            self._turn.end()
