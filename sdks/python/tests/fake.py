from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

#: What is done with a request: the bytes of the answer, or None to break the connection off.
Answer = bytes | Callable[[bytes], bytes] | None


def answer(status: int, body: str, headers: str = "") -> bytes:
    return f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\n{headers}\r\n{body}".encode()


class Fake:
    """A server that answers as told, one answer a request, in place of a daemon."""

    def __init__(self, *answers: Answer) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="torpor-fake-")
        self.socket = str(Path(self._directory.name) / "s")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.socket)
        self._listener.listen()
        self._answers = [*answers]
        #: Head and body of each request that came.
        self.requests: list[bytes] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def header(self, at: int, name: str) -> str | None:
        for line in self.requests[at].split(b"\r\n\r\n")[0].decode().split("\r\n")[1:]:
            key, value = line.split(": ", 1)
            if key.lower() == name:
                return value
        return None

    def __enter__(self) -> Fake:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        self._directory.cleanup()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                while self._answers and (request := _read(connection)):
                    self.requests.append(request)
                    reply = self._answers.pop(0)
                    if reply is None:
                        break
                    connection.sendall(reply(request) if callable(reply) else reply)


def _read(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return b""
        data += chunk
    head, body = data.split(b"\r\n\r\n", 1)
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
