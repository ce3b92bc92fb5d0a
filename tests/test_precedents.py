"""What was found in one instance of a template helps to look in the next, and decides nothing about it."""

from analyzers.engine import Engine
from analyzers.model import KernelResult, Verdict
from analyzers.requests import CheckRequest, KernelFinished

SEARCHES = {"guess", "enumerate", "cpsat", "smt"}

KERNEL = """
template <int KIND>
__global__ void accumulate(float *sums, const float *values, int rows, int columns)
{
    int row = blockIdx.x, column = blockIdx.y * 64 + threadIdx.x;
    if (column >= columns) return;
    if (KIND != 9 && blockIdx.z == 0) sums[row * columns + column] = 0.0f;
    atomicAdd(&sums[row * columns + column], KIND * values[(blockIdx.z * rows + row) * columns + column]);
}
struct Layer { int kind; int parts; };
"""

HOST = """
void run(const Layer &layer, float *sums, const float *values, int rows, int columns)
{
    dim3 grid(rows, (columns + 63) / 64, layer.parts);
    if (layer.kind == 1) accumulate<1><<<grid, 64>>>(sums, values, rows, columns);
    else if (layer.kind == 7) accumulate<7><<<grid, 64>>>(sums, values, rows, columns);
    else if (layer.kind == 9) accumulate<9><<<grid, 64>>>(sums, values, rows, columns);
    else if (layer.kind == 12 && LIMIT) accumulate<12><<<grid, 64>>>(sums, values, rows, columns);
}
"""


def results(limit: str) -> dict[str, KernelResult]:
    """By name, checked in the order of the launches."""
    request = CheckRequest("/instances.cu", KERNEL + HOST.replace("LIMIT", limit))
    return {e.result.name: e.result for e in Engine().check(request) if isinstance(e, KernelFinished)}


def searched(result: KernelResult) -> set[str]:
    """The rungs that had to search for values."""
    return {rung for c in result.contexts for rung, _ in c.rungs} & SEARCHES


def test_values_that_pick_the_instance_are_looked_for_anew():
    found = results("true")
    assert found["accumulate<1>"].verdict is Verdict.DATA_RACE
    assert searched(found["accumulate<1>"])
    for name in ("accumulate<7>", "accumulate<12>"):
        assert found[name].verdict is Verdict.DATA_RACE
        assert not searched(found[name]), name


def test_an_instance_without_the_race_has_none():
    assert results("true")["accumulate<9>"].verdict is Verdict.RACE_FREE


def test_an_instance_whose_launch_excludes_the_race_has_none():
    assert results("layer.parts == 1")["accumulate<12>"].verdict is Verdict.RACE_FREE
