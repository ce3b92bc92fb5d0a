"""Barriers inside of a macro, where one use of it both writes and reads: placed where the macro is defined.

Takes a session and a group of races of which some are between accesses of one use of a macro of the project, gives the
`Fix` that puts a barrier behind a statement of the definition, or between the two sides of an assignment in it, if all
kernels of the unit agree with it; or why not. Where uses race with each other, too, barriers go between them, or else
to the end of the definition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.blanking import WORD, blanked
from analyzers.model import Access, Finding, Fix, FixRefusal
from quickfix.edits import Change, Layout
from quickfix.macro_places import Macro, place_at_end, places_behind_statements, split_assignments
from quickfix.naming import definitions, line_of
from quickfix.paths import chain_to
from quickfix.rebuild import Begun, rebuilt_from
from quickfix.search import sentence
from quickfix.sections import section
from quickfix.session import Session
from quickfix.verify import RACES, findings_of, key_of
from quickfix.wording import barrier_in_words, barriers_in_words, edits_of, kind_in_words

_BRACKETS: Final = re.compile(rb"[()]")
_MOST_INNER: Final = 3
"""Macros that write parts of the uses of another one whose definitions are tried."""
_CALLED: Final = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")


def in_definition(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """None where the races are not those of one macro. Raises `SearchSpentError`."""
    found = _written_by(session, [f for a in kernels for f in findings_of(a.result) if f.group == group])
    if found is None:
        return None
    macros, inner, places = found
    session = session.reading({macro.path for macro in (*macros, *inner)})
    races = [f for a in kernels for f in findings_of(a.result) if f.code in RACES and f.scope != "inter-block"]
    beside = [f for f in races if any((a.span.path, a.span.start_offset) in places for a in f.accesses)]
    for macro in (*macros, *inner):
        edits = list(_edits(session, macro))
        fix = _alone(session, edits, kernels, group) or _with_others(session, edits, kernels, group, beside)
        fix = fix or _alone(session, _twice(session, macro), kernels, group)
        if fix is not None:
            return replace(
                fix,
                notes=(
                    *fix.notes,
                    *_notes(session.trees.texts, macro, [m for m in (*macros, *inner) if m.name == macro.name]),
                ),
            )
    defined = {path: [m.start for m in macros if m.path == path] for path in dict.fromkeys(m.path for m in macros)}
    lines = " and ".join(
        _lines(session.trees.texts[path], at) + _of_file(session, path) for path, at in defined.items()
    )
    why = f"both accesses are written by the macro `{macros[0].name}` ({lines})"
    which = "its definition helps" if len(macros) == 1 else "one of its definitions helps"
    return FixRefusal(sentence(f"{why}, and no barrier behind a statement of {which} without harm to another use"))


@dataclass(frozen=True, slots=True)
class _Edit:
    """Barriers in the definition of a macro."""

    macro: Macro
    changes: list[Change]
    places: tuple[int, ...]
    """Where barriers are written, or an assignment is split."""
    repeated: bool = False
    """A barrier is in a loop of the definition."""
    is_split: bool = False

    def in_words(self, session: Session) -> str:
        path = self.macro.path
        where = _lines(session.trees.texts[path], self.places) + _of_file(session, path)
        barrier = barrier_in_words(session)
        if self.is_split:
            return f"split the assignment in the macro {self.macro.name} in {where} and insert {barrier}"
        return f"insert {barrier} into the macro {self.macro.name} in {where}"

    def cost(self, session: Session) -> str:
        many = len(self.places)
        return f"+{barriers_in_words(many, kind_in_words(session))}{' per iteration' * self.repeated} in each use"


def _edits(session: Session, macro: Macro) -> Iterator[_Edit]:
    """One barrier behind a statement of the definition, or between the two sides of an assignment."""
    text, barrier = session.trees.texts[macro.path], session.barrier
    for p in places_behind_statements(Layout(text), macro, barrier):
        yield _Edit(macro, [Change(p.at, p.at, p.code)], (p.at,), p.repeated)
    for changes in split_assignments(text, macro, barrier):
        yield _Edit(macro, changes, (changes[0].start,), is_split=True)


def _twice(session: Session, macro: Macro) -> Iterator[_Edit]:
    """The same and one at the end of the definition."""
    last = place_at_end(Layout(session.trees.texts[macro.path]), macro, session.barrier)
    if last is None:
        return
    for each in _edits(session, macro):
        if not each.is_split and not each.repeated and each.places[0] < last.at:
            changes = [*each.changes, Change(last.at, last.at, last.code)]
            yield replace(each, changes=changes, places=(*each.places, last.at))


def _alone(
    session: Session,
    edits: Iterable[_Edit],
    kernels: Sequence[KernelAnalysis],
    group: str,
) -> Fix | None:
    """The repair by one of the edits, where it does for all uses. Raises `SearchSpentError`."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    for edit in edits:
        trial = session.trial({edit.macro.path: edit.changes}, frozenset(map(key_of, races)))
        if trial.difference.is_clean and group in trial.gone:
            cost = edit.cost(session)
            ordered = f"orders what {races[0].accesses[0].text} writes and reads"
            return Fix(
                title=f"{sentence(edit.in_words(session)).removesuffix('.')} — {ordered}, {cost}",
                kind="restructure" if edit.is_split else "insert-barrier",
                edits=edits_of(trial),
                groups=tuple(sorted(trial.gone)),
                cost=cost,
            )
    return None


def _with_others(
    session: Session,
    edits: Iterable[_Edit],
    kernels: Sequence[KernelAnalysis],
    group: str,
    races: Sequence[Finding],
) -> Fix | None:
    """The repair by one of the edits and barriers between the uses, which order `races`. Raises `SearchSpentError`."""
    keys = frozenset(map(key_of, races))
    for edit in edits:
        trial = session.trial({edit.macro.path: edit.changes}, keys)
        difference = trial.difference
        if difference.worse or difference.new_races or trial.divergent or trial.late:
            continue
        done = (edit.in_words(session),)
        begun = Begun(session.after(trial), (trial,), done, (edit.cost(session),), begin_with_places=True)
        made = rebuilt_from(session, begun, kernels, keys, (group,))
        if isinstance(made, Fix):
            return made
    return None


def _of_file(session: Session, path: str) -> str:
    return session.names.of(path)


def _lines(text: bytes, places: Iterable[int]) -> str:
    """`line 4`, `lines 4 and 5`."""
    *first, last = dict.fromkeys(str(line_of(text, at)) for at in places)
    return f"lines {', '.join(first)} and {last}" if first else f"line {last}"


def _notes(texts: Mapping[str, bytes], macro: Macro, macros: Sequence[Macro]) -> Iterator[str]:
    """Which uses get the barrier, and what is left to do by hand: definitions of the same name that this build does not
    use, or that take the place of the one in other lines."""
    text = texts[macro.path]
    others = [other for other in macros if other is not macro]
    elsewhere = [section(texts[other.path], other.start) != section(text, macro.start) for other in others]
    uses = f"uses of {macro.name}"
    yield (
        f"All {uses} get the barrier."
        if all(elsewhere)
        else f"All {uses} as line {line_of(text, macro.start)} defines it get the barrier."
    )
    for other, is_elsewhere in zip(others, elsewhere, strict=True):
        build = ", of another build," if is_elsewhere else ""
        line = line_of(texts[other.path], other.start)
        yield f"The definition of {macro.name} in line {line}{build} stays as it is."


def _written_by(
    session: Session, findings: Sequence[Finding]
) -> tuple[Sequence[Macro], Sequence[Macro], frozenset[tuple[str, int]]] | None:
    """The definitions of the macro of which some of the races are between accesses of one use, those of macros that
    write parts of the uses, and the places of the uses. None where there is none, or several are used so."""
    names, inner = set[bytes](), dict[bytes, None]()
    places: set[tuple[str, int]] = set()
    for race in (f for f in findings if f.code in RACES):
        one, two = race.accesses[:2]
        place = one.span.path, one.span.start_offset
        # Of a header it is not known who else includes it.
        if race.scope == "inter-block" or place[0] != session.request.path:
            return None
        if place != (two.span.path, two.span.start_offset) or one.id == two.id:
            continue
        text = session.trees.texts[place[0]]
        start = use_at(session, text, one)
        word = WORD.match(text, start)
        places.add(place)
        names.add(word.group() if word is not None else b"")
        inner.update(dict.fromkeys(_named_in(session, blanked(text)[start : _end_of_use(text, start)])))
    macros = [m for name in names for m in macros_named(session, name)] if len(names) == 1 else []
    parts = [m for name in [n for n in inner if n not in names][:_MOST_INNER] for m in macros_named(session, name)]
    return (macros, parts, frozenset(places)) if macros else None


def _end_of_use(text: bytes, start: int) -> int:
    use = _CALLED.match(blanked(text), start)
    return _closed(blanked(text), use.end()) if use is not None else start


def _named_in(session: Session, code: bytes) -> list[bytes]:
    """The macros of the project that code names, and those that their definitions name."""
    known = {name: text[start:end] for text in session.texts.values() for name, start, end in definitions(text)}
    found, words = list[bytes](), WORD.findall(code)
    while more := [name for name in dict.fromkeys(words) if name in known and name not in found]:
        found += more
        words = WORD.findall(b" ".join(known[name] for name in more))
    return found


def macros_named(session: Session, name: bytes) -> list[Macro]:
    """The definitions of a macro in the files of the project."""
    return [
        Macro(path, name.decode(), start, end)
        for path, text in sorted(session.texts.items())
        for known, start, end in definitions(text)
        if known == name
    ]


def use_at(session: Session, text: bytes, access: Access) -> int:
    """Where the use of a macro begins that writes an access, which itself may stand in an argument: that of the whole
    statement, or the outermost one below a condition."""
    at = access.span.start_offset
    chain = chain_to(session.trees, access)
    statement = chain[-1].statement if chain else None
    if statement is None or not statement.macro or not statement.start <= at < statement.end:
        return at
    names, code = {name for each in session.texts.values() for name, *_ in definitions(each)}, blanked(text)
    for use in _CALLED.finditer(code, statement.start, at):
        if use.group(1) in names and at < _closed(code, use.end()):
            return use.start()
    word = WORD.match(text, statement.start)
    return statement.start if word is not None and word.group() in names else at


def _closed(code: bytes, start: int) -> int:
    """Behind the bracket that closes the one in front of a place; the end of the text where none does."""
    depth = 1
    for found in _BRACKETS.finditer(code, start):
        depth += 1 if found.group() == b"(" else -1
        if depth == 0:
            return found.end()
    return len(code)
