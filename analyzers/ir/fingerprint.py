"""Content keys of kernels and contexts that do not depend on where the text stands.

Two kernels with equal keys have equal decisions: positions and the user's spelling are left out, everything else
counts. Keys are equal across processes. The digests of expressions are kept: instances of a template have most of them
in common.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from analyzers.ir.expr import Expr, walk
from analyzers.ir.kernel import Site
from analyzers.model import SourceSpan

_POSITIONS = (SourceSpan, Site)
_BYTES = 16

_digests: dict[int, bytes] = {}
"""By the interning number of an expression."""
_fields: dict[type[Any], tuple[str, ...] | None] = {}
"""Names of the members of a dataclass; None for other types."""


def fingerprint(*parts: Any) -> str:
    """A hexadecimal digest of plain data, dataclasses and expressions; spans and sites are skipped."""
    digest = hashlib.blake2b(digest_size=_BYTES)
    for part in parts:
        _feed(part, digest.update)
    return digest.hexdigest()


def _digest(e: Expr) -> bytes:
    found = _digests.get(e.key)
    if found is None:
        for node in walk((e,), _digests):
            below = b"".join([_digests[a.key] for a in node.args])
            own = f"{node.op} {node.ty} {node.value!r} {len(node.args)}".encode()
            _digests[node.key] = hashlib.blake2b(own + below, digest_size=_BYTES).digest()
        found = _digests[e.key]
    return found


def _members(kind: type[Any]) -> tuple[str, ...] | None:
    if kind not in _fields:
        _fields[kind] = tuple([f.name for f in fields(kind)]) if is_dataclass(kind) else None
    return _fields[kind]


def _feed(value: Any, put: Any) -> None:
    if isinstance(value, Expr):
        put(b"e" + _digest(value))
    elif isinstance(value, (str, int, float)) and not isinstance(value, Enum):
        put(repr(value).encode() + b";")
    elif isinstance(value, _POSITIONS):
        put(b"@")
    elif isinstance(value, Enum):
        put(repr(value.value).encode())
    elif isinstance(value, (tuple, list)):
        put(b"[")
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            _feed(item, put)
        put(b"]")
    elif isinstance(value, (set, frozenset)):
        put(b"{" + ",".join(sorted(map(repr, value))).encode() + b"}")  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, dict):
        _feed(sorted(value.items(), key=repr), put)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    elif (members := _members(type(value))) is not None:  # pyright: ignore[reportUnknownArgumentType]
        put(type(value).__name__.encode() + b"(")
        for name in members:
            _feed(getattr(value, name), put)
        put(b")")
    else:
        put(repr(value).encode() + b";")
