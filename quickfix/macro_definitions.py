"""Barriers inside of a macro, where one use of it both writes and reads: placed where the macro is defined.

Takes a session and a group of races whose accesses are all written by uses of one macro of their file, gives the `Fix`
that puts a barrier between two statements of the definition, if all kernels of the unit agree with it; or why not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.blanking import WORD
from analyzers.model import Finding, Fix, FixRefusal
from quickfix.edits import Change, Layout
from quickfix.naming import definitions, line_of
from quickfix.search import sentence
from quickfix.session import Session
from quickfix.verify import RACES, findings_of, key_of
from quickfix.wording import barrier_in_words, edits_of, kind_in_words

_MOST_PLACES: Final = 6


@dataclass(frozen=True, slots=True)
class _Macro:
    path: str
    name: str
    start: int
    end: int
    """The bytes of its definition, behind the name."""


def in_definition(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """None where the races are not those of one macro. Raises `SearchSpentError`."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    macro = _written_by(session, races)
    if macro is None:
        return None
    text = session.trees.texts[macro.path]
    line = line_of(text, macro.start)
    targets = frozenset(map(key_of, races))
    for at, code in _places(Layout(text), macro, session.barrier):
        changes = {macro.path: [Change(at, at, code)]}
        trial = session.trial(changes, targets)
        if trial.difference.is_clean and group in trial.gone:
            cost = f"+1 {kind_in_words(session)} in each use"
            where = f"into the macro {macro.name} after line {line_of(text, at)}"
            ordered = f"orders what {races[0].accesses[0].text} writes and reads"
            return Fix(
                title=f"Insert {barrier_in_words(session)} {where} — {ordered}, {cost}",
                kind="insert-barrier",
                edits=edits_of(trial),
                groups=tuple(sorted(trial.gone)),
                cost=cost,
                notes=(f"All uses of {macro.name} get the barrier.",),
            )
    why = f"both accesses are written by the macro `{macro.name}` (line {line}), and no barrier in its definition helps"
    return FixRefusal(sentence(f"{why} without harm to another use"))


def _written_by(session: Session, races: Sequence[Finding]) -> _Macro | None:
    """The macro of which each race is between accesses of one use."""
    found: set[_Macro | None] = set()
    for race in races:
        one, two = race.accesses[:2]
        place = one.span.path, one.span.start_offset
        same = place == (two.span.path, two.span.start_offset) and one.id != two.id
        # Of a header it is not known who else includes it.
        if not same or race.scope == "inter-block" or place[0] != session.request.path:
            return None
        text = session.trees.texts[place[0]]
        word = WORD.match(text, place[1])
        known = [d for d in definitions(text) if word is not None and d[0] == word.group()]
        found.add(_Macro(place[0], known[0][0].decode(), *known[0][1:]) if len(known) == 1 else None)
    return next(iter(found)) if len(found) == 1 else None


def _places(layout: Layout, macro: _Macro, barrier: bytes) -> Iterator[tuple[int, bytes]]:
    """Behind statements of the definition that others follow, with what to write there."""
    text = layout.text
    code = _VISIBLE.sub(lambda m: re.sub(rb"[^\n]", b" ", m.group()), text[macro.start : macro.end])
    depth = count = 0
    for at, sign in enumerate(code):
        depth += (sign in b"([") - (sign in b")]")
        behind = code[at + 1 :].replace(b"\\", b" ").strip()
        if sign != ord(";") or depth or not behind or behind.startswith(b"}") or count >= _MOST_PLACES:
            continue
        count += 1
        place = macro.start + at + 1
        rest = text[place : text.find(b"\n", place)]
        if rest.strip() == b"\\":
            # A line of its own, with its backslash below the one above.
            stop = place + rest.index(b"\\") + 1
            line = (layout.indentation(place) + barrier + b" ").ljust(stop - 1 - layout.line_start(place))
            yield stop, layout.newline + line + b"\\"
        else:
            yield place, b" " + barrier


_VISIBLE: Final = re.compile(rb"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
