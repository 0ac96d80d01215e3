from __future__ import annotations

import json
import pickle

import pytest
from daemon import ROOT
from fake import Fake, answer

from torpor import ServerFaultError, Torpor, TorporError, TorporTimeoutError, errors
from torpor._error import TorporError as Root
from torpor.errors import (
    ConnectionLostError,
    DaemonUnreachableError,
    InvalidPathError,
    InvalidRequestError,
    SandboxNotFoundError,
    VersionMismatchError,
)

RUNNING: dict[str, object] = {
    "id": "op_aaaaaaaaaaaaaaaa",
    "kind": "pause",
    "sandboxId": "sb_aaaaaaaaaaaaaaaa",
    "status": "running",
    "phase": "capture",
    "attempt": 1,
    "cancelable": True,
    "actor": "user",
    "error": None,
    "result": {},
    "startedAt": "2030-01-01T00:00:00.000Z",
    "endedAt": None,
}
VERSION = answer(200, '{"version": "9", "api": "v1"}')


def test_every_code_of_the_catalogue_has_a_class_under_one_root() -> None:
    catalogue = json.loads((ROOT / "api" / "errors.json").read_text())
    assert set(errors.ERRORS) == set(catalogue)
    for code, kind in errors.ERRORS.items():
        error = kind("what", hint="how", details={"a": 1})
        assert isinstance(error, Root)
        assert (error.code, error.status, error.retryable) == (code, catalogue[code]["status"], catalogue[code]["retryable"])
        assert str(error) == "what (how)"
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.code, again.message, again.hint, again.details) == (kind, code, "what", "how", {"a": 1})


def test_a_code_that_this_client_does_not_know_is_kept() -> None:
    body = json.dumps({"error": {"code": "from_the_future", "message": "m", "hint": "h", "more": 1}})
    with Fake(answer(418, body)) as fake, Torpor(socket=fake.socket) as torpor, pytest.raises(TorporError) as caught:
        torpor.version()
    assert (caught.value.code, caught.value.message, caught.value.hint) == ("from_the_future", "m", "h")


@pytest.mark.parametrize("body", ["<html>bad gateway</html>", '{"error": "text"}', "[1]", ""])
def test_an_answer_that_is_not_torpords_says_so(body: str) -> None:
    with Fake(answer(502, body)) as fake, Torpor(socket=fake.socket) as torpor, pytest.raises(DaemonUnreachableError) as caught:
        torpor.version()
    assert caught.value.message == f"what answers at {fake.socket} is not torpord: status 502, {body}"
    assert caught.value.hint == "look at the address, and at proxies in between"
    with (
        Fake(answer(200, "<html>")) as fake,
        Torpor(socket=fake.socket) as torpor,
        pytest.raises(DaemonUnreachableError, match="status 200"),
    ):
        torpor.version()


def test_a_server_that_does_not_know_a_call_is_older() -> None:
    unknown = answer(404, json.dumps({"error": {"code": "route_not_found", "message": "there is no route"}}))
    with Fake(unknown) as fake, Torpor(socket=fake.socket) as torpor, pytest.raises(VersionMismatchError) as caught:
        torpor.version()
    assert caught.value.message == f"the daemon at {fake.socket} does not know GET /v1/version: it is older than this client"
    assert caught.value.hint is not None
    assert "upgrade torpord there" in caught.value.hint


def test_an_answer_that_breaks_off() -> None:
    half = answer(200, " " * 100)[:-50]
    with Fake(half) as fake, Torpor(socket=fake.socket) as torpor, pytest.raises(ConnectionLostError) as caught:
        torpor.version()
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("what the call began goes on")


def test_what_changes_nothing_is_sent_again_when_the_connection_breaks() -> None:
    with Fake(None, None, VERSION) as fake, Torpor(socket=fake.socket) as torpor:
        assert torpor.version().version == "9"
        assert len(fake.requests) == 3


def test_a_kept_connection_that_was_closed_meanwhile_is_no_failure() -> None:
    with Fake(VERSION, None, VERSION) as fake, Torpor(socket=fake.socket) as torpor:
        assert torpor.version() == torpor.version()


def test_what_changes_something_is_sent_again_under_the_same_key() -> None:
    refusal = answer(404, json.dumps({"error": {"code": "sandbox_not_found", "message": "no"}}))
    with Fake(None, refusal) as fake, Torpor(socket=fake.socket) as torpor, pytest.raises(SandboxNotFoundError):
        torpor.sandboxes.pause_and_wait("x")
    keys = {fake.header(at, "idempotency-key") for at in range(2)}
    assert len(keys) == 1
    assert None not in keys


def test_what_is_streamed_is_sent_once() -> None:
    with Fake(None, VERSION) as fake, Torpor(socket=fake.socket) as torpor, pytest.raises(DaemonUnreachableError, match="no answer from"):
        torpor._transport.upload("writeFile", params={"id": "x"}, query={"path": "f"}, content=b"x")  # pyright: ignore[reportPrivateUsage]
    assert len(fake.requests) == 1


def test_an_operation_that_takes_long_is_asked_for_again_and_a_limit_leaves_it_going_on() -> None:
    going = answer(202, json.dumps({"operation": RUNNING, "sandbox": None}))
    with Fake(going, going) as fake, Torpor(socket=fake.socket) as torpor, pytest.raises(TorporTimeoutError, match="capture") as caught:
        torpor.sandboxes.pause_and_wait("x", timeout_sec=0)
    assert caught.value.details == {"operationId": RUNNING["id"]}
    failed = RUNNING | {"status": "failed", "error": {"code": "engine_failed", "message": "it broke", "details": {"a": 1}}}
    ended = answer(200, json.dumps({"operation": failed, "sandbox": None}))
    with Fake(going, ended) as fake, Torpor(socket=fake.socket) as torpor, pytest.raises(ServerFaultError, match="it broke") as broken:
        torpor.sandboxes.pause_and_wait("x")
    assert broken.value.details == {"a": 1, "operationId": RUNNING["id"]}
    assert fake.header(0, "idempotency-key") == fake.header(1, "idempotency-key")


def test_a_sandbox_that_is_being_woken_is_waited_for() -> None:
    waking = answer(503, json.dumps({"error": {"code": "sandbox_waking", "message": "soon"}}), "retry-after: 0\r\n")
    with Fake(waking, answer(200, '{"sessions": []}'), VERSION) as fake, Torpor(socket=fake.socket) as torpor:
        assert torpor._transport.json("listSessions", params={"id": "x"}) == {"sessions": []}  # pyright: ignore[reportPrivateUsage]
    assert len(fake.requests) == 2


def test_progress_of_images_comes_line_by_line_and_a_line_that_breaks_off_is_an_error() -> None:
    lines = '{"progress": {"step": "fetch", "text": "layer 1", "doneBytes": 5}}\n'
    steps: list[str] = []
    with Fake(answer(200, lines)) as fake, Torpor(socket=fake.socket) as torpor, pytest.raises(DaemonUnreachableError, match="broke off"):
        torpor.images.pull("x", on_progress=lambda progress: steps.append(f"{progress.step} {progress.done_bytes}"))
    assert steps == ["fetch 5"]


def test_where_a_server_is_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with Fake(VERSION) as fake:
        monkeypatch.setenv("TORPOR_SOCKET", fake.socket)
        monkeypatch.setenv("TORPOR_TOKEN", "secret-of-mine")
        with Torpor() as torpor:
            torpor.version()
            assert "secret-of-mine" not in repr(torpor._transport.endpoint)  # pyright: ignore[reportPrivateUsage]
        assert fake.header(0, "authorization") == "Bearer secret-of-mine"
    with pytest.raises(InvalidRequestError, match="https://host:port"):
        Torpor(url="localhost:80")
    with pytest.raises(InvalidPathError, match="107 bytes"):
        Torpor(socket="/" + "x" * 200)


def test_nobody_there_says_how_to_start_it() -> None:
    with Torpor(socket="/nonexistent/s") as torpor, pytest.raises(DaemonUnreachableError) as caught:
        torpor.version()
    assert caught.value.hint == "start it with torpor daemon start"
    with (
        Torpor(url="http://127.0.0.1:9") as torpor,
        pytest.raises(DaemonUnreachableError, match=r"no answer from http://127\.0\.0\.1:9") as refused,
    ):
        torpor.version()
    assert refused.value.hint == "look whether torpord runs there and listens: torpor daemon start --listen 127.0.0.1:9"
    with Torpor(url="http://no-such-host.invalid") as torpor, pytest.raises(DaemonUnreachableError) as unknown:
        torpor.version()
    assert unknown.value.hint == "look whether the host's name is right"
