"""Races that were there before an edit takes barriers away: no worse for it only where other barriers keep all but
one execution of the access apart."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Access, Fix, UnitResult, Verdict
from analyzers.requests import CheckRequest, UnitFinished, never
from quickfix import fix_for
from quickfix.removal import deletion_of
from quickfix.session import Session
from quickfix.verify import findings_of

ROWS = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void rows(float *out, const float *in, const int *begin, const int *end) {
  __shared__ float s[64];
  int t = threadIdx.x;
  for (int i = begin[t]; i < end[t]; i++) {
    s[t] = in[i];
    __syncthreads();
    out[i] = s[(t + 1) % 64];
    __syncthreads();
  }
}
"""


def checked(text: str) -> UnitResult:
    (unit,) = [e.result for e in Engine().check(CheckRequest("/loosened/a.cu", text)) if isinstance(e, UnitFinished)]
    return unit


def races(unit: UnitResult) -> set[tuple[str, ...]]:
    found = (f for k in unit.kernels for f in findings_of(k) if f.code is Verdict.POSSIBLE_DATA_RACE)
    return {tuple(a.text for a in f.accesses) for f in found}


def test_rows_that_may_overlap_do_not_keep_their_loop_from_being_made_uniform() -> None:
    unit = checked(ROWS)
    assert races(unit) == {("out[i]", "out[i]")}
    missed = next(f for k in unit.kernels for f in findings_of(k) if f.code is Verdict.BARRIER_DIVERGENCE)
    fix = fix_for(Engine(), CheckRequest("/loosened/a.cu", ROWS), missed.group)
    assert isinstance(fix, Fix), fix
    after = checked(applied(ROWS, fix.edits))
    codes = {f.code for k in after.kernels for f in findings_of(k)}
    assert codes == {Verdict.POSSIBLE_DATA_RACE}
    assert races(after) == {("out[i]", "out[i]")}


LOOP = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void scatter(int *out, const int *at, int *sum) {{
  int t = threadIdx.x;
  for (int r = 0; r < 3; r++) {{
    out[at[t]] = r + t;
    __syncthreads(); // the first
    sum[t] += r;{second}
  }}
}}
"""


@pytest.mark.parametrize(
    ("second", "clean"),
    [("\n    __syncthreads();", True), ("", False), ("\n    if (t < 32) __syncwarp();", False)],
    ids=["barrier", "none", "warp"],
)
def test_without_a_barrier_the_iterations_must_be_apart_still(second: str, clean: bool) -> None:
    text = LOOP.format(second=second)
    session = Session.open(Engine(), CheckRequest("/loosened/a.cu", text), never)
    at = text.index("__syncthreads")
    site = next(s for k in session.result.kernels for s in k.barrier_sites if s.start_offset == at)
    (kernel,) = session.kernels
    number = next(b.id for b in kernel.events.barriers if b.site.span == site)
    changes = deletion_of(session, Access(number, site, "barrier", 0, "__syncthreads()"))
    assert isinstance(changes, dict), changes
    difference = session.trial(changes, frozenset()).difference
    assert difference.is_clean == clean
    assert bool(difference.loosened) != clean
