"""Which functions have callers that are all known: the one question behind every fact that holds for a parameter.

Takes the host functions that lead to launches, the places where their names stand in the texts, and the execution so
far. A function has known callers when every file that could mention it was read, and in every unit that reads such a
file each mention is a call that was followed, stands in a function that is never called itself, or means something
else. All other functions are run as called with anything; templates in all instances that are in sight.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from analyzers.frontend.cindex import Cursor, CursorKind, cursor_at
from analyzers.frontend.parse import HostPass
from analyzers.hostguide.declared import FUNCTIONS, FoundFunction, called_as
from analyzers.hostguide.execute import Executor
from analyzers.hostguide.implied import WALKS
from analyzers.hostguide.instantiations import explicit_class_instances, explicit_instances
from analyzers.hostguide.program import Linker
from analyzers.hostguide.source import SourceTexts
from analyzers.hostguide.tree import HostFunction, Place, place_of

Mention = tuple[str, int]
"""A file, and the offset of a name in it."""


@dataclass(slots=True, eq=False)
class Callee:
    """One function of the program: all copies of one in a header, or the one copy where each unit has its own."""

    copies: list[FoundFunction]
    internal: bool
    """Only the unit of its (one) copy can call it by name."""
    assumption: str | None = None
    """What is assumed where its callers in sight are taken as all."""
    is_open: bool = False
    """It is run as called with anything."""
    given: int | None = None
    """How many bodies there were when `Callers.open_ones` gave all there were, None before."""
    _places: tuple[Place, ...] | None = None

    @property
    def first(self) -> FoundFunction:
        return self.copies[0]

    @property
    def name(self) -> str:
        return called_as(self.first)

    @property
    def places(self) -> tuple[Place, ...]:
        """Where its copies stand."""
        if self._places is None:
            self._places = tuple(place_of(copy.cursor) for copy in self.copies)
        return self._places


@dataclass(slots=True)
class Texts:
    """What is known of the files by looking at them: see `launches`."""

    blanked: Mapping[str, bytes]
    mentions: Mapping[str, Sequence[Mention]]
    """By name."""
    declared: Mapping[str, Sequence[FoundFunction]]
    """By name, the functions that are declared or defined."""
    around: Callable[[str, int], FoundFunction | None]
    in_macro: Callable[[str, int], bool]
    _calls: dict[str, list[Mention]] = field(default_factory=dict[str, list[Mention]])

    def uses(self, name: str) -> list[Mention]:
        """Where a name stands other than in declarations."""
        found = self._calls.get(name)
        if found is None:
            own = {(d.path, d.named_at) for d in self.declared.get(name, ())}
            found = self._calls[name] = [m for m in self.mentions.get(name, ()) if m not in own]
        return found


class Callers:
    """Of the functions that lead to launches."""

    def __init__(self, linker: Linker, machine: Executor, sources: SourceTexts, texts: Texts) -> None:
        self._linker = linker
        self._machine = machine
        self._sources = sources
        self._texts = texts
        self._files = [(one, frozenset((one.path, *one.dependencies))) for one in linker.passes]
        self._mains = frozenset(one.path for one in linker.passes)
        self._own = linker.passes[0].path
        self._callees: list[Callee] = []
        self._by_place: dict[Place, Callee] = {}
        self._named: dict[int, list[Cursor]] = {}
        self._meanings: dict[Place, Cursor | None] = {}
        self._settled: set[tuple[int, int, str, int]] = set()
        """Mentions of a function in a unit that are accounted for, whatever runs later."""
        functions = [f for found in texts.declared.values() for f in found]
        self._is_program = any(f.name == "main" and f.defined and f.path == self._own for f in functions)

    def gather(self, wanted: Sequence[FoundFunction], copies: Callable[[FoundFunction], list[FoundFunction]]) -> None:
        """``wanted``: one copy each of the functions that lead to launches."""
        for f in wanted:
            if f.cursor.linkage.name == "EXTERNAL":
                self._callees.append(Callee(copies(f), internal=False))
            else:
                self._callees += [Callee([copy], internal=True) for copy in copies(f)]
        for callee in self._callees:
            callee.is_open = self._starts_open(callee)
            self._by_place.update(dict.fromkeys(callee.places, callee))

    def open_ones(self) -> Iterator[Cursor]:
        """What has to be run as called with anything, as far as is known now and was not given before. Where there are
        new instances of a template, the others are given again. Ask again after running these."""
        for callee in self._callees:
            if callee.is_open and callee.given != (count := self._instances_run(callee)):
                callee.given = count
                yield from self._bodies(callee)

    def open_another(self) -> bool:
        """Open the next function that turned out to have unknown callers; whether there was one."""
        waiting = [c for c in self._callees if not c.is_open]
        late = next((c for c in waiting if self._has_unaccounted(c)), None) or self._never_called(waiting)
        if late is not None:
            late.is_open, late.assumption = True, _INSTANCES.format(late.name) if late.first.template else None
        return late is not None

    def outermost_closed(self) -> Iterator[list[HostFunction]]:
        """The functions that were run as their callers call them only: first those that no other of them calls. Those
        that are given are open from then on."""
        while waiting := [c for c in self._callees if not c.is_open]:
            others = {id(c) for c in waiting}
            outer = [c for c in waiting if self._callers_in(c).isdisjoint(others - {id(c)})] or waiting
            for callee in outer:
                callee.is_open, callee.assumption = True, None
            cursors = [cursor for callee in outer for cursor in self._bodies(callee)]
            yield [f for cursor in cursors if (f := self._machine.builder.function(cursor)) is not None]

    def callee(self, definition: Cursor) -> Callee | None:
        return self._by_place.get(place_of(definition))

    # --- what the texts say

    def _starts_open(self, callee: Callee) -> bool:
        f, name = callee.first, callee.name
        unnamed = f.cursor.kind == CursorKind.DESTRUCTOR or f.name.startswith("operator") or f.name in WALKS
        if f.name == "main" or unnamed or any(copy.cursor.is_virtual_method() for copy in callee.copies):
            # A virtual function is called by the name of another one, too, that of a class out of sight for instance.
            return True
        uses = self._texts.uses(name)
        if not uses:
            return True
        in_header = f.path not in self._mains
        if not in_header and (callee.internal or (f.template and not self._is_exported(f))):
            return False
        outside = in_header or any(path != f.path for path, _ in uses)
        if outside and self._linker.is_closed(name):
            callee.assumption = f"`{name}` is called only from the files in {self._linker.folder}"
            return False
        here = all(d.path == self._own for d in self._texts.declared.get(name, ()))
        if self._is_program and here and not self._linker.mentioned_elsewhere(name):
            callee.assumption = f"`{name}` is called from this file only"
            return False
        if f.template:
            callee.assumption = _INSTANCES.format(name)
        return True

    def _is_exported(self, f: FoundFunction) -> bool:
        """Whether a template is instantiated explicitly, so that other files can call it without its definition."""
        text = self._texts.blanked[f.path]
        if explicit_instances(text, [called_as(f)]):
            return True
        owner = f.cursor.semantic_parent
        if owner is None or owner.kind.is_translation_unit() or owner.kind == CursorKind.NAMESPACE:
            return False
        return bool(explicit_class_instances(text, [owner.spelling.partition("<")[0]]))

    # --- what the execution says

    def _bodies(self, callee: Callee) -> Iterator[Cursor]:
        if not callee.first.template:
            yield callee.first.cursor
            return
        for place in callee.places:
            yield from [f.cursor for f in self._machine.ran_at.get(place, {}).values()]
        if id(callee) not in self._named:
            self._named[id(callee)] = list(self._instances_named(callee))
        yield from self._named[id(callee)]

    def _instances_run(self, callee: Callee) -> int:
        """How many instances of a template were run; none of another function, which has one body."""
        ran = self._machine.ran_at
        return sum(len(ran.get(place, ())) for place in callee.places) if callee.first.template else 0

    def _instances_named(self, callee: Callee) -> Iterator[Cursor]:
        """The instances of a template that its mentions mean."""
        for unit, path, offset in self._seen(callee):
            meant = self._meant(unit, path, offset, callee.name)
            if meant is not None and meant.kind in FUNCTIONS and meant.kind != CursorKind.FUNCTION_TEMPLATE:
                defined = meant.get_definition() or meant
                if self._by_place.get(place_of(defined)) is callee and not _is_pattern(defined, callee):
                    yield defined

    def _meant(self, unit: HostPass, path: str, offset: int, name: str) -> Cursor | None:
        key = (id(unit.host), path, offset)
        if key not in self._meanings:
            self._meanings[key] = _meant(unit, path, offset, name)
        return self._meanings[key]

    def _seen(self, callee: Callee) -> Iterator[tuple[HostPass, str, int]]:
        """The uses of a function's name, in each unit that reads them."""
        units = {id(copy.cursor.translation_unit) for copy in callee.copies}
        for path, offset in self._texts.uses(callee.name):
            for unit, files in self._files:
                if path in files and (not callee.internal or id(unit.host) in units):
                    yield unit, path, offset

    def _has_unaccounted(self, callee: Callee) -> bool:
        """Whether a mention of the function is, in some unit, none that is accounted for."""
        left_out: set[Mention] = set()
        compiled: set[Mention] = set()
        for unit, path, offset in self._seen(callee):
            if self._texts.in_macro(path, offset):
                return True
            if self._is_accounted(callee, unit, path, offset):
                compiled.add((path, offset))
            elif self._is_left_out(unit, path, offset):
                left_out.add((path, offset))
            else:
                return True
        return not left_out <= compiled

    def _is_accounted(self, callee: Callee, unit: HostPass, path: str, offset: int) -> bool:
        known = (id(callee), id(unit.host), path, offset)
        if known in self._settled:
            return True
        around = self._texts.around(path, offset)
        inside = None
        if around is not None:
            inside = self._by_place.get((id(unit.host), around.path, around.named_at))
        units = [unit.host] if inside is None or inside.internal else [one.host for one in self._linker.passes]
        if any(self._machine.is_followed(one, path, offset, self._texts.blanked[path]) for one in units):
            self._settled.add(known)
            return True
        if inside is not None and not inside.is_open and not self._has_run(inside):
            return True
        if _is_instantiation(self._texts.blanked[path], offset):
            # Not a call: whoever else makes one has to mention the name as well.
            return callee.assumption is not None
        meant = self._meant(unit, path, offset, callee.name)
        if meant is None or not self._is_another(meant, callee):
            return False
        self._settled.add(known)
        return True

    def _has_run(self, callee: Callee) -> bool:
        return any(place in self._machine.ran_at for place in callee.places)

    def _is_another(self, meant: Cursor, callee: Callee) -> bool:
        """Whether a name that a unit resolved means something else than a function."""
        if meant.kind not in FUNCTIONS:
            return meant.kind in _VARIABLES
        if callee.first.template or meant.kind == CursorKind.FUNCTION_TEMPLATE or _is_c(meant):
            return False
        ours = [copy.cursor.canonical for copy in callee.copies]
        theirs = meant.canonical
        if any(self._sources.is_broken(c) for c in (*ours, theirs)):
            return False
        defined = meant.get_definition()
        if defined is not None and self._by_place.get(place_of(defined)) is callee:
            return False
        if callee.internal:
            return place_of(theirs) not in {place_of(c) for c in ours}
        return theirs.get_usr() not in {c.get_usr() for c in ours}

    def _is_left_out(self, unit: HostPass, path: str, offset: int) -> bool:
        """Whether the preprocessor left the place out of a unit: nothing but what stands around it covers it."""
        if any(error.path == path for error in unit.errors):
            return False
        found = cursor_at(unit.host, path, offset)
        return (
            found is None or found.kind.is_invalid() or found.kind.is_translation_unit() or found.kind.is_declaration()
        )

    def _never_called(self, waiting: Sequence[Callee]) -> Callee | None:
        """A function whose mentions all stand in functions that are never called: somebody calls the outermost."""
        ran = {(c.first.path, c.first.start) for c in self._callees if self._has_run(c)}
        idle = [c for c in waiting if not c.first.template and (c.first.path, c.first.start) not in ran]
        return next((c for c in idle if self._callers_in(c).isdisjoint({id(o) for o in idle if o is not c})), None) or (
            idle[0] if idle else None
        )

    def _callers_in(self, callee: Callee) -> set[int]:
        """The functions in whose text a function is mentioned."""
        found: set[int] = set()
        for unit, path, offset in self._seen(callee):
            around = self._texts.around(path, offset)
            if around is not None:
                found.add(id(self._by_place.get((id(unit.host), around.path, around.named_at))))
        return found


_INSTANCES = "`{}` has no other template arguments than those in sight"
_VARIABLES = frozenset(
    {CursorKind.VAR_DECL, CursorKind.PARM_DECL, CursorKind.FIELD_DECL, CursorKind.ENUM_CONSTANT_DECL}
)
_USES = frozenset({CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.MEMBER_REF})
_STATEMENT = re.compile(rb"[;{}]")
_INSTANTIATION = re.compile(rb"\s*(?:extern\s+)?template\b(?!\s*<)")


def _meant(unit: HostPass, path: str, offset: int, name: str) -> Cursor | None:
    """The declaration that a name at a place means in a unit, None where clang does not say."""
    found = cursor_at(unit.host, path, offset)
    if found is None or found.location.offset != offset or found.spelling.partition("<")[0] != name:
        return None
    if found.kind in _VARIABLES:
        return found
    return found.referenced if found.kind in _USES else None


def _is_pattern(cursor: Cursor, callee: Callee) -> bool:
    """Whether this is the template itself, and no instance of it."""
    return any(cursor == copy.cursor for copy in callee.copies)


def _is_c(cursor: Cursor) -> bool:
    """Whether a declaration stands in a C file, where functions have no types in their names."""
    file = cursor.location.file
    return file is not None and file.name.endswith(".c")


def _is_instantiation(text: bytes, offset: int) -> bool:
    """Whether a name stands in an explicit instantiation."""
    start = max((m.end() for m in _STATEMENT.finditer(text, max(0, offset - 2000), offset)), default=0)
    return _INSTANTIATION.match(text, start) is not None
