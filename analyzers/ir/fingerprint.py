"""Content keys of kernels and contexts that do not depend on where the text stands.

Two kernels with equal keys have equal decisions: positions and the user's spelling are left out, everything else
counts. Keys are equal across processes. The digests of expressions are kept: instances of a template have most of them
in common.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from analyzers.ir.expr import Expr, walk
from analyzers.ir.kernel import Site
from analyzers.model import SourceSpan

_BYTES = 16

_Feed = Callable[[Any, Callable[[bytes], None]], None]
"""Gives a digest the bytes of a value."""

_digests: dict[int, bytes] = {}
"""By the interning number of an expression."""
_feeds: dict[type[Any], _Feed] = {}
"""By type."""


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


def _feed(value: Any, put: Callable[[bytes], None]) -> None:
    kind: type[Any] = value.__class__
    feed = _feeds.get(kind)
    if feed is None:
        feed = _feeds[kind] = _feed_of(kind)
    feed(value, put)


def _feed_of(kind: type[Any]) -> _Feed:
    """How values of a type are fed."""
    if issubclass(kind, Expr):
        return lambda value, put: put(b"e" + _digest(value))
    if issubclass(kind, Enum):
        return lambda value, put: put(repr(value.value).encode())
    if issubclass(kind, (SourceSpan, Site)):
        return lambda _, put: put(b"@")
    if issubclass(kind, (tuple, list)):
        return _feed_items
    if issubclass(kind, (set, frozenset)):
        return lambda value, put: put(b"{" + ",".join(sorted(map(repr, value))).encode() + b"}")
    if issubclass(kind, dict):
        return lambda value, put: _feed_items(sorted(value.items(), key=repr), put)
    if not issubclass(kind, (str, int, float)) and is_dataclass(kind):
        names = [f.name for f in fields(kind)]
        opening = kind.__name__.encode() + b"("

        def feed_members(value: Any, put: Callable[[bytes], None]) -> None:
            put(opening)
            for name in names:
                _feed(getattr(value, name), put)
            put(b")")

        return feed_members
    return lambda value, put: put(repr(value).encode() + b";")


def _feed_items(value: Any, put: Callable[[bytes], None]) -> None:
    put(b"[")
    for item in value:
        _feed(item, put)
    put(b"]")
