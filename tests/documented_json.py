"""The tables of `docs/json.md` as a schema, and what in a document does not fit it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCUMENTATION = Path(__file__).parent.parent / "docs" / "json.md"
_ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \|", re.MULTILINE)
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
MAPS = frozenset({"summary", "iterations", "parameters", "data"})
"""Objects whose keys are data, not fields."""


def schema() -> dict[str, str]:
    """Path of a field -> its type as documented."""
    return {match[1]: match[2].strip() for match in _ROW.finditer(DOCUMENTATION.read_text(encoding="utf-8"))}


def fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every field of a document with its path in the notation of the tables."""
    if isinstance(value, dict):
        for key, item in value.items():
            here = f"{path}.{key}" if path else key
            yield here, item
            if key not in MAPS:
                yield from fields(item, here)
    elif isinstance(value, list):
        for item in value:
            yield from fields(item, f"{path}[]")


def violations(document: Any) -> list[str]:
    """Fields that are not documented, have another type, or are missing beside their neighbours."""
    known = schema()
    wrong = [f"{path} is not documented" for path, _ in fields(document) if path not in known]
    wrong += [
        f"{path} is {value!r}, documented as {known[path]}"
        for path, value in fields(document)
        if path in known and not fits(value, known[path])
    ]
    wrong += [f"{path} is missing" for path in _absent(document, "", known)]
    return sorted(set(wrong))


def fits(value: Any, documented: str) -> bool:
    if documented.startswith("array of "):
        optional = documented.endswith(" or null")
        inner = documented.removeprefix("array of ").removesuffix(" or null")
        return (optional and value is None) or (isinstance(value, list) and all(fits(item, inner) for item in value))
    return any(_is(value, name) for name in documented.split(" or "))


def _is(value: Any, name: str) -> bool:
    # In Python, but not in JSON, true is a number.
    return isinstance(value, _TYPES[name]) and (isinstance(value, bool) == (name == "boolean"))


def _absent(value: Any, path: str, known: dict[str, str]) -> Iterator[str]:
    if isinstance(value, dict) and path.rsplit(".", 1)[-1] not in MAPS:
        prefix = f"{path}." if path else ""
        names = {name.removeprefix(prefix) for name in known if name.startswith(prefix)}
        for name in names:
            if re.fullmatch(r"\w+", name) and name not in value:
                yield prefix + name
        for key, item in value.items():
            yield from _absent(item, prefix + key, known)
    elif isinstance(value, list):
        for item in value:
            yield from _absent(item, f"{path}[]", known)
