"""Short loops written out do what they did as loops."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lowering import kernel, kernels
from lowering_cases import CASES, Case

from analyzers.ir.kernel import Block, Kernel, Loop, statements
from analyzers.ir.unrolling import unrolled
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch
from benchmarks.generated.kernels import sample, text_of


def written_out(k: Kernel) -> Kernel:
    own = {o.name for o in k.objects if o.space == "local" and o.kind != "unknown"}
    return replace(k, body=unrolled(k.body, own))


def loops(k: Kernel) -> int:
    return sum(isinstance(s, Loop) for s in statements(k.body))


def accesses(k: Kernel, launch: ConcreteLaunch) -> list[tuple[object, ...]]:
    result = run(k, launch)
    found = [(a.event, a.object, a.offset, a.thread, a.sync, a.value) for a in result.accesses]
    return [*sorted(found), (result.outcome, *sorted((d.kind, d.barrier) for d in result.divergences))]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_same_values(case: Case) -> None:
    k = kernel(case.text)
    launch = ConcreteLaunch(arrays={"in": list(case.given), "out": [0] * len(case.out)}, values={"n": 5})
    assert accesses(written_out(k), launch) == accesses(k, launch)


def test_the_same_accesses_in_random_kernels() -> None:
    samples = [s for s in map(sample, range(60)) if not s.steered and s.style != "none"]
    found = kernels(text_of(samples))
    changed = 0
    for s in samples:
        k = found[s.name]
        after = written_out(k)
        changed += loops(after) < loops(k)
        launch = s.launches[0].concrete[0]
        assert accesses(after, launch) == accesses(k, launch), s.name
        labels = [x.label for x in statements(after.body) if isinstance(x, (Block, Loop))]
        assert len(labels) == len(set(labels))
    assert changed >= 3


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("for (int i = 0; i < 4; ++i) if (n > i * 3) break; else s += i;", 0),
        ("int i = 0; while (true) { if (s > n) break; s += 2; if (++i == 5) break; }", 0),
        ("for (int i = 0; i < 4; ++i) { if (n > i) continue; s += i; }", 0),
        ("for (int i = 7; i >= 0; i -= 2) if (n >> i & 1) s ^= i;", 0),
        ("for (int i = 0; i < 4; ++i) s += i;", 1),  # has a closed form
        ("for (int i = 0; i < 40; ++i) if (n > i * 3) break; else s += i;", 1),  # too long
        ("for (int i = n; i < 4; ++i) if (s > 3) break; else s += i;", 1),  # nobody knows where it starts
        ("for (int i = 0; i < n; ++i) if (s > 3) break; else s += i;", 1),
        ("for (int i = 0; i < 4; ++i) if (n > i * 3) out[i] = 1;", 1),  # touches memory
        ("int a[4]; for (int i = 0; i < 4; ++i) a[i] = n * i; s = a[n & 3];", 0),
        ("int a[4]; for (int i = 0; i < 4; ++i) { a[i] = s; s += a[i] * 3; } s = a[3];", 0),
        ("int a[4]; for (int i = 3; i >= 0; --i) { a[i] = n; if (n > i) break; } s = a[3] + a[0];", 0),
        ("int a[4], b[4] = {3, 1, 0, 2}; for (int i = 0; i < 4; ++i) a[b[i]] = i; s = a[n & 3];", 0),
        ("float a[4]; for (int i = 0; i < 4; ++i) a[i] = n * i; s = a[n & 3];", 1),  # no place of anything
        ("int a[4]; for (int i = 0; i < 4; ++i) { a[i] = n; out[i] = i; } s = a[3];", 1),
        ("int a[40]; for (int i = 0; i < 40; ++i) a[i] = n; s = a[3];", 1),  # too long
        ("for (int i = 0; i < 4; ++i) { if (s > n) ++i; s += 2; }", 1),  # the counter changes in two ways
        ("int i = 0; while (i < 4) { if (n > s) continue; ++i; }", 1),  # not in every turn
        ("for (int j = 0; j < n; ++j) { for (int i = j; i < 4; ++i) if (s > i) break; s += j; }", 2),
    ],
)
def test_which_loops_are_written_out(body: str, kept: int) -> None:
    k = kernel(f"__global__ void k(int *out, int n) {{ int s = 0; {body} out[9] = s; }}")
    assert loops(written_out(k)) == kept
    if loops(k) > kept:
        for n in (0, 1, 5, 100):
            launch = ConcreteLaunch(values={"n": n})
            assert accesses(written_out(k), launch) == accesses(k, launch)
