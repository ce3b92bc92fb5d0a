"""What two writes put into one place: when the values differ, and which reads in them correspond.

Takes the values of both sides, as expressions over the symbols of the two threads, and gives conditions. That two
threads read one place where they write one (``out[i] = f(in[i])``) is left to the caller to prove: :func:`alike` says
what to ask, and what the values are when it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analyzers.ir import expr as E
from analyzers.ir.evaluate import needs_operands
from analyzers.ir.expr import Expr, IntType


def difference(one: Expr, two: Expr) -> Expr | None:
    """What has to hold for two values to differ, or more than that; None where nothing is known. Unknown values, of
    any type, are equal where their arguments are."""
    conditions: list[Expr] = []
    stack, seen = [(one, two)], set[tuple[int, int]]()
    while stack:
        ours, theirs = stack.pop()
        if ours is theirs or (ours.key, theirs.key) in seen:
            continue
        seen.add((ours.key, theirs.key))
        if ours.ty != theirs.ty:
            return None
        if isinstance(ours.ty, IntType):
            conditions.append(E.compare("ne", ours, theirs))
            continue
        like = ours.op == theirs.op and ours.value == theirs.value and len(ours.args) == len(theirs.args)
        if not like or not ours.args:
            return None
        stack.extend(zip(reversed(ours.args), reversed(theirs.args), strict=True))
    return E.lor(*conditions)


def alike(one: Expr, two: Expr, is_impossible: Callable[[Expr], bool]) -> Expr:
    """``two`` with the reads of it that are proved to read what their counterparts in ``one`` do replaced by these, up
    to the first that is not. ``is_impossible`` is asked whether the arguments of two reads can differ, where both have
    a value: reads that ``one`` does not always make (``n ? in[i / n] : 0``) replace none, which may be made then."""
    known: dict[Expr, Expr] = {}
    made = _always_made(one)
    for theirs, ours in _counterparts(one, two):
        if ours.key not in made:
            continue
        image = E.rewrite(theirs, known.get)
        apart = E.lor(*(E.compare("ne", a, b) for a, b in zip(ours.args, image.args, strict=True) if a is not b))
        if image is not ours and apart is not E.FALSE and not is_impossible(apart):
            break
        known[theirs] = ours
    return E.rewrite(two, known.get) if known else two


def _always_made(value: Expr) -> set[int]:
    """Keys of the nodes that are computed whenever ``value`` is: not those on one side of a choice."""
    found: set[int] = set()
    stack = [value]
    while stack:
        node = stack.pop()
        if node.key in found:
            continue
        found.add(node.key)
        if node.op == "select":
            stack.append(node.args[0])
        elif node.op not in ("land", "lor") and needs_operands(node):
            stack.extend(node.args)
    return found


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
