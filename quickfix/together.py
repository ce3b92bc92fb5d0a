"""One edit for everything in a unit that has a proved repair which keeps the kernels' behaviour.

Takes what opens a session, gives repairs found one by one and judged once more together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from analyzers.engine import Engine
from analyzers.frontend.parse import ParseFailure
from analyzers.model import Fix, FixRefusal, SourceSpan, UnitResult, Verdict
from analyzers.requests import CheckRequest, never
from quickfix.callers import agreed, changes_of, for_this_unit
from quickfix.edits import OffsetMap, apply, text_edits
from quickfix.group import repaired, repairs_of
from quickfix.session import Changes, SearchSpentError, Session, Stop, Trial
from quickfix.verify import REPAIRABLE, findings_of
from quickfix.wording import NOT_REPAIRED, barriers_in_words, edits_of


def fix_all(
    engine: Engine,
    request: CheckRequest,
    stop: Stop = never,
    codes: Collection[Verdict] | None = None,
    among: Collection[str] | None = None,
) -> Fix | FixRefusal:
    """One edit for everything that can be repaired: races and divergent barriers, or the findings of `codes`; given
    groups, of those `among` them only. A repair that takes something for granted is for the user to choose: it is left
    out.

    Repairs are found one by one, and judged once more together."""
    fix = _all(engine, request, stop, codes, among)
    if isinstance(fix, FixRefusal):
        return fix
    return agreed(engine, request, fix, stop, lambda whole, wider: _all(whole, wider, stop, codes, fix.groups))


def _all(
    engine: Engine,
    request: CheckRequest,
    stop: Stop,
    codes: Collection[Verdict] | None,
    among: Collection[str] | None,
) -> Fix | FixRefusal:
    chosen = frozenset(codes) if codes is not None else REPAIRABLE
    try:
        session = Session.open(engine, request, stop)
        found = (f for k in session.result.kernels for f in findings_of(k) if f.code in chosen)
        groups = [g for g in dict.fromkeys(f.group for f in found) if among is None or g in among]
        repairs = list(_distinctly_named(session, repairs_of(session, groups)))
        fixes = _compatible(fix for fix in repairs if fix.applies_unasked)
        if len(fixes) == 1:
            return fixes[0]
        while fixes:
            changes, doubled = _merged(fixes, session.trees.texts)
            trial = session.trial(changes, frozenset())
            promised = {group for fix in fixes for group in fix.groups}
            if trial.difference.is_clean and promised <= trial.gone | _redundant(session.result):
                return _together(trial, fixes, doubled, whole=promised.issuperset(groups))
            # Each is right by itself, not all are together: keep those of the first half.
            fixes = fixes[: len(fixes) // 2]
    except (ParseFailure, SearchSpentError) as failure:
        return FixRefusal(str(failure))
    if not groups:
        return FixRefusal("There is nothing to repair.")
    assumed = dict.fromkeys(text for fix in repairs for text in fix.assumes)
    if assumed:
        return FixRefusal(f"What would repair it is only applied by itself. {' '.join(assumed)}")
    refusal = repaired(session, groups[0])
    return refusal if isinstance(refusal, FixRefusal) else FixRefusal("The repairs do not go together.")


def _distinctly_named(session: Session, found: Iterable[Fix | FixRefusal]) -> Iterator[Fix]:
    """The repairs among answers. What one declares, none of the later ones declares again."""
    for fix in found:
        if isinstance(fix, FixRefusal):
            continue
        if fix.kind == "restructure":
            for kernel, names in session.declared.items():
                session.promised[kernel] = session.promised.get(kernel, frozenset()) | names
        yield for_this_unit(session.request, fix)


def _compatible(fixes: Iterable[Fix]) -> list[Fix]:
    """Those whose edits do not touch each other."""
    chosen: list[Fix] = []
    for fix in fixes:
        if not any(_meet(a.span, b.span) for other in chosen for a in fix.edits for b in other.edits):
            chosen.append(fix)
    return chosen


def _meet(a: SourceSpan, b: SourceSpan) -> bool:
    return a.path == b.path and a.start_offset <= b.end_offset and b.start_offset <= a.end_offset


def _redundant(result: UnitResult) -> set[str]:
    return {f.group for k in result.kernels for f in findings_of(k) if f.code is Verdict.REDUNDANT_BARRIER}


_DOUBLED: Final = re.compile(rb"(__sync(?:threads|warp)\(\);)\s*(?=\1)")


def _merged(fixes: Iterable[Fix], texts: Mapping[str, bytes]) -> tuple[Changes, int]:
    """The edits of several repairs as one, with barriers that two of them put into one place once: so many fewer."""
    changes, doubled = dict(changes_of((e for fix in fixes for e in fix.edits), texts)), 0
    for path, own in changes.items():
        after, offsets = apply(texts[path], own), OffsetMap(own)
        twice = [m.span() for m in _DOUBLED.finditer(after) if offsets.old(m.start()) is None]
        for start, end in reversed(twice):
            after = after[:start] + after[end:]
        if twice:
            doubled += len(twice)
            changes[path] = changes_of(text_edits(path, texts[path], after), texts)[path]
    return changes, doubled


def _together(trial: Trial, fixes: Sequence[Fix], doubled: int, *, whole: bool) -> Fix:
    if len(fixes) == 1:
        return fixes[0]
    costs = [_times(n, cost) for cost, n in Counter(f.cost for f in fixes if f.cost).items()]
    if doubled:
        costs.append(f"−{barriers_in_words(doubled)} that two of them insert")
    return Fix(
        title=f"Apply {len(fixes)} repairs",
        kind=fixes[0].kind,
        edits=edits_of(trial),
        groups=tuple(dict.fromkeys(g for f in fixes for g in f.groups)),
        cost=", ".join(costs),
        notes=tuple(dict.fromkeys(n for f in fixes for n in f.notes if not whole or not n.startswith(NOT_REPAIRED))),
    )


def _times(count: int, cost: str) -> str:
    return cost if count == 1 else f"{count} times {cost}"
