# pyright: basic, reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
"""What a scenario expects: see sdks/scenarios/README.md."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

Kept = Mapping[str, Any]


def content(size: int) -> bytes:
    return bytes((i * 31 + i // 256) % 256 for i in range(size))


def facts_of(data: bytes) -> dict[str, Any]:
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def difference(value: Any, expected: Any, kept: Kept, at: str = "it") -> str | None:
    """What is otherwise than expected."""
    if isinstance(expected, list):
        items: list[Any] = expected
        if not isinstance(value, list) or len(value) != len(items):
            return told(value, items, at)
        pairs = enumerate(zip(value, items, strict=True))
        return first(difference(one, other, kept, f"{at}[{index}]") for index, (one, other) in pairs)
    if not isinstance(expected, dict):
        return None if value == expected and type(value) is type(expected) else told(value, expected, at)
    fields: dict[str, Any] = expected
    special = specially(value, fields, kept)
    if special is not None:
        return None if special else told(value, fields, at)
    return first(member(value, key, inner, kept, at) for key, inner in fields.items())


def member(value: Any, key: str, inner: Any, kept: Kept, at: str) -> str | None:
    if key == "bytes":
        return difference(value, facts_of(content(inner)), kept, at)
    return difference(value.get(key) if isinstance(value, dict) else None, inner, kept, f"{at}.{key}")


def specially(value: Any, expected: dict[str, Any], kept: Kept) -> bool | None:
    """None: it has fields, and is no test. `size` of a file is a field, and that of a list is a test."""
    tests = {name: wanted for name, wanted in expected.items() if name != "plus"}
    if len(tests) != 1:
        return None
    ((name, wanted),) = tests.items()
    plus = expected.get("plus")
    match name:
        case "contains":
            return isinstance(value, str) and wanted in value
        case "matches":
            return isinstance(value, str) and re.search(wanted, value) is not None
        case "kept":
            return value == (kept[wanted] if plus is None else kept[wanted] + plus)
        case "notKept":
            return value is not None and value != kept[wanted]
        case "size" if isinstance(value, list):
            return len(value) == wanted
        case "present":
            return value is not None
        case _:
            return None


def first(failures: Any) -> str | None:
    return next((failure for failure in failures if failure is not None), None)


def told(value: Any, expected: Any, at: str) -> str:
    return f"{at} is {json.dumps(value)} and not {json.dumps(expected)}"
