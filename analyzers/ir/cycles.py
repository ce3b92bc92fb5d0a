"""Variables that go round in a ring of ``size`` numbers: ``(stage + 1) % 3``, ``++w == 3 ? 0 : w``, ``(i + 2) & 3``.

Takes what one iteration, or a loop in it, makes of a variable and gives by how many places it moves on. That holds for
numbers of the ring only; whether a variable is one in front of its loop is asked of intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from analyzers.ir import expr as E
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.ir.intervals import Intervals

MAX_SIZE = 64
MAX_STEPS = 8
"""Steps that one iteration makes one after the other."""
_MANY = 1 << 40
"""More iterations than any loop makes."""

Ranges = Mapping[Expr, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Turn:
    """A number ``x`` of the ring becomes ``(x + by) % size``; ``by`` is I64 and not negative."""

    size: int
    by: Expr


def turn_of(end: Expr, placeholder: Expr) -> Turn | None:
    """How ``end`` turns ``placeholder``; None where it is no turn."""
    size, by, node = 0, E.const(0, I64), end
    for _ in range(MAX_STEPS):
        node = _unconverted(node)
        if node is placeholder:
            return Turn(size, by) if size else None
        step = _step(node)
        if step is None or size not in (0, step[2]):
            return None
        node, moved, size = step
        by = E.add(by, moved)
    return None


def flip_of(end: Expr, placeholder: Expr, ring: Expr, size: int) -> tuple[int, Expr] | None:
    """How a variable changes between two values where ``ring``, which counts on by one, has one number: which, and the
    other value. ``if (++stage == n) { stage = 0; phase ^= 1; }``"""
    if end.op != "select" or placeholder not in end.args[1:]:
        return None
    condition, then, other = end.args
    flipped = other if then is placeholder else then
    if set(E.symbols(condition)) != {ring} or not _is_flip(flipped, placeholder):
        return None
    assert isinstance(ring.ty, IntType)
    asked = [E.substitute(condition, {ring: E.const(n, ring.ty)}) for n in range(size)]
    flips = E.FALSE if then is placeholder else E.TRUE
    at = [n for n, held in enumerate(asked) if held is flips]
    known = all(held.op == "const" for held in asked)
    return (at[0], flipped) if known and len(at) == 1 else None


def _is_flip(e: Expr, placeholder: Expr) -> bool:
    """Made twice it changes nothing."""
    if e.op == "lnot":
        return e.args[0] is placeholder
    if e.op == "sub":
        return e.args[1] is placeholder and e.args[0].op == "const"
    return e.op == "xor" and placeholder in e.args and any(a.op == "const" for a in e.args)


def in_ring(e: Expr, size: int, ranges: Ranges) -> bool:
    """The value of ``e`` is known to be a number of the ring."""
    counted = {n: (0, _MANY) for n in E.walk((e,)) if _is_count(n)}
    found = Intervals({**counted, **ranges}).of(e)
    return found.lo >= 0 and found.hi < size


def _step(node: Expr) -> tuple[Expr, Expr, int] | None:
    """(what is turned, by how much, size of the ring) of one turn."""
    if node.op == "select":
        return _chosen(node)
    if node.op not in ("rem", "and"):
        return None
    for sum_, last in (node.args, node.args[::-1] if node.op == "and" else node.args):
        size = last.value + (node.op == "and") if last.op == "const" else 0
        plain = _unconverted(sum_)
        # What a conversion in between cuts off would turn the ring; sums of small numbers fit all types.
        fits, sum_ = _is_small if plain is not sum_ else _is_turned_by, plain
        if not 1 < size <= MAX_SIZE or (node.op == "and" and size & (size - 1)) or sum_.op != "add":
            continue
        for by, x in (sum_.args, sum_.args[::-1]):
            if fits(by) and not (_is_product(by) and _wraps(sum_.ty, size)):
                return x, E.cast(by, I64), size
    return None


def _chosen(node: Expr) -> tuple[Expr, Expr, int] | None:
    """A step with a test where the ring closes: checked for each of its numbers."""
    test, *ways = node.args
    moved = [_unconverted(w) for w in ways]
    turned = [a for w in moved if w.op in ("add", "sub") for a in w.args if a.op != "const"]
    if len(turned) != 1:
        return None
    x, ty = turned[0], turned[0].ty
    if not isinstance(ty, IntType):
        return None
    sizes = {int(n.value) + more for n in E.walk((test, *ways)) if n.op == "const" for more in (0, 1)}
    for size in sorted(s for s in sizes if 1 < s <= MAX_SIZE):
        images = [_unconverted(E.substitute(node, {x: E.const(v, ty)})) for v in range(size)]
        if all(i.op == "const" for i in images):
            first = int(images[0].value)
            if 0 <= first < size and all(i.value == (v + first) % size for v, i in enumerate(images)):
                return x, E.const(first, I64), size
    return None


def _is_turned_by(e: Expr) -> bool:
    """A number that is not negative, and not so large that sums with it wrap around: small ones and counts of
    iterations, some times over."""
    if e.op == "add":
        return all(_is_turned_by(a) for a in e.args)
    if e.op == "mul":
        return any(_is_small(a) and _is_count(b) for a, b in (e.args, e.args[::-1]))
    return _is_small(e) or _is_count(e)


def _is_product(e: Expr) -> bool:
    return any(n.op == "mul" for n in E.walk((e,)))


def _wraps(ty: object, size: int) -> bool:
    """Whether numbers of iterations, some times over, may wrap around in the type, by what is no turn of the ring."""
    return isinstance(ty, IntType) and not ty.signed and ty.width < 64 and size & (size - 1) != 0


def _is_small(e: Expr) -> bool:
    return e.op == "const" and 0 <= e.value <= MAX_SIZE


def _is_count(e: Expr) -> bool:
    """A number of iterations."""
    return e.value.startswith("loop:") if e.op == "sym" else is_trip_count(e)


def is_trip_count(e: Expr) -> bool:
    """How often a loop was gone through, behind it."""
    return e.op == "opaque" and e.value[0].startswith("trips:")


def _unconverted(e: Expr) -> Expr:
    """Without conversions that keep every number of a ring."""
    while e.op in ("cast", "narrow") and all(isinstance(t, IntType) and t.width >= 8 for t in (e.ty, e.args[0].ty)):
        e = e.args[0]
    return e


def placeholders_in(e: Expr) -> Iterable[Expr]:
    """The values at the start of an iteration that ``e`` is made of."""
    return (n for n in E.walk((e,)) if n.op == "sym" and n.value.startswith("start:"))
