from __future__ import annotations

from typing import Any

HEADER = '''"""Generated from api/openapi.json by tools/generate.py: the address of each call. Not to be edited."""

from typing import NamedTuple


class Call(NamedTuple):
    method: str
    path: str
    #: It takes an Idempotency-Key: sent again with the same key, it does nothing twice.
    keyed: bool = False


'''


def render_calls(document: dict[str, Any]) -> str:
    lines: list[str] = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            names = [parameter["name"] for parameter in operation.get("parameters", [])]
            keyed = ", True" if "Idempotency-Key" in names else ""
            lines.append(f'"{operation["operationId"]}": Call("{method.upper()}", "{path}"{keyed}),')
    return f"{HEADER}CALLS = {{{''.join(sorted(lines))}}}\n"
