"""Barriers inside of a macro, where one use of it both writes and reads: placed where the macro is defined.

Takes a session and a group of races whose accesses are all written by uses of one macro of their file, gives the `Fix`
that puts a barrier behind a statement of the definition, or between the two sides of an assignment in it, if all
kernels of the unit agree with it; or why not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.blanking import WORD, blanked
from analyzers.model import Access, Finding, Fix, FixRefusal
from quickfix.edits import Change, Layout
from quickfix.naming import definitions, line_of
from quickfix.paths import chain_to
from quickfix.search import sentence
from quickfix.sections import section
from quickfix.session import Session
from quickfix.verify import RACES, findings_of, key_of
from quickfix.wording import barrier_in_words, edits_of, kind_in_words

_MOST_PLACES: Final = 6
_BRACKETS: Final = re.compile(rb"[()]")
_CALLED: Final = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")


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
    macros = _written_by(session, races)
    if not macros:
        return None
    found = (fix for macro in macros if (fix := _in(session, races, macro, macros)) is not None)
    fix = next(found, None)
    if fix is not None:
        return fix
    text, one = session.trees.texts[macros[0].path], len(macros) == 1
    lines = " and ".join(str(line_of(text, macro.start)) for macro in macros)
    why = f"both accesses are written by the macro `{macros[0].name}` (line{'' if one else 's'} {lines})"
    which = "its definition helps" if one else "one of its definitions helps"
    return FixRefusal(sentence(f"{why}, and no barrier behind a statement of {which} without harm to another use"))


def _in(session: Session, races: Sequence[Finding], macro: _Macro, macros: Sequence[_Macro]) -> Fix | None:
    """The repair in one of the definitions of a macro. Raises `SearchSpentError`."""
    group, text = races[0].group, session.trees.texts[macro.path]
    targets = frozenset(map(key_of, races))
    behind = ((p.repeated, [Change(p.at, p.at, p.code)]) for p in _places(Layout(text), macro, session.barrier))
    split = ((False, changes) for changes in _split(text, macro, session.barrier))
    for repeated, changes in (*behind, *split):
        trial = session.trial({macro.path: changes}, targets)
        if trial.difference.is_clean and group in trial.gone:
            cost = f"+1 {kind_in_words(session)}{' per iteration' * repeated} in each use"
            only = len(changes) == 1
            where = f"in line {line_of(text, changes[0].start)}"
            barrier = barrier_in_words(session)
            ordered = f"orders what {races[0].accesses[0].text} writes and reads"
            done = (
                f"Insert {barrier} into the macro {macro.name} {where}"
                if only
                else f"Split the assignment in the macro {macro.name} in line {line_of(text, changes[0].start)} and "
                f"insert {barrier}"
            )
            return Fix(
                title=f"{done} — {ordered}, {cost}",
                kind="insert-barrier" if only else "restructure",
                edits=edits_of(trial),
                groups=tuple(sorted(trial.gone)),
                cost=cost,
                notes=tuple(_notes(text, macro, macros)),
            )
    return None


def _notes(text: bytes, macro: _Macro, macros: Sequence[_Macro]) -> Iterator[str]:
    """Which uses get the barrier, and what is left to do by hand: definitions of the same name that this build does not
    use, or that take the place of the one in other lines."""
    others = [other for other in macros if other is not macro]
    elsewhere = [section(text, other.start) != section(text, macro.start) for other in others]
    uses = f"uses of {macro.name}"
    yield (
        f"All {uses} get the barrier."
        if all(elsewhere)
        else f"All {uses} as line {line_of(text, macro.start)} defines it get the barrier."
    )
    for other, is_elsewhere in zip(others, elsewhere, strict=True):
        build = ", of another build," if is_elsewhere else ""
        yield f"The definition of {macro.name} in line {line_of(text, other.start)}{build} stays as it is."


def _written_by(session: Session, races: Sequence[Finding]) -> tuple[_Macro, ...]:
    """The definitions of the macro of which each race is between accesses of one use; none where there is none."""
    found: set[tuple[_Macro, ...]] = set()
    for race in races:
        one, two = race.accesses[:2]
        place = one.span.path, one.span.start_offset
        same = place == (two.span.path, two.span.start_offset) and one.id != two.id
        # Of a header it is not known who else includes it.
        if not same or race.scope == "inter-block" or place[0] != session.request.path:
            return ()
        text = session.trees.texts[place[0]]
        word = WORD.match(text, _use_at(session, text, one))
        known = [d for d in definitions(text) if word is not None and d[0] == word.group()]
        found.add(tuple(_Macro(place[0], name.decode(), start, end) for name, start, end in known))
    return next(iter(found)) if len(found) == 1 else ()


def _use_at(session: Session, text: bytes, access: Access) -> int:
    """Where the use of a macro begins that writes an access, which itself may stand in an argument: that of the whole
    statement, or the outermost one below a condition."""
    at = access.span.start_offset
    chain = chain_to(session.trees, access)
    statement = chain[-1].statement if chain else None
    if statement is None or not statement.macro or not statement.start <= at < statement.end:
        return at
    names, code = {name for name, *_ in definitions(text)}, blanked(text)
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


def _split(text: bytes, macro: _Macro, barrier: bytes) -> Iterator[list[Change]]:
    """An assignment of the definition as one of its value to a variable, the barrier, and that of the variable. Where
    it is all of the definition, in braces that make one statement of it."""
    code = _VISIBLE.sub(lambda m: re.sub(rb"[^\n]", b" ", m.group()), text[macro.start : macro.end])
    parameters = re.match(rb"\([^()]*\)", code)
    begin = parameters.end() if parameters is not None else 0
    name = macro.name.lower().encode() + b"_value"
    if re.search(rb"\b" + name + rb"\b", text) or b"#" in code:
        return
    for start, end in _statements(code, begin):
        found = _ASSIGNS.match(code, start, end)
        if found is None or found.end() != len(code[:end].rstrip(b"\\ \t\r\n")) or _has_comma(found[1]):
            continue
        low, high = macro.start + found.start(1), macro.start + found.end(1)
        at, stop = macro.start + found.start(), macro.start + found.end()
        whole = not code[begin:start].strip(b"\\ \t\r\n") and not code[end:].strip(b";\\ \t\r\n")
        opened, closed = (b"do { ", b"; } while (0)") if whole else (b"", b"")
        head = opened + b"auto " + name + b" = " + text[low:high] + b"; " + barrier + b" "
        moved = ((len(head) - len(barrier) - 3 - (high - low), low, high - low),)
        yield [Change(at, at, head, moved=moved), Change(low, stop, name + closed)]


_INDEX: Final = rb"\[(?:[^][=;{}]|\[[^][=;{}]*\])*\]"
_ASSIGNS: Final = re.compile(
    rb"(?:\w+|\(\s*\w+\s*\))(?:\s*(?:" + _INDEX + rb"|(?:\.|->)\s*\w+))+\s*=(?!=)[\s\\]*([^;{}]*[^;{}\s\\])"
)
"""`x[i] = v`, with nothing in front of it and nothing in it that ends a statement."""


def _has_comma(code: bytes) -> bool:
    """Outside of all brackets."""
    depth = 0
    for sign in code:
        depth += (sign in b"([") - (sign in b")]")
        if sign == ord(",") and not depth:
            return True
    return False


def _statements(code: bytes, begin: int) -> Iterator[tuple[int, int]]:
    """Where the statements of a definition stand that are alone in it or in braces, without their semicolons."""
    depth = nested = 0
    start = begin
    for at in range(begin, len(code)):
        sign = code[at]
        depth += (sign in b"([") - (sign in b")]")
        if sign in b";{}" and not depth:
            if sign == ord(";") and nested:
                yield _visible_from(code, start, at), at
            nested += (sign == ord("{")) - (sign == ord("}"))
            start = at + 1
    alone = start == begin or not code[start:].strip(b"\\ \t\r\n")
    end = len(code) if start == begin else start - 1
    if not nested and alone and b";" not in code[begin:end]:
        yield _visible_from(code, begin, end), end


def _visible_from(code: bytes, start: int, end: int) -> int:
    """The first place that is neither blank nor the end of a line that goes on."""
    return end - len(code[start:end].lstrip(b"\\ \t\r\n"))


@dataclass(frozen=True, slots=True)
class _Place:
    at: int
    """Where the barrier is written."""
    code: bytes
    repeated: bool = False
    """In a loop of the definition."""


def _places(layout: Layout, macro: _Macro, barrier: bytes) -> list[_Place]:
    """Behind statements of the definition: first those between two, then those that end an iteration of a loop in
    it."""
    text = layout.text
    code = _VISIBLE.sub(lambda m: re.sub(rb"[^\n]", b" ", m.group()), text[macro.start : macro.end])
    between, last = list[_Place](), list[_Place]()
    depth = start = 0
    loops = list[bool]()
    """Of the braces that are open, whether they are a loop's."""
    for at, sign in enumerate(code):
        depth += (sign in b"([") - (sign in b")]")
        if sign not in b";{}" or depth:
            continue
        first, start = _visible_from(code, start, at), at + 1
        if sign == ord("{"):
            loops.append(_is_loop(code, at))
        elif sign == ord("}") and loops:
            loops.pop()
        behind = code[at + 1 :].replace(b"\\", b" ").strip()
        if sign == ord("{") or not behind or _GOES_ON[sign].match(behind):
            continue
        ends = behind.startswith(b"}")
        if not ends or (loops and loops[-1]):
            written = _written(layout, macro.start + first, macro.start + at + 1, barrier)
            place = _Place(*written, any(loops))
            (last if ends else between).append(place)
    return (between + last)[:_MOST_PLACES]


def _written(layout: Layout, first: int, place: int, barrier: bytes) -> tuple[int, bytes]:
    """Where a barrier behind a statement is written, and how. ``first``: where what ends there begins, that a branch
    without braces is part of."""
    text = layout.text
    rest = text[place : text.find(b"\n", place)]
    if rest.strip() != b"\\":
        return place, b" " + barrier
    # A line of its own, with its backslash below the one above.
    stop = place + rest.index(b"\\") + 1
    line = (layout.indentation(first) + barrier + b" ").ljust(stop - 1 - layout.line_start(place))
    return stop, layout.newline + line + b"\\"


def _is_loop(code: bytes, brace: int) -> bool:
    """Whether a brace opens the body of a loop; one that is made once, to be a single statement, is none."""
    before = code[:brace].rstrip(b"\\ \t\r\n")
    if _DO.search(before):
        end = _closing(code, brace, b"{", b"}")
        return _ONCE.match(code, end + 1) is None
    if not before.endswith(b")"):
        return False
    opened = len(before) - 1 - _closing(before[::-1], 0, b")", b"(")
    return _LOOP.search(before[:opened]) is not None


def _closing(code: bytes, at: int, opening: bytes, closing: bytes) -> int:
    """Where what opens at a place is closed; the end, where it is not."""
    depth = 0
    for here in range(at, len(code)):
        depth += (code[here] == opening[0]) - (code[here] == closing[0])
        if not depth:
            return here
    return len(code) - 1


_DO: Final = re.compile(rb"\bdo$")
_LOOP: Final = re.compile(rb"\b(?:for|while)\s*$")
_ONCE: Final = re.compile(rb"[\s\\]*while\s*\(\s*(?:0|false)\s*\)")
_GOES_ON: Final = {
    ord(";"): re.compile(rb"else\b"),
    ord("}"): re.compile(rb"(?:else|while|catch)\b|[;,).\[]"),
}
"""Behind a semicolon or a brace: a barrier there would part it from what belongs to it."""
_VISIBLE: Final = re.compile(rb"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
