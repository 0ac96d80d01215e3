from __future__ import annotations

import os
import socket
import ssl
import traceback
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from torpor._error import TorporError
from torpor.errors import DaemonUnreachableError, InvalidPathError, InvalidRequestError

#: Longest path of a Unix socket on Linux, in bytes: sun_path has 108 with its final NUL.
SOCKET_PATH_LIMIT = 107


@dataclass(frozen=True)
class Endpoint:
    """Where a server is: a Unix socket, or an address with a token."""

    socket: str | None
    url: str
    #: Never shown: it is a secret.
    token: str | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return self.socket or self.url

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def socket_url(self) -> str:
        return "ws" + self.url.removeprefix("http")


def endpoint_of(socket_path: str | os.PathLike[str] | None, url: str | None, token: str | None) -> Endpoint:
    token = token if token is not None else os.environ.get("TORPOR_TOKEN")
    if socket_path is None:
        address = url if url is not None else os.environ.get("TORPOR_URL")
        if address:
            return Endpoint(None, _checked(address), token)
    path = os.fspath(socket_path) if socket_path is not None else _socket_path()
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
        raise InvalidPathError(
            f"the socket's path is longer than {SOCKET_PATH_LIMIT} bytes: {path}",
            hint="Set TORPOR_SOCKET to a shorter one.",
        )
    return Endpoint(path, "http://torpord", token)


def unreachable(endpoint: Endpoint, error: Exception) -> TorporError:
    """Why nothing answers, and what to do."""
    cause = _system_error(error)
    _close_sockets(cause)
    if endpoint.socket is not None and isinstance(cause, (FileNotFoundError, ConnectionRefusedError)):
        return DaemonUnreachableError(
            f"torpord is not running (nothing listens on {endpoint.name})", hint="start it with torpor daemon start"
        )
    if endpoint.socket is not None and isinstance(cause, PermissionError):
        return DaemonUnreachableError(
            f"no permission to open {endpoint.name}", hint="run it as the user that started torpord, which is root"
        )
    return DaemonUnreachableError(
        f"no answer from {endpoint.name}: {str(error) or type(error).__name__}", hint=_hint(urlsplit(endpoint.url), cause)
    )


def _hint(url: SplitResult, cause: BaseException | None) -> str | None:
    if isinstance(cause, ConnectionRefusedError):
        return f"look whether torpord runs there and listens: torpor daemon start --listen {url.hostname}:{url.port or 443}"
    if isinstance(cause, socket.gaierror):
        return "look whether the host's name is right"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return "its certificate is not trusted here: name the authority's with SSL_CERT_FILE=FILE"
    if isinstance(cause, ssl.SSLError):
        return f"it does not speak https there: try http://{url.netloc}"
    return None


def _close_sockets(error: BaseException | None) -> None:
    """httpcore 1.0.9 leaves the Unix socket open that could not be connected: nobody but the error's traceback knows it."""
    if error is None:
        return
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for value in frame.f_locals.values():
            if isinstance(value, socket.socket):
                value.close()


def _checked(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidRequestError(f"{address} is no address of a daemon", hint="It looks like https://host:port.")
    return f"{parts.scheme}://{parts.netloc}"


def _socket_path() -> str:
    return os.environ.get("TORPOR_SOCKET") or f"{os.environ.get('TORPOR_DATA') or '/var/lib/torpor'}/torpord.sock"


def _system_error(error: BaseException | None) -> BaseException | None:
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__ or error.__context__
    return error
