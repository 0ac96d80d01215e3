from __future__ import annotations

import gc

import pytest
from daemon import Daemon
from proxy import Proxy

from torpor import Sandbox, Torpor
from torpor.errors import DaemonUnreachableError


def test_events_come_from_any_place_on_and_as_they_happen(torpor: Torpor, sandbox: Sandbox) -> None:
    sandbox.pause()
    sandbox.resume()
    types: list[str] = []
    for event in sandbox.events(after=0):
        types.append(event.type)
        if event.type == "sandbox.resumed":
            break
    assert types[0] == "sandbox.created"
    assert types[-2:] == ["sandbox.paused", "sandbox.resumed"]
    page = torpor.events.list(sandbox=sandbox.id, limit=1)
    assert [event.type for event in page.events] == ["sandbox.created"]
    assert [event.type for event in torpor.events.list(sandbox=sandbox.id, after=page.next, limit=len(types) - 1).events] == types[1:]
    stream = torpor.events(sandbox=sandbox.id, after=page.next, types=["sandbox.resumed"])
    assert next(stream).type == "sandbox.resumed"


def test_a_connection_that_breaks_loses_no_event(daemon: Daemon, sandbox: Sandbox) -> None:
    with Proxy(daemon.socket) as proxy, Torpor(socket=proxy.socket) as torpor:
        events = torpor.events(sandbox=sandbox.id, after=0)
        assert next(events).type == "sandbox.created"
        sandbox.pause()
        proxy.cut()
        sandbox.resume()
        seen = [next(events) for _ in range(2)]
        assert [event.type for event in seen] == ["sandbox.paused", "sandbox.resumed"]


def test_a_server_that_was_never_there_is_an_error_at_once() -> None:
    with Torpor(socket="/nonexistent/s") as torpor, pytest.raises(DaemonUnreachableError, match="torpord is not running"):
        next(torpor.events())
    # A socket that were left would be told of here.
    gc.collect()
