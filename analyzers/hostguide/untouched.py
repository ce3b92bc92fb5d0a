"""Members that a call leaves alone, as far as its code is in sight.

A private integer member of an object is written by few functions, and a call that is not followed reaches few
functions. Takes texts; reached counts every function whose name stands in the body of one that is reached, where the
scope it is named in does not exclude it, so there are more of them than are called. What functions do whose definition
is not in sight is assumed, and the assumption is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from analyzers.frontend import cindex
from analyzers.frontend.cindex import Cursor, CursorKind
from analyzers.hostguide.declared import CLASSES, FoundFunction
from analyzers.hostguide.tree import Place
from analyzers.hostguide.written import Code, Doubt

_WORD = re.compile(rb"[A-Za-z_]\w*")
_SCOPE = re.compile(rb"(?:([A-Za-z_]\w*)\s*(?:<[^<>]*>\s*)?)?(::)\s*$|(\.|->)\s*$")
_ASSIGNED = re.compile(rb"([A-Za-z_]\w*)\s*\)?(?:\[[^\]]*\]\s*)?=(?!=)")
_EXCHANGED = re.compile(rb"\b(?:swap|exchange|iter_swap|swap_ranges)\s*\(([^;]*);")
_DECLARED = rb"\b\s*(?:<[^<>;{}()]*>)?[\s*&>]*\b([A-Za-z_]\w*(?:\s*,[\s*&]*[A-Za-z_]\w*)*)"
"""Variables that are declared with a class, or with a container of its objects, behind its name."""
_FARTHEST = 80
"""Bytes in front of a name in which its scope stands."""
_Spot = tuple[str, int]
"""A file, and where a function or the definition of a macro begins in it."""


class Reached:
    """What is reached from the functions of a program, and the members that they write."""

    def __init__(self, code: Code, macros: Mapping[str, Sequence[tuple[str, int, int]]]) -> None:
        """``macros``: by name, the file and extent of their definitions."""
        self._code = code
        self._macros = macros
        self._defined = {(f.path, f.named_at): f for fs in code.named.values() for f in fs if f.defined}
        self._writers: dict[str, frozenset[_Spot] | None] = {}
        self._assigners: dict[str, frozenset[_Spot]] = {}
        self._assigned: dict[bytes, set[_Spot]] | None = None
        self._reached: dict[_Spot, frozenset[_Spot]] = {}
        self._classes: dict[_Spot, tuple[str, bool]] = {}
        self._by_class: dict[str, list[FoundFunction]] | None = None

    def leaves_alone(self, place: Place, record: str, member: str) -> bool:
        """Whether nothing in sight that the function defined at a place reaches writes a member of this name, or gives
        a new value to a whole object of its class."""
        f = self._defined.get(place[1:])
        writers = self._writers_of(member) if f is not None else None
        if f is None or writers is None:
            return False
        reached = self._from(f)
        return writers.isdisjoint(reached) and self._assigners_of(record).isdisjoint(reached)

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
                self._writers[member] = frozenset(found)
            except Doubt:
                self._writers[member] = None
        return self._writers[member]

    def _from(self, f: FoundFunction) -> frozenset[_Spot]:
        start = (f.path, f.start)
        known = self._reached.get(start)
        if known is not None:
            return known
        found: set[_Spot] = set()
        waiting: list[tuple[str, int, int, FoundFunction | None]] = [(f.path, f.start, f.end, f)]
        while waiting:
            path, at, end, inside = waiting.pop()
            if (path, at) in found:
                continue
            found.add((path, at))
            waiting += self._mentioned(path, at, end, inside)
        self._reached[start] = frozenset(found)
        return self._reached[start]

    def _mentioned(
        self, path: str, at: int, end: int, inside: FoundFunction | None
    ) -> Iterator[tuple[str, int, int, FoundFunction | None]]:
        text = self._code.texts[path]
        seen: set[tuple[bytes | None, ...]] = set()
        for match in _WORD.finditer(text, at, end):
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
            for g in self._operators(name):
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
        if not owner or g.cursor.kind in (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR):
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


def _has_others(record: Cursor) -> bool:
    around = record.semantic_parent
    inner = around is not None and around.kind in CLASSES
    return inner or any(c.kind == CursorKind.CXX_BASE_SPECIFIER for c in cindex.class_members(record))
