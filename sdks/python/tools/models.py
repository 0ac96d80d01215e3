from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

Schema = dict[str, Any]

HEADER = '"""Generated from api/openapi.json by tools/generate.py: what the server answers with. Not to be edited."""\n\n'

#: Records that share their name with what one works with.
RENAMED = {"Sandbox": "SandboxRecord", "ExecResult": "ExecAnswer"}
#: Requests are keyword arguments, and progress and errors are read apart.
LEFT_OUT = ("ErrorBody", "ImageProgress", "DifferenceLine")
#: Rules of a value that the server has checked already.
RULES = {
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "minLength",
    "maxLength",
    "propertyNames",
    "contentEncoding",
}
#: JavaScript has one kind of numbers. These have fractions; all others count something.
FRACTIONS = (
    "cpus",
    "Ms",
    "fraction",
    "percent",
    "seconds",
    "rate",
    "load",
    "Seconds",
    "Second",
    "Month",
    "Share",
    "amount",
    "balance",
    "credit",
    "used",
)


def render_models(document: dict[str, Any]) -> str:
    schemas: dict[str, Schema] = {
        name: schema for name, schema in document["components"]["schemas"].items() if not name.endswith("Request") and name not in LEFT_OUT
    }
    named: dict[str, Schema] = {}
    for name, schema in schemas.items():
        called = renamed(name)
        named[called] = simplify(schema, called.removesuffix("Record"), named)
    return HEADER + generate(named)


def renamed(name: str) -> str:
    return RENAMED.get(name, name)


def simplify(schema: Schema, name: str, named: dict[str, Schema]) -> Schema:
    """Without rules, with names for objects inside of it, and with room for what a newer server may say."""
    found = {key: value for key, value in schema.items() if key not in RULES}
    if found.get("additionalProperties") is False:
        del found["additionalProperties"]
    if "$ref" in found:
        last = found["$ref"].rsplit("/", 1)[1]
        return {"$ref": f"#/components/schemas/{renamed(last)}"}
    if "enum" in found:
        # A state that this client does not know yet is no error.
        known = found["enum"]
        return {"type": "string"} if len(known) > 24 else {"anyOf": [{"type": "string", "enum": known}, {"type": "string"}]}
    if "anyOf" in found:
        found["anyOf"] = [hoist(each, name, named) for each in found["anyOf"]]
    if "items" in found:
        found["items"] = hoist(found["items"], singular(name), named)
    if isinstance(found.get("additionalProperties"), dict):
        found["additionalProperties"] = hoist(cast("Schema", found["additionalProperties"]), singular(name), named)
    if "properties" in found:
        found["properties"] = {key: member(key, value, name, named) for key, value in found["properties"].items()}
    return found


def member(key: str, schema: Schema, name: str, named: dict[str, Schema]) -> Schema:
    if schema.get("type") == "number" and not key.endswith(FRACTIONS):
        return {**schema, "type": "integer"}
    return hoist(schema, name + key[0].upper() + key[1:], named)


def hoist(schema: Schema, name: str, named: dict[str, Schema]) -> Schema:
    if "properties" not in schema:
        return simplify(schema, name, named)
    found = simplify(schema, name, named)
    # The same thing in two places is one class.
    same = next((other for other, known in named.items() if known == found), name)
    named[same] = found
    return {"$ref": f"#/components/schemas/{same}"}


def singular(name: str) -> str:
    for end, one in (("ies", "y"), ("ren", ""), ("s", "")):
        if name.endswith(end):
            return name.removesuffix(end) + one
    return f"{name}Item"


def generate(named: dict[str, Schema]) -> str:
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Torpor", "version": "1"},
        "paths": {},
        "components": {"schemas": named},
    }
    with tempfile.TemporaryDirectory() as directory:
        source, target = Path(directory, "in.json"), Path(directory, "out.py")
        source.write_text(json.dumps(document))
        options = [
            "--input-file-type=openapi",
            "--output-model-type=pydantic_v2.BaseModel",
            "--base-class=torpor._model.Model",
            "--snake-case-field",
            "--no-alias",
            "--enum-field-as-literal=all",
            "--output-datetime-class=datetime",
            "--target-python-version=3.10",
            "--use-union-operator",
            "--use-standard-collections",
            "--disable-timestamp",
            "--disable-warnings",
            "--formatters=builtin",
            "--custom-file-header=#",
        ]
        program = str(Path(sys.executable).parent / "datamodel-codegen")
        subprocess.run([program, f"--input={source}", f"--output={target}", *options], check=True)
        return target.read_text().removeprefix("#").lstrip()
