"""Which thread an expression belongs to, and the order in which the symbols of a witness are made small.

Neither depends on what the process did before: ties go by :attr:`Expr.rank`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from analyzers.ir.expr import Expr


def side_of(e: Expr) -> int:
    """0: the same for both threads, 1 or 2: of that thread, 3: depends on both."""
    return e.rank[1]


_CLASSES = ("gdim.", "bdim.", "bid.", "tid.", "loop:", "host:", "param:")
_NUMBER = re.compile(r"\d+")


def witness_rank(e: Expr) -> tuple[int, str, str, tuple[int, int, int]]:
    """Sort key of symbols in witnesses: which symbol is made small first.

    Grid and block dimensions, block indices, thread indices (each z, y, x; thread 1 before thread 2), iterations,
    host values, parameters, everything else (data)."""
    if e.op != "sym":
        return (len(_CLASSES) + 1, "", str(e.value), e.rank)
    name = str(e.value)
    for i, prefix in enumerate(_CLASSES):
        if name.startswith(prefix):
            axis, _, thread = name[len(prefix) :].partition("@")
            if i < 4:
                axis = {"x": "2", "y": "1", "z": "0"}.get(axis, axis)
            return (i, thread, _NUMBER.sub(lambda m: m.group().zfill(12), axis), (0, 0, 0))
    return (len(_CLASSES), "", name, (0, 0, 0))


def by_witness_rank(symbols: Iterable[Expr]) -> list[Expr]:
    return sorted(symbols, key=witness_rank)
