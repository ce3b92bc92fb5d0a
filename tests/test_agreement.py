"""What threads have to agree on to agree on what loops carry."""

from __future__ import annotations

from analyzers.ir import expr as E
from analyzers.ir.agreement import MAX_INPUTS, Agreement, Carried, Departures, agreement
from analyzers.ir.expr import F32, I32, I64, TID, Expr, cast, const, mul, opaque, sym
from analyzers.ir.uniformity import varying

COUNTER = sym("loop:l", I64)
SUM = sym("start:l:sum", F32)
ROW = mul(cast(TID[0], I64), const(8, I64))


def read(index: Expr, level: str = "grid") -> Expr:
    return opaque("load:1:in", F32, (index, COUNTER), level)


def carried(end: Expr, *decisions: Expr, left: dict[str, Departures] | None = None, control: str = "grid") -> Carried:
    start = E.fconst(0)
    return Carried(
        {"sum": SUM},
        {"sum": start},
        {"sum": end},
        {"sum": varying(end)},
        control,
        decisions,
        left or {},
        COUNTER,
        frozenset(),
        varying,
    )


def test_a_sum_depends_on_what_stays_the_same_in_all_iterations() -> None:
    end = E.make("add", F32, (SUM, read(E.add(ROW, COUNTER))))
    assert carried(end).at_start("sum") == Agreement("grid", (ROW,))


def test_it_depends_on_how_the_loop_ends_behind_it() -> None:
    end = E.make("add", F32, (SUM, read(E.add(ROW, COUNTER))))
    length = opaque("mem:lengths:i32", I64, (cast(TID[0], I64),), "grid")
    found = carried(end, E.compare("lt", COUNTER, length), control="thread").behind("sum", "l")
    assert found.level == "grid"
    assert set(found.inputs) == {ROW, length}


def test_what_others_may_change_in_between_is_agreed_on_by_nobody_else() -> None:
    end = E.make("add", F32, (SUM, read(E.add(ROW, COUNTER), "thread")))
    assert carried(end).at_start("sum") == Agreement("thread")


def test_where_an_iteration_is_left_in_its_middle_counts() -> None:
    own = cast(TID[0], F32)
    departures = Departures({"sum": [own]}, {"sum": "thread"})
    loop = carried(E.fconst(1), left={"l": departures})
    assert loop.at_start("sum") == Agreement("grid")
    assert loop.behind("sum", "l") == Agreement("grid", (TID[0],))
    departures.nested = True
    assert carried(E.fconst(1), left={"l": departures}).behind("sum", "l") == Agreement("thread")


def test_of_too_many_inputs_nothing_is_said() -> None:
    inputs = [opaque(f"mem:a{i}:i32", I32, (cast(TID[0], I64),), "grid") for i in range(MAX_INPUTS + 1)]
    assert agreement(inputs[:-1], varying).level == "grid"
    assert agreement(inputs, varying) == Agreement("thread")
