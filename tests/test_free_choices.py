"""Facts about what the host compares and nothing depends on are dropped where they can be met whatever the rest is."""

import itertools
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.engine import Engine
from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.expr import BOOL, I32, Expr
from analyzers.races.free_choices import without_free_choices
from analyzers.races.threads import Launch
from analyzers.requests import CheckRequest
from analyzers.solve.query import Fact

CHOICES = tuple(E.sym(f"host:{i}:path#{i}", BOOL) for i in range(4))
USED = E.sym("host:9:clear", BOOL)
SIZE = E.sym("host:10:n", I32)
SIZES = range(3)


def conditions() -> st.SearchStrategy[Expr]:
    leaves = st.sampled_from([*CHOICES, USED, *(E.compare("eq", SIZE, E.const(n, I32)) for n in SIZES)])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(E.lnot),
            st.tuples(inner, inner).map(lambda two: E.land(*two)),
            st.tuples(inner, inner).map(lambda two: E.lor(*two)),
            st.tuples(inner, inner, inner).map(lambda three: E.select(*three)),
            st.tuples(inner, inner).map(lambda two: E.compare("ne", *two)),
        ),
        max_leaves=8,
    )


def met(facts: list[Fact]) -> set[tuple[int, int]]:
    """For which values of what is used there are choices with which all facts hold."""
    found: set[tuple[int, int]] = set()
    for clear, n, *chosen in itertools.product((0, 1), SIZES, *[(0, 1)] * len(CHOICES)):
        values = {USED: clear, SIZE: n, **dict(zip(CHOICES, chosen, strict=True))}
        if all(evaluate(f.condition, values) == 1 for f in facts):
            found.add((clear, n))
    return found


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(conditions(), min_size=1, max_size=5))
def test_what_is_left_is_met_by_the_same_values(found: list[Expr]):
    facts = [Fact(c, tag) for tag, c in enumerate(found)]
    left = without_free_choices(facts, {USED})
    assert [f.tag for f in left] == [f.tag for f in facts]
    assert met(left) == met(facts)


def test_a_choice_of_which_both_ways_are_wanted_is_not_made():
    a, b, c = CHOICES[:3]
    facts = [Fact(E.lor(a, b), 0), Fact(E.lor(E.lnot(a), USED), 1), Fact(E.lor(c, USED), 2)]
    left = without_free_choices(facts, {USED})
    assert [f.condition for f in left] == [E.TRUE, E.TRUE, E.TRUE]
    facts += [Fact(E.lnot(b), 3)]
    assert [f.condition for f in without_free_choices(facts, {USED})][:2] == [facts[0].condition, facts[1].condition]


PART = """
__global__ void part(float *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) out[i] = i;
}
void run(float *out, int n) { if (n > 0) part<<<(n + 63) / 64, 64>>>(out, n); }
"""


def test_a_choice_that_an_argument_is_made_of_is_none():
    (analysis,) = Engine().analyse(CheckRequest("/part.cu", PART)).kernels
    (context,) = analysis.contexts
    (known,) = context.constraints
    path = E.sym("host:7:path", BOOL)
    said = E.lor(E.lnot(path), E.compare("le", E.sym("host:1:n", I32), E.const(9, I32)))
    context = replace(context, constraints=(known, replace(known, condition=said)))
    assert [f.condition for f in Launch(analysis.decisive, context).facts][-2:] == [known.condition, E.TRUE]
    n, value = next((s, v) for s, v in context.bindings if v in E.symbols(said))
    chosen = E.select(path, value, E.const(64, I32))
    passed = replace(context, bindings=tuple((s, chosen if s is n else v) for s, v in context.bindings))
    assert [f.condition for f in Launch(analysis.decisive, passed).facts][-2:] == [known.condition, said]
