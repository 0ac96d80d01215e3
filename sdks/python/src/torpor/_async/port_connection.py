from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType

from typing_extensions import Self

from torpor._concurrent import AsyncContent, async_chunks
from torpor._socket import AsyncSocket, SocketClosed
from torpor.errors import ConnectionLostError


class AsyncPortConnection:
    """A connection to what listens on a port of a sandbox. `for data in connection` reads to the end of what the other side sends."""

    def __init__(self, socket: AsyncSocket) -> None:
        self._socket = socket
        self._over = False

    async def read(self) -> bytes:
        """The next bytes that come, at least one; empty: the other side has ended."""
        if not self._over:
            try:
                while (data := await self._socket.receive()) is None:
                    pass
            except SocketClosed as error:
                raise ConnectionLostError("the connection to the port broke off") from error
            # Each side ends its own bytes by an empty message.
            self._over = data == b""
            return data
        return b""

    async def write(self, content: AsyncContent) -> None:
        async for chunk in async_chunks(content):
            if chunk:
                await self._send(chunk)

    async def end(self) -> None:
        """The end of what this side sends; what the other one sends still comes."""
        await self._send(b"")

    async def close(self) -> None:
        await self._socket.close()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while data := await self.read():
            yield data

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def _send(self, data: bytes) -> None:
        try:
            await self._socket.send(data)
        except SocketClosed as error:
            raise ConnectionLostError("the connection to the port broke off") from error
