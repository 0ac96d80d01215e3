from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from torpor._calls import Call
from torpor._endpoint import Endpoint, unreachable
from torpor._error import TorporError
from torpor._failure import answer_failure
from torpor._portal import AsyncPortal, Portal
from torpor.errors import ConnectionLostError

_FAREWELL_SECONDS = 1
_OPTIONS: dict[str, Any] = {
    "max_size": None,
    # Frames that wait for their reader; then the connection is not read, and the process waits.
    "max_queue": 16,
    "compression": None,
    # A connection whose end nobody told of is noticed, also while a command says nothing for hours.
    "ping_interval": 20,
    "ping_timeout": 60,
    "open_timeout": 60,
}


class SocketClosed(Exception):
    """The connection ended without the session's last frame."""


class AsyncSocket:
    """A WebSocket, its messages as bytes."""

    def __init__(self, connection: ClientConnection, portal: AsyncPortal) -> None:
        self._connection = connection
        self._portal = portal
        self._has_sent = False
        portal.opened(self)

    @classmethod
    async def open(cls, endpoint: Endpoint, call: Call, path: str, portal: AsyncPortal) -> AsyncSocket:
        options: dict[str, Any] = {**_OPTIONS, "additional_headers": endpoint.headers}
        try:
            if endpoint.socket is not None:
                connection = await unix_connect(endpoint.socket, f"ws://torpord{path}", **options)
            else:
                connection = await connect(f"{endpoint.socket_url}{path}", **options)
        except (OSError, asyncio.TimeoutError, InvalidHandshake, ConnectionClosed, EOFError) as error:
            raise _refusal(endpoint, call, error) from error
        socket = cls(connection, portal)
        if portal.closed:
            await socket.close()
            raise ConnectionLostError("the client was closed")
        return socket

    async def send(self, message: str | bytes) -> None:
        try:
            # Beside the text that starts a command, these are its input.
            self._has_sent = self._has_sent or isinstance(message, bytes)
            await self._connection.send(message)
        except ConnectionClosed as error:
            raise SocketClosed from error

    async def receive(self, timeout: float | None = None) -> bytes | None:
        """None when nothing came in time; 0 takes what is there."""
        try:
            # With 0 it would not even look.
            message = await asyncio.wait_for(self._connection.recv(), 0.001 if timeout == 0 else timeout)
        except asyncio.TimeoutError:
            return None
        except ConnectionClosed as error:
            raise SocketClosed from error
        return message if isinstance(message, bytes) else message.encode()

    async def close(self) -> None:
        """At once, since output that nobody reads would hold an orderly farewell up; input that was sent gets a moment to arrive."""
        self._portal.shut(self)
        with contextlib.suppress(asyncio.TimeoutError):
            if self._has_sent:
                await asyncio.wait_for(self._connection.close(), _FAREWELL_SECONDS)
        self._connection.transport.abort()
        await self._connection.wait_closed()


class Socket:
    """The same for who waits by blocking. A thread of its own for each connection, as the library would have it, can hold itself up: it
    does not read while it writes.
    """

    def __init__(self, portal: Portal, socket: AsyncSocket) -> None:
        self._portal = portal
        self._socket = socket

    @classmethod
    def open(cls, endpoint: Endpoint, call: Call, path: str, portal: Portal) -> Socket:
        return cls(portal, portal.open(AsyncSocket.open(endpoint, call, path, AsyncPortal())))

    def send(self, message: str | bytes) -> None:
        self._portal.call(self._socket.send(message))

    def receive(self, timeout: float | None = None) -> bytes | None:
        return self._portal.call(self._socket.receive(timeout))

    def close(self) -> None:
        self._portal.shut(self._socket)


def _refusal(endpoint: Endpoint, call: Call, error: Exception) -> TorporError:
    """A refusal is a plain answer, in place of the WebSocket."""
    if isinstance(error, InvalidStatus):
        return answer_failure(endpoint, call, error.response.status_code, bytes(error.response.body or b""))
    return unreachable(endpoint, error)
