"""Whether a thread that is alone may stay in a loop."""

from __future__ import annotations

import pytest
from lowering import kernel

from analyzers.ir import expr as E
from analyzers.ir.spins import deciding_reads
from analyzers.ir.staying import Staying, staying
from analyzers.solve.ladder import Budget, Ladder
from analyzers.solve.query import Proved, Query, Satisfied

KERNEL = """__global__ void k(int *p, int *q, int n, int c) {{
  __shared__ int s[64], more;
  __shared__ volatile int v[64];
  int t = threadIdx.x, i = t, j = 0, lo = 0, hi = 64, old = 0;
  {loop}
  q[t] = i + j + lo + hi + old;
}}
"""


def loop(text: str) -> tuple[Staying, frozenset[int]]:
    """The first loop of the text that goes on by what it reads, and the reads that decide it."""
    deciding = next(iter(deciding_reads(kernel(KERNEL.format(loop=text))).values()))
    return staying(deciding.loop, deciding.flow), deciding.reads


def is_possible(condition: E.Expr) -> bool:
    if condition is E.FALSE:
        return False
    answer = Ladder(Budget()).decide(Query(E.conjuncts(condition)))
    assert isinstance(answer, (Proved, Satisfied))
    return isinstance(answer, Satisfied)


@pytest.mark.parametrize(
    "text",
    [
        "while (p[0] == 0);",
        "while (v[t] == 0) j++;",
        "while (atomicAdd(&p[0], 0) < n) j *= 2;",
        "while (atomicCAS(&p[0], 0, 1) != 0);",
        "while (atomicExch(&p[0], 1) != 0);",
        "while (atomicAdd(&p[0], 1) & 64) atomicSub(&p[0], 1);",
        "while (j < 32) { if (s[j]) j++; }",
        "do { j = 0; for (int m = 0; m < 32; m++) j += s[m]; } while (j < 32);",
        "do { j = 99; for (int m = 0; m < 4; m++) j = min(j, p[m]); } while (j < n);",
        "while (!old) old |= p[0];",
        "while (old < 1) old += p[0];",
        "while (!old) if (atomicCAS(&p[0], 0, 1) == 0) { q[0]++; atomicExch(&p[0], 0); old = 1; }",
        "while (true) { if (j > 9) { if (p[0]) break; continue; } if (p[1] == n) break; }",
        "while (p[0] == 0) { if (++j > 16) { q[1] = j; j = 0; } }",
        "while (!__any_sync(~0u, t == 3 && v[0])) {}",
        "auto f = [&] { for (int m = 0; m < 4; m++) if (p[m]) return m; return -1; }; while (f() >= 0);",
        "do { s[0] = 1; s[n] = 0; } while (s[0] == 0);",
        "do { s[0] = 256; } while (*(char *)&s[0] == 0);",
        "while (j >= 0) { if (atomicCAS(&p[j], 1, 2) == 1) j = q[j]; }",
    ],
)
def test_who_waits_for_others_stays(text: str) -> None:
    found, reads = loop(text)
    assert any(is_possible(found.stays_with(read)) for read in reads)


@pytest.mark.parametrize(
    "text",
    [
        "for (int m = 0; m < p[0]; m++) j += m;",
        "for (; i < p[0]; i += n) j++;",
        "while ((i = atomicAdd(&p[0], 1)) < n) q[i] = 1;",
        "do { lo = old; old = atomicCAS(&p[0], lo, lo + c); } while (old != lo);",
        "while (atomicCAS(&s[i], -1, c) != -1) i = (i + 1) & 63;",
        "while (lo < hi) { int m = (lo + hi) / 2; if (s[m] < c) lo = m + 1; else hi = m; }",
        "while (i < n && j < n) { if (p[i] <= p[j]) i++; else j++; }",
        "while (i >= 0) i = p[i];",
        "while (p[i] != i) i = p[i];",
        "while (s[0] > 0) s[0] = max(0, s[0] - 64);",
        "while (more) { int best = min(s[t], s[t + 1] + 1); more = 0; if (best < s[t]) { s[t] = best; more = 1; } }",
        "while (p[j & 1] > 0) j ^= 1;",
        "for (;;) { if (j == 0) i = atomicAdd(&p[0], 1); i = __shfl_sync(~0u, i, 0); if (i >= n) break; q[i] = 1; }",
        "while ((old = atomicMax(&p[0], c)) < c) {}",
        "while (p[j & 63] != c) { " + " ".join(f"if (p[{m}]) j += {m}; else j += c;" for m in range(40)) + " j++; }",
    ],
)
def test_what_moves_on_by_itself_does_not_stay(text: str) -> None:
    found, reads = loop(text)
    assert not any(is_possible(found.stays_with(read)) for read in reads)


@pytest.mark.parametrize(
    ("text", "value", "ends"),
    [
        ("while (p[0] == 0);", 1, True),
        ("while (p[0] == 0);", 0, False),
        ("while (s[0]) {}", 1, False),
        ("while (s[0]) {}", 0, True),
        ("for (int m = 0; m < n; m++) { if (atomicAdd(&p[0], 0)) break; }", 0, False),
        ("for (int m = 0; m < n; m++) { if (atomicAdd(&p[0], 0)) break; }", 2, True),
        ("while (!old) { if (atomicAdd(&p[0], 0) != 0) old = 1; }", 3, True),
        ("while (!old) { if (atomicAdd(&p[0], 0) != 0) old = 1; }", 0, False),
        ("while (p[0] < n);", 1, True),
        ("while (atomicCAS(&s[i], -1, c) != -1) i = (i + 1) & 63;", 5, False),
        ("while (atomicCAS(&s[i], -1, c) != -1) i = (i + 1) & 63;", -1, True),
    ],
)
def test_a_value_ends_a_loop_that_would_go_on(text: str, value: int, ends: bool) -> None:
    found, reads = loop(text)
    assert is_possible(found.ends_with(max(reads), E.const(value))) == ends
