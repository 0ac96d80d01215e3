from __future__ import annotations

from dataclasses import dataclass

from torpor._error import ConflictError
from torpor.errors import SandboxNotRunningError
from torpor.models import SessionEnd

#: The exit code of a command that met its time limit, as timeout(1) has it.
TIMED_OUT = 124
_WITH_ITS_SANDBOX = {
    "stopped": ("the command ended with sandbox {}, which was stopped, removed, or paused with its files only", None),
    "lost": ("the runtime of sandbox {} ended, and the command with it", "the sandbox's record tells why"),
}


class CommandFailedError(ConflictError):
    """A command ended with another exit code than 0, where `check=True` had asked for 0."""

    code = "session_ended"

    result: ExecResult


@dataclass(frozen=True)
class ExecResult:
    """What a command gave when it had ended."""

    session_id: str
    #: As a shell has it: 128 + signal for a death by signal, 124 for its time limit.
    exit_code: int
    stdout_bytes: bytes
    stderr_bytes: bytes
    #: Why it ended.
    end: SessionEnd
    #: Bytes at the start of its output that were dropped: each stream keeps its last 8 MiB.
    lost_bytes: int = 0

    @property
    def stdout(self) -> str:
        """As UTF-8; what is none is replaced. `stdout_bytes` has it as it is."""
        return self.stdout_bytes.decode(errors="replace")

    @property
    def stderr(self) -> str:
        return self.stderr_bytes.decode(errors="replace")

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    @property
    def truncated(self) -> bool:
        """Of a very long output the oldest part was dropped."""
        return self.lost_bytes > 0

    @property
    def timed_out(self) -> bool:
        return self.end.reason == "timeout"

    @property
    def oom(self) -> bool:
        """It, or a part of it, was killed since the sandbox's memory was used up."""
        return self.end.oom

    @property
    def signal(self) -> str | None:
        return self.end.signal

    def check(self) -> ExecResult:
        """Itself, if the exit code is 0."""
        if self.ok:
            return self
        last = (self.stderr.strip() or self.stdout.strip())[-500:]
        error = CommandFailedError(
            f"the command ended with exit code {self.exit_code}" + (f": {last}" if last else ""),
            details={"sessionId": self.session_id, "exitCode": self.exit_code},
        )
        error.result = self
        raise error


def result_of(sandbox: str, session_id: str, end: SessionEnd, stdout: bytes, stderr: bytes, lost_bytes: int = 0) -> ExecResult:
    """Any exit code is a result; what ended with its sandbox is an error."""
    if end.reason in _WITH_ITS_SANDBOX:
        message, hint = _WITH_ITS_SANDBOX[end.reason]
        details = {"sessionId": session_id, "exitCode": end.exit_code, "signal": end.signal}
        raise SandboxNotRunningError(message.format(sandbox), hint=hint, details=details)
    code = end.exit_code if end.exit_code is not None else 137
    return ExecResult(session_id, TIMED_OUT if end.reason == "timeout" else code, stdout, stderr, end, lost_bytes)
