from __future__ import annotations

import asyncio
import inspect
from typing import Any

import websockets.asyncio.client as async_client
import websockets.sync.client as sync_client
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from torpor._endpoint import Endpoint, unreachable
from torpor._error import TorporError
from torpor._failure import answer_failure

#: Frames that wait for their reader; then the connection is not read, and the process waits.
_WAITING_FRAMES = 16
_OPTIONS: dict[str, Any] = {
    "max_size": None,
    "max_queue": _WAITING_FRAMES,
    "compression": None,
    # A connection whose end nobody told of is noticed, also while a command says nothing for hours.
    "ping_interval": 20,
    "ping_timeout": 60,
    "close_timeout": 5,
    "open_timeout": 60,
}

#: From version 17 on the blocking connection has to be told that it is used without `with`.
_BLOCKING = {"legacy": True} if "legacy" in inspect.signature(sync_client.connect).parameters else {}


class SocketClosed(Exception):
    """The connection ended without the session's last frame."""


class Socket:
    """A WebSocket, its messages as bytes."""

    def __init__(self, connection: sync_client.ClientConnection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, endpoint: Endpoint, path: str) -> Socket:
        options: dict[str, Any] = {**_OPTIONS, **_BLOCKING, "additional_headers": endpoint.headers}
        try:
            if endpoint.socket is not None:
                return cls(_connect(sync_client.unix_connect, endpoint.socket, f"ws://torpord{path}", **options))
            return cls(_connect(sync_client.connect, f"{endpoint.socket_url}{path}", **options))
        except (OSError, InvalidHandshake, ConnectionClosed, EOFError) as error:
            raise _refusal(endpoint, error) from error

    def send(self, message: str | bytes) -> None:
        try:
            self._connection.send(message)
        except ConnectionClosed as error:
            raise SocketClosed from error

    def receive(self, timeout: float | None = None) -> bytes | None:
        """None when nothing came in time; 0 takes what is there."""
        try:
            message = self._connection.recv(timeout=timeout)
        except TimeoutError:
            return None
        except ConnectionClosed as error:
            raise SocketClosed from error
        return message if isinstance(message, bytes) else message.encode()

    def close(self) -> None:
        self._connection.close()


class AsyncSocket:
    def __init__(self, connection: async_client.ClientConnection) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, endpoint: Endpoint, path: str) -> AsyncSocket:
        options: dict[str, Any] = {**_OPTIONS, "additional_headers": endpoint.headers}
        try:
            if endpoint.socket is not None:
                return cls(await async_client.unix_connect(endpoint.socket, f"ws://torpord{path}", **options))
            return cls(await async_client.connect(f"{endpoint.socket_url}{path}", **options))
        except (OSError, asyncio.TimeoutError, InvalidHandshake, ConnectionClosed, EOFError) as error:
            raise _refusal(endpoint, error) from error

    async def send(self, message: str | bytes) -> None:
        try:
            await self._connection.send(message)
        except ConnectionClosed as error:
            raise SocketClosed from error

    async def receive(self, timeout: float | None = None) -> bytes | None:
        try:
            # With 0 it would not even look.
            message = await asyncio.wait_for(self._connection.recv(), 0.001 if timeout == 0 else timeout)
        except asyncio.TimeoutError:
            return None
        except ConnectionClosed as error:
            raise SocketClosed from error
        return message if isinstance(message, bytes) else message.encode()

    async def close(self) -> None:
        await self._connection.close()


def _connect(connect: Any, *args: str, **options: Any) -> sync_client.ClientConnection:
    """What is returned is of another type in each version of the library, and can do the same."""
    return connect(*args, **options)


def _refusal(endpoint: Endpoint, error: Exception) -> TorporError:
    """A refusal is a plain answer, in place of the WebSocket."""
    if isinstance(error, InvalidStatus):
        return answer_failure(error.response.status_code, bytes(error.response.body or b""))
    return unreachable(endpoint, error)
