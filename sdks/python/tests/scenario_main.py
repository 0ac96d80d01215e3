# pyright: basic, reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
"""Carries all scenarios out: scenario_main.py SOCKET PREFIX SHARED sync|async. A line of JSON each: its id, cases, and what was wrong."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from scenario_actions import Actions, Step
from scenario_expect import difference

from torpor import AsyncTorpor, Torpor, TorporError

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def main(socket: str, prefix: str, shared: str, kind: str) -> None:
    loop = asyncio.new_event_loop() if kind == "async" else None
    client = Torpor(socket=socket) if loop is None else AsyncTorpor(socket=socket)
    for path in sorted(SCENARIOS.glob("*.json")):
        scenario = json.loads(path.read_text())
        actions = Actions(client, loop, f"{prefix}-{path.stem}", shared, socket)
        try:
            failure = play(scenario["steps"], actions)
        finally:
            actions.remove_all()
        print(json.dumps({"id": path.stem, "cases": scenario.get("cases", []), "failure": failure}), flush=True)
    if isinstance(client, AsyncTorpor):
        assert loop is not None
        loop.run_until_complete(client.close())
        loop.close()
    else:
        client.close()


def play(steps: list[Step], actions: Actions) -> str | None:
    known = {"shared", *(name for step in steps for name in names_in(step))}
    kept: dict[str, Any] = {}
    for at, given in enumerate(steps):
        step = with_names(given, known, actions)
        failure = carry_out(step, actions, kept)
        if failure is not None:
            return f"step {at + 1}, {json.dumps(step)}: {failure}"
    return None


def carry_out(step: Step, actions: Actions, kept: dict[str, Any]) -> str | None:
    expected = step.get("error")
    try:
        result = actions.do(step)
    except TorporError as error:
        if expected is None:
            return f"was refused: {error.code} {error.message}"
        wrong = None if error.code == expected.get("code", error.code) else f"code {error.code}: {error.message}"
        return wrong or (difference(error.message, expected["message"], kept) if "message" in expected else None)
    if expected is not None:
        return f"was to be refused, and gave {json.dumps(result)}"
    for name, field in step.get("keep", {}).items():
        kept[name] = result[field]
    return difference(result, step["expect"], kept) if "expect" in step else None


def names_in(step: Step) -> list[str]:
    # What these call a command is no name in the daemon.
    made = [] if step["do"] in ("background", "supervise") else step.get("as", [])
    return [name for name in [step.get("box"), step.get("snapshot"), *([made] if isinstance(made, str) else made)] if name]


def with_names(value: Any, known: set[str], actions: Actions) -> Any:
    if isinstance(value, str):
        return re.sub(r"\{([a-z0-9-]+)\}", lambda match: actions.named(match[1]) if match[1] in known else match[0], value)
    if isinstance(value, list):
        return [with_names(item, known, actions) for item in value]
    if isinstance(value, dict):
        return {key: with_names(inner, known, actions) for key, inner in value.items()}
    return value


if __name__ == "__main__":
    main(*sys.argv[1:])
