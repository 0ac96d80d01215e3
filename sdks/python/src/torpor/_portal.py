from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Closable(Protocol):
    async def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class Portal:
    """An event loop in a thread, for who waits by blocking. It begins with the first connection and ends with its owner."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._open: set[Closable] = set()
        self.closed = False
        self._loop: asyncio.AbstractEventLoop
        self._over: asyncio.Event

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._running())
        try:
            return future.result()
        except BaseException:
            # Who was interrupted does not want it any more.
            future.cancel()
            raise

    def open(self, work: Coroutine[Any, Any, C]) -> C:
        opened = self.call(work)
        self._open.add(opened)
        return opened

    def shut(self, opened: Closable) -> None:
        if opened in self._open:
            self._open.discard(opened)
            self.call(opened.close())

    def close(self) -> None:
        self.closed = True
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._loop.call_soon_threadsafe(self._over.set)
            thread.join()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._thread is None:
                ready = threading.Event()
                self._thread = threading.Thread(target=asyncio.run, args=(self._main(ready),), name="torpor", daemon=True)
                self._thread.start()
                ready.wait()
            return self._loop

    async def _main(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        ready.set()
        await self._over.wait()
        while self._open:
            await self._open.pop().close()


class AsyncPortal:
    """Of the asynchronous client, whose loop runs already: it knows what is open, to end it with its owner."""

    def __init__(self) -> None:
        self._open: set[Closable] = set()
        self.closed = False

    def opened(self, opened: Closable) -> None:
        self._open.add(opened)

    def shut(self, opened: Closable) -> None:
        self._open.discard(opened)

    async def close(self) -> None:
        self.closed = True
        while self._open:
            await self._open.pop().close()
