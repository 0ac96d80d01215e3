from __future__ import annotations

import re

HEADER = "# Generated from ../_async by tools/generate.py. Not to be edited.\n"

#: One after the other. What needs more than other words lies outside of _async, in two kinds with names that differ by Async.
WORDS = [
    (r"\bAsyncGenerator\[(.*), None\]", r"Generator[\1, None, None]"),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__a(enter|exit|iter|next)__\b", r"__\1__"),
    (r"\bStopAsyncIteration\b", "StopIteration"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\baclosing\b", "closing"),
    (r"\ba(close|read|iter_bytes)\(", r"\1("),
    (r"\basync_(\w+)", r"\1"),
    (r"\btorpor\._async\b", "torpor._sync"),
    (r"\bAsync(\w+)", r"\1"),
    (r"\basynchronous ", ""),
]


def render_sync(source: str) -> str:
    for pattern, word in WORDS:
        source = re.sub(pattern, word, source)
    return HEADER + source
