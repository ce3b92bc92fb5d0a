"""A proof is made once for all launches that do not bear on it; what they say is used where a proof needs it."""

from collections.abc import Callable

import pytest

from analyzers.engine import Engine
from analyzers.model import KernelResult, Verdict
from analyzers.requests import CheckRequest, KernelFinished
from analyzers.solve.ladder import Ladder
from analyzers.solve.query import Answer, Query

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
