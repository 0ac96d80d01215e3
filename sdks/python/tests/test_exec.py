from __future__ import annotations

import io
import threading

import pytest

from torpor import CommandFailedError, Sandbox, TorporError
from torpor.errors import CommandNotStartedError, InvalidRequestError, SandboxNotRunningError, SessionPausedError


def test_text_is_for_a_shell_and_a_list_is_a_program(sandbox: Sandbox) -> None:
    result = sandbox.exec("echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.exit_code, result.ok) == ("out\n", "err\n", 3, False)
    assert (result.signal, result.oom, result.timed_out, result.truncated) == (None, False, False, False)
    assert sandbox.exec(["printf", "%s|", "$HOME", ""]).stdout == "$HOME||"
    assert sandbox.exec("echo $A; pwd", env={"A": "b c"}).stdout.startswith("b c\n")


def test_what_cannot_start_is_an_error(sandbox: Sandbox) -> None:
    with pytest.raises(CommandNotStartedError) as caught:
        sandbox.exec(["nosuch"])
    assert caught.value.details["exitCode"] == 127
    with pytest.raises(CommandNotStartedError):
        sandbox.exec(["nosuch"], on_stdout=print)
    with pytest.raises(InvalidRequestError, match="no command was given"):
        sandbox.exec([])


def test_check_raises_what_did_not_end_with_0(sandbox: Sandbox) -> None:
    assert sandbox.exec("true", check=True).ok
    with pytest.raises(CommandFailedError, match="exit code 7: why") as caught:
        sandbox.exec("echo why >&2; exit 7", check=True)
    assert caught.value.result.exit_code == 7
    assert isinstance(caught.value, TorporError)


@pytest.mark.parametrize("content", ["grüße", b"\x00\xff\x80", io.BytesIO(b"file"), [b"a", b"b"]])
def test_input_is_text_bytes_a_file_or_pieces(sandbox: Sandbox, content: str | bytes | io.BytesIO | list[bytes]) -> None:
    expected = {str: "grüße".encode(), bytes: b"\x00\xff\x80", io.BytesIO: b"file", list: b"ab"}[type(content)]
    assert sandbox.exec(["cat"], stdin=content).stdout_bytes == expected


def test_input_and_output_beside_each_other_do_not_hold_each_other_up(sandbox: Sandbox) -> None:
    # More than every buffer on the way holds.
    content = bytes(range(256)) * 40_000
    pieces = (content[at : at + 100_000] for at in range(0, len(content), 100_000))
    result = sandbox.exec(["cat"], stdin=pieces)
    assert result.stdout_bytes == content[-8 * 1024 * 1024 :]
    assert result.truncated


def test_input_that_is_not_read_is_no_failure(sandbox: Sandbox) -> None:
    assert sandbox.exec("exec <&-; echo done", stdin=(b"x" * 100_000 for _ in range(100))).stdout == "done\n"


def test_callbacks_get_whole_characters(sandbox: Sandbox) -> None:
    out: list[str] = []
    err: list[str] = []
    result = sandbox.exec(
        "printf 'gr\\303'; sleep 0.1; printf '\\274n'; printf '\\303'; echo e >&2", on_stdout=out.append, on_stderr=err.append
    )
    assert "".join(out) == "grün\ufffd"
    assert all("\ufffd" not in text for text in out[:-1])
    assert "".join(err) == "e\n"
    assert result.stdout_bytes == b"gr\xc3\xbcn\xc3"


def test_a_callback_that_raises_ends_the_call_and_its_connection(sandbox: Sandbox) -> None:
    with pytest.raises(ZeroDivisionError):
        sandbox.exec("echo x; sleep 600", on_stdout=lambda _: 1 // 0)
    (session,) = sandbox.commands()
    sandbox.attach(session.id).kill()


def test_a_time_limit_has_the_code_of_timeout(sandbox: Sandbox) -> None:
    for on_stdout in (None, print):
        result = sandbox.exec("echo begun; touch begun; sleep 60", timeout=0.2, on_stdout=on_stdout)
        assert (result.exit_code, result.timed_out) == (124, True)
        # A busy machine may not come to the output in time; it has come to it when there is what was made after it.
        assert result.stdout == "begun\n" or not sandbox.files.exists("begun")
        sandbox.exec("rm -f begun")


def test_the_latest_output_is_kept(sandbox: Sandbox) -> None:
    result = sandbox.exec("head -c 9000000 /dev/zero; echo end")
    assert (len(result.stdout_bytes), result.stdout_bytes[-4:], result.lost_bytes) == (8 * 1024 * 1024, b"end\n", 9000004 - 8 * 1024 * 1024)


def test_E28_a_pause_in_the_middle_is_told_and_the_command_is_found_again(sandbox: Sandbox) -> None:
    def pause(_: str) -> None:
        sandbox.pause()

    with pytest.raises(SessionPausedError, match="resume it") as caught:
        sandbox.exec("echo ready; while [ ! -e go ]; do sleep 0.02; done; echo went on", on_stdout=pause)
    with pytest.raises(SandboxNotRunningError, match="is paused: resume it"):
        sandbox.exec("true")
    sandbox.resume()
    sandbox.files.write("go", "")
    details = caught.value.details
    with sandbox.attach(details["sessionId"], after=details["after"]) as command:
        assert command.wait().stdout == "went on\n"


def test_E28_a_call_that_waits_over_a_pause_has_the_whole_output_once(sandbox: Sandbox) -> None:
    results: list[str] = []
    command = "echo before; touch there; while [ ! -e go ]; do sleep 0.02; done; echo after"
    waiting = threading.Thread(target=lambda: results.append(sandbox.exec(command, over_pause="wait").stdout))
    waiting.start()
    sandbox.exec("while [ ! -e there ]; do sleep 0.02; done", check=True)
    sandbox.pause()
    sandbox.resume()
    sandbox.files.write("go", "")
    waiting.join()
    assert results == ["before\nafter\n"]


def test_E28_a_call_in_one_piece_is_told_of_a_pause_too(sandbox: Sandbox) -> None:
    failures: list[SessionPausedError] = []

    def work() -> None:
        with pytest.raises(SessionPausedError) as caught:
            sandbox.exec("echo before; touch there; sleep 600")
        failures.append(caught.value)

    waiting = threading.Thread(target=work)
    waiting.start()
    sandbox.exec("while [ ! -e there ]; do sleep 0.02; done", check=True)
    sandbox.pause()
    waiting.join()
    assert failures[0].details["after"] >= 1
    sandbox.resume()
