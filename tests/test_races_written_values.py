"""What two writes put into one place."""

from __future__ import annotations

import pytest

from analyzers.engine import Engine
from analyzers.ir.expr import (
    F32,
    FALSE,
    I32,
    I64,
    U32,
    Expr,
    add,
    binary,
    cast,
    compare,
    const,
    make,
    mul,
    opaque,
    select,
    sub,
    sym,
)
from analyzers.model import Verdict
from analyzers.races.written_values import alike, difference
from analyzers.requests import CheckRequest
from analyzers.solve import algebra
from analyzers.solve.prepare import prepare
from analyzers.solve.query import Proved, Query

T1, T2 = sym("tid.x@1", U32), sym("tid.x@2", U32)


def read(index: Expr, array: str = "in") -> Expr:
    return opaque(f"mem:{array}:i32", I32, (cast(index, I64),), "grid")


def test_reads_of_one_place_are_one_value() -> None:
    one, two = (add(read(t), const(1, I32)) for t in (T1, T2))
    asked: list[Expr] = []

    def never(condition: Expr) -> bool:
        asked.append(condition)
        return True

    assert alike(one, two, never) is one
    assert asked == [compare("ne", cast(T1, I64), cast(T2, I64))]
    assert difference(one, alike(one, two, never)) is FALSE


def test_what_is_read_where_another_value_says_is_looked_at_first() -> None:
    one, two = (read(read(t, "index")) for t in (T1, T2))
    assert alike(one, two, lambda _: True) is one


def test_reads_of_places_that_may_differ_stay() -> None:
    one, two = (add(read(t), read(t, "other")) for t in (T1, T2))
    assert alike(one, two, lambda _: False) is two


def test_reads_of_other_arrays_have_no_counterpart() -> None:
    one, two = read(T1), read(T2, "other")
    assert alike(one, two, lambda _: True) is two


def test_what_an_equation_says_of_its_multiples() -> None:
    """No variable of it has a coefficient of one, so that it is solved for none."""
    stride = sym("param:stride", I64)
    places = [add(mul(cast(t, I64), mul(stride, const(6, I64))), mul(cast(t, I64), const(4, I64))) for t in (T1, T2)]
    halves = [add(mul(cast(t, I64), mul(stride, const(3, I64))), mul(cast(t, I64), const(2, I64))) for t in (T1, T2)]
    ranges = {T1: (0, 31), T2: (0, 31), stride: (-100, 100)}
    equal = compare("eq", *places)
    other = compare("ne", sub(halves[0], halves[1]), const(1, I64))
    assert isinstance(algebra.decide(prepare(Query((equal, compare("ne", *halves)), ranges=ranges))), Proved)
    assert not isinstance(algebra.decide(prepare(Query((equal, other), ranges=ranges))), Proved)


def test_a_read_that_is_not_always_made_stands_for_none_that_is() -> None:
    """Its place may have no value, as here where the divisor is zero; the other read is made all the same."""
    size, divisor = sym("param:n", I32), sym("param:d", I32)
    quotient = binary("div", size, divisor)
    made, chosen = read(size), select(compare("ne", divisor, const(0, I32)), read(quotient), const(0, I32))
    assert alike(chosen, made, lambda _: True) is made
    assert alike(read(quotient), made, lambda _: True) is read(quotient)
    behind = select(compare("lt", read(quotient), const(0, I32)), const(1, I32), const(2, I32))
    assert alike(behind, made, lambda _: True) is read(quotient), "the condition of a choice is always computed"


def test_values_that_share_their_parts_are_compared_once() -> None:
    one, two = (opaque("mem:in:f32", F32, (cast(t, I64),), "grid") for t in (T1, T2))
    for _ in range(2000):
        one, two = (make("add", F32, (make("mul", F32, (x, x)), x)) for x in (one, two))
    assert difference(one, two) is compare("ne", cast(T1, I64), cast(T2, I64))
    assert difference(one, one) is FALSE
    assert difference(one, make("neg", F32, (two,))) is None


@pytest.mark.parametrize(
    ("value", "assumed"), [("n + (int)threadIdx.x >= n", True), ("((int)threadIdx.x & 64) + n", False)]
)
def test_what_equal_values_rest_on_is_listed(value: str, assumed: bool) -> None:
    text = f"// cuda-lsp: launch grid=(1) block=(64)\n__global__ void k(int *a, int n) {{\n  a[0] = {value};\n}}\n"
    (kernel,) = Engine().analyse(CheckRequest("/values/a.cu", text)).result.kernels
    assert kernel.verdict is Verdict.BENIGN_RACE
    assert ("signed arithmetic does not overflow" in kernel.contexts[0].assumptions) == assumed
