# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

import builtins
import os
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType

from typing_extensions import Unpack

from torpor._concurrent import Callback
from torpor._endpoint import endpoint_of
from torpor._requests import NetworkMode, RestartPolicy, SelfVerb, TimeSettings, given, resources, time_settings
from torpor._summaries import FamilyMember, Version
from torpor._sync.access import Access
from torpor._sync.change import Waiting, change, sandbox_of
from torpor._sync.events import Events
from torpor._sync.images import Images
from torpor._sync.operations import Operations
from torpor._sync.sandbox import Sandbox
from torpor._sync.sandboxes import Sandboxes
from torpor._sync.snapshots import Snapshots
from torpor._sync.stats import Stats
from torpor._sync.teams import Teams
from torpor._sync.transport import Transport
from torpor._sync.webhooks import Webhooks
from torpor._units import Duration
from torpor.models import Capabilities, Info, Operation, SandboxRecord

#: Records of one page of a list.
_PAGE = 500


class Torpor:
    """A Torpor server: that of this machine by its socket, or another one by its address and a token.

    Without arguments TORPOR_SOCKET, TORPOR_URL and TORPOR_TOKEN say which. Use it as `with`, or `close` it at the end.
    """

    def __init__(self, *, socket: str | os.PathLike[str] | None = None, url: str | None = None, token: str | None = None) -> None:
        self._transport = Transport(endpoint_of(socket, url, token))
        #: `torpor.events()` follows what happens, `torpor.events.list()` looks back.
        self.events = Events(self._transport)
        self.images = Images(self._transport)
        self.snapshots = Snapshots(self._transport)
        self.sandboxes = Sandboxes(self._transport)
        self.operations = Operations(self._transport)
        self.webhooks = Webhooks(self._transport)
        #: Who may call the server, and as whom this client does.
        self.access = Access(self._transport)
        #: What teams may hold, and what they pay.
        self.teams = Teams(self._transport)
        #: `torpor.stats()` is what sandboxes use now, `torpor.stats.usage()` what they have used.
        self.stats = Stats(self._transport)

    def create(
        self,
        image: str | None = None,
        *,
        snapshot: str | None = None,
        memory: bool | None = None,
        name: str | None = None,
        memory_mib: float | None = None,
        cpus: float | None = None,
        disk_mib: float | None = None,
        pids: int | None = None,
        env: Mapping[str, str] | None = None,
        workdir: str | None = None,
        user: str | None = None,
        network: NetworkMode | None = None,
        labels: Mapping[str, str] | None = None,
        restart: RestartPolicy | None = None,
        self_control: Sequence[SelfVerb] | None = None,
        pull: bool | None = None,
        timeout: Duration | None = None,
        wait_capacity: Duration | None = None,
        key: str | None = None,
        on_progress: Callback[Operation] | None = None,
        **times: Unpack[TimeSettings],
    ) -> Sandbox:
        """Makes a sandbox from an image, which is fetched if it is not there, or from a snapshot, and boots it.

        It has 512 MiB of memory, 1 CPU, 10 GiB of disk and 4096 processes unless told otherwise; one from a snapshot what that has.
        `memory=False` takes a snapshot's files alone. `self_control` is what its own processes may do with it.
        """
        body = given(
            image=image,
            snapshot=snapshot,
            memory=memory,
            name=name,
            resources=resources(memory_mib, cpus, disk_mib, pids),
            env=env,
            workdir=workdir,
            user=user,
            network=network,
            labels=labels,
            restart=restart,
            selfControl=None if self_control is None else [*self_control],
            pull=pull,
        )
        waiting = Waiting(timeout, wait_capacity, key, on_progress)
        answer = change(self._transport, "createSandbox", waiting, body=body | time_settings(times))
        return Sandbox(self._transport, sandbox_of(answer))

    def create_many(
        self,
        count: int,
        *,
        snapshot: str,
        memory: bool | None = None,
        name: str | None = None,
        env: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
        wait_capacity: Duration | None = None,
        key: str | None = None,
        **times: Unpack[TimeSettings],
    ) -> builtins.list[Sandbox]:
        """Several sandboxes from one snapshot, those that could be made; they are called `name` with -1, -2, … after it."""
        body = given(snapshot=snapshot, memory=memory, count=count, name=name, env=env, labels=labels)
        waiting = Waiting(timeout, wait_capacity, key)
        answer = change(self._transport, "createSandbox", waiting, body=body | time_settings(times))
        records = [answer.sandbox, *(sibling.sandbox for sibling in answer.siblings or [])]
        return [Sandbox(self._transport, record) for record in records if record is not None]

    def get(self, id: str) -> Sandbox:
        """A sandbox by its id or name."""
        answer = self._transport.json("getSandbox", params={"id": id})
        return Sandbox(self._transport, SandboxRecord.model_validate(answer))

    def get_sandbox(self, id: str) -> Sandbox:
        """The same as `get`."""
        return self.get(id)

    def list(self, *, states: Sequence[str] | None = None, labels: Mapping[str, str] | None = None) -> builtins.list[Sandbox]:
        """Sandboxes, oldest first: all, or those in one of the states and with all of the labels."""
        return [sandbox for sandbox in self.iterate(states=states, labels=labels)]

    def iterate(self, *, states: Sequence[str] | None = None, labels: Mapping[str, str] | None = None) -> Iterator[Sandbox]:
        """As `list`, but asked for a page at a time."""
        query: dict[str, str | int | None] = {
            "state": None if states is None else ",".join(states),
            "label": None if not labels else ",".join(f"{name}={value}" for name, value in labels.items()),
            "limit": _PAGE,
        }
        while True:
            page = self._transport.json("listSandboxes", query=query)
            for record in page["sandboxes"]:
                yield Sandbox(self._transport, SandboxRecord.model_validate(record))
            if page["next"] is None:
                return
            query["after"] = page["next"]

    def fork(self, id: str, *, name: str | None = None, memory: bool = True, timeout: Duration | None = None) -> Sandbox:
        """Copies a sandbox, by its id or name, with its memory and processes. `sandbox.fork` can do more."""
        return (self.get(id)).fork(name=name, memory=memory, timeout=timeout)

    def tree(self, sandbox: str | None = None) -> builtins.list[FamilyMember]:
        """What was forked from what: all, or the family of one sandbox. Parents stand before their children."""
        answer = self._transport.json("tree", query={"sandbox": sandbox})
        return [FamilyMember.model_validate(member) for member in answer["members"]]

    def capabilities(self) -> Capabilities:
        """What the server's engine can do, and why not."""
        return Capabilities.model_validate(self._transport.json("capabilities"))

    def info(self) -> Info:
        """The server, its engine, pool and host."""
        return Info.model_validate(self._transport.json("info"))

    def version(self) -> Version:
        return Version.model_validate(self._transport.json("version"))

    def healthy(self) -> bool:
        """Whether the server answers and is well; without a token too."""
        return (self._transport.json("health"))["status"] == "ok"

    def close(self) -> None:
        """Gives all connections back."""
        self._transport.close()

    def __enter__(self) -> Torpor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
