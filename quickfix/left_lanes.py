"""Exchanges of a warp, and lanes that an edit makes wait for others while these wait for them at the exchange.

A shuffle or a vote waits for the lanes that its mask names, unless they have come to the end of the kernel. Takes
analysed kernels of an edited text; says where threads that pass an exchange by would come to a new barrier, or to a new
vote, that were through with everything before. `refuse_votes` asks for one place of a text before it is edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from analyzers.analysed import KernelAnalysis
from analyzers.barriers.divergence import comes_by, may_part
from analyzers.frontend.gaps import Statement
from analyzers.ir.events import BarrierEvent, Conjunct
from analyzers.ir.uniformity import is_uniform
from analyzers.model import SourceSpan, UnitResult
from analyzers.races.check import RaceChecker
from analyzers.races.threads import WARP, Launch
from quickfix.edits import Layout
from quickfix.file_names import listed
from quickfix.flagged_loops import test_range
from quickfix.naming import NotPossible, line_of
from quickfix.solving import Solving
from quickfix.spinning import in_words, new_barriers
from quickfix.verify import Files, is_written, old_offset


def lanes_left_out(
    kernels: Iterable[KernelAnalysis], files: Files, before: UnitResult, solving: Solving
) -> Iterator[tuple[str, SourceSpan]]:
    """A sentence for each exchange that would wait in vain, and the place of what its lanes come to instead. `before`:
    the result of the old text."""
    for missed in _missed(kernels, files, before):
        if any(missed.parts_by_number(n) and missed.may_part(solving.checker(n)) for n in missed.launches):
            text = f"{in_words(missed.exchange, files, before)} waits for lanes of its {missed.group} that would be at"
            site = missed.instead.site
            yield f"`{missed.analysis.result.name}`: {text} `{site.text}`", site.span


def lanes_taken_for_granted(
    kernels: Iterable[KernelAnalysis], files: Files, before: UnitResult, solving: Solving
) -> str:
    """What has to be taken for granted for no exchange to wait in vain: that the lanes of a warp agree on a condition
    about values which the launch does not tell. Empty where that is proved. `before`: the result of the old text."""
    granted: dict[str, _Missed] = {}
    for missed in _missed(kernels, files, before):
        words = in_words(missed.exchange, files, before)
        if words not in granted and any(missed.may_part(solving.checker(n)) for n in missed.launches):
            granted[words] = missed
    if not granted:
        return ""
    first = next(iter(granted.values()))
    return (
        f"Assumes that the threads of a {first.group} come to {listed(list(granted))} together or not at all: it would"
        f" wait for those that are at `{first.instead.site.text}`."
    )


@dataclass(frozen=True, slots=True)
class _Missed:
    """An exchange that lanes may miss under a condition, and the new barrier or vote that they would come to."""

    analysis: KernelAnalysis
    launches: Sequence[Launch]
    exchange: BarrierEvent
    cause: Conjunct
    instead: BarrierEvent

    @property
    def group(self) -> str:
        """Whose lanes the exchange waits for."""
        return "tile" if self.exchange.scope == "tile" else "warp"

    def parts_by_number(self, launch: Launch) -> bool:
        """Whether the numbers of threads alone tell that these part."""
        lanes = self.exchange.tile if self.exchange.scope == "tile" else None
        return launch.agree_in_warps(self.cause.condition, lanes or WARP) is False

    def may_part(self, checker: RaceChecker) -> bool:
        return may_part(checker, self.exchange, self.cause)


def _missed(kernels: Iterable[KernelAnalysis], files: Files, before: UnitResult) -> Iterator[_Missed]:
    for analysis in kernels:
        events = analysis.events
        waiting = [e for e in (*events.exchanges, *events.barriers) if e.scope in ("warp", "tile")]
        waiting = [e for e in waiting if any(_may_part(c) for c in e.guard)]
        if not waiting:
            continue
        new = new_barriers(analysis, before, files, returned=True)
        new += [e for e in events.exchanges if _is_new(e, files)]
        old = [e for e in (*events.barriers, *events.exchanges) if e not in new]
        launches = [Launch(events, context) for context in analysis.contexts] if new else []
        for exchange in waiting:
            for cause in _causes(exchange):
                others = (b for b in new if b is not exchange and comes_by(b, exchange, cause))
                vain = (b for b in others if not any(_is_met_before(o, b, exchange, cause) for o in old))
                if (instead := next(vain, None)) is not None:
                    yield _Missed(analysis, launches, exchange, cause, instead)


def _is_met_before(old: BarrierEvent, new: BarrierEvent, exchange: BarrierEvent, cause: Conjunct) -> bool:
    """Whether lanes that miss an exchange and come to something new come to something old, too, which waits for those
    that wait for them: in vain, before.

    It stands behind the exchange, or in a loop that goes round for them to come to the new one; else they may be
    through with all rounds of the loop. The conditions on the way are those that the lanes have met in one round: in
    front of the cause, or on the way to the new one."""
    ahead = exchange.guard[: exchange.guard.index(cause)]
    behind = old.order > exchange.order
    if behind:
        comes = comes_by(old, exchange, cause)
    else:
        together = exchange.loops[: cause.depth]
        common = [a for a, b in zip(together, new.loops, strict=False) if a == b]
        comes = bool(common) and new.order < exchange.order and list(old.loops[: len(common)]) == common
    onward = new.guard if not behind or new.order > exchange.order else ()
    ways = [(*_of_no_round(ahead), *onward)]
    if behind:
        ways.append((*ahead, *_of_no_round(onward)))
    comes = comes and cause.condition not in (c.condition for c in old.guard)
    needed = {c.condition for c in old.guard if c.kind != "assume"}
    always = any(needed.issubset(c.condition for c in way) for way in ways)
    return comes and always and _waits_for_as_many(old, exchange)


def _of_no_round(guard: Iterable[Conjunct]) -> Iterator[Conjunct]:
    """The conditions in front of all loops, which stay what they are."""
    return (c for c in guard if not c.depth)


def _waits_for_as_many(one: BarrierEvent, other: BarrierEvent) -> bool:
    """Whether a thread waits at the one for all lanes that it waits for at the other, too."""
    if one.scope not in ("warp", "tile"):
        return one.number is None
    if one.scope == "tile":
        return other.scope == "tile" and (one.tile or 0) >= (other.tile or WARP)
    return one.mask is None or (one.mask is other.mask and other.scope == "warp")


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


def _causes(exchange: BarrierEvent) -> Iterator[Conjunct]:
    """The conditions for which lanes may miss an exchange that waits for them: not those that all lanes met which its
    mask names."""
    yield from (c for c in exchange.guard if _may_part(c) and c not in exchange.formed)
