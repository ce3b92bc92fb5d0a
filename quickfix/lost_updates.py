"""Why races that come of an update in several steps have no repair: no order of their accesses makes them right.

Takes kernels and a group of races that nothing repairs, gives a sentence about where the value comes from that is
written (`lost_update`), or that says which cell is (`which_cell`) or whether it is (`whether`); None where that is not
what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzers.analysed import KernelAnalysis
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import Expr, symbols
from analyzers.model import Access, Finding, FixRefusal, SourceSpan
from quickfix.loosened import is_of_one_execution
from quickfix.verify import RACES, findings_of


def lost_update(kernels: Sequence[KernelAnalysis], group: str) -> FixRefusal | None:
    """Threads write into a cell what they have made of the value that they read there before."""
    for analysis in kernels:
        own, _ = _accesses(analysis, group)
        reads: dict[tuple[object, Expr], Access] = {}
        """By cell: the latest."""
        for event in _events(analysis, own):
            if event.kind == "read":
                reads[event.root.value, event.offset] = own[event.site.span]
            read = reads.get((event.root.value, event.offset))
            if event.kind != "write" or event.value is None or read is None or read.span == event.site.span:
                continue
            if event.root.value in _loaded(event.value):
                write = own[event.site.span]
                what = f"`{write.text}` is written in line {write.span.line} from what was read in line"
                between = f"{read.span.line}, and other threads write it in between"
                return FixRefusal(f"{what} {between}: the two would have to be one atomic operation.", group)
    return None


def made_once(kernels: Sequence[KernelAnalysis], harmless: Iterable[Finding]) -> tuple[str, ...]:
    """What a repair takes for granted after which threads still collide in writes of what they have made of the old
    value of the cell: they all write the same one, and so many updates count as one."""
    said: dict[str, None] = {}
    for finding in harmless:
        # Offsets, because lines of what a step wrote may be those of the text before it.
        writes = {(a.span.path, a.span.start_offset): a for a in finding.accesses if a.kind == "write"}
        for event in (e for analysis in kernels for e in analysis.events.accesses):
            write = writes.get((event.site.span.path, event.site.span.start_offset))
            if write is None or event.kind != "write" or event.value is None or event.root.op != "addr":
                continue
            if event.root.value in _loaded(event.value):
                what = f"the update of `{write.text}` in line {write.span.line}"
                said[f"Assumes that all threads together make {what} once: each writes the same new value."] = None
    return tuple(said)


def which_cell(kernels: Sequence[KernelAnalysis], group: str) -> FixRefusal | None:
    """That some cell is written by several threads comes of what they read in another race."""
    for analysis in kernels:
        own, others = _accesses(analysis, group)
        if any(access.kind != "write" for access in own.values()):
            continue
        events = _events(analysis, others)
        reads = {event.root.value: others[event.site.span] for event in events if event.kind == "read"}
        for event in _events(analysis, own):
            first = next((reads[name] for name in _loaded(event.offset) if name in reads), None)
            if first is not None:
                where = f"`{first.text}` (line {first.span.line})"
                why = f"Which cell `{own[event.site.span].text}` is depends on {where}, which other threads write"
                return FixRefusal(f"{why} at the same time: that race comes first.", group)
    return None


def whether(kernels: Sequence[KernelAnalysis], group: str) -> FixRefusal | None:
    """That threads collide comes of what those of one block read in another race: who is the last one, say."""
    for analysis in kernels:
        own, _ = _accesses(analysis, group)
        if any(is_of_one_execution(f) for f in findings_of(analysis.result) if f.group == group):
            continue  # whatever the others are
        others = (f for f in findings_of(analysis.result) if f.code in RACES and f.group != group)
        within = {a.span: a for f in others if f.scope != "inter-block" for a in f.accesses}
        reads = {e.root.value: within[e.site.span] for e in _events(analysis, within) if e.kind == "read"}
        for event in _events(analysis, own):
            named = (name for c in event.guard for name in _loaded(c.condition))
            first = next((reads[name] for name in named if name in reads), None)
            if first is not None:
                what = f"`{own[event.site.span].text}` (line {event.site.span.line})"
                why = f"Whether a thread gets to {what} depends on `{first.text}` (line {first.span.line})"
                return FixRefusal(f"{why}, which other threads write at the same time: that race comes first.", group)
    return None


def _accesses(analysis: KernelAnalysis, group: str) -> tuple[dict[SourceSpan, Access], dict[SourceSpan, Access]]:
    """Those of the races of a group, and those of the others."""
    races = [f for f in findings_of(analysis.result) if f.code in RACES]
    own = {a.span: a for f in races if f.group == group for a in f.accesses}
    return own, {a.span: a for f in races if f.group != group for a in f.accesses}


def _events(analysis: KernelAnalysis, accesses: dict[SourceSpan, Access]) -> list[AccessEvent]:
    """Of objects that have a name."""
    return [e for e in analysis.events.accesses if e.site.span in accesses and e.root.op == "addr"]


def _loaded(value: Expr) -> list[str]:
    """The objects that a value was read from."""
    names = [str(symbol.value[0]).split(":") for symbol in symbols(value) if symbol.op == "opaque"]
    found = (parts[1] if parts[0] == "mem" else parts[2] for parts in names if parts[0] in ("mem", "load"))
    return [name.split("@")[0] for name in found]
