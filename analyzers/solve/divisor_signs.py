"""Divisors whose sign nothing says: the question once for each way the signs can be.

``i % width`` with a ``width`` that the host does not limit is a digit of ``i`` whatever the sign of ``width`` is, but
solvers of integers want to know it. Takes a query, gives the cases: in each one a divisor is positive, or it is the
negative of a positive number and its quotients and remainders are those of that number (C11 6.5.5: quotients are
truncated, remainders have the sign of the dividend). Division by zero is undefined: where a division is certainly made,
there is no third case, and where it is not, there are none.

A divisor that is a product with such factors is that of the positive numbers, where it does not overflow, and so are
other products, with their sign in front.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from analyzers.ir import expr as E
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.ir.intervals import Intervals
from analyzers.solve.check import satisfies
from analyzers.solve.order import side_of
from analyzers.solve.query import Answer, Overlap, Proved, Query, Satisfied, Undecided

MAX_SIZES = 4
WIDEST = 32
"""Bits of a divisor: its negative is a number of 64."""


_DIVISIONS: Final = E.operations("div", "rem")


@dataclass(frozen=True, slots=True)
class Case:
    query: Query
    negated: Mapping[Expr, Expr]
    """Divisors that are negative here: what they are the negatives of (I64)."""


def decide_by_signs(query: Query, ask: Callable[[Query], Answer]) -> Answer | None:
    """The answer of all cases together; None where there are none, or one has no answer."""
    proofs: list[Proved] = []
    for case in cases_of(query):
        found = ask(case.query)
        if isinstance(found, Satisfied):
            values = dict(found.values)
            values.update({d: -values[n] for d, n in case.negated.items() if n in values})
            return replace(found, values=values) if satisfies(query, values) else None
        if isinstance(found, Undecided):
            return None
        proofs.append(found)
    if not proofs:
        return None
    core = frozenset(tag for p in proofs for tag in p.core)
    return Proved(core, True, proofs[0].rung, any(p.used_no_wrap for p in proofs))


def _open_sizes(query: Query) -> dict[Expr, int]:
    """Sizes that something is divided by, or digits are multiplied by, and that may be zero or less as far as ranges
    tell, each with the least that it is where it is not negative: a divisor is not zero. None where they are too many,
    or where a division may never be made."""
    if not E.uses(query.conjuncts, _DIVISIONS):
        return {}
    nodes = list(E.walk(query.conjuncts))
    intervals = Intervals(query.ranges)

    def is_open(d: Expr) -> bool:
        is_size = d.op == "sym" and isinstance(d.ty, IntType) and (d.ty.width <= WIDEST or not d.ty.signed)
        return is_size and side_of(d) == 0 and intervals.of(d).lo < 1

    divisors = dict.fromkeys(d for n in nodes if n.op in ("div", "rem") for d in _factors(n.args[1]) if is_open(d))
    certain = {d for n in _certain(query.conjuncts) if n.op in ("div", "rem") for d in _factors(n.args[1])}
    if not certain >= divisors.keys():
        return {}
    # Without such a divisor it is dividends that the sign of a size matters to.
    dividends = (n.args[0] for n in nodes if n.op in ("div", "rem") and intervals.of(n.args[0]).lo < 0)
    scaled = nodes if divisors else E.walk(tuple(dividends))
    strides = (d for n in scaled if n.op == "mul" and side_of(n) for d in _factors(n) if is_open(d))
    found = {**dict.fromkeys(strides, 0), **dict.fromkeys(divisors, 1)}
    return found if len(found) <= MAX_SIZES else {}


def _certain(conjuncts: Iterable[Expr]) -> Iterator[Expr]:
    """What is computed wherever all conditions hold: not the sides of choices, nor the right of ``&&`` where its value
    is a number."""
    seen: set[int] = set()
    stack = [part for c in conjuncts for part in E.conjuncts(c)]
    while stack:
        node = stack.pop()
        if node.key not in seen and node.op not in ("lor", "land", "opaque"):
            seen.add(node.key)
            yield node
            stack.extend(node.args[:1] if node.op == "select" else node.args)


def _factors(divisor: Expr) -> Iterator[Expr]:
    while divisor.op == "cast":
        divisor = divisor.args[0]
    if divisor.op == "mul":
        for part in divisor.args:
            yield from _factors(part)
    else:
        yield divisor


def cases_of(query: Query) -> Iterator[Case]:
    """None where no sign is open, or too little is known."""
    sizes = _open_sizes(query) if query.no_signed_overflow else {}
    intervals = Intervals(query.ranges)
    known = {d: intervals.of(d) for d in sizes}
    for chosen in range(1 << len(sizes)) if sizes else ():
        negated = {d: E.sym(f"{d.value}:negated", I64) for i, d in enumerate(sizes) if chosen >> i & 1}
        ranges = dict(query.ranges)
        for d, least in sizes.items():
            low, high = known[d].lo, known[d].hi
            if d in negated:
                ranges[negated[d]] = (max(1, -high), -low)
                ranges.pop(d, None)
            else:
                ranges[d] = (max(least, low), high)
        if all(ranges[negated.get(d, d)][0] <= ranges[negated.get(d, d)][1] for d in sizes):
            yield Case(_changed(query, negated, ranges), negated)


def _changed(query: Query, negated: Mapping[Expr, Expr], ranges: Mapping[Expr, tuple[int, int]]) -> Query:
    memo: dict[int, Expr] = {}

    def put(e: Expr) -> Expr:
        for node in E.walk((e,), memo):
            args = tuple([memo[a.key] for a in node.args])
            if node in negated:
                memo[node.key] = E.cast(E.neg(negated[node]), node.ty)
            elif node.op in ("div", "rem") and isinstance(node.ty, IntType) and node.ty.signed:
                memo[node.key] = _divided(node, args, negated)
            elif node.op == "mul" and args != node.args and isinstance(node.ty, IntType) and node.ty.signed:
                memo[node.key] = _multiplied(node.ty, args)
            else:
                memo[node.key] = node if args == node.args else E.rebuild(node, args)
        return memo[e.key]

    o = query.overlap
    return replace(
        query,
        conjuncts=tuple(dict.fromkeys(p for c in query.conjuncts for p in E.conjuncts(put(c)))),
        facts=tuple(replace(f, condition=put(f.condition)) for f in query.facts),
        ranges=ranges,
        overlap=None if o is None else Overlap(put(o.left), put(o.right), o.left_width, o.right_width),
    )


def _divided(node: Expr, args: tuple[Expr, ...], negated: Mapping[Expr, Expr]) -> Expr:
    """A quotient or remainder by the divisors of this case."""
    dividend, divisor = args[0], node.args[1]
    factors = list(_factors(divisor))
    if len(factors) > 1 and not negated.keys().isdisjoint(factors) and _is_product(divisor):
        size = E.const(1, I64)
        for f in factors:
            size = E.mul(size, negated.get(f, E.cast(f, I64)))
        # The sign of a divisor does not matter to a remainder.
        negative = node.op == "div" and sum(f in negated for f in factors) % 2 == 1
        return _by_size(node.op, dividend, size, negative)
    is_open = factors[0] in negated or _negative_of(dividend) is not None
    if len(factors) == 1 and is_open and _is_product(divisor):
        return _by(node.op, dividend, factors[0], negated)
    return node if args == node.args else E.rebuild(node, args)


def _multiplied(ty: IntType, args: tuple[Expr, ...]) -> Expr:
    """A product with the sign of its factors in front. Like a quotient, it is one of 32 bits that does not overflow, or
    else it is left as it is."""
    opposites = [_negative_of(a) for a in args]
    negative = sum(o is not None for o in opposites) % 2 == 1
    if ty.width != WIDEST or not negative:
        return E.mul(*args)
    first, second = (E.cast(a, I64) if o is None else o for a, o in zip(args, opposites, strict=True))
    return E.narrow(E.neg(E.mul(first, second)), ty)


def _by(op: str, dividend: Expr, factor: Expr, negated: Mapping[Expr, Expr]) -> Expr:
    assert isinstance(dividend.ty, IntType)
    if factor not in negated and _negative_of(dividend) is None:
        return E.binary(op, dividend, E.cast(factor, dividend.ty))
    return _by_size(op, dividend, negated.get(factor, E.cast(factor, I64)), op == "div" and factor in negated)


def _by_size(op: str, dividend: Expr, size: Expr, is_negated: bool = False) -> Expr:
    """``size`` (I64), or the negative of the divisor; of a negative dividend it is what that is the negative of that is
    divided."""
    opposite = _negative_of(dividend)
    given = E.cast(dividend, I64) if opposite is None else opposite
    found = E.binary(op, given, size)
    return E.cast(E.neg(found) if (opposite is not None) != is_negated else found, dividend.ty)


def _negative_of(quotient: Expr) -> Expr | None:
    """What a quotient by a negative number is the negative of (I64)."""
    if quotient.op in ("cast", "narrow") and quotient.args[0].op == "neg" and quotient.args[0].ty == I64:
        return quotient.args[0].args[0]
    return None


def _is_product(divisor: Expr) -> bool:
    """Of signed numbers throughout, which are assumed not to overflow."""
    if not isinstance(divisor.ty, IntType) or not divisor.ty.signed:
        return False
    if divisor.op == "cast":
        inner = divisor.args[0].ty
        wider = isinstance(inner, IntType) and inner.width <= divisor.ty.width
        return wider and _is_product(divisor.args[0])
    return divisor.op != "mul" or all(_is_product(a) for a in divisor.args)
