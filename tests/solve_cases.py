"""Random small queries with tiny domains, and brute force over them."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from analyzers.ir.expr import (
    BOOL, I8, I16, I32, I64, U8, U16, U32, U64, Expr, IntType, add, bitnot, binary, call, cast, compare, conjuncts, const, land, lnot, lor,
    neg, opaque, select, sym,
)  # fmt: skip
from analyzers.solve.check import atoms_of, satisfies
from analyzers.solve.query import Fact, Overlap, Query

TYPES: tuple[IntType, ...] = (I8, U8, I16, U16, I32, U32, I64, U64)
T1, T2 = sym("tid.x@1", U32), sym("tid.x@2", U32)
N, W, B, BIG = sym("param:n", I32), sym("param:w", U32), sym("param:b", U8), sym("param:big", I32)
RANGES: dict[Expr, tuple[int, int]] = {
    T1: (0, 3),
    T2: (0, 3),
    N: (-2, 2),
    W: (1, 3),
    B: (254, 255),
    BIG: ((1 << 31) - 2, (1 << 31) - 1),
}
LEAVES = (T1, T2, N, W, B, BIG)
EDGES = (
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    127,
    128,
    255,
    256,
    65535,
    1 << 31,
    (1 << 31) - 1,
    (1 << 32) - 1,
    1 << 63,
)


@st.composite
def integers(draw: st.DrawFn, ty: IntType, depth: int) -> Expr:
    """An expression of type ``ty``."""
    kind = draw(st.integers(0, 11)) if depth else draw(st.integers(0, 1))
    if kind == 0:
        value = draw(st.sampled_from(EDGES))
        return const(-value if draw(st.booleans()) else value, ty)
    if kind <= 2:
        return cast(draw(st.sampled_from(LEAVES)), ty)
    if kind == 3:
        return cast(draw(integers(draw(st.sampled_from(TYPES)), depth - 1)), ty)
    if kind == 4:
        return select(draw(booleans(depth - 1)), draw(integers(ty, depth - 1)), draw(integers(ty, depth - 1)))
    if kind == 5:
        return draw(st.sampled_from((neg, bitnot)))(draw(integers(ty, depth - 1)))
    if kind == 6:
        count = draw(st.one_of(st.just(const(draw(st.integers(-1, 9)), I32)), integers(I32, depth - 1)))
        return binary(draw(st.sampled_from(("shl", "shr"))), draw(integers(ty, depth - 1)), count)
    if kind == 7:
        op = draw(st.sampled_from(("and", "or", "xor", "min", "max")))
        return binary(op, draw(integers(ty, depth - 1)), draw(integers(ty, depth - 1)))
    if kind == 8 and depth > 1 and draw(st.booleans()):
        return cast(call("__popc", I32, draw(integers(U32, depth - 1))), ty)
    op = draw(st.sampled_from(("add", "sub", "mul", "div", "rem")))
    return binary(op, draw(integers(ty, depth - 1)), draw(integers(ty, depth - 1)))


@st.composite
def booleans(draw: st.DrawFn, depth: int) -> Expr:
    kind = draw(st.integers(0, 7)) if depth else 0
    if kind == 1:
        return lnot(draw(booleans(depth - 1)))
    if kind == 2:
        return land(draw(booleans(depth - 1)), draw(booleans(depth - 1)))
    if kind == 3:
        return lor(draw(booleans(depth - 1)), draw(booleans(depth - 1)))
    ty = draw(st.sampled_from(TYPES))
    op = draw(st.sampled_from(("eq", "ne", "lt", "le")))
    return compare(op, draw(integers(ty, depth)), draw(integers(ty, depth)))


def overlap_condition(o: Overlap) -> Expr:
    return land(
        compare("lt", o.left, add(o.right, const(o.right_width, I64))),
        compare("lt", o.right, add(o.left, const(o.left_width, I64))),
    )


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """A query shaped like a race condition: distinct threads, guards, perhaps an overlap, facts and opaque data."""
    conditions: list[Expr] = [compare("ne", T1, T2)] if draw(st.booleans()) else []
    overlap = None
    ranges = dict(RANGES)
    data: list[Expr] = []
    if draw(st.integers(0, 3)) == 0:
        for t in (T1, T2):
            node = opaque("load", I32, (draw(integers(I32, 1)) if draw(st.booleans()) else cast(t, I32),), "grid")
            ranges[node] = (-1, 1)
            data.append(node)
    if draw(st.booleans()):
        width = draw(st.sampled_from((1, 4)))
        left, right = (draw(integers(I64, 2)) for _ in range(2))
        if data:
            left, right = add(left, cast(data[0], I64)), add(right, cast(data[1], I64))
        overlap = Overlap(left, right, width, draw(st.sampled_from((1, 4))))
        conditions += conjuncts(overlap_condition(overlap))
    for _ in range(draw(st.integers(1, 3))):
        conditions.append(draw(booleans(2)))
    if data and draw(st.booleans()):
        conditions.append(compare(draw(st.sampled_from(("ne", "lt", "eq"))), *data))
    facts = tuple(Fact(draw(booleans(1)), tag) for tag in range(draw(st.integers(0, 2))))
    return Query(tuple(conditions), facts, ranges, overlap, "block", draw(st.booleans()))


def solutions(query: Query) -> list[dict[Expr, int]]:
    """Every satisfying assignment, by brute force."""
    atoms = atoms_of(query)
    domains: list[range] = []
    for atom in atoms:
        assert isinstance(atom.ty, IntType)
        lo, hi = query.ranges.get(atom, (0, 1) if atom.ty == BOOL else (1, 0))
        assert lo <= hi, atom
        domains.append(range(lo, hi + 1))
    found = (dict(zip(atoms, values, strict=True)) for values in product(*domains))
    return [values for values in found if satisfies(query, values)]
