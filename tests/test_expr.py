"""Expressions: folding keeps their C value, single and array evaluation agree, intervals hold every value."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from solve_cases import LEAVES, RANGES, TYPES, booleans, examples, integers

from analyzers.ir.bittricks import bit_trick
from analyzers.ir.evaluate import atoms_below, evaluate, evaluate_each, evaluate_vector
from analyzers.ir.expr import (
    BOOL,
    F32,
    FALSE,
    I8,
    I32,
    I64,
    PTR,
    TRUE,
    U8,
    U16,
    U32,
    U64,
    Expr,
    FloatType,
    IntType,
    add,
    binary,
    call,
    cast,
    compare,
    const,
    dumps,
    fconst,
    land,
    lnot,
    loads,
    lor,
    make,
    mul,
    neg,
    opaque,
    rebuild,
    select,
    sub,
    substitute,
    sym,
    walk,
)  # fmt: skip
from analyzers.ir.intervals import Interval, Intervals, clamp, interval, join, wrap
from analyzers.reference import functions

X, Y = sym("x", I32), sym("y", I32)
U, V = sym("u", U32), sym("v", U32)


def value(e: Expr, **values: int) -> int | None:
    known = {s: values[s.value] for s in (X, Y, U, V) if s.value in values}
    return evaluate(e, known)


# --- C corner cases ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "ty", "a", "b", "expected"),
    [
        ("div", I32, -7, 2, -3),
        ("rem", I32, -7, 2, -1),
        ("rem", I32, 7, -2, 1),
        ("div", I32, 7, 0, None),
        ("rem", U32, 7, 0, None),
        ("div", I32, -(1 << 31), -1, -(1 << 31)),
        ("sub", U32, 0, 1, (1 << 32) - 1),
        ("mul", U32, 1 << 31, 2, 0),
        ("add", U8, 255, 1, 0),
        ("add", I8, 127, 1, -128),
        ("shl", U32, 1, 31, 1 << 31),
        ("shl", I32, 1, 31, -(1 << 31)),
        ("shl", I32, 1, 32, None),
        ("shr", I32, -5, 1, -3),
        ("shr", U32, (1 << 32) - 5, 1, (1 << 31) - 3),
        ("shr", I32, 5, -1, None),
        ("mul", U64, (1 << 64) - 1, (1 << 64) - 1, 1),
        ("mul", I64, 1 << 62, 4, 0),
    ],
)
def test_arithmetic(op: str, ty: IntType, a: int, b: int, expected: int | None) -> None:
    x, y = sym("a", ty), sym("b", ty)
    e = make(op, ty, (x, y))
    assert evaluate(e, {x: a, y: b}) == expected
    values, defined = evaluate_vector(e, {x: np.array([a], dtype=object), y: np.array([b], dtype=object)})
    assert bool(np.all(defined)) == (expected is not None)
    if expected is not None:
        assert int(values[0]) == expected


def test_conversions() -> None:
    assert value(cast(U, I32), u=(1 << 32) - 1) == -1
    assert value(cast(X, U64), x=-1) == (1 << 64) - 1
    assert value(cast(X, U8), x=-1) == 255
    assert value(cast(cast(X, U8), I32), x=511) == 255
    assert value(cast(X, BOOL), x=256) == 1
    assert cast(cast(X, I8), I32).op == "cast"
    assert cast(cast(sym("c", I8), I32), I64) is cast(sym("c", I8), I64)


def test_undefined_operands_count_only_where_used() -> None:
    bad = binary("div", X, const(0, I32))
    assert value(select(compare("lt", X, Y), bad, Y), x=3, y=2) == 2
    assert value(select(compare("lt", X, Y), bad, Y), x=1, y=2) is None
    wrong = compare("eq", bad, X)
    assert value(land(wrong, compare("lt", X, Y)), x=3, y=2) == 0
    assert value(land(wrong, compare("lt", X, Y)), x=1, y=2) is None
    assert value(lor(wrong, compare("lt", X, Y)), x=1, y=2) == 1
    assert value(lor(wrong, compare("lt", X, Y)), x=3, y=2) is None


def test_a_condition_that_is_repeated_in_a_choice_is_seen_through() -> None:
    c, d = compare("lt", X, Y), compare("lt", Y, X)
    assert select(c, d, c) is land(c, d)
    assert select(c, c, d) is lor(c, d)
    assert select(c, lnot(c), d) is land(lnot(c), d)
    assert select(c, d, lnot(c)) is lor(lnot(c), d)


def test_signed_overflow_can_be_excluded() -> None:
    top = {X: (1 << 31) - 1, Y: 1}
    assert evaluate(add(X, Y), top) == -(1 << 31)
    assert evaluate(add(X, Y), top, no_signed_overflow=True) is None
    assert evaluate(neg(X), {X: -(1 << 31)}, no_signed_overflow=True) is None
    assert evaluate(add(cast(X, U32), cast(Y, U32)), top, no_signed_overflow=True) == 1 << 31
    # A bit mask, not arithmetic: 1 << 31 is meant.
    assert evaluate(binary("shl", const(1, I32), Y), {Y: 31}, no_signed_overflow=True) == -(1 << 31)
    assert evaluate(binary("shl", X, Y), {X: 3, Y: 31}, no_signed_overflow=True) is None


def test_missing_values() -> None:
    data = opaque("load:a", I32, (X,))
    assert evaluate(add(data, X), {X: 1}) is None
    assert evaluate(add(data, X), {X: 1, data: 5}) == 6
    test = compare("lt", sym("f", F32), fconst(0.5))
    assert evaluate(test, {}) is None
    assert evaluate(test, {test: 1}) == 1
    assert atoms_below(add(data, X)) == {data, X}


INTRINSICS = {
    "__popc": (I32, U32), "__popcll": (I32, U64), "__clz": (I32, I32), "__clzll": (I32, I64), "__ffs": (I32, I32),
    "__ffsll": (I32, I64), "__brev": (U32, U32), "__brevll": (U64, U64), "__umulhi": (U32, U32, U32),
    "__mulhi": (I32, I32, I32), "__umul64hi": (U64, U64, U64), "__mul64hi": (I64, I64, I64), "__mul24": (I32, I32, I32),
    "__umul24": (U32, U32, U32), "__byte_perm": (U32, U32, U32, U32), "__funnelshift_l": (U32, U32, U32, U32),
    "__funnelshift_r": (U32, U32, U32, U32), "__hadd": (I32, I32, I32), "__uhadd": (U32, U32, U32),
    "__rhadd": (I32, I32, I32), "__urhadd": (U32, U32, U32), "__sad": (U32, I32, I32, U32),
    "__usad": (U32, U32, U32, U32),
    "abs": (I32, I32), "llabs": (I64, I64), "std::abs": (I32, I32),
}  # fmt: skip


@pytest.mark.parametrize("name", INTRINSICS)
def test_intrinsics_agree_with_the_reference(name: str) -> None:
    result, *parameters = INTRINSICS[name]
    for numbers in product((0, 1, 2, 5, 31, 0x1234567, 0x89ABCDEF, -1, -77, 1 << 31), repeat=len(parameters)):
        arguments = [ty.wrap(n) for ty, n in zip(parameters, numbers, strict=True)]
        e = call(name, result, *(const(a, ty) for a, ty in zip(arguments, parameters, strict=True)))
        assert bit_trick(e) is not None
        assert evaluate(e, {}) == functions.apply(name, result, arguments)


def test_known_intrinsics() -> None:
    assert evaluate(call("__popc", I32, const(0xFF00, U32)), {}) == 8
    assert evaluate(call("__brev", U32, const(1, U32)), {}) == 1 << 31
    assert evaluate(call("__ffs", I32, const(0, I32)), {}) == 0
    assert evaluate(
        call("__byte_perm", U32, const(0x33221100, U32), const(0x77665544, U32), const(0x5410, U32)), {}
    ) == (0x55441100)
    assert evaluate(call("sqrtf_of_int", I32, const(0, I32)), {}) is None


# --- folding ------------------------------------------------------------------------------------------------------


def test_constants_are_not_merged_across_an_overflow() -> None:
    """``(x + 2147483647) + 1`` is fine for negative x; ``x - 2147483648`` would overflow for them."""
    e = add(add(X, const((1 << 31) - 1, I32)), const(1, I32))
    assert evaluate(e, {X: -5}, no_signed_overflow=True) == (1 << 31) - 5
    assert add(add(X, const(5, I32)), const(-3, I32)) is add(X, const(2, I32))
    assert add(add(U, const((1 << 32) - 1, U32)), const(1, U32)) is U


@examples(150)
@given(st.sampled_from(TYPES).flatmap(lambda ty: integers(ty, 3)), st.data())
def test_substitution_folds_to_the_same_value(e: Expr, data: st.DataObject) -> None:
    """Putting constants in, which folds along the way, gives what evaluation gives."""
    values = {s: data.draw(st.integers(*RANGES[s])) for s in LEAVES}
    expected = evaluate(e, values)
    folded = substitute(e, {s: const(v, s.ty) for s, v in values.items() if isinstance(s.ty, IntType)})
    if expected is not None:
        assert evaluate(folded, {}) == expected


@examples(100)
@given(st.sampled_from(TYPES).flatmap(lambda ty: integers(ty, 3)), st.data())
def test_rebuilding_keeps_the_value(e: Expr, data: st.DataObject) -> None:
    values = {s: data.draw(st.integers(*RANGES[s])) for s in LEAVES}
    for node in walk((e,)):
        if node.args:
            plain = make(node.op, node.ty, node.args, node.value)
            again = rebuild(node, node.args)
            for strict in (False, True):
                expected = evaluate(plain, values, no_signed_overflow=strict)
                if expected is not None:
                    assert evaluate(again, values, no_signed_overflow=strict) == expected


def test_booleans() -> None:
    a, b = compare("lt", X, Y), compare("eq", X, Y)
    assert lnot(a) is compare("le", Y, X)
    assert lnot(lnot(b)) is b
    assert land(a, TRUE) is a
    assert land(a, FALSE) is FALSE
    assert lor(a, lnot(a)) is TRUE
    f = compare("lt", sym("f", F32), sym("g", F32))
    assert lnot(f).op == "lnot", "a comparison of floats and its opposite are both false for NaN"


def test_no_two_types_have_one_number() -> None:
    types = [*(IntType(w, s) for w in (1, 8, 16, 32, 64) for s in (False, True)), *map(FloatType, (16, 32, 64)), PTR]
    assert len({t.code for t in types}) == len(types)
    assert len({make("opaque", t, (), ("same", "grid")) for t in types}) == len(types)
    assert pickle.loads(pickle.dumps(types)) == types
    assert [t.code for t in pickle.loads(pickle.dumps(types))] == [t.code for t in types]


def test_float_constants_are_values_of_their_type() -> None:
    assert cast(fconst(16777217.0), I32) is const(16777216, I32)
    assert cast(const((1 << 24) + 1, I32), F32) is fconst(16777216.0)
    assert cast(const((1 << 24) + 1, I32), FloatType(64)).value == 16777217.0
    assert fconst(-0.0) is not fconst(0.0)
    assert fconst(float("nan")) is fconst(float("nan"))
    assert fconst(1e300).value == float("inf")


@examples(60)
@given(st.sampled_from(TYPES).flatmap(lambda ty: integers(ty, 3)), booleans(2))
def test_transport(e: Expr, b: Expr) -> None:
    assert loads(dumps(e)) is e
    assert loads(dumps(e, b)) == (e, b)
    assert pickle.loads(pickle.dumps(e)) is e


# --- arrays -------------------------------------------------------------------------------------------------------


def grid(symbols: list[Expr]) -> tuple[dict[Expr, np.ndarray], list[dict[Expr, int]]]:
    """All values of the symbols: as arrays that broadcast, and one by one."""
    domains = [range(RANGES[s][0], RANGES[s][1] + 1) for s in symbols]
    arrays = {
        s: np.array(d).reshape([-1 if i == k else 1 for k in range(len(symbols))])
        for i, (s, d) in enumerate(zip(symbols, domains, strict=True))
    }
    return arrays, [dict(zip(symbols, values, strict=True)) for values in product(*domains)]


@examples(100)
@given(st.one_of(booleans(3), st.sampled_from(TYPES).flatmap(lambda ty: integers(ty, 3))), st.booleans())
def test_arrays_agree_with_single_values(e: Expr, strict: bool) -> None:
    symbols = sorted(atoms_below(e), key=lambda s: str(s.value))
    arrays, singles = grid(symbols)
    values, defined = evaluate_vector(e, arrays, no_signed_overflow=strict)
    shape = tuple(a.size for a in arrays.values())
    flat = np.broadcast_to(values, shape).ravel()
    known = np.broadcast_to(np.asarray(defined), shape).ravel()
    for i, single in enumerate(singles):
        expected = evaluate(e, single, no_signed_overflow=strict)
        assert (expected is not None) == bool(known[i])
        if expected is not None:
            assert int(flat[i]) == expected


def test_large_products_in_arrays() -> None:
    a = sym("a", I64)
    e = mul(a, a)
    values, defined = evaluate_vector(e, {a: np.array([3, 1 << 40])}, no_signed_overflow=True)
    assert int(values[0]) == 9
    assert list(np.broadcast_to(np.asarray(defined), 2)) == [True, False]


# --- intervals ----------------------------------------------------------------------------------------------------


def holds(found: Interval, number: int) -> bool:
    return found.lo <= number <= found.hi and (found.stride == 0 or (number - found.lo) % found.stride == 0)


@examples(200)
@given(st.one_of(booleans(3), st.sampled_from(TYPES).flatmap(lambda ty: integers(ty, 3))), st.booleans())
def test_intervals_hold_every_value(e: Expr, assume: bool) -> None:
    intervals = Intervals(RANGES, no_signed_overflow=assume)
    nodes = [n for n in walk((e,)) if isinstance(n.ty, IntType)]
    found = [intervals.of(n) for n in nodes]
    for n, i in zip(nodes, found, strict=True):
        assert i.empty or (i.stride == 0) == (i.lo == i.hi), n
    _, singles = grid(sorted(atoms_below(e), key=lambda s: str(s.value)))
    for single in singles:
        for n, i, number in zip(nodes, found, evaluate_each(nodes, single, no_signed_overflow=assume), strict=True):
            if number is not None:
                assert holds(i, number), (n, i, number, single)
    if assume and not intervals.assumed(e):
        assert intervals.of(e) == Intervals(RANGES, no_signed_overflow=False).of(e)


def test_intervals_know_common_shapes() -> None:
    ranges = {U: (0, 1023), V: (0, 63), X: (0, 9)}
    of = Intervals(ranges).of
    assert of(add(mul(V, const(16, U32)), const(3, U32))) == Interval(3, 1011, 16)
    assert of(binary("rem", U, const(32, U32))) == Interval(0, 31)
    assert of(binary("and", U, const(0xFFFFFFE0, U32))) == Interval(0, 992, 32)
    assert of(binary("or", mul(V, const(64, U32)), V)) == Interval(0, 64 * 63 + 63)
    assert of(sub(U, const(1, U32))) == Interval(0, (1 << 32) - 1)
    assert of(cast(sub(U, const(1, U32)), I32)) == Interval(-1, 1022)
    assert of(cast(sub(U, const(1, U32)), I64)) == Interval(0, (1 << 32) - 1)
    assert of(add(sub(U, const(1, U32)), const(1, U32))) == Interval(0, 1023)
    assert of(compare("lt", V, const(64, U32))) == Interval(1, 1, 0)
    assert of(cast(add(U, const(0xFFFFF000, U32)), I32)) == Interval(-4096, -4096 + 1023)


def test_interval_arithmetic() -> None:
    assert interval(0, 10, 4) == Interval(0, 8, 4)
    assert join(Interval(3, 3, 0), Interval(9, 9, 0)) == Interval(3, 9, 6)
    assert clamp(Interval(0, 100, 7), 10, 20) == Interval(14, 14, 0)
    assert clamp(Interval(0, 100, 7), 15, 20).empty
    assert wrap(Interval(250, 260), U8) == Interval(0, 255)
    assert wrap(Interval(256, 260), U8) == Interval(0, 4)
    assert wrap(Interval(128, 130), I8) == Interval(-128, -126)
    assert wrap(Interval(1, 65537, 65536), U16) == Interval(1, 1, 0)


def test_the_rank_of_an_expression_is_found_when_it_is_asked_for_however_deep_it_is() -> None:
    def tower() -> Expr:
        e = sym("the bottom of a tower", I32)
        for floor in range(30_000):
            e = make("neg" if floor % 2 else "not", I32, (e,))
        return e

    top = tower()
    assert hash(top) == top.rank[2]
    assert tower() is top
    assert not hasattr(top, "height")
