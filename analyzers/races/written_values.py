"""What two writes put into one place: when the values differ, and which reads in them correspond.

Takes the values of both sides, as expressions over the symbols of the two threads, and gives conditions. That two
threads read one place where they write one (``out[i] = f(in[i])``) is left to the caller to prove: :func:`alike` says
what to ask, and what the values are when it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analyzers.ir import expr as E
from analyzers.ir.expr import Expr, IntType


def difference(one: Expr, two: Expr) -> Expr | None:
    """What has to hold for two values to differ, or more than that; None where nothing is known. Unknown values, of
    any type, are equal where their arguments are."""
    if one is two:
        return E.FALSE
    if one.ty != two.ty:
        return None
    if isinstance(one.ty, IntType):
        return E.compare("ne", one, two)
    if one.op != two.op or one.value != two.value or not one.args or len(one.args) != len(two.args):
        return None
    parts = [difference(a, b) for a, b in zip(one.args, two.args, strict=True)]
    return None if None in parts else E.lor(*(p for p in parts if p is not None))


def alike(one: Expr, two: Expr, is_impossible: Callable[[Expr], bool]) -> Expr:
    """``two`` with the reads of it that are proved to read what their counterparts in ``one`` do replaced by these, up
    to the first that is not. ``is_impossible`` is asked whether the arguments of two reads can differ."""
    known: dict[Expr, Expr] = {}
    for theirs, ours in _counterparts(one, two):
        image = E.rewrite(theirs, known.get)
        apart = E.lor(*(E.compare("ne", a, b) for a, b in zip(ours.args, image.args, strict=True) if a is not b))
        if image is not ours and apart is not E.FALSE and not is_impossible(apart):
            break
        known[theirs] = ours
    return E.rewrite(two, known.get) if known else two


def _counterparts(one: Expr, two: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The reads of ``two`` and those of ``one`` of the same memory in the same order, inner ones first."""
    ours = _reads(one)
    for name, reads in _reads(two).items():
        yield from zip(reads, ours.get(name, ()), strict=False)


def _reads(value: Expr) -> dict[tuple[object, ...], list[Expr]]:
    found: dict[tuple[object, ...], list[Expr]] = {}
    for node in E.walk((value,)):
        if node.op == "opaque" and node.args and all(isinstance(a.ty, IntType) for a in node.args):
            found.setdefault((node.value, node.ty, len(node.args)), []).append(node)
    return found
