"""What differs between the two clients by more than words: in pairs, of which the asynchronous one has Async or async_ in its name."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable, Iterator
from typing import IO, Any, ParamSpec, TypeAlias, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

#: What can be sent: text is UTF-8; a file is read from where it stands.
Content: TypeAlias = str | bytes | bytearray | memoryview | IO[bytes] | Iterable[bytes]
AsyncContent: TypeAlias = Content | AsyncIterable[bytes]

Callback: TypeAlias = Callable[[T], Any]
AsyncCallback: TypeAlias = Callable[[T], Any]

_CHUNK_BYTES = 256 * 1024


def chunks(content: Content) -> Iterator[bytes]:
    if isinstance(content, str):
        yield content.encode()
    elif isinstance(content, (bytes, bytearray, memoryview)):
        yield bytes(content)
    elif hasattr(content, "read"):
        file = cast("IO[bytes]", content)
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk
    else:
        yield from cast("Iterable[bytes]", content)


async def async_chunks(content: AsyncContent) -> AsyncIterator[bytes]:
    if isinstance(content, AsyncIterable):
        async for chunk in content:
            yield chunk
        return
    source = chunks(content)
    # A file may be slow; the loop goes on meanwhile.
    while (chunk := await asyncio.to_thread(next, source, None)) is not None:
        yield chunk


def call(callback: Callable[[T], Any], value: T) -> None:
    callback(value)


async def async_call(callback: Callable[[T], Any], value: T) -> None:
    """A callback may be a plain function or a coroutine."""
    result = callback(value)
    if inspect.isawaitable(result):
        await result


def blocking(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    return function(*args, **kwargs)


async def async_blocking(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    return await asyncio.to_thread(function, *args, **kwargs)


def sleep(seconds: float) -> None:
    time.sleep(seconds)


async def async_sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


class Beside:
    """Work that is done while its user does other things; whoever began it waits for its end, and is told of its failure."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._failure: Exception | None = None

        def run() -> None:
            try:
                work()
            except Exception as error:
                self._failure = error

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._thread.join()
        if self._failure is not None:
            raise self._failure


class AsyncBeside:
    def __init__(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._task = asyncio.create_task(work())

    async def end(self) -> None:
        await self._task


class Turn:
    """Of those who want the same thing, one has it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def begin(self) -> None:
        self._lock.acquire()

    def try_begin(self) -> bool:
        return self._lock.acquire(blocking=False)

    def end(self) -> None:
        self._lock.release()


class AsyncTurn:
    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._waiting = 0

    async def begin(self) -> None:
        self._waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self._waiting -= 1

    async def try_begin(self) -> bool:
        # One that is free is had without a wait; one that somebody has been promised is not free.
        return not self._lock.locked() and self._waiting == 0 and await self._lock.acquire()

    def end(self) -> None:
        self._lock.release()
