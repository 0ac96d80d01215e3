from __future__ import annotations

import threading

import pytest
from daemon import Daemon
from proxy import Proxy

from torpor import Sandbox, Torpor, TorporTimeoutError
from torpor.errors import SandboxNotFoundError, SandboxNotRunningError, SessionNotFoundError


def test_output_comes_as_it_is_written_and_input_goes_in(sandbox: Sandbox) -> None:
    with sandbox.exec("while read line; do echo got $line; done; exit 5", background=True, stdin=True) as command:
        assert command.pid
        seen = ""
        command.write("one\n")
        for output in command:
            assert output.stream == "stdout"
            seen += output.text
            if seen == "got one\n":
                command.write(b"two\n")
                command.close_stdin()
        assert seen == "got one\ngot two\n"
        assert command.ended
        assert command.result
        assert command.result.exit_code == 5


def test_a_command_is_left_and_read_on_from_another_client(daemon: Daemon, sandbox: Sandbox) -> None:
    command = sandbox.exec("for i in 1 2 3; do echo $i; done; read x; echo got $x; exec sleep 600", background=True, stdin=True)
    first = next(iter(command))
    command.close()
    with Torpor(socket=daemon.socket) as other, other.get(sandbox.name).attach(command.id, after=first.seq) as again:
        again.write("hi\n")
        text = first.text
        for output in again:
            text += output.text
            if "got hi" in text:
                break
        assert text == "1\n2\n3\ngot hi\n"
        again.kill("TERM")
        result = again.wait()
        assert (result.exit_code, result.signal) == (143, "SIGTERM")
        again.kill()  # It has ended: no error.
    assert [(session.id, session.end and session.end.exit_code) for session in sandbox.commands()] == [(command.id, 143)]


def test_E12_output_comes_once_and_in_order_over_pauses(sandbox: Sandbox) -> None:
    command = sandbox.exec("i=0; while [ ! -e go ]; do i=$((i+1)); echo $i; sleep 0.01; done; exit 4", background=True)
    done: list[str] = []
    with command:
        reader = threading.Thread(target=lambda: done.append(command.wait(60).stdout))
        reader.start()
        for _ in range(3):
            sandbox.pause()
            sandbox.resume()
        sandbox.files.write("go", "")
        reader.join()
        numbers = [int(line) for line in done[0].split()]
        assert numbers == [*range(1, len(numbers) + 1)]
        assert command.result
        assert command.result.exit_code == 4


def test_a_wait_has_a_limit_also_while_paused(sandbox: Sandbox) -> None:
    with sandbox.exec("sleep 600", background=True) as command:
        with pytest.raises(TorporTimeoutError) as caught:
            command.wait(0.1)
        assert caught.value.details == {"sessionId": command.id}
        sandbox.pause()
        with pytest.raises(TorporTimeoutError):
            command.wait(0.3)
        sandbox.resume()
        command.kill()
        assert command.wait(60).exit_code == 137


def test_what_ends_with_the_sandbox_is_no_endless_wait(torpor: Torpor) -> None:
    with torpor.create("debian") as sandbox, sandbox.exec("sleep 600", background=True) as command:
        sandbox.pause()
        sandbox.stop()
        with pytest.raises(SessionNotFoundError, match="is stopped"):
            command.wait(60)
        sandbox.start()
        with sandbox.exec("echo ready; exec sleep 600", background=True) as read:
            assert next(iter(read)).text == "ready\n"
            sandbox.stop()
            with pytest.raises(SandboxNotRunningError, match="ended with sandbox") as caught:
                read.wait(60)
            assert caught.value.details["sessionId"] == read.id
        sandbox.remove(force=True)
        with pytest.raises(SandboxNotFoundError):
            command.wait(60)


def test_a_connection_that_breaks_is_made_anew(daemon: Daemon, sandbox: Sandbox) -> None:
    with (
        Proxy(daemon.socket) as proxy,
        Torpor(socket=proxy.socket) as torpor,
        torpor.get(sandbox.id).exec("echo a; read x; echo b", background=True, stdin=True) as command,
        sandbox.attach(command.id) as other,
    ):
        outputs = iter(command)
        assert next(outputs).text == "a\n"
        proxy.cut()
        other.write("go\n")
        assert [output.text for output in outputs] == ["b\n"]


def test_output_that_nobody_read_in_time_is_told_of(sandbox: Sandbox) -> None:
    with sandbox.exec("head -c 3000000 /dev/zero; touch over; echo end", background=True) as command:
        # Nobody reads, so it does not wait, and the oldest output goes.
        sandbox.exec("while [ ! -e over ]; do sleep 0.02; done", check=True)
        result = command.wait(60)
    assert result.stdout_bytes.endswith(b"\x00end\n")
    assert len(result.stdout_bytes) < 3000000


def test_a_terminal_types_shows_and_is_resized(sandbox: Sandbox) -> None:
    with sandbox.terminal(["sh"], rows=40, columns=120) as terminal:
        terminal.write("stty size\n")
        assert "40 120" in terminal.read_until("40 120", 60)
        terminal.resize(50, 132)
        terminal.write("until stty size | grep 50; do sleep 0.1; done\n")
        terminal.read_until("50 132", 60)
        sandbox.pause()
        sandbox.resume()
        terminal.write("echo $((6*7)); exit 5\n")
        terminal.read_until(r"\b42\b", 60)
        with pytest.raises(EOFError, match="never"):
            terminal.read_until("never", 60)
        assert terminal.wait().exit_code == 5
