"""Compare the results of a text before and after an edit: what disappeared, what is left, what got worse.

Takes two `UnitResult`s and the offset maps of the edited files; findings of the edited text are matched with those of
the old one by the places of their accesses, so positions and line numbers may differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from analyzers.model import Access, ContextResult, Finding, KernelResult, SourceSpan, UnitResult, Verdict
from quickfix.edits import OffsetChain, OffsetMap

RACES: Final = frozenset({Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE})
"""What a barrier is placed for."""
REPAIRABLE: Final = RACES | {Verdict.BARRIER_DIVERGENCE}
"""What is repaired without being asked for one by one."""

PairKey = tuple[str, frozenset[tuple[tuple[str, int], ...]]]
"""What a finding is about, and the places of its accesses, calls included."""


@dataclass(frozen=True, slots=True)
class EditedFile:
    """One file of the edited unit."""

    before: bytes
    after: bytes
    offsets: OffsetMap | OffsetChain


Files = Mapping[str, EditedFile]


def chained(steps: Sequence[Files]) -> dict[str, EditedFile]:
    """Edits that were made one after the other as one."""
    found: dict[str, list[EditedFile]] = {}
    for step in steps:
        for path, file in step.items():
            found.setdefault(path, []).append(file)
    return {
        path: EditedFile(
            files[0].before,
            files[-1].after,
            OffsetChain(tuple(m for f in files for m in _maps(f.offsets))),
        )
        for path, files in found.items()
    }


def _maps(offsets: OffsetMap | OffsetChain) -> tuple[OffsetMap, ...]:
    return offsets.maps if isinstance(offsets, OffsetChain) else (offsets,)


def key_of(finding: Finding) -> PairKey:
    """What a finding is about, by the places of its accesses."""
    kind = "race" if finding.code in RACES or finding.code is Verdict.BENIGN_RACE else finding.code.value
    places = frozenset(
        tuple((span.path, span.start_offset) for span in (*access.calls, access.span)) for access in finding.accesses
    )
    return kind, places


def in_old_text(finding: Finding, files: Files) -> Finding | None:
    """The finding with offsets and lines of the old text; None when it is about something inserted."""
    accesses: list[Access] = []
    for access in finding.accesses:
        spans = [_old_span(span, files) for span in (*access.calls, access.span)]
        if any(span is None for span in spans):
            return None
        *calls, own = [span for span in spans if span is not None]
        accesses.append(replace(access, span=own, calls=tuple(calls)))
    return replace(finding, accesses=tuple(accesses))


def in_new_text(finding: Finding, files: Files) -> Finding | None:
    """The finding with offsets and lines of the new text; None when it is about something taken away, or where an edit
    was made in several steps."""
    accesses: list[Access] = []
    for access in finding.accesses:
        spans = [_new_span(span, files) for span in (*access.calls, access.span)]
        if any(span is None for span in spans):
            return None
        *calls, own = [span for span in spans if span is not None]
        accesses.append(replace(access, span=own, calls=tuple(calls)))
    return replace(finding, accesses=tuple(accesses))


def _new_span(span: SourceSpan, files: Files) -> SourceSpan | None:
    file = files.get(span.path)
    if file is None:
        return span
    start = file.offsets.new(span.start_offset) if isinstance(file.offsets, OffsetMap) else None
    if start is None:
        return None
    line = file.after.count(b"\n", 0, start) + 1
    end = start + span.end_offset - span.start_offset
    return replace(span, start_offset=start, end_offset=end, start_line=line, end_line=line)


def old_offset(span: SourceSpan, files: Files) -> int | None:
    """Where a place of the new text began in the old one; None for something inserted."""
    file = files.get(span.path)
    return span.start_offset if file is None else file.offsets.old(span.start_offset)


def old_place(file: EditedFile | None, at: int) -> int:
    """The place in the text before an edit, or the last one of that text in front of it."""
    if file is None:
        return at
    return next((old for here in range(at, -1, -1) if (old := file.offsets.old(here)) is not None), 0)


def old_loop(place: tuple[str, int], texts: Mapping[str, bytes], files: Files) -> tuple[str, int]:
    """A loop of the edited `texts` by the line of the text before the edit in which its head stood, or the first of it
    that is left."""
    path, line = place
    file = files.get(path)
    if file is None:
        return place
    text = texts[path]
    lines = text.splitlines(keepends=True)
    start = sum(map(len, lines[: line - 1]))
    start += len(text[start:]) - len(text[start:].lstrip())
    old = next((o for o in map(file.offsets.old, range(start, len(text))) if o is not None), len(file.before))
    return path, file.before.count(b"\n", 0, old) + 1


def is_written(span: SourceSpan, files: Files) -> bool:
    """Whether the edit wrote what is there, anew or as it was elsewhere."""
    file = files.get(span.path)
    return file is not None and file.offsets.is_written(span.start_offset)


def _old_span(span: SourceSpan, files: Files) -> SourceSpan | None:
    file = files.get(span.path)
    if file is None:
        return span
    start = old_offset(span, files)
    if start is None:
        return None
    line = file.before.count(b"\n", 0, start) + 1
    end = start + span.end_offset - span.start_offset
    return replace(span, start_offset=start, end_offset=end, start_line=line, end_line=line)


@dataclass(frozen=True, slots=True)
class Difference:
    """What an edit did. Races and divergences are given in the coordinates of the old text where they have some."""

    remaining: tuple[Finding, ...] = ()
    """Targeted races that are still there."""
    new_races: tuple[Finding, ...] = ()
    """Races that were not there, or were milder, and the loosened ones."""
    loosened: tuple[Finding, ...] = ()
    """Races that were there, which barriers that are no longer there may have ordered at times."""
    divergent: tuple[SourceSpan, ...] = ()
    """Inserted barriers (in the new text) that some threads miss."""
    late: tuple[SourceSpan, ...] = ()
    """Inserted barriers that threads miss which have returned."""
    worse: tuple[str, ...] = ()
    """Anything else that got worse, in words."""
    in_vain: tuple[SourceSpan, ...] = ()
    """Inserted barriers at which threads would be kept from what others wait for; ``worse`` tells of it."""
    left: frozenset[PairKey] = frozenset()
    """What the findings that are still there are about."""
    appeared: tuple[Finding, ...] = ()
    """Races of pairs that had not been asked about: no news, but not to be left when all is to go."""

    @property
    def is_clean(self) -> bool:
        return not (self.remaining or self.new_races or self.divergent or self.worse)


def compare(
    before: UnitResult, after: UnitResult, files: Files, targets: frozenset[PairKey], *, inserting: bool = False
) -> Difference:
    """Judge an edit by the kernels that `after` has; `before` must have them all.

    `inserting`: the edit inserts barriers and nothing else. That makes no race; one that was not there before is then
    no news where not all pairs of the context had been asked about."""
    error = new_error(before, after)
    if error is not None:
        return Difference(worse=(error,))
    found = _Found()
    old = {kernel.mangled: kernel for kernel in before.kernels}
    for kernel in after.kernels:
        known = old.get(kernel.mangled)
        if known is None or len(known.contexts) != len(kernel.contexts):
            found.worse.append(f"`{kernel.name}` is launched in other ways than before")
            continue
        vanished = _vanished(known, kernel, files)
        for context, earlier in zip(kernel.contexts, known.contexts, strict=True):
            _context(found, kernel, earlier, context, files, targets, vanished, inserting=inserting)
    return Difference(
        tuple(found.remaining),
        tuple(found.new_races),
        tuple(found.loosened),
        tuple(dict.fromkeys(found.divergent)),
        tuple(dict.fromkeys(found.late)),
        tuple(dict.fromkeys(found.worse)),
        left=frozenset(found.left),
        appeared=tuple(found.appeared),
    )


def new_error(before: UnitResult, after: UnitResult) -> str | None:
    """Why the edited text does not compile as the old one does, if it does not."""
    if after.failure is not None:
        return after.failure.text
    if len(after.syntax) > len(before.syntax):
        return f"the edited text does not compile: {after.syntax[0].message}"
    return None


def carried_over(before: UnitResult, after: UnitResult, files: Files) -> UnitResult | None:
    """The result of an edited text of which nothing was decided, with the findings of the old text. None where it is
    not to be told which launch is which, or where the code of a finding stands."""
    old = {kernel.mangled: kernel for kernel in before.kernels}
    kernels: list[KernelResult] = []
    for kernel in after.kernels:
        known = old.get(kernel.mangled)
        if known is None or len(known.contexts) != len(kernel.contexts):
            return None
        contexts: list[ContextResult] = []
        for context, earlier in zip(kernel.contexts, known.contexts, strict=True):
            found = [in_new_text(f, files) for f in earlier.findings]
            kept = tuple(_in_order(f) for f in found if f is not None)
            if len(kept) < len(found):
                return None
            contexts.append(replace(context, verdict=earlier.verdict, findings=kept, reasons=earlier.reasons))
        kernels.append(replace(kernel, verdict=known.verdict, contexts=tuple(contexts)))
    return replace(after, kernels=tuple(kernels))


def _in_order(finding: Finding) -> Finding:
    """The finding with the accesses as they stand in the text."""
    return replace(finding, accesses=tuple(sorted(finding.accesses, key=lambda access: access.span)))


def surest(result: UnitResult) -> UnitResult:
    """The result with all races graded as sure: nothing that comes of an edit can be worse than they are."""

    def all_of(kernel: KernelResult) -> KernelResult:
        contexts = (replace(c, findings=tuple(_as_sure(f) for f in c.findings)) for c in kernel.contexts)
        return replace(kernel, contexts=tuple(contexts))

    return replace(result, kernels=tuple(all_of(k) for k in result.kernels))


def _as_sure(finding: Finding) -> Finding:
    return replace(finding, code=Verdict.DATA_RACE) if finding.code in RACES else finding


def with_findings(result: UnitResult, found: UnitResult) -> UnitResult:
    """The result with the races that another check of the same text has found beside its own, whatever they are graded:
    nothing that comes of an edit can be worse than they are."""
    others = {k.mangled: k for k in found.kernels}

    def extended(context: ContextResult, other: ContextResult) -> ContextResult:
        known = {key_of(f) for f in context.findings}
        more = (f for f in other.findings if f.code in RACES and key_of(f) not in known)
        return replace(context, findings=(*context.findings, *map(_as_sure, more)))

    def all_of(kernel: KernelResult) -> KernelResult:
        other = others.get(kernel.mangled)
        if other is None or len(other.contexts) != len(kernel.contexts):
            return kernel
        pairs = zip(kernel.contexts, other.contexts, strict=True)
        return replace(kernel, contexts=tuple(extended(c, o) for c, o in pairs))

    return replace(result, kernels=tuple(all_of(k) for k in result.kernels))


def gone_groups(before: UnitResult, checked: Collection[str], difference: Difference) -> set[str]:
    """Groups of which nothing is left when the kernels with the mangled names `checked` were checked again.

    Redundant barriers aside: whether another barrier still is one, an edit is not judged by."""
    gone: set[str] = set()
    held = {finding.group for finding in difference.appeared}
    for kernel in before.kernels:
        for finding in findings_of(kernel):
            if (
                kernel.mangled not in checked
                or finding.code is Verdict.REDUNDANT_BARRIER
                or key_of(finding) in difference.left
            ):
                held.add(finding.group)
            else:
                gone.add(finding.group)
    return gone - held


def findings_of(kernel: KernelResult) -> list[Finding]:
    """The findings of all contexts."""
    return [f for context in kernel.contexts for f in context.findings]


@dataclass
class _Found:
    remaining: list[Finding] = field(default_factory=list[Finding])
    new_races: list[Finding] = field(default_factory=list[Finding])
    loosened: list[Finding] = field(default_factory=list[Finding])
    divergent: list[SourceSpan] = field(default_factory=list[SourceSpan])
    late: list[SourceSpan] = field(default_factory=list[SourceSpan])
    worse: list[str] = field(default_factory=list[str])
    left: set[PairKey] = field(default_factory=set[PairKey])
    appeared: list[Finding] = field(default_factory=list[Finding])


def _context(
    found: _Found,
    kernel: KernelResult,
    before: ContextResult,
    after: ContextResult,
    files: Files,
    targets: frozenset[PairKey],
    vanished: Sequence[SourceSpan],
    *,
    inserting: bool,
) -> None:
    unasked = inserting and any(r.kind == "not-examined" for r in before.reasons)
    known: dict[PairKey, Finding] = {}
    for finding in before.findings:
        key = key_of(finding)
        if key not in known or finding.code.rank < known[key].code.rank:
            known[key] = finding
    for finding in after.findings:
        old = in_old_text(finding, files)
        if old is None:
            _inserted(found, finding)
            continue
        key = key_of(old)
        earlier = known.get(key)
        if finding.code is Verdict.BENIGN_RACE and earlier is not None and earlier.code in RACES:
            continue  # what made the writes of one value harmful is gone
        if finding.code is Verdict.BENIGN_RACE and earlier is None and inserting and key not in targets:
            continue  # no barrier made it: another race of its accesses stood for it
        found.left.add(key)
        if key in targets:
            # What no barrier of a block orders is not what one was tried for.
            if earlier is None or earlier.scope == "inter-block" or finding.scope != "inter-block":
                found.remaining.append(old)
        elif earlier is None and unasked and finding.code in RACES:
            found.appeared.append(_in_group(old, before.findings))
        elif earlier is None or _is_worse(finding, earlier):
            _worsened(found, kernel, old)
        elif any(_may_order(b, old) for b in vanished):
            _worsened(found, kernel, old)
            found.loosened.append(old)
    for reason in after.reasons:
        if reason.span is not None and _old_span(reason.span, files) is None:
            # Whether all threads reach a new barrier must be known, whatever was unknown before.
            found.worse.append(f"`{kernel.name}`: {reason.text}")
    reasons = Counter(r.kind for r in after.reasons) - Counter(r.kind for r in before.reasons)
    for reason in after.reasons:
        if reasons[reason.kind] > 0:
            found.worse.append(f"`{kernel.name}`: {reason.text}")


def _in_group(race: Finding, others: Iterable[Finding]) -> Finding:
    """A race in the group of those whose write it shares, if there are any: groups go by places in the text."""
    write = _written(race)
    group = next((f.group for f in others if f.code in RACES and _written(f) == write), race.group)
    return replace(race, group=group)


def _written(race: Finding) -> tuple[str, str, int]:
    """What a group of races is about: the object, and where the first write stands."""
    span = next((a.span for a in race.accesses if a.kind != "read"), race.span)
    return race.object or "", span.path, span.start_offset


def _is_worse(finding: Finding, earlier: Finding) -> bool:
    """It is graded higher, or threads of one block collide where only blocks did: a pair is asked of a block first."""
    nearer = earlier.scope == "inter-block" and finding.scope not in (None, "inter-block")
    return nearer or finding.code.rank < earlier.code.rank


def _vanished(before: KernelResult, after: KernelResult, files: Files) -> list[SourceSpan]:
    """The barriers of the old text that the edited one no longer has."""
    kept = {(s.path, s.start_offset) for s in (_old_span(s, files) for s in after.barrier_sites) if s is not None}
    return [s for s in before.barrier_sites if (s.path, s.start_offset) not in kept]


def _may_order(barrier: SourceSpan, race: Finding) -> bool:
    """Whether a barrier may have ordered accesses that race anyway, in other ways or for other inputs, as far as the
    places tell: without it they collide more often."""
    if race.code not in RACES or race.scope == "inter-block":
        return False
    if any(a.calls or a.iterations or a.span.path != barrier.path for a in race.accesses):
        return True
    first, last = (pick(a.span.start_offset for a in race.accesses) for pick in (min, max))
    return first < barrier.start_offset < last


def _inserted(found: _Found, finding: Finding) -> None:
    if finding.code is Verdict.BARRIER_DIVERGENCE:
        found.divergent.append(finding.span)
    elif finding.code is Verdict.BARRIER_AFTER_EXIT:
        found.late.append(finding.span)
    else:
        found.worse.append(finding.message)


_WORSE: Final = frozenset(
    {Verdict.BARRIER_DIVERGENCE, Verdict.LANE_NOT_IN_MASK, Verdict.MISSING_LANES, Verdict.BENIGN_RACE}
)
"""What an edit must not make, beside races."""


def _worsened(found: _Found, kernel: KernelResult, finding: Finding) -> None:
    if finding.code in RACES:
        found.new_races.append(finding)
    elif finding.code in _WORSE:
        found.worse.append(f"`{kernel.name}`: {finding.message}")
    # A barrier that was there before and turns out redundant, or behind an exit, was so all along.


def spans_of(findings: Sequence[Finding]) -> list[SourceSpan]:
    """The places of all accesses, calls included."""
    return [span for f in findings for a in f.accesses for span in (*a.calls, a.span)]
