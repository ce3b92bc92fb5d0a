"""Random small queries with tiny domains, and brute force over them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from analyzers.ir.evaluate import evaluate_vectors
from analyzers.ir.expr import (
    BOOL,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Expr,
    IntType,
    add,
    binary,
    bitnot,
    call,
    cast,
    compare,
    conjuncts,
    const,
    land,
    lnot,
    lor,
    narrow,
    neg,
    opaque,
    select,
    substitute,
    sym,
)  # fmt: skip
from analyzers.solve.check import atoms_of, roots_of, satisfies
from analyzers.solve.query import Fact, Overlap, Proved, Query


def examples(count: int) -> settings:
    """How property tests of the solvers run: the same cases every time, whatever the machine is doing."""
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


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
        convert = cast if draw(st.integers(0, 3)) else narrow
        return convert(draw(integers(draw(st.sampled_from(TYPES)), depth - 1)), ty)
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


# --- queries shaped like address arithmetic: more likely to be provable for a reason ------------------------------

K1, K2 = sym("loop:L#0@1", I64), sym("loop:L#0@2", I64)
Y1, Y2 = sym("tid.y@1", U32), sym("tid.y@2", U32)
BD, ST, H = sym("bdim.x", U32), sym("param:s", I32), sym("param:h", I64)
ADDRESS_RANGES: dict[Expr, tuple[int, int]] = {
    T1: (0, 3), T2: (0, 3), Y1: (0, 2), Y2: (0, 2), K1: (0, 1), K2: (0, 1), BD: (1, 4), ST: (0, 3),
    W: (1, 4), H: (1, 3),
}  # fmt: skip
OTHER = {T1: T2, Y1: Y2, K1: K2}


@st.composite
def _digit(draw: st.DrawFn, ty: IntType) -> Expr:
    """Something a programmer takes apart or combines: a coordinate, a quotient, a remainder, a swizzle."""
    base = cast(draw(st.sampled_from((T1, T1, Y1, K1))), ty)
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return binary("div", base, draw(st.sampled_from((const(2, ty), const(3, ty), cast(W, ty)))))
    if kind == 1:
        return binary("rem", base, draw(st.sampled_from((const(2, ty), const(3, ty), cast(W, ty), cast(BD, ty)))))
    if kind == 2:
        return binary("xor", base, draw(st.sampled_from((const(1, ty), const(3, ty), cast(ST, ty)))))
    if kind == 3:
        return binary("and", base, draw(st.sampled_from((const(1, ty), const(2, ty), const(-2, ty)))))
    if kind == 4:
        return binary(draw(st.sampled_from(("min", "max"))), base, draw(st.sampled_from((const(1, ty), cast(ST, ty)))))
    if kind == 5:
        return select(compare("lt", base, cast(ST, ty)), base, cast(draw(st.sampled_from((Y1, ST))), ty))
    return base


@st.composite
def _index(draw: st.DrawFn) -> Expr:
    ty = draw(st.sampled_from((I32, U32, I32, U32, I64, U8, I8)))
    total = draw(_digit(ty))
    for _ in range(draw(st.integers(0, 2))):
        factor = draw(
            st.sampled_from((const(2, ty), const(3, ty), const(4, ty), const(64, ty), cast(W, ty), cast(BD, ty)))
        )
        if draw(st.booleans()):
            total = add(binary("mul", total, factor), draw(_digit(ty)))
        else:
            total = add(total, binary("mul", draw(_digit(ty)), factor))
    if draw(st.booleans()):
        common = draw(st.sampled_from((const(1, ty), const(-1, ty), const(200, ty), cast(ST, ty), cast(H, ty))))
        total = binary(draw(st.sampled_from(("add", "sub"))), total, common)
    if draw(st.integers(0, 3)) == 0:
        total = draw(st.sampled_from((cast, cast, narrow)))(total, draw(st.sampled_from((U32, I32, U8))))
    return total


@st.composite
def _guard(draw: st.DrawFn) -> Expr:
    ty = draw(st.sampled_from((U32, I32, I64)))
    left = cast(draw(st.sampled_from((T1, Y1, K1))), ty)
    if draw(st.booleans()):
        left = cast(draw(_index()), ty)
    right = draw(st.sampled_from((cast(W, ty), cast(BD, ty), cast(ST, ty), const(1, ty), const(2, ty))))
    return compare(draw(st.sampled_from(("lt", "lt", "lt", "le", "eq", "ne", "ge"))), left, right)


@st.composite
def address_queries(draw: st.DrawFn) -> Query:
    """Two threads with (mostly) the same index expression and guards."""
    left = draw(_index())
    right = left if draw(st.integers(0, 2)) else draw(_index())
    guards = [draw(_guard()) for _ in range(draw(st.integers(0, 3)))]
    if draw(st.integers(0, 3)) == 0 and guards:
        guards[-1] = draw(st.sampled_from((lor, land)))(guards[-1], draw(_guard()))
    width, width2 = draw(st.sampled_from(((1, 1), (1, 1), (4, 4), (4, 1), (2, 4))))
    addresses = [binary("mul", cast(e, I64), const(w, I64)) for e, w in ((left, width), (right, width2))]
    other = draw(st.booleans())
    second = [substitute(e, OTHER) for e in (addresses[1], *(guards if other else guards[:1]))]
    overlap = Overlap(addresses[0], second[0], width, width2)
    distinct = lor(*(compare("ne", a, b) for a, b in draw(st.sampled_from((((T1, T2),), ((T1, T2), (Y1, Y2)))))))
    extra: list[Expr] = []
    if draw(st.booleans()):
        extra.append(compare(draw(st.sampled_from(("eq", "lt"))), K1, K2))
    if draw(st.integers(0, 2)) == 0:
        extra += [compare("eq", Y1, const(0, U32)), compare("eq", Y2, const(0, U32))]
    if draw(st.integers(0, 3)) == 0:
        extra.append(lnot(land(compare("eq", K1, const(1, I64)), draw(_guard()))))
    facts: list[Expr] = [compare("lt", t, BD) for t in (T1, T2)] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0, 2))):
        a, b = draw(st.sampled_from(((W, BD), (ST, W), (ST, BD), (H, W), (BD, W))))
        op = draw(st.sampled_from(("le", "lt", "eq", "ge")))
        facts.append(compare(op, cast(a, I64), cast(b, I64)))
    return Query(
        (distinct, *conjuncts(overlap_condition(overlap)), *guards, *second[1:], *extra),
        tuple(Fact(f, tag) for tag, f in enumerate(facts)),
        ADDRESS_RANGES,
        overlap,
        "block",
        draw(st.booleans()),
    )


# --- brute force ------------------------------------------------------------------------------------------------


def _all(query: Query) -> tuple[list[Expr], dict[Expr, Any], Any]:
    """Atoms, their values along an axis each, and where on the grid every condition holds."""
    atoms = [a for a in atoms_of(query) if isinstance(a.ty, IntType)]
    values: dict[Expr, Any] = {}
    for i, atom in enumerate(atoms):
        lo, hi = query.ranges.get(atom, (0, 1) if atom.ty == BOOL else (1, 0))
        assert lo <= hi, atom
        values[atom] = np.arange(lo, hi + 1).reshape([-1 if k == i else 1 for k in range(len(atoms))])
    mask = np.ones((1,) * len(atoms), dtype=np.bool_)
    for holds, defined in evaluate_vectors(roots_of(query), values, no_signed_overflow=query.no_signed_overflow):
        mask = mask & holds & defined
    return atoms, values, np.broadcast_to(mask, tuple(values[a].size for a in atoms))


def satisfying(query: Query) -> dict[Expr, Any]:
    """For each atom the values it has in satisfying assignments (opaque values taken as independent)."""
    atoms, values, mask = _all(query)
    if not atoms:
        return {}
    return {a: values[a].ravel()[hits] for a, hits in zip(atoms, np.nonzero(mask), strict=True)}


def solution(query: Query) -> dict[Expr, int] | None:
    """A satisfying assignment, by brute force over all values of all symbols."""
    atoms, values, mask = _all(query)
    if not atoms:
        return {} if bool(mask.all()) else None
    for hit in zip(*np.nonzero(mask), strict=True):
        chosen = {a: int(values[a].ravel()[k]) for a, k in zip(atoms, hit, strict=True)}
        if satisfies(query, chosen):
            return chosen
    return None


def unsatisfiable_with(query: Query, proof: Proved) -> bool:
    """Whether brute force confirms a proof: with the facts it cites (and those nobody cites) and the overflow it
    assumes."""
    facts = tuple(f for f in query.facts if f.tag in proof.core or f.tag < 0)
    return solution(replace(query, facts=facts, no_signed_overflow=proof.used_no_overflow)) is None
