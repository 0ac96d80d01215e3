from __future__ import annotations

from collections import deque

#: What is kept of each stream of a command, in bytes, as the server itself does it.
KEPT_BYTES = 8 * 1024 * 1024


class Tail:
    """The last bytes of a stream, and how many came before them."""

    def __init__(self, start: bytes = b"", lost: int = 0) -> None:
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self.lost_bytes = lost
        self.add(start)

    def add(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._size += len(chunk)
        while self._size > KEPT_BYTES:
            first = self._chunks.popleft()
            dropped = min(len(first), self._size - KEPT_BYTES)
            if dropped < len(first):
                self._chunks.appendleft(first[dropped:])
            self._size -= dropped
            self.lost_bytes += dropped

    def content(self) -> bytes:
        return b"".join(self._chunks)
