from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Literal, overload

from typing_extensions import Unpack

from torpor._async.command import AsyncCommand, OverPause, paused_failure
from torpor._async.input import AsyncInput
from torpor._async.interpreter import AsyncInterpreter
from torpor._async.supervised import AsyncSupervised
from torpor._async.terminal import AsyncTerminal
from torpor._async.transport import AsyncTransport
from torpor._concurrent import AsyncCallback, AsyncContent
from torpor._frames import decode
from torpor._requests import CommandLine, StartSettings, SuperviseSettings, start_body, supervise_body
from torpor._result import ExecResult, result_of
from torpor._socket import SocketClosed
from torpor._tail import Tail
from torpor._units import Duration
from torpor.errors import DaemonUnreachableError
from torpor.models import ExecAnswer, Session

#: Input up to this many characters goes along with the call; a call has a limit.
_WHOLE_INPUT = 1024 * 1024
#: A login shell, the better one if there is one.
_SHELL = ["sh", "-c", "exec $(command -v bash || echo sh) -l"]


class AsyncCommands:
    """What runs commands in a sandbox."""

    _transport: AsyncTransport

    @property
    def id(self) -> str:
        raise NotImplementedError

    @property
    def name(self) -> str:
        raise NotImplementedError

    @overload
    async def exec(
        self,
        line: CommandLine,
        *,
        background: Literal[False] = False,
        env: Mapping[str, str] | None = None,
        workdir: str | None = None,
        user: str | None = None,
        stdin: AsyncContent | None = None,
        timeout: Duration | None = None,
        journal_bytes: int | None = None,
        keep: Duration | None = None,
        on_stdout: AsyncCallback[str] | None = None,
        on_stderr: AsyncCallback[str] | None = None,
        over_pause: OverPause = "raise",
        check: bool = False,
    ) -> ExecResult: ...
    @overload
    async def exec(
        self,
        line: CommandLine,
        *,
        background: Literal[True],
        env: Mapping[str, str] | None = None,
        workdir: str | None = None,
        user: str | None = None,
        stdin: bool = False,
        timeout: Duration | None = None,
        journal_bytes: int | None = None,
        keep: Duration | None = None,
    ) -> AsyncCommand: ...
    async def exec(
        self,
        line: CommandLine,
        *,
        background: bool = False,
        env: Mapping[str, str] | None = None,
        workdir: str | None = None,
        user: str | None = None,
        stdin: AsyncContent | bool | None = None,
        timeout: Duration | None = None,
        journal_bytes: int | None = None,
        keep: Duration | None = None,
        on_stdout: AsyncCallback[str] | None = None,
        on_stderr: AsyncCallback[str] | None = None,
        over_pause: OverPause = "raise",
        check: bool = False,
    ) -> ExecResult | AsyncCommand:
        """Runs a command: a text by `sh -c`, or a list of a program and its arguments.

        It ends with any exit code; with `check` another one than 0 is raised as CommandFailedError. `timeout` is its running time,
        after which it is killed and the exit code is 124. If the sandbox is paused meanwhile, SessionPausedError is raised, and the command
        goes on after the resume: `attach(error.details["sessionId"])` finds it; with over_pause="wait" this call waits for that.

        Of its output `journal_bytes` are kept for who attaches, 1 MiB unless told otherwise; `keep` is how long after its end.
        With `background` it is left running, and what comes back is a command to read, write to, wait for and kill, over any pause.
        """
        settings: StartSettings = {
            "env": env,
            "workdir": workdir,
            "user": user,
            "timeout": timeout,
            "journal_bytes": journal_bytes,
            "keep": keep,
        }
        if background:
            body = start_body(line, **settings, stdin=stdin or None)
            return AsyncCommand(self._transport, self.id, *(await self._start(body)))
        body = start_body(line, **settings)
        if isinstance(stdin, bool):
            stdin = None
        if on_stdout is None and on_stderr is None and (stdin is None or (isinstance(stdin, (str, bytes)) and len(stdin) <= _WHOLE_INPUT)):
            result = await self._run(body, stdin, over_pause)
            return result.check() if check else result
        command = await self._open({**body, **({} if stdin is None else {"stdin": True})}, over_pause)
        async with command:
            feeding = None if stdin is None else command.feed(stdin)
            try:
                result = await command.wait(on_stdout=on_stdout, on_stderr=on_stderr)
            finally:
                if feeding is not None:
                    await command.close()
                    await feeding.end()
            return result.check() if check else result

    async def terminal(
        self,
        line: CommandLine | None = None,
        *,
        rows: int = 24,
        columns: int = 80,
        term: str = "xterm-256color",
        env: Mapping[str, str] | None = None,
        workdir: str | None = None,
        user: str | None = None,
        journal_bytes: int | None = None,
        keep: Duration | None = None,
    ) -> AsyncTerminal:
        """Opens a terminal, with a shell in it unless told otherwise."""
        size = {"rows": rows, "columns": columns, "term": term}
        body = start_body(_SHELL if line is None else line, env=env, workdir=workdir, user=user, timeout=None, terminal=size)
        return AsyncTerminal(self._transport, self.id, *(await self._start(body)))

    async def supervise(
        self,
        line: CommandLine | None = None,
        *,
        env: Mapping[str, str] | None = None,
        workdir: str | None = None,
        user: str | None = None,
        stdin: bool = False,
        journal_bytes: int | None = None,
        **policy: Unpack[SuperviseSettings],
    ) -> AsyncSupervised:
        """Starts a command and keeps it running, by default after any end but exit code 0; without a command that of its image."""
        settings: StartSettings = {"env": env, "workdir": workdir, "user": user, "journal_bytes": journal_bytes}
        body = supervise_body(line, settings, stdin, policy)
        return AsyncSupervised(self._transport, self.id, *(await self._start(body)))

    def attach(self, session: str, *, after: int = 0) -> AsyncCommand:
        """A command that was left running, by its id: its output after a sequence number; 0: all that is kept."""
        return AsyncCommand(self._transport, self.id, session, after=after)

    def attach_terminal(self, session: str, *, after: int = 0) -> AsyncTerminal:
        """A terminal again."""
        return AsyncTerminal(self._transport, self.id, session, after=after)

    def attach_supervised(self, session: str, *, after: int = 0) -> AsyncSupervised:
        """What is kept running, again."""
        return AsyncSupervised(self._transport, self.id, session, after=after)

    async def commands(self) -> list[Session]:
        """Its commands and terminals, those that have ended too."""
        answer = await self._transport.json("listSessions", params={"id": self.id})
        return [Session.model_validate(each) for each in answer["sessions"]]

    async def interpreter(self, language: Literal["python", "shell"] = "python") -> AsyncInterpreter:
        """Another one beside its own, with variables of its own. It is a session, which `commands` tells of."""
        made = await self._transport.json("createInterpreter", params={"id": self.id}, body={"language": language})
        return AsyncInterpreter(self._transport, self.id, made["id"])

    async def _start(self, body: Mapping[str, object]) -> tuple[str, Session]:
        answer = await self._transport.json("startSession", params={"id": self.id}, body=body)
        session = Session.model_validate(answer)
        return session.id, session

    async def _run(self, body: Mapping[str, object], stdin: str | bytes | None, over_pause: OverPause) -> ExecResult:
        """In one call; over a connection of its own it would take a round trip more."""
        content = stdin.encode() if isinstance(stdin, str) else stdin
        given = {} if content is None else {"input": base64.b64encode(content).decode()}
        answer = ExecAnswer.model_validate(await self._transport.json("exec", params={"id": self.id}, body={**body, **given}))
        stdout, stderr = base64.b64decode(answer.stdout), base64.b64decode(answer.stderr)
        if answer.end.reason != "paused":
            return result_of(self.name, answer.session_id, answer.end, stdout, stderr, answer.lost_bytes)
        if over_pause == "raise":
            raise paused_failure(self.name, answer.session_id, answer.last_seq)
        command = AsyncCommand(self._transport, self.id, answer.session_id, after=answer.last_seq)
        async with command:
            command.begin_with(Tail(stdout, answer.lost_bytes), Tail(stderr))
            return await command.wait()

    async def _open(self, body: Mapping[str, object], over_pause: OverPause) -> AsyncCommand:
        """Starts a command that waits for its reader from its first output on."""
        given = AsyncInput()
        query = {"client": given.client} if "stdin" in body else {}
        socket = await self._transport.socket("execSocket", {"id": self.id}, query)
        try:
            await socket.send(json.dumps(body))
            frame = None
            while not isinstance(frame, Session):
                frame = decode(await socket.receive() or b"")
        except SocketClosed as error:
            await socket.close()
            raise DaemonUnreachableError(
                "the connection to torpord broke off before the command had started",
                hint="sandbox.commands() tells whether it runs.",
            ) from error
        except BaseException:
            await socket.close()
            raise
        return AsyncCommand(self._transport, self.id, frame.id, frame, socket=socket, given=given, over_pause=over_pause)
