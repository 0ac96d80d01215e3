from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from daemon import Daemon

from torpor import ConflictError, ForkFailedError, NotFoundError, Sandbox, SandboxNotFoundError, Torpor, TorporTimeoutError
from torpor.errors import InvalidRequestError, NameTakenError, SandboxLiveError, SandboxNotRunningError
from torpor.models import Operation, SandboxRecord


def test_A07_the_state_is_that_of_the_last_call_and_a_removed_sandbox_is_not_found(daemon: Daemon, torpor: Torpor) -> None:
    sandbox = torpor.create("debian", name="stale", memory_mib=256)
    assert sandbox.record.resources.memory_bytes == 256 * 1024 * 1024
    assert (sandbox.state, sandbox.paused) == ("running", False)
    assert sandbox.pause().state == "paused"
    assert (sandbox.state, sandbox.status, sandbox.paused, sandbox.runtime_id) == ("paused", "paused", True, None)
    assert sandbox.resume().state == "running"
    assert (sandbox.runtime_generation, sandbox.record.restored) == (2, "memory")
    assert sandbox.stop(grace=0.1).state == "stopped"
    assert sandbox.start().state == "running"
    with Torpor(socket=daemon.socket) as other:
        other.get("stale").pause()
        assert sandbox.state == "running"
        assert sandbox.refresh().state == "paused"
        other.get("stale").remove(force=True)
    for look in (sandbox.refresh, sandbox.inspect, sandbox.pause):
        with pytest.raises(SandboxNotFoundError) as caught:
            look()
        assert isinstance(caught.value, NotFoundError)
        assert (caught.value.code, caught.value.status) == ("sandbox_not_found", 404)


def test_the_end_of_with_removes_it_also_when_it_is_gone_already(torpor: Torpor) -> None:
    with torpor.create("debian", name="brief") as brief, torpor.create("debian") as gone:
        gone.remove(force=True)
        assert torpor.get_sandbox("brief").id == brief.id
    with pytest.raises(SandboxNotFoundError):
        torpor.get("brief")


def test_what_does_not_go_with_the_state_says_so(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxLiveError):
        sandbox.remove()
    sandbox.pause()
    with pytest.raises(SandboxNotRunningError, match="is paused already") as caught:
        sandbox.pause()
    assert isinstance(caught.value, ConflictError)


def test_helpers_by_id_as_other_clients_have_them(torpor: Torpor, sandbox: Sandbox) -> None:
    assert torpor.sandboxes.pause_and_wait(sandbox.id, memory=True, timeout_sec=360).state == "paused"
    record = torpor.sandboxes.resume_and_wait(sandbox.id, memory=True, timeout_sec=360)
    assert (record.state, record.restored) == ("running", "memory")
    assert sandbox.pause_and_wait(memory=False).record.checkpoint is None
    assert sandbox.resume_and_wait().record.restored == "files"


def test_a_list_has_all_or_those_asked_for(torpor: Torpor) -> None:
    with torpor.create("debian", labels={"set": "list"}) as one, torpor.create("debian", labels={"set": "list", "n": "2"}) as two:
        two.pause()
        assert [each.id for each in torpor.list(labels={"set": "list"})] == [one.id, two.id]
        assert [each.id for each in torpor.list(labels={"set": "list"}, states=["paused", "stopped"])] == [two.id]
        assert [each.id for each in torpor.iterate(labels={"set": "list", "n": "2"})] == [two.id]
        assert one.update(labels={"set": None, "n": "2"}, idle=600).record.labels == {"n": "2"}
        assert [each.id for each in torpor.list(labels={"n": "2"})] == [one.id, two.id]


def test_forks_have_their_own_files_names_and_settings(torpor: Torpor, sandbox: Sandbox) -> None:
    sandbox.files.write("who", "base")
    with sandbox.fork(name="forked", ttl=timedelta(hours=1), labels={"a": "b"}) as fork:
        assert (fork.name, fork.record.parent_id, fork.record.ttl_ms, fork.record.labels) == ("forked", sandbox.id, 3_600_000, {"a": "b"})
        fork.files.write("who", "fork")
        assert sandbox.files.read("who") == "base"
        with pytest.raises(NameTakenError, match="forked"):
            sandbox.fork(name="forked")
        assert [member.name for member in torpor.tree("forked")] == [sandbox.name, "forked"]
    children = sandbox.fork_many(names=["f-a", "f-b"])
    assert [child.name for child in children] == ["f-a", "f-b"]
    children += sandbox.fork_many(3, name="n", memory=False)
    assert [child.name for child in children[2:]] == ["n-1", "n-2", "n-3"]
    assert torpor.fork(sandbox.id, name="by-id").name == "by-id"
    for child in (*children, torpor.get("by-id")):
        child.remove(force=True)


def test_snapshots_and_what_is_made_of_them(torpor: Torpor, sandbox: Sandbox) -> None:
    expires = datetime.now(timezone.utc) + timedelta(days=1)
    snapshot = sandbox.snapshot("kept", labels={"a": "b"}, expires_at=expires)
    assert (snapshot.name, snapshot.source.id, snapshot.labels) == ("kept", sandbox.id, {"a": "b"})
    assert snapshot.expires_at
    assert abs(snapshot.expires_at - expires) < timedelta(milliseconds=1)
    assert torpor.snapshots.update("kept", labels={"a": None, "c": "d"}, expires_at=None).labels == {"c": "d"}
    assert torpor.snapshots.get("kept").expires_at is None
    with torpor.create(snapshot="kept") as again:
        assert again.record.snapshot_id == snapshot.id
    many = torpor.create_many(2, snapshot="kept", name="many")
    assert sorted(each.name for each in many) == ["many-1", "many-2"]
    for each in many:
        each.remove(force=True)
    sandbox.pause()
    assert sandbox.restore("kept").state == "paused"
    torpor.snapshots.remove("kept")
    assert "kept" not in [each.name for each in torpor.snapshots.list()]


def test_bounds_in_time_are_set_changed_and_taken_away(torpor: Torpor) -> None:
    with torpor.create("debian", ttl=60, idle=timedelta(minutes=5), on_timeout="stop", auto_resume=True) as sandbox:
        record = sandbox.record
        assert (record.ttl_ms, record.idle_ms, record.on_timeout, record.auto_resume) == (60_000, 300_000, "stop", True)
        before = record.expires_at
        assert sandbox.extend(ttl=3600).record.expires_at
        assert sandbox.record.expires_at
        assert before
        assert sandbox.record.expires_at > before
        sandbox.update(ttl=None, hard_ttl=7200)
        assert (sandbox.record.ttl_ms, sandbox.record.idle_ms, sandbox.record.hard_ttl_ms) == (None, 300_000, 7_200_000)
        sandbox.pause()
        # It is woken by its use.
        assert sandbox.exec("echo awake").stdout == "awake\n"


def test_progress_is_told_and_a_wait_has_a_limit(torpor: Torpor, sandbox: Sandbox) -> None:
    phases: list[Operation] = []
    sandbox.pause(on_progress=phases.append)
    assert phases[-1].status == "succeeded"
    assert {operation.id for operation in phases} == {torpor.operations.list(sandbox.id)[0].id}
    states: list[SandboxRecord] = []
    with pytest.raises(TorporTimeoutError):
        sandbox.wait_for("running", 0.1, on_progress=states.append)
    assert [record.state for record in states] == ["paused"]
    # Also without any time it is looked at once.
    assert sandbox.wait_for("paused", 0).state == "paused"
    sandbox.resume()
    assert sandbox.wait_for(["paused", "running"], 60).state == "running"


def test_the_same_key_is_the_same_change(torpor: Torpor) -> None:
    one = torpor.create("debian", name="keyed", key="only-once")
    two = torpor.create("debian", name="keyed", key="only-once")
    assert one.id == two.id
    one.remove(force=True)


def test_wakes_and_their_urls(sandbox: Sandbox) -> None:
    wake = sandbox.wakes.create(url=True, signed=True, label="hook")
    assert wake.path
    assert wake.path.startswith("/v1/wake/")
    assert wake.secret
    sandbox.wakes.create(cron="0 7 * * *", timezone="Europe/Berlin")
    sandbox.wakes.create(at=datetime.now(timezone.utc) + timedelta(hours=1))
    with pytest.raises(InvalidRequestError, match="no time zone"):
        sandbox.wakes.create(at=datetime(2030, 1, 1))
    assert [each.kind for each in sandbox.wakes.list().wakes] == ["url", "cron", "at"]
    sandbox.wakes.remove(wake.id)
    assert len(sandbox.wakes.list().wakes) == 2


def test_a_server_tells_of_itself(torpor: Torpor, sandbox: Sandbox) -> None:
    assert torpor.version().api == "v1"
    assert torpor.info().instance == "test"
    assert torpor.capabilities().capabilities["pause"].supported
    assert "debian" in [reference for image in torpor.images.list() for reference in image.references]
    assert isinstance(sandbox.logs(), str)


def test_images_are_pulled_and_removed(torpor: Torpor) -> None:
    assert "alpine" in torpor.images.pull("alpine").references
    with pytest.raises(NotFoundError):
        torpor.images.pull("nosuch")
    torpor.images.remove("alpine")


def test_a_fork_of_which_some_children_failed_has_the_others() -> None:
    error = ForkFailedError([NameTakenError("there is one", details={"name": "x"})], ["made"])
    assert (error.code, error.sandboxes, str(error)) == ("name_taken", ["made"], "1 of 2 children failed: there is one")


def test_ports_have_addresses_and_a_fork_has_none_of_them(torpor: Torpor, sandbox: Sandbox) -> None:
    assert sandbox.ports.expose(8080).public is False
    assert sandbox.ports.expose(8080, public=True).public is True
    assert [each.port for each in sandbox.ports.list()] == [8080]
    with sandbox.fork() as child:
        assert child.ports.list() == []
    sandbox.ports.remove(8080)
    with pytest.raises(NotFoundError):
        sandbox.ports.remove(8080)


def test_webhooks_are_made_paused_and_removed(torpor: Torpor) -> None:
    made = torpor.webhooks.create("http://127.0.0.1:9/hook", types=["sandbox.paused"], description="for a test")
    assert made.secret.startswith("whsec_")
    assert torpor.webhooks.pause(made.webhook.id).state == "paused"
    assert torpor.webhooks.enable(made.webhook.id).state == "enabled"
    assert torpor.webhooks.test(made.webhook.id).delivered is False
    assert torpor.webhooks.deliveries(made.webhook.id) == []
    assert made.webhook.id in [each.id for each in torpor.webhooks.list()]
    torpor.webhooks.remove(made.webhook.id)
    with pytest.raises(NotFoundError):
        torpor.webhooks.get(made.webhook.id)
