"""A check without replays asks the same pairs, and calls no race definite."""

from __future__ import annotations

from analyzers.engine import Engine
from analyzers.model import CheckOptions, KernelResult, Verdict
from analyzers.requests import CheckRequest

TEXT = """
__global__ void shift(int *a) {
  int t = threadIdx.x;
  a[t] = a[t + 1];
  if (t < 3) __syncthreads();
}
void run(int *p) { shift<<<1, 64>>>(p); }
"""


def checked(options: CheckOptions) -> KernelResult:
    (kernel,) = Engine().analyse(CheckRequest("/replays/r.cu", TEXT, options=options)).result.kernels
    return kernel


def test_the_same_pairs_are_found() -> None:
    judged, asked = checked(CheckOptions()), checked(CheckOptions(replays=False))
    places = [
        {tuple(a.span for a in f.accesses) for c in k.contexts for f in c.findings if f.code is not code}
        for k in (judged, asked)
        for code in [Verdict.REDUNDANT_BARRIER]
    ]
    assert places[0] == places[1]
    assert len(places[0]) == 2
    assert judged.verdict is Verdict.DATA_RACE
    assert {f.code for c in asked.contexts for f in c.findings} == {
        Verdict.POSSIBLE_DATA_RACE,
        Verdict.BARRIER_DIVERGENCE,
    }


def test_another_warp_is_looked_for_only_where_it_is_told_how_sure_a_race_is() -> None:
    text = """
    __global__ void next(int *a, int n) {
      __shared__ int s[64];
      int t = threadIdx.x;
      s[t] = a[t];
      a[t] = s[t ^ n];
    }
    void run(int *p, int n) { next<<<1, 64>>>(p, n); }
    """
    scopes: list[str | None] = []
    for options in (CheckOptions(), CheckOptions(replays=False)):
        (kernel,) = Engine().analyse(CheckRequest("/replays/warps.cu", text, options=options)).result.kernels
        scopes += [f.scope for c in kernel.contexts for f in c.findings]
    assert scopes == ["intra-block", "intra-warp"]


def test_an_engine_keeps_both_answers_apart() -> None:
    engine = Engine()
    for options, verdict in (
        (CheckOptions(replays=False), Verdict.BARRIER_DIVERGENCE),
        (CheckOptions(), Verdict.DATA_RACE),
    ):
        (kernel,) = engine.analyse(CheckRequest("/replays/r.cu", TEXT, options=options)).result.kernels
        assert kernel.verdict is verdict


def test_every_pair_on_an_object_can_be_asked() -> None:
    writes = "".join(f"  a[(t + {i}) / 2] = {i};\n" for i in range(16))
    text = (
        f"__global__ void k(int *a) {{\n  int t = threadIdx.x;\n{writes}}}\nvoid run(int *p) {{ k<<<1, 64>>>(p); }}\n"
    )
    found: list[set[tuple[object, ...]]] = []
    for options in (CheckOptions(), CheckOptions(every_pair=True)):
        (kernel,) = Engine().analyse(CheckRequest("/replays/many.cu", text, options=options)).result.kernels
        (context,) = kernel.contexts
        assert any(r.kind == "not-examined" for r in context.reasons) != options.every_pair
        found.append({tuple(a.span for a in f.accesses) for f in context.findings})
    assert found[0] < found[1]
