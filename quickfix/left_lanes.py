"""Exchanges of a warp, and lanes that an edit makes wait for others while these wait for them at the exchange.

A shuffle or a vote waits for the lanes that its mask names, unless they have come to the end of the kernel. Takes
analysed kernels of an edited text; says where threads that pass an exchange by would come to a new barrier, or to a new
vote, that were through with everything before. `refuse_votes` asks for one place of a text before it is edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from analyzers.analysed import KernelAnalysis
from analyzers.barriers.divergence import comes_by
from analyzers.frontend.gaps import Statement
from analyzers.ir.events import BarrierEvent, Conjunct, KernelEvents
from analyzers.ir.expr import walk
from analyzers.ir.uniformity import is_uniform
from analyzers.model import SourceSpan, UnitResult, Verdict
from analyzers.races.threads import WARP, Launch
from quickfix.edits import Layout
from quickfix.flagged_loops import test_range
from quickfix.naming import NotPossible, line_of
from quickfix.spinning import in_words, new_barriers
from quickfix.verify import Files, findings_of, is_written, old_offset


def lanes_left_out(
    kernels: Iterable[KernelAnalysis], files: Files, before: UnitResult
) -> Iterator[tuple[str, SourceSpan]]:
    """A sentence for each exchange that would wait in vain, and the place of what its lanes come to instead. `before`:
    the result of the old text."""
    findings = (f for k in before.kernels for f in findings_of(k) if f.code is Verdict.BARRIER_DIVERGENCE)
    missed = {(f.accesses[0].span.path, f.accesses[0].span.start_offset) for f in findings}
    known = {k.mangled: k for k in before.kernels}
    for analysis in kernels:
        events = analysis.events
        exchanges = [e for e in events.exchanges if any(_may_part(c) for c in e.guard)]
        if not exchanges:
            continue
        new = new_barriers(events, known.get(analysis.kernel.mangled), files, missed)
        new += [e for e in events.exchanges if _is_new(e, files)]
        old = [e for e in (*events.barriers, *events.exchanges) if e not in new]
        launches = [Launch(events, context) for context in analysis.contexts] if new else []
        for exchange in exchanges:
            for cause in _causes(exchange, events, launches):
                other = next((b for b in new if b is not exchange and comes_by(b, exchange, cause)), None)
                if other is None or any(comes_by(b, exchange, cause) for b in old):
                    continue
                text = f"{in_words(exchange, files)} waits for lanes of its warp that would be at `{other.site.text}`"
                yield f"`{analysis.result.name}`: {text}", other.site.span


def refuse_votes(kernels: Iterable[KernelAnalysis], path: str, layout: Layout, loop: Statement) -> None:
    """Raise `NotPossible` where threads wait for others in the condition of a loop, however that is written, and not
    all of these come to it each time: they are to wait elsewhere then."""
    test = test_range(layout, loop)
    if test is None:
        return
    low, high = test
    for analysis in kernels:
        for event in (*analysis.events.barriers, *analysis.events.exchanges):
            spans = (*event.site.calls, event.site.span)
            if not any(s.path == path and low <= s.start_offset < high for s in spans):
                continue
            group = "warp" if event.scope in ("warp", "tile") else "block"
            if not all(is_uniform(c.condition, group) for c in event.guard if c.kind not in ("assume", "return")):
                line = line_of(layout.text, loop.keyword)
                raise NotPossible(
                    f"threads vote in the condition of the loop in line {line}, and some would not any more"
                )


def _may_part(c: Conjunct) -> bool:
    """Whether a warp may part at a condition. Those that have left the kernel nobody waits for."""
    return c.kind not in ("assume", "return") and not is_uniform(c.condition, "warp")


def _is_new(exchange: BarrierEvent, files: Files) -> bool:
    span = exchange.site.span
    return is_written(span, files) and old_offset(span, files) is None


def _causes(exchange: BarrierEvent, events: KernelEvents, launches: Sequence[Launch]) -> Iterator[Conjunct]:
    """The conditions for which lanes may miss an exchange that waits for them: not those under which its mask was
    made."""
    depth = _depth_of_mask(exchange, events)
    # A shuffle within parts of a warp waits for all lanes that its mask names, a group for those of its own.
    lanes = exchange.tile if exchange.tile is not None and "__shfl" not in exchange.site.text else WARP
    for c in exchange.guard:
        given = not _may_part(c) or c in exchange.formed or c.depth <= depth
        if not given and not all(launch.agree_in_warps(c.condition, lanes) for launch in launches):
            yield c


def _depth_of_mask(exchange: BarrierEvent, events: KernelEvents) -> int:
    """In how many of the loops around an exchange the value of its mask was made, in each iteration anew; -1: it is a
    number."""
    if exchange.mask is None or exchange.mask.op == "const":
        return -1
    parts = set(walk((exchange.mask,)))
    inner = [i for i, label in enumerate(exchange.loops, 1) if events.loops[label].counter in parts]
    return max(inner, default=0)
