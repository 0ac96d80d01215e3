"""Each noun of the API that the other tests do not use: its calls, by the server's own answers."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from datetime import datetime, timezone

import pytest
from daemon import Daemon
from fake import Fake, answer

from torpor import AsyncTorpor, NotFoundError, Sandbox, ServerFaultError, Torpor
from torpor.errors import ConnectionLostError, PortClosedError, SessionNotSupervisedError
from torpor.models import SandboxRecord


@pytest.fixture
def echo() -> Iterator[int]:
    """A port of this machine, which is that of the sandboxes here, that sends back what it gets."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                while data := connection.recv(65536):
                    connection.sendall(data)

    thread = threading.Thread(target=serve)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    thread.join()
    listener.close()


def test_teams_have_limits_prices_and_credit_that_is_added_once(torpor: Torpor) -> None:
    team = torpor.teams.set_limits("blue", memory_mib=512, sandboxes=3)
    assert (team.limits.memory_bytes, team.limits.sandboxes, team.limits.cpus) == (512 * 1024 * 1024, 3, None)
    prices = torpor.teams.set_prices(cpu_second=0.5, memory_gib_second=0.25, stored_gib_month=0, debt_share=0.1)
    assert torpor.teams.prices() == prices
    for _ in range(2):
        torpor.teams.top_up("blue", 100, key="invoice-17")
    (blue,) = [team for team in torpor.teams.list() if team.name == "blue"]
    assert blue.budget
    assert blue.budget.credit == 100


def test_tokens_are_made_listed_and_revoked(torpor: Torpor) -> None:
    made = torpor.access.create_token("ci", scopes=["sandbox:read"], team="blue", expires_at=datetime(2100, 1, 1, tzinfo=timezone.utc))
    assert made.secret.startswith("torpor_")
    everything = torpor.access.create_token(team=None)
    assert {token.name: token.team for token in torpor.access.tokens()} == {"ci": "blue", everything.token.name: None}
    for token in (made.token.id, everything.token.name):
        torpor.access.revoke_token(token)
    assert torpor.access.tokens() == []
    assert (torpor.access.whoami().via, torpor.access.login_code().expires_at > made.token.created_at) == ("socket", True)


def test_what_is_used_and_has_happened(torpor: Torpor, sandbox: Sandbox) -> None:
    assert torpor.healthy()
    assert sandbox.stats().memory.limit_bytes == 512 * 1024 * 1024
    assert sandbox.id in [each.id for each in torpor.stats().sandboxes]
    assert next(torpor.stats.follow()).pool.size_bytes > 0
    assert sandbox.id in [each.sandbox_id for each in torpor.stats.usage()]
    assert [event.type for event in sandbox.history()] == ["sandbox.created"]
    assert sandbox.history(after=sandbox.history()[-1].seq) == []


def test_a_port_is_reached_through_the_server_and_each_side_ends_for_itself(sandbox: Sandbox, echo: int) -> None:
    with sandbox.ports.connect(echo) as connection:
        connection.write("hello ")
        connection.write([b"", b"world"])
        connection.end()
        assert b"".join(connection) == b"hello world"
        assert connection.read() == b""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(PortClosedError):
        sandbox.ports.connect(port)


def test_a_client_that_is_closed_ends_what_it_has_open(daemon: Daemon, sandbox: Sandbox, echo: int) -> None:
    async def work() -> None:
        torpor = AsyncTorpor(socket=daemon.socket)
        theirs = await torpor.get(sandbox.id)
        connection = await theirs.ports.connect(echo)
        reading = asyncio.create_task(connection.read())
        command = await theirs.exec("exec sleep 600", background=True)
        waiting = asyncio.create_task(command.wait())
        opening = asyncio.create_task(theirs.attach(command.id).wait())
        await asyncio.sleep(0)
        await torpor.close()
        with pytest.raises(ConnectionLostError):
            await reading
        for task in (waiting, opening):
            with pytest.raises(ServerFaultError):
                await task

    asyncio.run(asyncio.wait_for(work(), 30))


def test_files_are_watched_from_the_beginning_of_the_block(sandbox: Sandbox) -> None:
    sandbox.files.mkdir("watched")
    with sandbox.files.watch("watched") as changes:
        sandbox.files.write("watched/new", "x")
        for change in changes:
            if change.path.endswith("new") and change.change in ("created", "renamed"):
                break
    with pytest.raises(NotFoundError), sandbox.files.watch("nowhere"):
        raise AssertionError("nothing is watched")


def test_supervised_sessions_are_begun_with_their_policy_and_told_what_to_be() -> None:
    record = (
        '{"id":"se_a","argv":["web"],"pid":7,"terminal":false,"user":"root","workdir":"/","startedAt":"2026-01-01T00:00:00.000Z",'
        '"firstSeq":0,"lastSeq":0,"size":null,"end":null,"supervision":{"desired":"%s","state":"%s","attempt":1,"restarts":0,'
        '"nextAt":null,"lastEnd":null,"reason":null,"policy":{"restart":"always","newer":1}}}'
    )
    ready, stopped = record % ("running", "ready"), record % ("stopped", "stopped")
    box = SandboxRecord.model_construct(id="sb_a")
    with Fake(answer(201, ready), answer(200, stopped), answer(200, ready), answer(200, ready), answer(204, "")) as fake:
        with Torpor(socket=fake.socket) as torpor:
            sandbox = Sandbox(torpor._transport, box)  # pyright: ignore[reportPrivateUsage]
            service = sandbox.supervise(restart="always", backoff=0.5, ready_port=80, ready_timeout=5, stop_order=-1)
            assert service.supervision
            assert service.supervision.state == "ready"
            stopped_record = service.stop()
            assert stopped_record.supervision == service.supervision
            assert service.supervision.desired == "stopped"
            service.start()
            service.restart()
            service.remove(force=True)
        heads = [request.split(b"\r\n", 1)[0].decode() for request in fake.requests]
        assert heads == [
            "POST /v1/sandboxes/sb_a/sessions HTTP/1.1",
            *(f"POST /v1/sandboxes/sb_a/sessions/se_a/{verb} HTTP/1.1" for verb in ("stop", "start", "restart")),
            "DELETE /v1/sandboxes/sb_a/sessions/se_a?force=true HTTP/1.1",
        ]
        policy = '{"restart":"always","backoffMs":500,"readiness":{"port":80,"timeoutMs":5000},"stopOrder":-1}'
        assert fake.requests[0].endswith(f'{{"command":"image","supervise":{policy}}}'.encode())


def test_a_command_that_is_not_supervised_is_told_so_and_is_forgotten_when_asked(sandbox: Sandbox) -> None:
    command = sandbox.exec("exec sleep 600", background=True)
    with pytest.raises(SessionNotSupervisedError):
        sandbox.attach_supervised(command.id).restart()
    command.remove(force=True)
    assert sandbox.commands() == []
