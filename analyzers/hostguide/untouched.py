"""Members that a call leaves alone, as far as its code is in sight.

A private integer member of an object is written by few functions, and a call that is not followed reaches few
functions. Reached counts every function whose name stands in the body of one that is reached, where the scope it is
named in does not exclude it, and what runs there without being named (`implied`); code that a variable holds, or that
is not in sight, may call every function whose address is taken. So there are more of them than are called. What
functions do whose definition is not in sight is assumed, and the assumption is listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analyzers.frontend import cindex
from analyzers.frontend.cindex import Cursor, CursorKind
from analyzers.hostguide.declared import CLASSES, FUNCTIONS, FoundFunction, on_device
from analyzers.hostguide.implied import Effects, Implied
from analyzers.hostguide.tree import identity
from analyzers.hostguide.written import Code, Doubt

_WORD = re.compile(rb"[A-Za-z_]\w*")
_SCOPE = re.compile(rb"(?:([A-Za-z_]\w*)\s*(?:<[^<>]*>\s*)?)?(::)\s*$|(\.|->)\s*$")
_ASSIGNED = re.compile(rb"(?<![A-Za-z_])([A-Za-z_]\w*)\s*\)?(?:\[[^\]]*\]\s*)?=(?!=)")
_EXCHANGED = re.compile(rb"\b(?:swap|exchange|iter_swap|swap_ranges)\s*\(([^;]*);")
_DECLARED = rb"\b\s*(?:<[^<>;{}()]*>)?[\s*&>]*\b([A-Za-z_]\w*(?:\s*,[\s*&]*[A-Za-z_]\w*)*)"
"""Variables that are declared with a class, or with a container of its objects, behind its name."""
_FARTHEST = 80
"""Bytes in front of a name in which its scope stands."""
_CALLED = re.compile(rb"\w+\s*(?:<[^;{}()]*>\s*)?\(")
_LAMBDA = re.compile(rb"\]\s*(?:\([^{};]*\)\s*)?(?:(?:mutable|noexcept|constexpr)\s*)*(?:->[^{};]*)?\{")
_ADDRESS = re.compile(rb"&\s*(?:[A-Za-z_]\w*\s*(?:<[^<>;{}()]*>\s*)?::\s*)+$")
_ERASING = re.compile(
    rb"\b(?:(?:move_only_|copyable_)?function(?:_ref)?|packaged_task)\s*<"
    rb"|\b(?:j?thread|async|bind|bind_front|bind_back|mem_fn|any|make_any|any_cast|call_once)\b"
    rb"\s*(?:<[^<>;{}()]*>)?\s*(?:[A-Za-z_]\w*\s*)?[({=]"
)
_DYADIC = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")
_SIGNS = {
    sign: re.compile(shown)
    for sign, shown in {
        "[]": rb"\[",
        "->": rb"->",
        "++": rb"\+\+",
        "--": rb"--",
        "=": rb"(?<![=!<>+\-*/%&|^])=(?!=)",
        "new": rb"\bnew\b",
        "delete": rb"\bdelete\b",
        **{s: re.escape(s).encode() for s in (*_DYADIC, "~", "!", "<", ">", ",", "==", "!=", "&&", "||", "->*")},
        **{f"{s}=": re.escape(f"{s}=").encode() for s in (*_DYADIC, "<", ">")},
    }.items()
}
"""How the operators of C++ stand in a text."""
_KNOWN = frozenset({*_SIGNS, "()"})
_CALL = re.compile(rb"(?:\b([A-Za-z_]\w*)|[\])>])\s*\(")
_STATEMENTS = frozenset({"if", "for", "while", "switch", "return", "sizeof", "catch", "decltype", "alignof"})
_PROBE = b"cuda_lsp_probe_"
"""In each line that the guide itself appends to a text."""
_Spot = tuple[str, int]
"""A file, and where a function or the definition of a macro begins in it."""
_Named = tuple[str, int, int, FoundFunction | None]
"""The text of one; None for a macro."""
_Extent = tuple[str, int, int, FoundFunction | None, bool]
"""The text of one, and whether clang leaves open what some of it means."""


@dataclass(slots=True)
class _Closure:
    """What a function reaches."""

    spots: set[_Spot]
    overwritten: set[str]
    """Classes of objects that get new values as a whole."""
    outside: dict[str, None]
    """Functions that are called and not in sight."""


@dataclass(frozen=True, slots=True)
class _Body:
    """What the body of one function leads to by itself."""

    extent: _Extent | None
    """Its text; None for one that is not in the texts."""
    functions: tuple[int, ...]
    effects: Effects


@dataclass(frozen=True, slots=True)
class _Mentions:
    """What is named in one text."""

    macros: list[_Extent]
    patterns: dict[_Spot, FoundFunction]
    """Templates: of no use where instances of them are reached."""
    functions: tuple[int, ...]


class Reached:
    """What is reached from the functions of a program, and the members that they write."""

    def __init__(
        self,
        code: Code,
        macros: Mapping[str, Sequence[tuple[str, int, int]]],
        implied: Implied,
        meant: Callable[[str, int], Any | None],
    ) -> None:
        """``macros``: by name, the file and extent of their definitions. ``meant``: the declaration that a name at a
        place in a file means, None where clang does not say."""
        self._code = code
        self._macros = macros
        self._implied = implied
        self._meant = meant
        self._defined = {(f.path, f.named_at): f for fs in code.named.values() for f in fs if f.defined}
        self._writers: dict[str, frozenset[_Spot] | None] = {}
        self._assigners: dict[str, frozenset[_Spot]] = {}
        self._assigned: dict[bytes, set[_Spot]] | None = None
        self._reached: dict[int, _Closure] = {}
        self._classes: dict[_Spot, tuple[str, bool]] = {}
        self._by_class: dict[str, list[FoundFunction]] | None = None
        self._cursors: dict[int, Any] = {}
        """Of functions, by number."""
        self._bodies: dict[int, _Body] = {}
        self._known_mentions: dict[tuple[str, int, bool], _Mentions] = {}
        self._telling = frozenset(name.encode() for name in (*code.named, *macros))
        """The words that name something wherever they stand."""
        self._known_applied: dict[_Spot, list[Any]] = {}
        self._roots: list[Any] | None = None
        self._keeps: bool | None = None

    def leaves_alone(self, function: Any, record: str, member: str) -> tuple[str, ...] | None:
        """The functions out of sight that a function, the cursor of a definition, calls: if nothing in sight that it
        reaches writes a member of this name, or gives a new value to a whole object of its class; else None."""
        writers = self._writers_of(member) if self._found(function) is not None else None
        if writers is None:
            return None
        reached = self._from(function)
        if record in reached.overwritten:
            return None
        alone = writers.isdisjoint(reached.spots) and self._assigners_of(record).isdisjoint(reached.spots)
        return tuple(sorted(reached.outside)) if alone else None

    def _assigners_of(self, record: str) -> frozenset[_Spot]:
        """The functions that assign to a variable which is declared with a class somewhere, or through one."""
        if record not in self._assigners:
            names: set[bytes] = set()
            declared = re.compile(rb"\b" + record.encode() + _DECLARED)
            for text in self._code.texts.values():
                names.update(name for found in declared.findall(text) for name in _WORD.findall(found))
            assigned = self._all_assigned()
            found = [assigned.get(name, frozenset[_Spot]()) for name in (*names, b"this")]
            self._assigners[record] = frozenset[_Spot]().union(*found)
        return self._assigners[record]

    def _all_assigned(self) -> dict[bytes, set[_Spot]]:
        """By name, the functions that assign to what a name means, or points to, as a whole."""
        if self._assigned is None:
            self._assigned = {}
            for path, text in self._code.texts.items():
                for match in _ASSIGNED.finditer(text):
                    f = self._code.around(path, match.start())
                    if f is not None:
                        self._assigned.setdefault(match[1], set()).add((path, f.start))
                for match in _EXCHANGED.finditer(text):
                    f = self._code.around(path, match.start())
                    if f is not None:
                        for name in _WORD.findall(match[1]):
                            self._assigned.setdefault(name, set()).add((path, f.start))
        return self._assigned

    def _writers_of(self, member: str) -> frozenset[_Spot] | None:
        if member not in self._writers:
            found: set[_Spot] = set()
            try:
                for write in self._code.writes(member, frozenset()):
                    if write.function is not None:
                        found.add((write.path, write.function.start))
                    elif write.holder:
                        raise Doubt(f"{member} is written outside of functions")
                self._writers[member] = frozenset(found)
            except Doubt:
                self._writers[member] = None
        return self._writers[member]

    def _found(self, cursor: Any) -> FoundFunction | None:
        where = cursor.location
        return self._defined.get((where.file.name, where.offset)) if where.file is not None else None

    def _from(self, function: Any) -> _Closure:
        known = self._reached.get(identity(function))
        if known is None:
            known = self._reached[identity(function)] = self._closure(function)
        return known

    def _closure(self, function: Any) -> _Closure:
        closure = _Closure(set(), set(), {})
        patterns: dict[_Spot, FoundFunction] = {}
        resolving = [self._numbered(function)]
        bodies = set(resolving)
        waiting: list[_Extent] = []
        out = False

        def follow(numbers: Sequence[int]) -> None:
            fresh = [n for n in numbers if n not in bodies]
            bodies.update(fresh)
            resolving.extend(fresh)

        while resolving or waiting or patterns:
            if not resolving and not waiting:
                spot, f = patterns.popitem()
                if spot not in closure.spots:
                    follow((self._numbered(f.cursor),))
            while resolving:
                body = self._body(resolving.pop())
                if body.extent is not None:
                    waiting.append(body.extent)
                follow(body.functions)
                closure.overwritten |= body.effects.overwritten
                closure.outside.update(body.effects.outside)
                if body.effects.leads_out and not out:
                    out = True
                    follow([self._numbered(cursor) for cursor in self._held()])
            if waiting:
                path, at, end, inside, doubtful = waiting.pop()
                if (path, at) in closure.spots:
                    continue
                closure.spots.add((path, at))
                mentions = self._mentions(path, at, end, inside, doubtful)
                waiting += mentions.macros
                patterns |= mentions.patterns
                follow(mentions.functions)
        return closure

    def _numbered(self, cursor: Any) -> int:
        number = identity(cursor)
        self._cursors.setdefault(number, cursor)
        return number

    def _body(self, number: int) -> _Body:
        """What is found in the body of a function, by the number of its cursor."""
        known = self._bodies.get(number)
        if known is None:
            cursor = self._cursors[number]
            effects = self._implied.of(cursor)
            f = self._found(cursor)
            extent = (f.path, f.start, f.end, f, effects.unresolved) if f is not None else None
            reached = [*effects.functions.values(), *(self._applied(f) if effects.unresolved else ())]
            functions = tuple(dict.fromkeys(map(self._numbered, reached)))
            known = self._bodies[number] = _Body(extent, functions, effects)
        return known

    def _applied(self, f: FoundFunction | None) -> list[Any]:
        """The operators and conversions in sight that a function may apply to objects whose classes clang does not say,
        as its text shows their signs."""
        if f is None:
            return self._implied.operators
        spot = (f.path, f.start)
        if spot not in self._known_applied:
            text = self._code.text(f)
            signs = {name for name, shown in _SIGNS.items() if shown.search(text)}
            if self._calls_unknown(text):
                signs.add("()")
            shown = ((o, _sign(o.spelling)) for o in self._implied.operators)
            self._known_applied[spot] = [o for o, sign in shown if sign in signs or sign not in _KNOWN]
        return self._known_applied[spot]

    def _calls_unknown(self, text: bytes) -> bool:
        """Whether something is called that is no name of a function."""
        for match in _CALL.finditer(text):
            name = (match[1] or b"").decode()
            if not name or (name not in _STATEMENTS and name not in self._code.named and name not in self._macros):
                return True
        return False

    def _held(self) -> list[Any]:
        """The functions whose address is taken, or that hold a lambda, and those that objects are called with."""
        if self._roots is None:
            found: dict[int, Any] = {}
            places: dict[str, list[_Spot]] = {}
            for path, text in self._code.texts.items():
                for match in _WORD.finditer(text):
                    places.setdefault(match[0].decode(), []).append((path, match.start()))
            for name, functions in self._code.named.items():
                defined = [f for f in functions if f.defined and f.cursor.kind not in _NO_ADDRESS and not on_device(f)]
                if name == "operator":
                    called = [f for f in defined if f.name.startswith("operator()") and self._keeps_objects()]
                    found.update((identity(f.cursor), f.cursor) for f in called)
                elif defined:
                    for cursor in self._taken(places.get(name, ()), defined):
                        found[identity(cursor)] = cursor
            for path, text in self._code.texts.items():
                for match in _LAMBDA.finditer(text):
                    f = self._code.around(path, match.start())
                    if f is not None:
                        found[identity(f.cursor)] = f.cursor
            self._roots = list(found.values())
        return self._roots

    def _keeps_objects(self) -> bool:
        """Whether some text uses what holds objects that can be called, whatever their type."""
        if self._keeps is None:
            self._keeps = any(_ERASING.search(text) for text in self._code.texts.values())
        return self._keeps

    def _taken(self, places: Sequence[_Spot], functions: Sequence[FoundFunction]) -> Iterator[Any]:
        """The functions of a name whose address is taken: what clang says of the places of the name, else all."""
        for path, at in places:
            text = self._code.texts[path]
            if (path, at) in self._code.declared_at or _CALLED.match(text, at):
                continue
            front = text[max(0, at - _FARTHEST) : at]
            if _is_in_probe(text, at) or front.rstrip().endswith((b".", b"->")):
                continue
            meant = self._meant(path, at)
            if meant is not None and meant.kind not in FUNCTIONS:
                continue
            if meant is not None and meant.kind != CursorKind.FUNCTION_TEMPLATE:
                yield self._implied.definition(meant)
            else:
                member = _ADDRESS.search(front) is not None
                yield from (f.cursor for f in functions if member or not _is_bound(f))

    def _mentions(self, path: str, at: int, end: int, inside: FoundFunction | None, doubtful: bool) -> _Mentions:
        key = (path, at, doubtful)
        found = self._known_mentions.get(key)
        if found is None:
            named = list(self._mentioned(path, at, end, inside, doubtful))
            plain = (f.cursor for *_, f in named if f is not None and not f.template)
            found = self._known_mentions[key] = _Mentions(
                [(where, start, stop, None, doubtful) for where, start, stop, f in named if f is None],
                {(where, start): f for where, start, _, f in named if f is not None and f.template},
                tuple(dict.fromkeys(map(self._numbered, plain))),
            )
        return found

    def _mentioned(
        self, path: str, at: int, end: int, inside: FoundFunction | None, doubtful: bool
    ) -> Iterator[_Named]:
        """``doubtful``: clang does not say everything that the code means."""
        text = self._code.texts[path]
        seen: set[tuple[bytes | None, ...]] = set()
        for match in _WORD.finditer(text, at, end):
            if match[0] not in self._telling and not doubtful:
                continue
            scope = _SCOPE.search(text, max(at, match.start() - _FARTHEST), match.start())
            use = (match[0], *(scope.groups() if scope is not None else ()))
            if use in seen:
                continue
            seen.add(use)
            name = match[0].decode()
            if name == "operator":  # the head of one; those that are applied are found by their classes
                continue
            for g in self._code.named.get(name, ()):
                if g.defined and self._may_mean(g, scope, inside):
                    yield g.path, g.start, g.end, g
            for g in self._operators(name) if doubtful else ():
                yield g.path, g.start, g.end, g
            for where, start, stop in self._macros.get(name, ()):
                yield where, start, stop, None

    def _operators(self, name: str) -> list[FoundFunction]:
        """The operators of a class: who names it may apply them without naming them."""
        if self._by_class is None:
            self._by_class = {}
            for g in self._code.named.get("operator", ()):
                if g.defined:
                    self._by_class.setdefault(self._class_of(g)[0], []).append(g)
        return self._by_class.get(name, [])

    def _may_mean(self, g: FoundFunction, scope: re.Match[bytes] | None, inside: FoundFunction | None) -> bool:
        """Whether a name can mean a function, judged by the scope that it is named in."""
        owner, _ = self._class_of(g)
        if (
            not owner
            or g.cursor.is_virtual_method()
            or g.cursor.kind in (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR)
        ):
            return True
        if scope is not None:
            if scope[3] is not None or scope[1] is None:
                return scope[3] is not None
            name = scope[1].decode()
            named = [self._class_of(f) for f in self._code.scoped(name)]
            return owner == name or not named or any(derived for _, derived in named)
        if inside is None:
            return True
        own, derived = self._class_of(inside)
        return own == owner or (bool(own) and derived)

    def _class_of(self, f: FoundFunction) -> tuple[str, bool]:
        """The class of a member function, and whether it has bases or lies in another class."""
        key = (f.path, f.start)
        if key not in self._classes:
            parent = f.cursor.semantic_parent
            if parent is None or parent.kind not in CLASSES:
                self._classes[key] = ("", False)
            else:
                self._classes[key] = (parent.spelling.partition("<")[0], _has_others(parent))
        return self._classes[key]


def _sign(operator: str) -> str:
    """``+=`` of ``operator+=``; the type of a conversion."""
    return operator.removeprefix("operator").strip().partition(" ")[0].removesuffix("[]") or "[]"


def _is_in_probe(text: bytes, at: int) -> bool:
    """Whether the guide itself wrote a line."""
    return _PROBE in text[text.rfind(b"\n", 0, at) + 1 : at]


_NO_ADDRESS = frozenset({CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR})


def _is_bound(f: FoundFunction) -> bool:
    """Whether a function is called on an object."""
    parent = f.cursor.semantic_parent
    return parent is not None and parent.kind in CLASSES and not f.cursor.is_static_method()


def _has_others(record: Cursor) -> bool:
    around = record.semantic_parent
    inner = around is not None and around.kind in CLASSES
    return inner or any(c.kind == CursorKind.CXX_BASE_SPECIFIER for c in cindex.class_members(record))
