"""A proof is made once for all launches that do not bear on it; what they say is used where a proof needs it."""

from collections.abc import Callable, Iterator

import pytest

from analyzers.engine import Engine
from analyzers.ir import expr as E
from analyzers.model import KernelResult, Verdict
from analyzers.races import asking
from analyzers.races.acquire_release import AcquireRelease
from analyzers.races.pairs import Pair
from analyzers.races.threads import Mode
from analyzers.requests import CheckRequest, KernelFinished
from analyzers.solve.ladder import QUICK_STEPS, Ladder
from analyzers.solve.query import Answer, Proved, Query, Undecided, identity

TEMPLATE = """
template <int KIND>
__global__ void blend(float *out, const float *in, int pitch, int columns)
{
    int row = blockIdx.y, column = blockIdx.x * 64 + threadIdx.x;
    if (column >= columns) return;
    float sum = 0;
    for (int i = 0; i < KIND; i++) sum += in[row * pitch + (column + i) % columns];
    out[row * pitch + column] = sum;
}
struct Layer { int kind; };
void run(const Layer &layer, float *out, const float *in, int pitch, int rows, int columns)
{
    if (LIMIT) return;
    dim3 grid((columns + 63) / 64, rows);
    if (layer.kind == 3) blend<3><<<grid, 64>>>(out, in, pitch, columns);
    else if (layer.kind == 5) blend<5><<<grid, 64>>>(out, in, pitch, columns);
    else if (layer.kind == 9) blend<9><<<grid, 64>>>(out, in, pitch, columns);
}
"""


def results(limit: str) -> list[tuple[KernelResult, int]]:
    """Each kernel with the number of questions that went up the ladder for it."""
    asked: list[Query] = []
    decide = Ladder.decide

    def counted(self: Ladder, query: Query, *wraps: Callable[[], bool]) -> Answer:
        asked.append(query)
        return decide(self, query, *wraps)

    out: list[tuple[KernelResult, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ladder, "decide", counted)
        for event in Engine().check(CheckRequest("/blend.cu", TEMPLATE.replace("LIMIT", limit))):
            if isinstance(event, KernelFinished):
                out.append((event.result, len(asked)))
                asked.clear()
    return out


def test_what_picks_an_instance_asks_nothing_anew():
    found = results("pitch < columns")
    assert [k.verdict for k, _ in found] == [Verdict.RACE_FREE] * 3
    assert not any(questions for _, questions in found), "proved without what picks the instance"


def test_what_a_proof_needs_of_other_values_is_used():
    """That the pitch is wide enough follows only with the rows of another value."""
    found = results("layer.kind < columns || pitch < layer.kind")
    assert [k.verdict for k, _ in found] == [Verdict.RACE_FREE] * 3
    assert all(c.facts for k, _ in found for c in k.contexts)


def test_without_it_there_is_no_proof():
    assert all(k.verdict is not Verdict.RACE_FREE for k, _ in results("pitch < 1"))


def check(text: str) -> KernelResult:
    """The one kernel of a text."""
    (found,) = (e.result for e in Engine().check(CheckRequest("/one.cu", text)) if isinstance(e, KernelFinished))
    return found


def test_what_the_ladder_proved_is_not_looked_for_by_algebra_again(monkeypatch: pytest.MonkeyPatch):
    """Sums that may wrap around, in a kernel whose pairs are left to that by a proof at length."""
    proved: list[tuple[object, ...]] = []
    at_length: list[tuple[object, ...]] = []
    decide = Ladder.decide

    def decided(self: Ladder, query: Query, *wraps: Callable[[], bool]) -> Answer:
        answer = decide(self, query, *wraps)
        if isinstance(answer, Proved):
            proved.append(identity(query))
        return answer

    def unproved(self: Ladder, query: Query, steps: int = 0) -> None:
        if steps > QUICK_STEPS and identity(query) in proved:
            at_length.append(identity(query))

    monkeypatch.setattr(Ladder, "decide", decided)
    monkeypatch.setattr(Ladder, "proof", unproved)
    text = """
    __global__ void rows(int *out, unsigned pitch)
    {
        if (threadIdx.x < pitch) out[blockIdx.x * pitch + threadIdx.x] = 1;
    }"""
    kernel = check(text)
    assert kernel.verdict is Verdict.RACE_FREE
    assert any("wrap" in a for c in kernel.contexts for a in c.assumptions)
    assert proved
    assert not at_length


@pytest.mark.parametrize(("limit", "order"), [(7, "by signals"), (E.I32.high, "by locks")])
def test_the_order_that_leaves_least_is_asked_for_at_length_first(
    limit: int, order: str, monkeypatch: pytest.MonkeyPatch
):
    """Where locks may not order a pair and signals do, what locks do is asked briefly only."""
    size = E.sym("param:size", E.I32)

    def orders(self: AcquireRelease, pair: Pair, mode: Mode) -> Iterator[tuple[E.Expr, frozenset[str]]]:
        yield E.compare("lt", E.const(limit, E.I32), size), frozenset({"by locks"})
        yield E.FALSE, frozenset({"by signals"})

    asked: list[E.Expr] = []
    decide = Ladder.decide

    def decided(self: Ladder, query: Query, *wraps: Callable[[], bool]) -> Answer:
        asked.extend(query.conjuncts)
        return decide(self, query, *wraps)

    brief = Ladder.brief

    def briefly(self: Ladder, query: Query, *wraps: Callable[[], bool]) -> Answer:
        of_locks = size in E.symbols(*query.conjuncts)
        return brief(self, query, *wraps) if of_locks else Undecided("not-applicable")

    monkeypatch.setattr(asking, "_answers", {})
    monkeypatch.setattr(AcquireRelease, "unordered", orders)
    monkeypatch.setattr(Ladder, "decide", decided)
    monkeypatch.setattr(Ladder, "brief", briefly)
    kernel = check("__global__ void all(int *out, int size) { out[0] = threadIdx.x; }")
    assert kernel.verdict is Verdict.RACE_FREE
    assert [a for c in kernel.contexts for a in c.assumptions if a.startswith("by ")] == [order]
    assert asked
    assert size not in E.symbols(*asked)
