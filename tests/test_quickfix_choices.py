"""What is offered, and never applied by itself, where no barrier orders the writes of one statement."""

from __future__ import annotations

from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers, fix_all

PATH = "/choices/a.cu"


def offered(kernel: str, grid: int = 1) -> tuple[str, list[Fix]]:
    text = f"// cuda-lsp: launch grid=({grid}) block=(64)\n__global__ void k(int *out, int n) {{\n{kernel}\n}}\n"
    request = CheckRequest(PATH, text)
    found = list(answers(Engine(), request))
    assert any(isinstance(a, FixRefusal) and "one execution" in a.text for a in found)
    assert isinstance(fix_all(Engine(), request), FixRefusal)
    return text, [a for a in found if isinstance(a, Fix)]


def test_one_thread_writes_or_all_exchange() -> None:
    text, fixes = offered("  int t = threadIdx.x;\n  out[blockIdx.x] = t;", grid=2)
    assert [f.kind for f in fixes] == ["restructure", "use-atomic"]
    assert not any(f.preferred for f in fixes)
    one, other = (applied(text, f.edits) for f in fixes)
    assert "  if (threadIdx.x == 0) out[blockIdx.x] = t;\n" in one
    assert "  atomicExch(&out[blockIdx.x], t);\n" in other
    for after in (one, other):
        (kernel,) = Engine().analyse(CheckRequest(PATH, after)).result.kernels
        assert kernel.verdict is Verdict.RACE_FREE


def test_one_thread_of_the_grid_where_blocks_mean_one_cell() -> None:
    text, fixes = offered("  out[0] = threadIdx.x + n;", grid=2)
    assert "if (blockIdx.x == 0 && threadIdx.x == 0) out[0]" in applied(text, fixes[0].edits)


def test_no_thread_is_chosen_that_does_not_write() -> None:
    _, fixes = offered("  if (threadIdx.x > 3) {\n    out[0] = threadIdx.x;\n  }")
    assert not fixes


def test_no_thread_is_chosen_where_cells_differ() -> None:
    _, fixes = offered("  out[threadIdx.x / 2] = threadIdx.x;")
    assert not fixes


def test_a_value_that_acts_is_evaluated_by_all() -> None:
    _, fixes = offered("  int t = threadIdx.x;\n  out[0] = t++;")
    assert not fixes
