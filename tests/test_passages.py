"""What lies between two events of one thread: fences on every way, writes on some way."""

from __future__ import annotations

from lowering import kernel

from analyzers.ir import kernel as K
from analyzers.ir.passages import RANKS, Passage, passages

BLOCK, DEVICE, SYSTEM = RANKS["block"], RANKS["grid"], RANKS["system"]


def between(body: str, first: int = 0, second: int = -1) -> Passage | None:
    """From one event of a kernel with these statements to another, by their places in the source."""
    made = kernel(f"__global__ void k(int *p, int *q, int n) {{ {body} }}")
    events = [s for s in K.statements(made.body) if isinstance(s, (K.Load, K.Store, K.Atomic, K.Barrier))]
    return passages(made).get(events[second].id, {}).get(events[first].id)


def release(body: str) -> int:
    """The rank of the fence between the first event and the last."""
    found = between(body)
    assert found is not None
    return found.release


def test_a_fence_between() -> None:
    assert release("*p = 1; *q = 2;") == 0
    assert release("*p = 1; __threadfence(); *q = 2;") == DEVICE
    assert release("*p = 1; __threadfence_block(); *q = 2;") == BLOCK
    assert release("__threadfence(); *p = 1; *q = 2; __threadfence();") == 0


def test_the_strongest_of_a_way_and_the_weakest_of_all() -> None:
    assert release("*p = 1; __threadfence_block(); __threadfence_system(); *q = 2;") == SYSTEM
    assert release("*p = 1; if (n) __threadfence(); *q = 2;") == 0
    assert release("*p = 1; if (n) __threadfence(); else __threadfence_block(); *q = 2;") == BLOCK
    assert release("*p = 1; for (int i = 0; i < n; ++i) __threadfence(); *q = 2;") == 0
    assert release("*p = 1; do { __threadfence(); } while (--n > 0); *q = 2;") == DEVICE


def test_the_latest_execution_counts() -> None:
    assert release("for (int i = 0; i < n; ++i) { *p = i; __threadfence(); } *q = 2;") == DEVICE
    assert release("for (int i = 0; i < n; ++i) { __threadfence(); *p = i; } *q = 2;") == 0


def test_an_event_that_no_way_leads_from() -> None:
    assert between("*p = 1; *q = 2;", first=1, second=0) is None
    assert between("if (n) { *p = 1; return; } *q = 2;") is None


def test_barriers_are_fences_of_a_block() -> None:
    assert release("*p = 1; __syncthreads(); *q = 2;") == BLOCK
    assert release("*p = 1; __syncwarp(); *q = 2;") == 0


def test_what_may_have_been_written() -> None:
    found = between("int v = *p; if (n) *q = 1; *p = v;")
    assert found is not None
    assert len(found.passed) == 1
    found = between("int v = *p; int w = *q; *p = v + w;")
    assert found is not None
    assert not found.passed
