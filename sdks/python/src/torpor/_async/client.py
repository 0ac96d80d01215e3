from __future__ import annotations

import builtins
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType

from typing_extensions import Unpack

from torpor._async.access import AsyncAccess
from torpor._async.change import AsyncWaiting, async_change, sandbox_of
from torpor._async.events import AsyncEvents
from torpor._async.images import AsyncImages
from torpor._async.operations import AsyncOperations
from torpor._async.sandbox import AsyncSandbox
from torpor._async.sandboxes import AsyncSandboxes
from torpor._async.snapshots import AsyncSnapshots
from torpor._async.stats import AsyncStats
from torpor._async.teams import AsyncTeams
from torpor._async.transport import AsyncTransport
from torpor._async.webhooks import AsyncWebhooks
from torpor._concurrent import AsyncCallback
from torpor._endpoint import endpoint_of
from torpor._requests import NetworkMode, RestartPolicy, SelfVerb, TimeSettings, given, resources, time_settings
from torpor._summaries import FamilyMember, Version
from torpor._units import Duration
from torpor.models import Capabilities, Info, Operation, SandboxRecord

#: Records of one page of a list.
_PAGE = 500


class AsyncTorpor:
    """A Torpor server: that of this machine by its socket, or another one by its address and a token.

    Without arguments TORPOR_SOCKET, TORPOR_URL and TORPOR_TOKEN say which. Use it as `with`, or `close` it at the end.
    """

    def __init__(self, *, socket: str | os.PathLike[str] | None = None, url: str | None = None, token: str | None = None) -> None:
        self._transport = AsyncTransport(endpoint_of(socket, url, token))
        #: `torpor.events()` follows what happens, `torpor.events.list()` looks back.
        self.events = AsyncEvents(self._transport)
        self.images = AsyncImages(self._transport)
        self.snapshots = AsyncSnapshots(self._transport)
        self.sandboxes = AsyncSandboxes(self._transport)
        self.operations = AsyncOperations(self._transport)
        self.webhooks = AsyncWebhooks(self._transport)
        #: Who may call the server, and as whom this client does.
        self.access = AsyncAccess(self._transport)
        #: What teams may hold, and what they pay.
        self.teams = AsyncTeams(self._transport)
        #: `torpor.stats()` is what sandboxes use now, `torpor.stats.usage()` what they have used.
        self.stats = AsyncStats(self._transport)

    async def create(
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
        on_progress: AsyncCallback[Operation] | None = None,
        **times: Unpack[TimeSettings],
    ) -> AsyncSandbox:
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
        waiting = AsyncWaiting(timeout, wait_capacity, key, on_progress)
        answer = await async_change(self._transport, "createSandbox", waiting, body=body | time_settings(times))
        return AsyncSandbox(self._transport, sandbox_of(answer))

    async def create_many(
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
    ) -> builtins.list[AsyncSandbox]:
        """Several sandboxes from one snapshot, those that could be made; they are called `name` with -1, -2, … after it."""
        body = given(snapshot=snapshot, memory=memory, count=count, name=name, env=env, labels=labels)
        waiting = AsyncWaiting(timeout, wait_capacity, key)
        answer = await async_change(self._transport, "createSandbox", waiting, body=body | time_settings(times))
        records = [answer.sandbox, *(sibling.sandbox for sibling in answer.siblings or [])]
        return [AsyncSandbox(self._transport, record) for record in records if record is not None]

    async def get(self, id: str) -> AsyncSandbox:
        """A sandbox by its id or name."""
        answer = await self._transport.json("getSandbox", params={"id": id})
        return AsyncSandbox(self._transport, SandboxRecord.model_validate(answer))

    async def get_sandbox(self, id: str) -> AsyncSandbox:
        """The same as `get`."""
        return await self.get(id)

    async def list(self, *, states: Sequence[str] | None = None, labels: Mapping[str, str] | None = None) -> builtins.list[AsyncSandbox]:
        """Sandboxes, oldest first: all, or those in one of the states and with all of the labels."""
        return [sandbox async for sandbox in self.iterate(states=states, labels=labels)]

    async def iterate(self, *, states: Sequence[str] | None = None, labels: Mapping[str, str] | None = None) -> AsyncIterator[AsyncSandbox]:
        """As `list`, but asked for a page at a time."""
        query: dict[str, str | int | None] = {
            "state": None if states is None else ",".join(states),
            "label": None if not labels else ",".join(f"{name}={value}" for name, value in labels.items()),
            "limit": _PAGE,
        }
        while True:
            page = await self._transport.json("listSandboxes", query=query)
            for record in page["sandboxes"]:
                yield AsyncSandbox(self._transport, SandboxRecord.model_validate(record))
            if page["next"] is None:
                return
            query["after"] = page["next"]

    async def fork(self, id: str, *, name: str | None = None, memory: bool = True, timeout: Duration | None = None) -> AsyncSandbox:
        """Copies a sandbox, by its id or name, with its memory and processes. `sandbox.fork` can do more."""
        return await (await self.get(id)).fork(name=name, memory=memory, timeout=timeout)

    async def tree(self, sandbox: str | None = None) -> builtins.list[FamilyMember]:
        """What was forked from what: all, or the family of one sandbox. Parents stand before their children."""
        answer = await self._transport.json("tree", query={"sandbox": sandbox})
        return [FamilyMember.model_validate(member) for member in answer["members"]]

    async def capabilities(self) -> Capabilities:
        """What the server's engine can do, and why not."""
        return Capabilities.model_validate(await self._transport.json("capabilities"))

    async def info(self) -> Info:
        """The server, its engine, pool and host."""
        return Info.model_validate(await self._transport.json("info"))

    async def version(self) -> Version:
        return Version.model_validate(await self._transport.json("version"))

    async def healthy(self) -> bool:
        """Whether the server answers and is well; without a token too."""
        return (await self._transport.json("health"))["status"] == "ok"

    async def close(self) -> None:
        """Gives all connections back."""
        await self._transport.aclose()

    async def __aenter__(self) -> AsyncTorpor:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
