"""Unsigned sums that are taken as signed: the rewritten expression has the same value wherever the ranges hold."""

from __future__ import annotations

from itertools import product

from hypothesis import event, given
from hypothesis import strategies as st
from solve_cases import examples

from analyzers.ir.evaluate import evaluate
from analyzers.ir.expr import I16, I32, I64, U16, U32, U64, Expr, IntType, add, binary, cast, const, mul, neg, sub, sym
from analyzers.ir.intervals import Intervals
from analyzers.solve.signed_sums import SignedSums

BID, N, W = sym("bid.x@1", U32), sym("param:n", I32), sym("param:w", U16)
RANGES: dict[Expr, tuple[int, int]] = {BID: (0, 3), N: (-2, 2), W: (65533, 65535)}
LEAVES = st.sampled_from([BID, cast(N, U32), cast(W, U32), const(1, U32), const(-1, U32), const(16, U32)])


def _nodes(operands: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(binary, st.sampled_from(["add", "sub", "mul"]), operands, operands),
        st.builds(neg, operands),
        st.builds(lambda a, ty: cast(cast(a, ty), U32), operands, st.sampled_from([I16, I32, U64, I64])),
        st.builds(lambda a: binary("div", a, const(3, U32)), operands),
    )


SUMS: st.SearchStrategy[Expr] = st.recursive(LEAVES, _nodes, max_leaves=6)


def _rewritten(e: Expr) -> Expr:
    return SignedSums(Intervals(RANGES, no_signed_overflow=True)).of(e)


@examples(400)
@given(SUMS, st.sampled_from([I16, I32, I64]))
def test_values_stay(e: Expr, ty: IntType) -> None:
    before = cast(e if ty is not I64 else cast(e, U64), ty)
    after = _rewritten(before)
    event("rewritten" if after is not before else "as it was")
    for values in product(*(range(low, high + 1) for low, high in RANGES.values())):
        point = dict(zip(RANGES, values, strict=True))
        expected = evaluate(before, point)
        assert evaluate(after, point, no_signed_overflow=True) == expected


def test_a_sum_that_wraps_and_comes_back() -> None:
    halo = sub(mul(BID, const(8, U32)), const(1, U32))
    assert _rewritten(cast(halo, I32)) is sub(mul(cast(BID, I32), const(8, I32)), const(1, I32))


def test_signed_parts_count_as_signed() -> None:
    moved = add(BID, cast(N, U32))
    assert _rewritten(cast(moved, I32)) is add(cast(BID, I32), N)


def test_what_may_leave_the_signed_type_stays() -> None:
    large = cast(mul(BID, const(1 << 30, U32)), I32)
    assert _rewritten(large) is large
    wider = cast(sub(BID, const(1, U32)), I64)
    assert _rewritten(wider) is wider, "extended as it is, wrapped around"
