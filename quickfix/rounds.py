"""Everything in a unit that can be repaired, as one edit: repairs are looked for again in the text that they have made.

Takes what opens a session, gives the repairs of all rounds as one. Each round is proved on the text that it edits, with
a share of work of its own. An editor applies what comes of it in one step, `cuda-lsp fix` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analyzers.engine import Engine
from analyzers.frontend.lexical import source_bytes
from analyzers.frontend.parse import ParsedUnit, ParseFailure
from analyzers.model import NOT_REPAIRED, Finding, Fix, FixRefusal, UnitResult, Verdict
from analyzers.requests import CheckRequest, never
from quickfix.callers import changes_of
from quickfix.cost import of_several
from quickfix.edits import OffsetMap, apply
from quickfix.oracle import Stop, with_texts
from quickfix.together import in_lines_before, left_of, together
from quickfix.verify import (
    REPAIRABLE,
    EditedFile,
    Files,
    PairKey,
    chained,
    findings_of,
    in_old_text,
    key_of,
    old_offset,
)
from quickfix.wording import edits_of_files

_ROUNDS: Final = 10
"""How often repairs are looked for."""
_BARRIER: Final = re.compile(rb"\b__sync(?:threads|warp)\(\);")


@dataclass(frozen=True, slots=True)
class _Round:
    fix: Fix
    files: Files


def fix_all(
    engine: Engine,
    request: CheckRequest,
    stop: Stop = never,
    codes: Collection[Verdict] | None = None,
    among: Collection[str] | None = None,
) -> Fix | FixRefusal:
    """One edit for everything that can be repaired: races and divergent barriers, or the findings of `codes`; given
    groups, those `among` them only, which may be barriers that order nothing. A repair that takes something for granted
    is for the user to choose: it is left out.

    Repairs are found one by one, and judged once more together; what they leave is asked about again."""
    first = together(engine, request, stop, codes, among)
    if isinstance(first, FixRefusal):
        return first
    request = request.linked()
    try:
        analysis = engine.inspect(request, (), stop)
    except ParseFailure:
        return first
    chosen = frozenset(codes) if codes is not None else REPAIRABLE
    found = [f for k in analysis.result.kernels for f in findings_of(k)]
    groups = frozenset(among) if among is not None else frozenset(f.group for f in found if f.code in chosen)
    known = {key_of(f): f.group for f in found}
    rounds = [_Round(first, _files(first, request, analysis.unit))]
    engine, left = engine.beside(), frozenset[PairKey]()
    while True:
        files = chained([each.files for each in rounds])
        edited = with_texts(request, {path: file.after for path, file in files.items()})
        try:
            analysis = engine.inspect(edited, (), stop)
        except ParseFailure:
            break
        left = _keys_of(analysis.result, files)
        needless = _needless(analysis.result, files) if len(rounds) > 1 else []
        more = {f.group for f in [*left_of(analysis.result, files, known, groups), *needless]}
        if not more or len(rounds) == _ROUNDS:
            break
        asked = None if codes is None else {*chosen, Verdict.REDUNDANT_BARRIER}
        fix = together(engine, edited, stop, asked, more)
        if isinstance(fix, FixRefusal):
            break
        rounds.append(_Round(fix, _files(fix, edited, analysis.unit)))
    return _as_one(rounds, known, groups, left)


def _files(fix: Fix, request: CheckRequest, unit: ParsedUnit) -> Files:
    """The texts that a repair edits, before and after."""
    paths = {e.span.path for e in fix.edits}
    own = source_bytes(request.text)
    texts = {path: own if path == request.path else source_bytes(unit.text_of(path)) for path in paths}
    changes = changes_of(fix.edits, texts)
    return {p: EditedFile(texts[p], apply(texts[p], found), OffsetMap(found)) for p, found in changes.items()}


def _needless(result: UnitResult, files: Files) -> list[Finding]:
    """The barriers of repairs that those of later rounds make needless: as many as there are more than before at most,
    because what a repair has moved was there."""
    more = sum(len(_BARRIER.findall(f.after)) - len(_BARRIER.findall(f.before)) for f in files.values())
    every = (f for k in result.kernels for f in findings_of(k) if f.code is Verdict.REDUNDANT_BARRIER)
    return [f for f in every if old_offset(f.accesses[0].span, files) is None][: max(more, 0)]


def _keys_of(result: UnitResult, files: Files) -> frozenset[PairKey]:
    """What the findings of an edited text are about, in the text before."""
    olds = (in_old_text(f, files) for k in result.kernels for f in findings_of(k))
    return frozenset(key_of(old) for old in olds if old is not None)


def _as_one(
    rounds: Sequence[_Round], known: Mapping[PairKey, str], groups: Collection[str], left: Collection[PairKey]
) -> Fix:
    """The repairs of all rounds. `known`: the groups of the findings of the first text; `groups`: those that were to be
    repaired; `left`: what is left in the last text."""
    first = rounds[0].fix
    if len(rounds) == 1:
        return first
    steps = [each.files for each in rounds]
    files = chained(steps)
    parts = [part for i, each in enumerate(rounds) for part in in_lines_before(each.fix, chained(steps[:i]))]
    gone = {*first.groups, *(g for g in known.values() if g in groups)} - {known[key] for key in left if key in known}
    costs: dict[str, int] = {}
    for each in rounds:
        costs[each.fix.cost] = costs.get(each.fix.cost, 0) + 1
    whole = gone.issuperset(groups)
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return Fix(
        title=f"Apply {len(parts)} repairs",
        kind=first.kind,
        edits=edits_of_files(files),
        groups=tuple(sorted(gone | set(first.groups))),
        cost=of_several(costs),
        notes=tuple(note for note in notes if not whole or not note.startswith(NOT_REPAIRED)),
        parts=tuple(parts),
        beyond=any(each.fix.beyond for each in rounds),
    )
