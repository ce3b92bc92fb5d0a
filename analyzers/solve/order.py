"""An order of expressions that does not depend on what the process did before.

Interning numbers depend on history; anything whose outcome may depend on order (names given to a solver, the choice of
a witness) goes by these digests instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b

from analyzers.ir.expr import Expr, walk

COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor", "min", "max", "eq", "ne", "land", "lor"})

_digests: dict[int, bytes] = {}


def digest(e: Expr) -> bytes:
    """Eight bytes that depend on the structure of ``e`` only, and not on the order of commutative operands."""
    found = _digests.get(e.key)
    if found is not None:
        return found
    for node in walk((e,)):
        if node.key in _digests:
            continue
        children = [_digests[a.key] for a in node.args]
        if node.op in COMMUTATIVE:
            children.sort()
        text = f"{node.op} {node.ty} {node.value!r} ".encode()
        _digests[node.key] = blake2b(text + b"".join(children), digest_size=8).digest()
    return _digests[e.key]


def ordered_args(e: Expr) -> tuple[Expr, ...]:
    """The operands, those of a commutative operator in digest order."""
    return tuple(sorted(e.args, key=digest)) if e.op in COMMUTATIVE else e.args


_sides: dict[int, int] = {}


def side_of(e: Expr) -> int:
    """0: the same for both threads, 1 or 2: of that thread, 3: depends on both."""
    found = _sides.get(e.key)
    if found is None:
        for node in walk((e,)):
            if node.key in _sides:
                continue
            side = 0
            if node.op in ("sym", "opaque"):
                name: str = node.value if node.op == "sym" else node.value[0]
                side = 1 if name.endswith("@1") else 2 if name.endswith("@2") else 0
            for a in node.args:
                side |= _sides[a.key]
            _sides[node.key] = side
        found = _sides[e.key]
    return found


_CLASSES = ("gdim.", "bdim.", "bid.", "tid.", "loop:", "host:", "param:")
_NUMBER = re.compile(r"\d+")


def witness_rank(e: Expr) -> tuple[int, str, str, bytes]:
    """Sort key of symbols in witnesses: which symbol is made small first.

    Grid and block dimensions, block indices, thread indices (each z, y, x; thread 1 before thread 2), iterations,
    host values, parameters, everything else (data)."""
    if e.op != "sym":
        return (len(_CLASSES) + 1, "", str(e.value), digest(e))
    name = str(e.value)
    for i, prefix in enumerate(_CLASSES):
        if name.startswith(prefix):
            axis, _, thread = name[len(prefix) :].partition("@")
            if i < 4:
                axis = {"x": "2", "y": "1", "z": "0"}.get(axis, axis)
            return (i, thread, _NUMBER.sub(lambda m: m.group().zfill(12), axis), b"")
    return (len(_CLASSES), "", name, b"")


def by_witness_rank(symbols: Iterable[Expr]) -> list[Expr]:
    return sorted(symbols, key=witness_rank)
