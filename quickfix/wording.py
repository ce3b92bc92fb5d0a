"""Repairs in words: titles, places, pairs of accesses, costs and notes, and the edits that they are about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from analyzers.model import NOT_REPAIRED, Access, Finding, Fix, TextEdit, Verdict
from quickfix.edits import BARRIER, FENCE, WARP_BARRIER, text_edits
from quickfix.naming import line_of
from quickfix.search import Placed
from quickfix.session import Changes, Session, Trial
from quickfix.verify import EditedFile, Files


def edits_of(trial: Trial) -> tuple[TextEdit, ...]:
    return edits_of_files(trial.files)


def edits_of_files(files: Files) -> tuple[TextEdit, ...]:
    """What turns the texts before an edit into those after it."""
    return tuple(e for path, f in sorted(files.items()) for e in text_edits(path, f.before, f.after))


def shown(access: Access) -> str:
    return f"`{access.text}`" if access.text else "the barrier"


def pair_in_words(one: Access, two: Access) -> str:
    if one.text != two.text:
        return f"{one.text} and {two.text}"
    if one.kind != two.kind:
        return f"the {one.kind} and the {two.kind} of {one.text}"
    if one.span != two.span and one.span.line != two.span.line:
        return f"the {one.kind}s of {one.text} in lines {one.span.line} and {two.span.line}"
    if one.iterations == two.iterations:
        return f"the {one.kind}s of {one.text} by different threads"
    return f"the {one.kind}s of {one.text} in different iterations"


def pairs_in_words(targets: Iterable[Finding], shown: Finding) -> str:
    pairs = {frozenset((a.span.path, a.span.start_offset) for a in f.accesses) for f in targets}
    more = len(pairs) - 1
    rest = f" and {more} more pair{'s' * (more != 1)}" if more else ""
    return pair_in_words(*shown.accesses[:2]) + rest


def places_in_words(changes: Changes, session: Session, earlier: Mapping[str, EditedFile] | None = None) -> str:
    """`__syncthreads() after line 41`, `2 barriers after lines 41 and 45`, `in line 7` where that goes on behind it,
    `in line 7 of tile.cuh`; lines of the text before `earlier` edits."""
    lines: list[tuple[str, int]] = []
    inside: list[bool] = []
    for path, found in sorted(changes.items()):
        file = (earlier or {}).get(path)
        for change in found:
            if change.gap is None:
                continue
            if file is None:
                text, at = session.trees.texts[path], change.start
            else:
                text = file.before
                at = next((o for at in range(change.start, -1, -1) if (o := file.offsets.old(at)) is not None), 0)
            lines.append((path, line_of(text, at)))
            inside.append(file is None and _goes_on(text, at))
    where = "in" if all(inside) else "at" if any(inside) else "after"
    places = session.names.lines(lines)
    what = barrier_in_words(session) if len(inside) == 1 else f"{len(inside)} {kind_in_words(session)}s"
    return f"{what} {where} {places}"


def _goes_on(text: bytes, at: int) -> bool:
    """Whether there is code behind a place in its line."""
    rest = _COMMENT.sub(b"", text[at:].partition(b"\n")[0])
    return rest.strip(b"\\ \t\r") != b""


def barrier_in_words(session: Session) -> str:
    return session.barrier.decode().removesuffix(";")


_COMMENT: Final = re.compile(rb"/\*.*?(?:\*/|$)|//.*")
_PLAIN: Final = re.compile("|".join(re.escape(b.decode().removesuffix(";")) for b in (BARRIER, WARP_BARRIER)))


def as_spelled(placed: Placed, text: str) -> str:
    """Words about barriers with what is written for them."""
    if not placed.spelled:
        return text
    spelled = placed.spelled.decode().removesuffix(";")
    return _PLAIN.sub(lambda _: spelled, text)


def kind_in_words(session: Session) -> str:
    """What a search inserts, as a cost names it."""
    if session.orders_warps:
        return "warp barrier"
    if session.barrier == FENCE:
        return "fence"
    return "grid barrier" if session.orders_blocks else "barrier"


LATE: Final = "Threads that have returned before the new barrier do not take part in it; CUDA allows that."


def notes_of(placed: Placed) -> tuple[str, ...]:
    notes: list[str] = []
    if placed.trial.late:
        notes.append(LATE)
    notes += [_harmless(f) for f in placed.harmless]
    notes += [f"{NOT_REPAIRED}{text}" for text in placed.given_up]
    notes += [_shown_only_now(f) for f in placed.trial.difference.appeared[:1]]
    return tuple(notes)


def _shown_only_now(finding: Finding) -> str:
    one, two = (f"`{a.text}` (line {a.span.line})" for a in finding.accesses[:2])
    again = one if one == two else f"{one} and {two}"
    return f"{NOT_REPAIRED}{again} collide{'s' * (one == two)}, too, which was not asked while so much else did."


def _harmless(finding: Finding) -> str:
    places = dict.fromkeys(f"`{a.text}` (line {a.span.line})" for a in finding.accesses[:2])
    return f"The writes of {' and '.join(places)} still collide; all of them write the same value."


def granted_in_words(granted: Iterable[str]) -> str:
    """What edits take for granted, as the end of a title: the sentences without their reasons."""
    claims = (_CLAIM.match(text) for text in dict.fromkeys(granted))
    return "".join(f", {claim[0][:1].lower()}{claim[0][1:]}" for claim in claims if claim is not None)


_CLAIM: Final = re.compile(r"(?:`[^`]*`|[^`:])*")
"""What comes in front of a reason; code may have colons, too."""


def granting(fix: Fix, granted: str) -> Fix:
    """The repair as one that takes something for granted, which makes it a choice; `granted`: a sentence, may be
    empty."""
    if not granted or granted in fix.assumes:
        return fix
    return replace(
        fix,
        title=fix.title + granted_in_words((granted,)),
        preferred=False,
        notes=(*fix.notes, granted),
        assumes=(*fix.assumes, granted),
    )


def barriers_in_words(count: int, kind: str = "barrier") -> str:
    return f"{count} {kind}{'s' * (count != 1)}"


def lines_in_words(family: Sequence[Finding], session: Session) -> str:
    return session.names.lines((f.accesses[0].span.path, f.accesses[0].span.line) for f in family)


def empty_bodies(trial: Trial) -> tuple[str, ...]:
    empty = any(change.text == b"{}" for changes in trial.changes.values() for change in changes)
    return ("An empty body is left, because what stands before it may do more than compute a value.",) if empty else ()


def beyond_repair(finding: Finding) -> str | None:
    """Why no edit is looked for, a sentence; None for findings of other kinds."""
    if finding.code in (Verdict.ASSERTION_FAILURE, Verdict.POSSIBLE_ASSERTION_FAILURE):
        text = finding.accesses[0].text
        return f"`{text}` is for the code in front of it to keep, or for the host: no barrier makes it hold."
    if finding.code is Verdict.LANE_NOT_IN_MASK:
        text = finding.accesses[0].text
        return f"`{text}` is made by lanes that its mask does not name: name them, or let only the others come."
    if finding.code is Verdict.MISSING_LANES:
        text = finding.accesses[0].text
        return f"`{text}` is to be made by lanes that do not come: name those that do, or let all of them come."
    if finding.code is Verdict.BENIGN_RACE:
        if all(access.kind == "write" for access in finding.accesses[:2]):
            return "Nothing has to be repaired: whichever thread is last, the same value is left."
        return "Nothing has to be repaired: the compare-and-swap checks what was read."
    return None
