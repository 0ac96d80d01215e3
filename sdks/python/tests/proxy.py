from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import threading
from pathlib import Path
from types import TracebackType


class Proxy:
    """A socket in front of a daemon's Unix socket, whose connections can be cut off: another one, or a TCP port of this machine."""

    def __init__(self, target: str, *, tcp: bool = False) -> None:
        self._target = target
        self._directory = Path(tempfile.mkdtemp(prefix="torpor-proxy-"))
        self.socket = str(self._directory / "s")
        self._listener = socket.socket(socket.AF_INET if tcp else socket.AF_UNIX)
        self._listener.bind(("127.0.0.1", 0) if tcp else self.socket)
        self._listener.listen()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}" if tcp else ""
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._threads = [threading.Thread(target=self._accept)]
        #: Bytes from the client after which the way is cut; None: it is not.
        self._left: int | None = None
        self._next: list[int] = []
        self.cuts = 0
        self._lock = threading.Lock()
        self._told = threading.Event()
        self._threads[0].start()

    def cut(self) -> None:
        """As if the network, or the daemon, were gone for a moment."""
        with self._lock:
            self.cuts += 1
            self._left = self._next.pop(0) if self._next else None
            told = self._told
        for pair in self._pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        told.set()

    def cut_after(self, *counts: int) -> threading.Event:
        """In the middle of a message, too. Once, or anew after each cut. The event tells of the first."""
        with self._lock:
            self._left, *self._next = counts
            self._told = threading.Event()
            return self._told

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # A close alone would not wake the thread that waits in accept.
        self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join()
        self._listener.close()
        for pair in self._pairs:
            for end in pair:
                end.close()
        shutil.rmtree(self._directory)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self._target)
            self._pairs.append((near, far))
            for source, target in ((near, far), (far, near)):
                thread = threading.Thread(target=self._copy, args=(source, target, source is near))
                thread.start()
                self._threads.append(thread)

    def _copy(self, source: socket.socket, target: socket.socket, counted: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                passed = self._count(data) if counted else data
                target.sendall(passed)
                if len(passed) < len(data):
                    self.cut()
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def _count(self, data: bytes) -> bytes:
        """What passes of it."""
        with self._lock:
            if self._left is None:
                return data
            passed = data[: self._left]
            self._left -= len(passed)
            return passed
