"""What the front end makes of a text does the same as the IR written beside it, and computes what C computes."""

from collections import Counter
from collections.abc import Generator
from dataclasses import replace
from functools import cache

import pytest
from generated_kernels import kernels
from hypothesis import HealthCheck, given, settings

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.lower import lower_unit
from analyzers.frontend.parse import UnitParser
from analyzers.ir.kernel import Kernel
from analyzers.reference.generator import Flavour, GeneratedKernel
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch
from analyzers.reference.result import RunResult

quickly = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@cache
def parser() -> UnitParser:
    return UnitParser()


@pytest.fixture(autouse=True, scope="module")
def _warm_parser() -> Generator[None, None, None]:
    """The front end raises the recursion limit once: not in the middle of a property test. libclang's objects go while
    it is still loaded."""
    lowered("__global__ void k() {}")
    yield
    parser.cache_clear()


def lowered(text: str) -> Kernel:
    unit = lower_unit(parser().parse("/generated/kernel.cu", text, CompileFlags()))
    assert not unit.skipped
    (kernel,) = unit.kernels
    return kernel


def trace(kernel: Kernel, launch: ConcreteLaunch, values: bool) -> tuple[str, set[str], Counter[tuple[object, ...]]]:
    result = run(kernel, launch)
    shown = {o.name: o.display or o.name for o in kernel.objects}
    accesses: Counter[tuple[object, ...]] = Counter(
        (
            shown[a.object], a.instance, a.offset, a.width, a.kind, a.thread, a.epoch, a.in_bounds,
            tuple(i for _, i in a.iterations), a.value if values else 0,
        )
        for a in result.accesses
    )  # fmt: skip
    return result.outcome, result.undefined, accesses


@quickly
@given(kernels(Flavour(statements=8)))
def test_text_and_ir_make_the_same_accesses(generated: GeneratedKernel):
    kernel = lowered(generated.text)
    assert trace(kernel, generated.launch, values=False) == trace(generated.kernel, generated.launch, values=False)


@quickly
@given(kernels(Flavour(data=True, statements=8)))
def test_text_and_ir_compute_the_same_values(generated: GeneratedKernel):
    """With one thread, so that no race makes values a matter of luck."""
    kernel, launch = lowered(generated.text), replace(generated.launch, grid=(1, 1, 1), block=(1, 1, 1))
    assert trace(kernel, launch, values=True) == trace(generated.kernel, launch, values=True)


def executed(body: str, threads: int = 32) -> RunResult:
    text = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
    result = run(
        lowered(f"{text}__global__ void k(int *out, float4 *v) {{ {body} }}"), ConcreteLaunch(block=(threads, 1, 1))
    )
    assert result.outcome == "finished", result.reason
    return result


def ints(result: RunResult, count: int) -> list[int]:
    return [result.read("out", 4 * i, 4) for i in range(count)]


def test_vectors_keep_their_parts():
    body = """
      __shared__ float4 s[32]; int i = threadIdx.x;
      float4 w; w.x = i; w.y = 2 * i; w.z = 3; w.w = 4;
      s[i] = w;
      __syncthreads();
      float4 r = s[i ^ 1];
      r.x += s[i].y;
      v[i] = r;
      out[i] = (int)v[i].x * 100 + (int)r.y * 10 + (int)r.z;
    """
    assert ints(executed(body), 3) == [123, 203, 763]


def test_a_shuffle_reduction():
    body = """
      int s = threadIdx.x;
      for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffff, s, o);
      if (threadIdx.x == 0) out[0] = s;
    """
    assert ints(executed(body), 1) == [496]


def test_votes_and_bit_tricks():
    body = """
      int t = threadIdx.x;
      out[0] = __popc(__ballot_sync(0xffffffff, t < 5));
      out[1] = __any_sync(0xffffffff, t == 7) + 2 * __all_sync(0xffffffff, t == 7);
      out[2] = __ffs(8) + __clz(1) + (__brev(1u) == 0x80000000u);
      out[3] = __syncthreads_count(t & 1);
    """
    assert ints(executed(body), 4) == [5, 1, 36, 16]


@pytest.mark.parametrize(("condition", "missed"), [("t < 4", False), ("t / 4 % 3 == 1", False), ("t < 6", True)])
def test_a_shuffle_of_a_group_waits_for_the_threads_of_its_own_tile(condition: str, missed: bool) -> None:
    kernel = lowered(f"""#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *out) {{
  auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  int t = threadIdx.x, v = t;
  if ({condition}) v = tile.shfl(v, 1);
  __syncthreads();
  out[t] = v;
}}
""")
    result = run(kernel, ConcreteLaunch(block=(64, 1, 1), arrays={"out": [0] * 64}))
    assert bool(result.divergences) == missed
    assert [result.read("out", 4 * t, 4) for t in range(4)] == ([1] * 4 if "<" in condition else [0, 1, 2, 3])
