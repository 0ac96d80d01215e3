# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

import json
import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from socket import SO_KEEPALIVE, SOL_SOCKET
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx

from torpor._calls import CALLS
from torpor._concurrent import Content, chunks, sleep
from torpor._endpoint import Endpoint, unreachable
from torpor._error import TorporError
from torpor._failure import answer_failure, connection_lost, failure_of, not_torpord
from torpor._lines import LineReader
from torpor._portal import Portal
from torpor._socket import Socket
from torpor._units import Deadline
from torpor.errors import DaemonUnreachableError, SandboxWakingError

#: A kept connection that the server closed meanwhile, or an answer that was lost.
BROKEN = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
#: How long a call goes on asking for a sandbox that is being woken for it, in seconds.
_WAKING_SECONDS = 120
#: Connections of a server that is out of reach are noticed by the system, also where an answer may take hours.
_KEEPALIVE = [(SOL_SOCKET, SO_KEEPALIVE, 1)]

Values = Mapping[str, str | int | bool | None]


class Transport:
    """The calls of one server, by the names that the API has for them."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._portal = Portal()
        self._client = httpx.Client(
            transport=httpx.HTTPTransport(
                # Where nothing is encrypted, reading the system's certificates would be 25 ms of each client for nothing.
                verify=endpoint.url.startswith("https:"),
                uds=endpoint.socket,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=16),
                socket_options=None if endpoint.socket else _KEEPALIVE,
            ),
            base_url=endpoint.url,
            headers=endpoint.headers,
            # An answer comes when the work is done: what limits a wait is the call's own.
            timeout=httpx.Timeout(None, connect=30),
        )

    def json(
        self,
        name: str,
        *,
        params: Mapping[str, str] | None = None,
        query: Values | None = None,
        body: object = None,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """The answer of a success; everything else is raised."""
        request = self._request(name, params, query, body, key, headers, timeout)
        deadline = Deadline(_WAKING_SECONDS)
        while True:
            answer = self._send(name, request)
            content = self._content(answer)
            if answer.is_success:
                return self._parsed(answer, content)
            error = answer_failure(self.endpoint, CALLS[name], answer.status_code, content)
            if not isinstance(error, SandboxWakingError) or deadline.over:
                raise error
            sleep(min(float(answer.headers.get("retry-after", "1")), 5))

    @contextmanager
    def stream(
        self,
        name: str,
        *,
        params: Mapping[str, str] | None = None,
        query: Values | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Generator[httpx.Response, None, None]:
        """An answer whose content is still to be read."""
        answer = self._send(name, self._request(name, params, query, body, None, headers, timeout))
        try:
            if not answer.is_success:
                raise answer_failure(self.endpoint, CALLS[name], answer.status_code, self._content(answer))
            try:
                yield answer
            except httpx.TransportError as error:
                raise connection_lost(self.endpoint, error) from error
        finally:
            answer.close()

    def lines(
        self, name: str, *, params: Mapping[str, str] | None = None, query: Values | None = None, body: object = None
    ) -> Generator[dict[str, Any], None, None]:
        """An answer in lines of JSON. Its reader stops at the last one; if there is none, the connection broke."""
        reader = LineReader()
        headers = {"accept": "application/x-ndjson"}
        with self.stream(name, params=params, query=query, body=body, headers=headers) as answer:
            for chunk in answer.iter_bytes():
                for line in reader.feed(chunk):
                    if line:
                        message = json.loads(line)
                        if "error" in message:
                            raise failure_of(message)
                        yield message
        raise DaemonUnreachableError("the connection to torpord broke off before all was there", hint="The work goes on: ask again.")

    def upload(self, name: str, *, params: Mapping[str, str], query: Values, content: Content) -> Any:
        """Sends bytes as they come. It is done once: they may not come twice."""
        call = CALLS[name]
        request = self._client.build_request(
            call.method,
            _address(call.path, params),
            params=_query(query),
            content=chunks(content),
            headers={"content-type": "application/octet-stream"},
        )
        try:
            answer = self._client.send(request)
        except httpx.TransportError as error:
            raise unreachable(self.endpoint, error) from error
        if not answer.is_success:
            raise answer_failure(self.endpoint, call, answer.status_code, answer.content)
        return self._parsed(answer, answer.content)

    def socket(self, name: str, params: Mapping[str, str], query: Values | None = None) -> Socket:
        """A call whose connection becomes a WebSocket."""
        path = str(httpx.URL(_address(CALLS[name].path, params), params=_query(query or {})))
        return Socket.open(self.endpoint, CALLS[name], path, self._portal)

    @property
    def closed(self) -> bool:
        """Nothing is connected anew."""
        return self._portal.closed

    def close(self) -> None:
        self._portal.close()
        self._client.close()

    def __enter__(self) -> Transport:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _request(
        self,
        name: str,
        params: Mapping[str, str] | None,
        query: Values | None,
        body: object,
        key: str | None,
        headers: Mapping[str, str] | None,
        timeout: float | None,
    ) -> httpx.Request:
        method, path, keyed = CALLS[name]
        given = dict(headers or {})
        if keyed:
            given["idempotency-key"] = key or str(uuid.uuid4())
        request = self._client.build_request(
            method,
            _address(path, params or {}),
            params=_query(query or {}),
            headers=given,
            json=body,
        )
        if timeout is not None:
            request.extensions["timeout"] = httpx.Timeout(timeout, connect=30).as_dict()
        return request

    def _send(self, name: str, request: httpx.Request) -> httpx.Response:
        method, _, keyed = CALLS[name]
        # What changes nothing, and what its key makes repeatable, is sent again when the connection breaks.
        tries = 3 if method == "GET" or keyed else 1
        while True:
            tries -= 1
            try:
                return self._client.send(request, stream=True)
            except httpx.TransportError as error:
                if tries == 0 or not isinstance(error, BROKEN):
                    raise self._failure(error) from error

    def _content(self, answer: httpx.Response) -> bytes:
        try:
            return answer.read()
        except httpx.TransportError as error:
            raise connection_lost(self.endpoint, error) from error
        finally:
            answer.close()

    def _parsed(self, answer: httpx.Response, content: bytes) -> Any:
        try:
            return json.loads(content) if content else None
        except ValueError:
            raise not_torpord(self.endpoint, answer.status_code, content) from None

    def _failure(self, error: Exception) -> TorporError:
        return unreachable(self.endpoint, error)


def _address(path: str, params: Mapping[str, str]) -> str:
    """Each value percent-encoded exactly once."""
    return path.format(**{name: quote(value, safe="") for name, value in params.items()})


def _query(values: Values) -> dict[str, str]:
    return {name: _text(value) for name, value in values.items() if value is not None}


def _text(value: str | int | bool | None) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
