from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from daemon import Daemon
from proxy import Proxy

from torpor import AsyncSandbox, AsyncTorpor, SandboxNotFoundError, TorporTimeoutError
from torpor.errors import SessionPausedError


def run(daemon: Daemon, work: Callable[[AsyncTorpor, AsyncSandbox], Awaitable[None]]) -> None:
    async def main() -> None:
        async with AsyncTorpor(socket=daemon.socket) as torpor, await torpor.create("debian") as sandbox:
            await work(torpor, sandbox)

    asyncio.run(asyncio.wait_for(main(), 120))


def test_commands_files_and_lifecycle_are_those_of_the_blocking_client(daemon: Daemon) -> None:
    async def work(torpor: AsyncTorpor, sandbox: AsyncSandbox) -> None:
        assert (await sandbox.exec("echo out; exit 3")).exit_code == 3
        assert (await sandbox.exec(["cat"], stdin="in")).stdout == "in"
        await sandbox.files.write("f", b"\x00\xff")
        assert await sandbox.files.read_bytes("f") == b"\x00\xff"
        async with sandbox.files.stream("f") as pieces:
            assert [piece async for piece in pieces] == [b"\x00\xff"]
        await sandbox.pause()
        assert sandbox.paused
        assert (await sandbox.resume()).record.restored == "memory"
        async with await sandbox.fork(name="async-kid") as kid:
            assert [each.name for each in await torpor.list()][-1] == kid.name
        with pytest.raises(SandboxNotFoundError):
            await torpor.get("async-kid")

    run(daemon, work)


def test_callbacks_may_be_coroutines_and_input_may_come_slowly(daemon: Daemon) -> None:
    async def work(_: AsyncTorpor, sandbox: AsyncSandbox) -> None:
        seen: list[str] = []

        async def on_stdout(text: str) -> None:
            await asyncio.sleep(0)
            seen.append(text)

        async def pieces():
            for piece in (b"a", b"b"):
                await asyncio.sleep(0.01)
                yield piece

        result = await sandbox.exec(["cat"], stdin=pieces(), on_stdout=on_stdout)
        assert ("".join(seen), result.stdout) == ("ab", "ab")
        content = bytes(range(256)) * 40_000
        assert (await sandbox.exec(["cat"], stdin=(content[at : at + 99_999] for at in range(0, len(content), 99_999)))).truncated

    run(daemon, work)


def test_many_at_once(daemon: Daemon) -> None:
    async def work(_: AsyncTorpor, sandbox: AsyncSandbox) -> None:
        results = await asyncio.gather(*(sandbox.exec(f"sleep 0.2; echo {number}") for number in range(20)))
        assert [result.stdout for result in results] == [f"{number}\n" for number in range(20)]

    run(daemon, work)


def test_E12_a_command_goes_on_over_a_pause_and_a_cut_line(daemon: Daemon) -> None:
    async def work(_: AsyncTorpor, sandbox: AsyncSandbox) -> None:
        with Proxy(daemon.socket) as proxy:
            async with AsyncTorpor(socket=proxy.socket) as other:
                theirs = await other.get(sandbox.id)
                async with await theirs.exec("echo a; read x; echo got $x; read y; echo $y", background=True, stdin=True) as command:
                    got = asyncio.Event()
                    waiting = asyncio.create_task(command.wait(60, on_stdout=lambda text: "got one" in text and got.set()))
                    await sandbox.pause()
                    with pytest.raises(TorporTimeoutError):
                        await theirs.attach(command.id).wait(0.2)
                    await sandbox.resume()
                    await command.write("one\n")
                    await got.wait()
                    proxy.cut()
                    async with sandbox.attach(command.id) as again:
                        await again.write("two\n")
                    assert (await waiting).stdout == "a\ngot one\ntwo\n"

    run(daemon, work)


def test_a_pause_of_what_is_waited_for_is_told(daemon: Daemon) -> None:
    async def work(_: AsyncTorpor, sandbox: AsyncSandbox) -> None:
        async def pause(_: str) -> None:
            await sandbox.pause()

        with pytest.raises(SessionPausedError):
            await sandbox.exec("echo x; sleep 600", on_stdout=pause)

    run(daemon, work)


def test_events_and_waits(daemon: Daemon) -> None:
    async def work(torpor: AsyncTorpor, sandbox: AsyncSandbox) -> None:
        waiting = asyncio.create_task(sandbox.wait_for("paused", 60))
        await torpor.sandboxes.pause_and_wait(sandbox.id)
        await waiting
        types: list[str] = []
        async for event in torpor.events(sandbox=sandbox.id, after=0):
            types.append(event.type)
            if event.type == "sandbox.paused":
                break
        assert types == ["sandbox.created", "sandbox.paused"]
        terminal = await sandbox.resume()
        assert terminal is sandbox
        async with await sandbox.terminal(["sh"]) as screen:
            await screen.write("echo $((6*7))\n")
            await screen.read_until(r"\b42\b", 60)
            await screen.kill()
            assert (await screen.wait(60)).exit_code == 137

    run(daemon, work)
