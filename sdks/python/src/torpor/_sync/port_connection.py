# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from typing_extensions import Self

from torpor._concurrent import Content, chunks
from torpor._socket import Socket, SocketClosed
from torpor.errors import ConnectionLostError


class PortConnection:
    """A connection to what listens on a port of a sandbox. `for data in connection` reads to the end of what the other side sends."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket
        self._over = False

    def read(self) -> bytes:
        """The next bytes that come, at least one; empty: the other side has ended."""
        if not self._over:
            try:
                while (data := self._socket.receive()) is None:
                    pass
            except SocketClosed as error:
                raise ConnectionLostError("the connection to the port broke off") from error
            # Each side ends its own bytes by an empty message.
            self._over = data == b""
            return data
        return b""

    def write(self, content: Content) -> None:
        for chunk in chunks(content):
            if chunk:
                self._send(chunk)

    def end(self) -> None:
        """The end of what this side sends; what the other one sends still comes."""
        self._send(b"")

    def close(self) -> None:
        self._socket.close()

    def __iter__(self) -> Iterator[bytes]:
        while data := self.read():
            yield data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _send(self, data: bytes) -> None:
        try:
            self._socket.send(data)
        except SocketClosed as error:
            raise ConnectionLostError("the connection to the port broke off") from error
