"""Content keys of kernels and contexts that do not depend on where the text stands.

Two kernels with equal keys have equal decisions: positions and the user's spelling are left out, everything else
counts. Expressions are
numbered in the order of first occurrence, so keys are equal across processes.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from analyzers.ir.expr import Expr, dumps
from analyzers.ir.kernel import Site
from analyzers.model import SourceSpan

_POSITIONS = (SourceSpan, Site)


def fingerprint(*parts: Any) -> str:
    """A hexadecimal digest of plain data, dataclasses and expressions; spans and sites are skipped."""
    digest = hashlib.blake2b(digest_size=16)
    numbers: dict[int, int] = {}
    for part in parts:
        _feed(part, digest.update, numbers)
    return digest.hexdigest()


def _feed(value: Any, put: Any, numbers: dict[int, int]) -> None:
    if isinstance(value, Expr):
        number = numbers.get(value.key)
        if number is None:
            numbers[value.key] = len(numbers)
            put(b"e" + repr(dumps(value)).encode())
        else:
            put(b"#%d" % number)
    elif isinstance(value, _POSITIONS):
        put(b"@")
    elif isinstance(value, Enum):
        put(repr(value.value).encode())
    elif is_dataclass(value):
        put(type(value).__name__.encode() + b"(")
        for f in fields(value):
            _feed(getattr(value, f.name), put, numbers)
        put(b")")
    elif isinstance(value, (tuple, list)):
        put(b"[")
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            _feed(item, put, numbers)
        put(b"]")
    elif isinstance(value, (set, frozenset)):
        put(b"{" + ",".join(sorted(map(repr, value))).encode() + b"}")  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, dict):
        _feed(sorted(value.items(), key=repr), put, numbers)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    else:
        put(repr(value).encode() + b";")
