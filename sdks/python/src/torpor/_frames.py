"""Frames of the session WebSocket: one byte of kind, for output eight bytes of sequence number, then the payload."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, TypeAlias

from torpor._failure import failure_of
from torpor.models import Session, SessionEnd

STDIN, STDIN_END, _INPUT = 0, 1, 4
_STDOUT, _STDERR, _TERMINAL, _STARTED, _END, _ERROR, _INPUT_TAKEN = 16, 17, 18, 19, 20, 21, 23

Stream: TypeAlias = Literal["stdout", "stderr", "terminal"]
_STREAMS: dict[int, Stream] = {_STDOUT: "stdout", _STDERR: "stderr", _TERMINAL: "terminal"}


@dataclass(frozen=True)
class Output:
    """A piece of a command's output."""

    stream: Stream
    data: bytes
    #: Where it stands in the output. Attached after it, one gets what came then.
    seq: int

    @property
    def text(self) -> str:
        """As UTF-8. A character may be cut in two at the end of a piece: then its parts are replaced."""
        return self.data.decode(errors="replace")


@dataclass(frozen=True)
class InputTaken:
    """How much of this client's input the process has."""

    bytes: int


Frame: TypeAlias = Output | Session | SessionEnd | InputTaken


def encode(kind: int, payload: bytes = b"") -> bytes:
    return bytes([kind]) + payload


def encode_input(position: int, data: bytes) -> bytes:
    """Input of a client with an id; `position` is where its first byte stands in all that the client has sent."""
    return encode(_INPUT, position.to_bytes(8, "big") + data)


def decode(message: bytes) -> Frame | None:
    """None is a kind that a newer server has. An error is raised."""
    kind = message[0] if message else -1
    if kind in _STREAMS:
        return Output(_STREAMS[kind], message[9:], int.from_bytes(message[1:9], "big"))
    if kind == _STARTED:
        return Session.model_validate_json(message[1:])
    if kind == _END:
        return SessionEnd.model_validate_json(message[1:])
    if kind == _INPUT_TAKEN:
        return InputTaken(int.from_bytes(message[1:9], "big"))
    if kind == _ERROR:
        raise failure_of(json.loads(message[1:]))
    return None
