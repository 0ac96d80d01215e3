from __future__ import annotations

from collections import deque
from collections.abc import Iterator


class Unacknowledged:
    """Input that the process is not known to have: it is sent again after a cut."""

    def __init__(self) -> None:
        #: Of all that was written, bytes that the process has.
        self.taken = 0
        #: Bytes that are kept.
        self.size = 0
        self._chunks: deque[bytes] = deque()

    def add(self, data: bytes) -> int:
        """Gives the position of its first byte."""
        position = self.taken + self.size
        self._chunks.append(data)
        self.size += len(data)
        return position

    def take(self, taken: int) -> None:
        """The process has so many of all bytes."""
        fresh = min(max(0, taken - self.taken), self.size)
        self.taken += fresh
        self.size -= fresh
        while fresh > 0:
            first = self._chunks.popleft()
            if len(first) > fresh:
                self._chunks.appendleft(first[fresh:])
            fresh -= min(fresh, len(first))

    def all(self) -> Iterator[tuple[int, bytes]]:
        """All of it, with positions."""
        position = self.taken
        for chunk in self._chunks:
            yield position, chunk
            position += len(chunk)
