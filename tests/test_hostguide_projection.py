"""What only the host knows is projected away from launches, and nothing that restricts the kernel is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import hostguide_cases as hg
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
    not_both = ex.lnot(ex.land(R, ex.compare("lt", N, const(64))))
    assert not_both.op == "lnot"
    assert left([not_both, ex.lor(small, ex.lor(ex.lnot(R), P))], [N]) == []


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


@pytest.mark.parametrize("seed", range(100))
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
        return ex.lnot(found) if chance.random() < 0.2 else found

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


def test_which_memory_is_the_same_tells_ways_apart() -> None:
    """On one way the kernel reads what it writes."""
    found = hg.by_name(
        hg.guide("""
        __device__ float v[4096];
        __global__ void k(float *p, const float *q, int n) { p[threadIdx.x] = v[threadIdx.x + 1]; }
        static void go(float *p, const float *q, int n) { k<<<1, 256>>>(p, q, n); }
        void one(float *b, int n) { if (n > 1024) go(v, b, n); }
        void two(float *b, int n) { go(b, v, n); }
        """)
    )["k"]
    variable = [dict(c.variables)["v"] for c in found]
    assert sorted(dict(c.pointers)["p"].allocation == v for c, v in zip(found, variable, strict=True)) == [False, True]


def test_which_memory_variables_point_to_tells_ways_apart() -> None:
    for order in ("if (c) go(a, n); else go(b, n);", "if (c) go(b, n); else go(a, n);"):
        found = hg.by_name(
            hg.guide(f"""
            #include <cuda_runtime.h>
            __device__ float *v;
            __global__ void k(float *p, int n) {{ p[threadIdx.x] = v[threadIdx.x + 1]; }}
            static void go(float *p, int n) {{ k<<<1, 256>>>(p, n); }}
            void run(int n, bool c) {{
              float *a, *b;
              cudaMalloc(&a, 4096);
              cudaMalloc(&b, 4096);
              cudaMemcpyToSymbol(v, &a, sizeof(a));
              {order}
            }}
            """)
        )["k"]
        same = {dict(c.pointers)["p"].allocation == dict(c.stored)["v"] for c in found}
        assert same == {False, True}, "on one way the kernel reaches its memory through both"


def test_what_is_assumed_of_what_a_choice_is_made_among_is_assumed() -> None:
    context = hg.only("""
        void trace(int);
        void start() { trace(2); }
        __global__ void k(float *o, int n, int m) { o[threadIdx.x * m + n] = 1; }
        class Rows {
         public:
          void fill(bool c) {
            int n = c ? a_ : b_;
            start();
            int m = c ? a_ : b_;
            k<<<8, 256>>>(cells_, n, m);
          }
          void grow() { a_ = 9; b_ = 8; }
         private:
          float *cells_;
          int a_, b_;
        };
        extern Rows *shared;
        """)
    assert any("`start` leaves `a_`, `b_` as they are" in text for text in context.assumptions)


def test_a_check_of_many_things_leaves_room_for_the_next() -> None:
    members = [f"m{i}" for i in range(32)]
    bad = " || ".join(f"p.{m} < 0 || p.{m} > 1000" for m in members)
    used = " + ".join(f"p.{m}" for m in members)
    context = hg.only(f"""
        struct P {{ int w, pitch, {", ".join(members)}; }};
        __global__ void k(float *o, P p) {{ o[threadIdx.x] = p.w + p.pitch + {used}; }}
        void run(float *o, P p) {{
          if ({bad}) return;
          if (p.w > p.pitch) return;
          k<<<8, 256>>>(o, p);
        }}
        """)
    values = {s.value: v for s, v in context.bindings}
    w, pitch = values["param:p.w"], values["param:p.pitch"]
    assert any({w, pitch} == ex.symbols(c.condition) for c in context.constraints)


def test_a_choice_is_told_as_one_and_not_by_what_it_is_made_among() -> None:
    context = hg.only("""
        struct I { int w, pitch, rows; };
        __global__ void k(float *o, int w, int pitch) { o[blockIdx.y * pitch + w] = 1; }
        void run(float *o, I a, I b, bool c) {
          k<<<dim3(64, c ? a.rows : b.rows), 256>>>(o, c ? a.w : b.w, c ? a.pitch : b.pitch);
        }
        """)
    assert context.summary.grid[1] == "c ? a.rows : b.rows"
    values = {s.value: str(v.value).split(":", 2)[-1] for s, v in context.bindings}
    assert values["param:w"] == "(c ? a.w : b.w)"
    assert values["param:pitch"] == "(c ? a.pitch : b.pitch)"


def test_many_alternatives_are_no_matter_of_depth() -> None:
    many = ex.lor(P, Q)
    for i in range(3000):
        many = ex.make("lor", BOOL, (many, truth(f"x{i}")))
    assert left([many], [N]) == []
