"""Hypothesis strategies for random kernels, and what is true of one execution, pair of threads by pair of threads."""

from hypothesis import strategies as st

from analyzers.reference.generator import Flavour, GeneratedKernel, generate
from analyzers.reference.launch import coordinate
from analyzers.reference.races import HappensBefore, conflict
from analyzers.reference.replay import Replay, ThreadAt, replay
from analyzers.reference.result import RunResult


@st.composite
def kernels(draw: st.DrawFn, flavour: Flavour | None = None) -> GeneratedKernel:
    """A kernel with its text, IR and launch. Shrinks towards few and plain statements."""
    return generate(lambda n: draw(st.integers(0, n - 1)), flavour)


def racing_threads(result: RunResult) -> set[tuple[int, int, int, int]]:
    """(event, thread, event, thread) of every unordered conflict inside the arrays named, in both directions."""
    order = HappensBefore(result)
    found: set[tuple[int, int, int, int]] = set()
    cells: dict[tuple[str, int, int], list[int]] = {}
    for i, a in enumerate(result.accesses):
        if not a.in_bounds:
            continue
        for byte in range(a.offset, a.offset + a.width):
            here = cells.setdefault((a.object, a.instance, byte), [])
            for j in here:
                b = result.accesses[j]
                if conflict(a, b, result) and not order.ordered(a, b):
                    found.add((a.event, a.thread, b.event, b.thread))
                    found.add((b.event, b.thread, a.event, a.thread))
            here.append(i)
    return found


def _at(generated: GeneratedKernel, thread: int) -> ThreadAt:
    launch = generated.launch
    block, rank = divmod(thread, launch.threads_per_block)
    return coordinate(block, launch.grid), coordinate(rank, launch.block)


def replayed(generated: GeneratedKernel, found: tuple[int, int, int, int]) -> Replay:
    """Of (event, thread, event, thread)."""
    event1, thread1, event2, thread2 = found
    return replay(generated.kernel, generated.launch, _at(generated, thread1), _at(generated, thread2), event1, event2)
