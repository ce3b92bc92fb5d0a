"""Plain reads that start compare-and-swap loops."""

from __future__ import annotations

from expectations import check
from lowering import kernel

from analyzers.ir.retries import retried_reads
from analyzers.model import Verdict


def reads(body: str) -> list[int]:
    """Ids of the loads that only swaps take, in a kernel with these statements."""
    return sorted(retried_reads(kernel(f"__global__ void k(int *p, int *q) {{ int t = threadIdx.x; {body} }}")))


def test_the_loop_of_the_programming_guide() -> None:
    loop = "int old = *p, seen; do { seen = old; old = atomicCAS(p, seen, seen * 3); } while (seen != old);"
    assert reads(loop) == [1]
    assert reads(loop + " q[t] = old;") == [1]


def test_other_forms_of_the_loop() -> None:
    assert reads("int now = *p, was; while ((was = atomicCAS(p, now, now + t)) != now) now = was;") == [1]
    assert reads(
        "int now = *p; for (;;) { int was = atomicCAS(p, now, 2 * now); if (was == now) break; now = was; }"
    ) == [1]


def test_a_value_that_goes_elsewhere() -> None:
    assert reads("int now = *p, was; q[t] = now; while ((was = atomicCAS(p, now, now + 1)) != now) now = was;") == []
    assert reads("int now = *p; if (now > 7) return; atomicCAS(p, now, now + 1);") == []
    assert reads("int now = *p; atomicCAS(&p[now], now, now + 1);") == []
    assert reads("int now = *p; atomicCAS(p, now, now + 1); atomicAdd(q, now);") == []


def test_the_first_value_kept_past_the_loop() -> None:
    loop = "int now = *p, first = now, was; while ((was = atomicCAS(p, now, now + 1)) != now) now = was;"
    assert reads(loop + " q[t] = first;") == []


def test_a_plain_write_stays_a_race() -> None:
    text = """
    // cuda-lsp: launch grid=(1) block=(64)
    __global__ void k(int *p) {
      int now = *p, was;
      while ((was = atomicCAS(p, now, now * 3)) != now) now = was;
      if (threadIdx.x == 5) *p = 0;
    }
    """
    (found,) = check(text).unit.kernels
    assert found.verdict is Verdict.DATA_RACE
    codes = [f.code for c in found.contexts for f in c.findings]
    assert codes.count(Verdict.DATA_RACE) == 2
    assert codes.count(Verdict.BENIGN_RACE) == 1
