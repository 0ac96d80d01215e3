"""The steps of a scenario by the calls of this client, its objects held over the steps as a program does."""

from __future__ import annotations

import asyncio
import base64
import inspect
import time
from collections.abc import Callable
from typing import Any

from proxy import Proxy
from scenario_expect import content, facts_of

from torpor import AsyncTorpor, Torpor
from torpor._model import Model

Step = dict[str, Any]


class Blocking:
    """An object of the asynchronous client, used as one of the blocking client."""

    def __init__(self, loop: asyncio.AbstractEventLoop, inner: object) -> None:
        self._loop, self._inner = loop, inner

    def __getattr__(self, name: str) -> Any:
        return self._wrap(getattr(self._inner, name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        called: Any = self._inner
        result = called(*args, **kwargs)
        return self._wrap(self._loop.run_until_complete(result) if inspect.isawaitable(result) else result)

    def _wrap(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._wrap(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        ours = callable(value) or type(value).__module__.startswith("torpor._async")
        return Blocking(self._loop, value) if ours else value


class Actions:
    def __init__(self, client: Torpor | AsyncTorpor, loop: asyncio.AbstractEventLoop | None, prefix: str, shared: str, socket: str) -> None:
        self._loop = loop
        self._torpor = self._blocking(client)
        self._prefix, self._shared, self._socket = prefix, shared, socket
        self._boxes: dict[str, Any] = {}
        self._commands: dict[str, Any] = {}
        self._services: dict[str, Any] = {}

    def do(self, step: Step) -> Any:
        action: Callable[[Step], Any] = getattr(self, "do_" + step["do"].replace("-", "_"))
        result = action(step)
        return result.model_dump(mode="json", by_alias=True) if isinstance(result, Model) else result

    def named(self, name: str) -> str:
        return self._shared if name == "shared" else f"{self._prefix}-{name}"

    def remove_all(self) -> None:
        for sandbox in self._torpor.list():
            if sandbox.name.startswith(f"{self._prefix}-"):
                sandbox.remove(force=True)
        for snapshot in self._torpor.snapshots.list():
            if snapshot.name.startswith(f"{self._prefix}-"):
                self._torpor.snapshots.remove(snapshot.id)

    def do_create(self, step: Step) -> Any:
        given = only(step, "image", "env", "labels", "workdir", memoryMiB="memory_mib", autoResume="auto_resume", ttlMs="ttl")
        if "snapshot" in step:
            given["snapshot"] = self.named(step["snapshot"])
        return self._keep(self._torpor.create(name=self.named(step["box"]), **given))

    def do_inspect(self, step: Step) -> Any:
        return self._box(step).inspect()

    def do_list(self, step: Step) -> Any:
        found = self._torpor.list(**only(step, "states", "labels"))
        return {"names": sorted(self._from(each.name) for each in found if each.name.startswith(f"{self._prefix}-"))}

    def do_pause(self, step: Step) -> Any:
        return self._box(step).pause(**only(step, "memory")).record

    def do_resume(self, step: Step) -> Any:
        return self._box(step).resume(**only(step, "memory")).record

    def do_fork(self, step: Step) -> Any:
        return self._keep(self._box(step).fork(name=self.named(step["as"]), **only(step, "memory", "env")))

    def do_fork_many(self, step: Step) -> Any:
        children = self._box(step).fork_many(names=[self.named(name) for name in step["as"]])
        return {"names": [self._from(child.name) for child in children]}

    def do_snapshot(self, step: Step) -> Any:
        return self._box(step).snapshot(self.named(step["as"]), **only(step, "memory"))

    def do_remove_snapshot(self, step: Step) -> None:
        self._torpor.snapshots.remove(self.named(step["snapshot"]))

    def do_stop(self, step: Step) -> Any:
        return self._box(step).stop().record

    def do_start(self, step: Step) -> Any:
        return self._box(step).start().record

    def do_update(self, step: Step) -> Any:
        return self._box(step).update(**only(step, ttlMs="ttl", idleMs="idle", autoResume="auto_resume")).record

    def do_remove(self, step: Step) -> None:
        self._box(step).remove(**only(step, "force"))

    def do_exec(self, step: Step) -> Any:
        given = only(step, "env", "workdir", "user", timeoutMs="timeout", input="stdin")
        if "inputBase64" in step:
            given["stdin"] = base64.b64decode(step["inputBase64"])
        return result_of(self._box(step).exec(step["command"], **given))

    def do_background(self, step: Step) -> None:
        given = only(step, "env", "workdir", "user", "stdin", timeoutMs="timeout")
        command = self._commands[step["as"]] = self._box(step).exec(step["command"], background=True, **given)
        # Of any command, to see what is told of one that is none.
        self._services[step["as"]] = self._box(step).attach_supervised(command.id)

    def do_wait(self, step: Step) -> Any:
        return result_of(self._commands[step["command"]].wait())

    def do_type(self, step: Step) -> Any:
        with Proxy(self._socket) as proxy:
            client = Torpor(socket=proxy.socket) if self._loop is None else AsyncTorpor(socket=proxy.socket)
            other = self._blocking(client)
            typed = other.get(self.named(step["box"])).attach(self._commands[step["command"]].id)
            proxy.cut_after(*step.get("cuts", []))
            typed.write(input_of(step))
            typed.close_stdin()
            result = result_of(typed.wait())
            other.close()
            return {**result, "cuts": proxy.cuts}

    def do_supervise(self, step: Step) -> None:
        self._services[step["as"]] = self._box(step).supervise(step["command"], **only(step, "restart"))

    def do_start_service(self, step: Step) -> None:
        self._services[step["command"]].start()

    def do_stop_service(self, step: Step) -> None:
        self._services[step["command"]].stop()

    def do_restart_service(self, step: Step) -> None:
        self._services[step["command"]].restart()

    def do_until(self, step: Step) -> None:
        end = time.monotonic() + 30
        while self.do_exec(step)["stdout"] != step["stdout"]:
            assert time.monotonic() < end, f"{step['command']} did not print {step['stdout']!r}"
            time.sleep(0.1)

    def do_write(self, step: Step) -> None:
        self._box(step).files.write(step["path"], input_of(step), **only(step, "parents", "mode"))

    def do_read(self, step: Step) -> Any:
        data: bytes = self._box(step).files.read_bytes(step["path"])
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = None
        return {**facts_of(data), "text": text}

    def do_stat(self, step: Step) -> Any:
        return self._box(step).files.stat(step["path"])

    def do_list_files(self, step: Step) -> Any:
        return {"names": sorted(entry.name for entry in self._box(step).files.list(step["path"]))}

    def do_make_directory(self, step: Step) -> None:
        self._box(step).files.mkdir(step["path"], **only(step, "parents"))

    def do_move_file(self, step: Step) -> None:
        self._box(step).files.move(step["from"], step["to"])

    def do_remove_file(self, step: Step) -> None:
        self._box(step).files.remove(step["path"], **only(step, "recursive"))

    def _blocking(self, client: Torpor | AsyncTorpor) -> Any:
        return client if self._loop is None else Blocking(self._loop, client)

    def _box(self, step: Step) -> Any:
        name = self.named(step["box"])
        if name not in self._boxes:
            self._boxes[name] = self._torpor.get(name)
        return self._boxes[name]

    def _keep(self, sandbox: Any) -> Any:
        self._boxes[sandbox.name] = sandbox
        return sandbox.record

    def _from(self, name: str) -> str:
        return name.removeprefix(f"{self._prefix}-")


def input_of(step: Step) -> str | bytes:
    """What a step writes or types."""
    if "text" in step:
        return step["text"]
    return base64.b64decode(step["base64"]) if "base64" in step else content(step["bytes"])


def result_of(result: Any) -> dict[str, Any]:
    return {"stdout": result.stdout, "stderr": result.stderr, "exitCode": result.exit_code, "signal": result.signal}


def only(step: Step, *names: str, **renamed: str) -> dict[str, Any]:
    """Arguments that are there, by the names that this client has for them; milliseconds are seconds here."""
    found = {name: step[name] for name in names if name in step}
    for name, ours in renamed.items():
        if name in step:
            value = step[name]
            found[ours] = value / 1000 if name.endswith("Ms") and value is not None else value
    return found
