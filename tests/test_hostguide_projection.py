"""What only the host knows is projected away from launches, and nothing that restricts the kernel is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest

from analyzers.hostguide.merging import merged
from analyzers.hostguide.projection import freely_chosen, without_the_unseen
from analyzers.ir import expr as ex
from analyzers.ir.context import Constraint, LaunchContext
from analyzers.ir.evaluate import evaluate
from analyzers.ir.expr import BDIM, BOOL, I32, Expr
from analyzers.model import FactNote, LaunchSummary, SourceSpan

NOTE = FactNote("", None, "relation")
SPAN = SourceSpan("a.cu", 1, 1, 1, 9, 0, 8)
OTHER_SPAN = SourceSpan("a.cu", 2, 1, 2, 9, 10, 18)


def number(name: str) -> Expr:
    return ex.sym(f"host:{name}:{name}", I32)


def truth(name: str) -> Expr:
    return ex.sym(f"host:{name}:{name}", BOOL)


def const(value: int) -> Expr:
    return ex.const(value, I32)


A, B, C, N, M = map(number, "abcnm")
P, Q, R = map(truth, "pqr")


def facts(*conditions: Expr) -> list[Constraint]:
    return [Constraint(c, NOTE) for c in conditions]


def left(conditions: Sequence[Expr], visible: Sequence[Expr]) -> list[Expr]:
    return [f.condition for f in without_the_unseen(facts(*conditions), visible)]


def free_choice(*roots: Expr) -> list[Expr]:
    return list(freely_chosen(roots))


def test_a_choice_among_unknowns_of_its_own_is_an_unknown() -> None:
    inner = ex.select(Q, A, B)
    outer = ex.select(P, C, inner)
    assert free_choice(ex.add(outer, N), ex.mul(outer, M)) == [outer]
    shared = ex.select(P, ex.select(Q, C, inner), inner)
    assert free_choice(shared) == [shared], "one part may be led to on several ways"


@pytest.mark.parametrize(
    "roots",
    [
        (ex.select(P, A, B), A),
        (ex.select(P, A, B), ex.compare("lt", B, N)),
        (ex.select(P, A, const(4)),),
        (ex.select(P, A, ex.add(B, const(1))),),
        (ex.select(ex.compare("lt", A, N), A, B),),
        (ex.select(P, A, ex.sym("param:n", I32)),),
    ],
    ids=["passed", "limited", "constant", "computed", "by itself", "seen"],
)
def test_other_choices_stay(roots: tuple[Expr, ...]) -> None:
    assert free_choice(*roots) == []


def test_a_part_that_is_used_elsewhere_is_an_unknown_by_itself_only() -> None:
    inner = ex.select(Q, A, B)
    assert free_choice(ex.select(P, C, inner), ex.add(inner, N)) == [inner]


def test_truths_that_can_be_chosen_restrict_nothing() -> None:
    small = ex.compare("lt", N, const(32))
    path = [
        ex.lor(small, ex.lor(ex.lnot(P), ex.lnot(Q))),
        ex.lor(small, ex.lor(P, ex.lor(ex.lnot(R), Q))),
        ex.lor(small, ex.lor(P, ex.lor(R, ex.lnot(Q)))),
    ]
    assert left(path, [N]) == []
    assert left([*path, ex.lor(small, P)], [N]) == []


def test_truths_that_cannot_be_chosen_so_restrict() -> None:
    small = ex.compare("lt", N, const(32))
    either = [ex.lor(small, P), ex.lor(small, ex.lnot(P))]
    assert left(either, [N]) == either
    assert left([ex.lor(small, P)], [N, P]) == [ex.lor(small, P)], "the kernel sees it"
    assert left([ex.lor(small, ex.compare("eq", P, Q)), *either], [N])[-2:] == either


def test_numbers_with_one_value_stay_with_what_they_limit() -> None:
    fixed = ex.compare("eq", M, const(6))
    assert left([fixed, ex.lor(ex.compare("ne", M, const(2)), ex.compare("lt", N, const(3)))], [N]) == []
    limited = [fixed, ex.compare("lt", ex.mul(M, N), const(60))]
    assert left(limited, [N]) == limited, "a proof cites both"


def test_numbers_that_some_value_suits_restrict_nothing() -> None:
    assert left([ex.compare("ne", M, const(1)), ex.compare("ne", M, const(2))], [N]) == []
    assert left([ex.compare("lt", M, N)], [N]) == [ex.compare("lt", M, N)], "there is none below the least number"
    hidden = ex.opaque("cells", I32, (M,), "grid")
    kept = [ex.compare("ne", M, const(1)), ex.compare("lt", hidden, N)]
    assert left(kept, [N]) == kept, "what is found at M may be anything, and the same wherever M is the same"


def _allowed(conditions: Sequence[Expr], hidden: Sequence[Expr], seen: Expr, value: int) -> bool:
    domains = [(0, 1) if s.ty == BOOL else range(-2, 4) for s in hidden]
    return any(
        all(evaluate(c, {seen: value, **dict(zip(hidden, values, strict=True))}) for c in conditions)
        for values in itertools.product(*domains)
    )


@pytest.mark.parametrize("seed", range(60))
def test_the_kernel_sees_the_same_launches(seed: int) -> None:
    """Random facts, with all values of the host's unknowns tried."""
    import random

    chance = random.Random(seed)
    atoms = [P, Q, R, *(ex.compare(op, M, const(k)) for op in ("eq", "ne", "lt", "le") for k in (0, 1, 2))]
    atoms += [ex.compare("lt", N, const(k)) for k in (0, 1, 2)] + [ex.compare("le", M, N), ex.compare("eq", M, N)]

    def literal() -> Expr:
        atom = chance.choice(atoms)
        return ex.lnot(atom) if chance.random() < 0.5 else atom

    def clause() -> Expr:
        found = literal()
        for _ in range(chance.randrange(3)):
            found = ex.lor(found, literal()) if chance.random() < 0.8 else ex.land(found, literal())
        return found

    conditions = [c for c in (clause() for _ in range(chance.randrange(1, 7))) if c not in (ex.TRUE, ex.FALSE)]
    kept = left(conditions, [N])
    for value in range(-2, 4):
        assert _allowed(conditions, (M, P, Q, R), N, value) == _allowed(kept, (M, P, Q, R), N, value), (value, kept)


def context(
    value: Expr, *conditions: Expr, span: SourceSpan = SPAN, assumptions: tuple[str, ...] = ()
) -> LaunchContext:
    return LaunchContext(
        LaunchSummary("launch", span, ("1", "1", "1"), ("n", "1", "1")),
        bindings=((BDIM[0], ex.cast(value, ex.U32)), (ex.sym("param:n", I32), value)),
        constraints=tuple(facts(*conditions)),
        assumptions=assumptions,
    )


def test_what_callers_call_their_values_does_not_matter() -> None:
    one = context(A, ex.compare("lt", A, B), assumptions=("x",))
    two = context(N, ex.compare("lt", N, M), assumptions=("y",))
    assert merged([one, two]) == (replace(one, assumptions=("x", "y")),)
    assert merged([one, context(N, ex.compare("lt", M, N))]) == (one, context(N, ex.compare("lt", M, N)))
    elsewhere = context(N, ex.compare("lt", N, M), span=OTHER_SPAN)
    assert merged([one, elsewhere]) == (one, elsewhere), "another launch is told by itself"


def test_a_way_on_which_more_is_known_allows_nothing_new() -> None:
    wide = context(A, ex.compare("lt", A, B))
    narrow = context(N, ex.compare("lt", N, M), ex.compare("lt", const(0), N), assumptions=("y",))
    for order in ([wide, narrow], [narrow, wide]):
        (found,) = merged(order)
        assert found == replace(wide, assumptions=("y",))
    other = context(A, ex.compare("lt", const(0), A))
    assert len(merged([wide, other])) == 2
