"""Input is numbered: over cuts and pauses it is typed once and whole."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import threading
from collections.abc import Iterator

import pytest
from daemon import Daemon
from proxy import Proxy

from torpor import AsyncTorpor, Command, Sandbox, Torpor
from torpor._unacknowledged import Unacknowledged
from torpor.errors import SandboxNotRunningError

PASTE = os.urandom(1_500_000)
DIGEST = hashlib.sha256(PASTE).hexdigest()
PIECE = 100_000


def pieces() -> list[bytes]:
    return [PASTE[start : start + PIECE] for start in range(0, len(PASTE), PIECE)]


def cut_soon(proxy: Proxy) -> threading.Event:
    """Within the next piece, all of whose bytes pass."""
    return proxy.cut_after(10_000 + random.randrange(80_000))


def broken() -> Iterator[bytes]:
    yield b"begun"
    raise OSError("the source is gone")


def write_often(command: Command, text: str) -> None:
    for _ in range(50):
        command.write(f"{text}\n")


def test_Y09_input_that_is_cut_at_random_in_the_middle_of_frames_too_arrives_once_and_whole(daemon: Daemon, sandbox: Sandbox) -> None:
    with (
        Proxy(daemon.socket) as proxy,
        Torpor(socket=proxy.socket) as torpor,
        torpor.get(sandbox.id).exec(["sha256sum"], background=True, stdin=True) as command,
    ):
        for piece in pieces():
            cut = cut_soon(proxy)
            command.write(piece)
            assert cut.wait(60)
        command.close_stdin()
        assert command.wait(120).stdout.split()[0] == DIGEST


def test_Y09_input_goes_on_when_the_connection_made_anew_is_cut_in_its_first_bytes(daemon: Daemon, sandbox: Sandbox) -> None:
    with (
        Proxy(daemon.socket) as proxy,
        Torpor(socket=proxy.socket) as torpor,
        torpor.get(sandbox.id).exec(["sha256sum"], background=True, stdin=True) as command,
    ):
        proxy.cut_after(150_000, 100, 100)
        for piece in pieces():
            command.write(piece)
        assert proxy.cuts == 3
        command.close_stdin()
        assert command.wait(120).stdout.split()[0] == DIGEST


def test_Y09_the_same_beside_a_reader_without_blocking(daemon: Daemon, sandbox: Sandbox) -> None:
    async def work() -> None:
        with Proxy(daemon.socket) as proxy:
            async with AsyncTorpor(socket=proxy.socket) as torpor:
                theirs = await torpor.get(sandbox.id)
                async with await theirs.exec(["cat"], background=True, stdin=True) as command:
                    reading = asyncio.create_task(command.wait(120))
                    for piece in pieces():
                        cut = cut_soon(proxy)
                        await command.write(piece)
                        assert await asyncio.to_thread(cut.wait, 60)
                    await command.close_stdin()
                    result = await reading
                    assert hashlib.sha256(result.stdout_bytes).hexdigest() == DIGEST

    asyncio.run(asyncio.wait_for(work(), 240))


def test_Y09_the_input_of_exec_is_typed_once_over_cuts_too(daemon: Daemon, sandbox: Sandbox) -> None:
    with Proxy(daemon.socket) as proxy, Torpor(socket=proxy.socket) as torpor:
        theirs = torpor.get(sandbox.id)
        proxy.cut_after(100_000, 400_000, 700_000)
        both = theirs.exec("tee typed | sha256sum; sha256sum <typed", stdin=PASTE)
        assert [line.split()[0] for line in both.stdout.splitlines()] == [DIGEST, DIGEST]
        assert proxy.cuts == 3
        # More than any buffer on the way holds, written while it is read.
        large = PASTE * 8
        read = bytearray()
        theirs.exec(["cat", "-"], stdin=large, on_stdout=lambda text: read.extend(text.encode()))
        assert len(read) > len(large)
        assert theirs.exec("exec head -c 3 | wc -c", stdin=large).stdout.strip() == "3"


def test_Y09_the_input_of_exec_without_blocking(daemon: Daemon, sandbox: Sandbox) -> None:
    async def work() -> None:
        with Proxy(daemon.socket) as proxy:
            async with AsyncTorpor(socket=proxy.socket) as torpor:
                theirs = await torpor.get(sandbox.id)
                proxy.cut_after(100_000, 400_000, 700_000)
                assert (await theirs.exec(["sha256sum"], stdin=PASTE)).stdout.split()[0] == DIGEST
                assert proxy.cuts == 3
                with pytest.raises(OSError, match="the source is gone"):
                    await theirs.exec("cat >partly; touch whole", stdin=broken())

    asyncio.run(asyncio.wait_for(work(), 50))


def test_input_whose_source_fails_is_not_taken_for_a_whole_one(sandbox: Sandbox) -> None:
    with pytest.raises(OSError, match="the source is gone"):
        sandbox.exec("cat >partly; touch whole", stdin=broken())
    assert sandbox.exec("test -e whole").exit_code == 1


def test_Y09_a_terminal_is_typed_into_once_over_cuts_and_pauses(daemon: Daemon, sandbox: Sandbox) -> None:
    with Proxy(daemon.socket) as proxy, Torpor(socket=proxy.socket) as torpor:
        theirs = torpor.get(sandbox.id)
        with theirs.terminal(["sh", "-c", "stty -echo; echo ready; exec cat >typed"]) as terminal:
            terminal.read_until("ready", 60)
            lines = [f"line {number}\n" for number in range(40)]
            for number, line in enumerate(lines):
                if number % 4 == 0:
                    proxy.cut()
                if number % 10 != 5:
                    terminal.write(line)
                    continue
                sandbox.pause()
                try:
                    terminal.write(line)  # It waits for the resume if the pause was not seen yet,
                    refused = False
                except SandboxNotRunningError:
                    refused = True  # and else nothing of it is typed.
                sandbox.resume()
                if refused:
                    terminal.write(line)
            terminal.close_stdin()
            assert terminal.wait(60).exit_code == 0
    assert sandbox.files.read("typed") == "".join(lines)


def test_input_for_what_takes_none_is_dropped_as_a_shells_pipe_would(sandbox: Sandbox) -> None:
    with sandbox.exec("exec sleep 600", background=True) as command:
        command.write("for nobody")
        command.kill()
        assert command.wait(60).exit_code == 137
        command.write("after its end")


def test_writers_in_several_threads_do_not_mix_their_pieces(sandbox: Sandbox) -> None:
    with sandbox.exec("cat >all", background=True, stdin=True) as command:
        threads = [threading.Thread(target=write_often, args=(command, name)) for name in ("aaaa", "bbbb")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        command.close_stdin()
        assert command.wait(60).exit_code == 0
    assert sorted(sandbox.files.read("all").split()) == ["aaaa"] * 50 + ["bbbb"] * 50


def test_what_is_not_acknowledged_keeps_its_place() -> None:
    kept = Unacknowledged()
    assert [kept.add(b"abc"), kept.add(b"def")] == [0, 3]
    kept.take(4)
    kept.take(2)  # An older word.
    assert (kept.taken, kept.size, [*kept.all()]) == (4, 2, [(4, b"ef")])
    assert kept.add(b"g") == 6
    kept.take(100)
    assert (kept.taken, kept.size, [*kept.all()]) == (7, 0, [])
