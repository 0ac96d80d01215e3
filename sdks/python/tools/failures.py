from __future__ import annotations

import builtins
from typing import Any

HEADER = '''"""Generated from api/errors.json by tools/generate.py: a class for each error of the catalogue. Not to be edited."""

from torpor._error import {groups}

'''

#: What the class of a code is one of, by the HTTP status of the code.
GROUPS = {
    400: "InvalidError",
    401: "DeniedError",
    403: "DeniedError",
    404: "NotFoundError",
    409: "ConflictError",
    410: "ConflictError",
    413: "InvalidError",
    422: "UnusableError",
    429: "LimitExceededError",
}


def render_errors(catalogue: dict[str, Any]) -> str:
    classes: list[str] = []
    table: list[str] = []
    for code, entry in catalogue.items():
        name = class_name(code)
        group = GROUPS.get(entry["status"], "ServerFaultError")
        classes.append(
            f'class {name}({group}):\n    """{entry["summary"]}"""\n\n'
            f'    code = "{code}"\n    status = {entry["status"]}\n    retryable = {entry["retryable"]}\n'
        )
        table.append(f'"{code}": {name},')
    groups = ["TorporError", *sorted(set(GROUPS.values()) | {"ServerFaultError"})]
    every = ", ".join(f'"{name}"' for name in [*groups, *map(class_name, catalogue)])
    types = f"ERRORS: dict[str, type[TorporError]] = {{{''.join(table)}}}\n"
    return (
        f"{HEADER.format(groups=', '.join(groups))}__all__ = [{every}]\n\n\n"
        + "\n\n".join(classes)
        + f"\n\n#: The class of each code.\n{types}"
    )


def class_name(code: str) -> str:
    """`sandbox_not_found` is SandboxNotFoundError; a name that Python has itself gets the product's before it."""
    name = "".join(word.capitalize() for word in code.split("_")) + "Error"
    return f"Torpor{name}" if hasattr(builtins, name) else name
