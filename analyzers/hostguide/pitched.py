"""Matrices whose rows lie a pitch apart: which member is never smaller than which other.

A class that keeps the number of its columns beside the row stride that an allocation gave it has ``stride >= columns``
in all objects, although no statement on the way to a launch says so. Takes the texts and functions of a program, gives
those relations for which every place in sight that sets one of the two members sets both, and keeps the relation.
What others do, who give a view their own stride or are given one by an allocator that is not in sight, is assumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.frontend import cindex
from analyzers.frontend.cindex import CursorKind
from analyzers.hostguide.brackets import arguments, block_around, flat, is_certain
from analyzers.hostguide.declared import CLASSES, FoundFunction
from analyzers.hostguide.notes import span
from analyzers.hostguide.pitch_allocations import SIZE, Allocation, Allocations, assigned_at, rounds_up
from analyzers.hostguide.pitch_calls import Calls, parameter_texts
from analyzers.hostguide.pitch_members import FieldPlace, bases_of, bound_together, fields_of, lacks
from analyzers.hostguide.source import SourceTexts
from analyzers.hostguide.written import Code, Doubt, Write, parameters
from analyzers.model import FactNote, SourceSpan

_CAST = re.compile(
    r"(?:(?:static_cast|reinterpret_cast)<[\w: ]+>|\((?:\w|:| )+\)|(?:int|long|unsigned|\w+_t))(?=[(\w])"
)
_MEMBER = re.compile(r"^(?:(?P<holder>[\w.]+)\.)?(?P<name>\w+)$")
_CHECKS = re.compile(rb"\b(?:\w*_)?(?:ASSERT|CHECK|ICHECK|DCHECK|REQUIRE|REQUIRES|ENFORCE|EXPECTS|VERIFY|assert)\s*\(")
_HARMLESS = frozenset({"swap", "sizeof", "int", "size_t", "move", "NULL"})
_CALLED = re.compile(rb"([A-Za-z_]\w*)\s*\(|<<<|\b(return|throw|goto|break|continue)\b")
_SIZES = {"char": 1, "short": 2, "int": 4, "unsigned": 4, "float": 4, "long": 8, "double": 8, "size_t": 8}
_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_ZERO = frozenset({"0", "NULL", "0u", "0U", "0L", "0UL"})
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class RowPitch:
    """In every object ``stride >= columns * scale``."""

    columns: str
    stride: str
    scale: int
    stride_at: FieldPlace
    columns_at: FieldPlace
    """Where the class declares them."""
    note: FactNote
    assumption: str


class _Search:
    """The relations of one program."""

    def __init__(self, code: Code, sources: SourceTexts) -> None:
        self.code = code
        self.sources = sources
        self.allocations: list[Allocation] = []
        self.calls = Calls(code)
        self._passed: set[tuple[int, str, str]] = set()

    def run(self) -> list[RowPitch]:
        self.allocations = list(Allocations(self.code).find())
        found: dict[tuple[str, str], RowPitch] = {}
        bound = bound_together(self.code)
        for allocation in self.allocations:
            for stride, columns, scale in self._members_set(allocation):
                declared = self._declared(allocation, stride, columns)
                if declared is None or (stride, columns) in found:
                    continue
                if declared[2] in bound:
                    continue
                try:
                    self._check(stride, columns)
                except Doubt:
                    continue
                found[stride, columns] = self._relation(allocation, stride, columns, scale, declared[:2])
        return list(found.values())

    def _relation(
        self, allocation: Allocation, stride: str, columns: str, scale: int, declared: tuple[FieldPlace, FieldPlace]
    ) -> RowPitch:
        where = _call_span(self.code, allocation)
        text = self.sources.slice(where.path, where.start_offset, where.end_offset)
        place = f"{where.path.rpartition('/')[2]}:{where.line}"
        of = f"{stride} >= {columns}" + (f" * {scale}" if scale > 1 else "")
        assumption = f"row pitch >= width: {of} wherever both are set, as by {allocation.callee} at {place}"
        return RowPitch(columns, stride, scale, *declared, FactNote(text, where, "allocation"), assumption)

    def _members_set(self, allocation: Allocation) -> Iterator[tuple[str, str, int]]:
        """(stride, columns, scale) of the members that an allocation's function sets to its pitch and its width."""
        text = self.code.texts[allocation.function.path]
        start, end = block_around(text, allocation.at)
        strides: list[tuple[str, int]] = []
        own = _MEMBER.match(allocation.out)
        element = _SIZES.get(allocation.element.removeprefix("unsigned ").removeprefix("signed "), 1)
        if own is not None:
            strides.append((allocation.out, element))
        columns: list[str] = []
        for match in re.finditer(rb"([A-Za-z_][\w.>\s-]*?)\s*=(?!=)\s*([^;=]+);", text[allocation.at : end]):
            target, value = flat(match[1]), flat(match[2])
            target = target.rpartition(" ")[2]
            divided = _divided(value, allocation.out)
            if divided == allocation.element:
                strides.append((target, 1))
            elif divided == "":
                strides.append((target, element))
        for match in re.finditer(rb"([A-Za-z_][\w.>\s-]*?)\s*=(?!=)\s*([^;=]+);", text[start:end]):
            if flat(match[2]) == allocation.width:
                columns.append(flat(match[1]).rpartition(" ")[2])
        columns.append(allocation.width)
        for stride, scale in strides:
            for column in dict.fromkeys(columns):
                a, b = _MEMBER.match(stride), _MEMBER.match(column)
                if a is None or b is None or a["holder"] != b["holder"] or a["name"] == b["name"]:
                    continue
                if a["holder"] or not any(self.code.is_local(allocation.function, n) for n in (stride, column)):
                    yield a["name"], b["name"], scale

    def _declared(self, allocation: Allocation, stride: str, columns: str) -> tuple[FieldPlace, FieldPlace, int] | None:
        """Where the class that an allocation is for declares the two members."""
        f = allocation.function
        text = self.code.texts[f.path]
        names = re.compile(rb"\b" + re.escape(stride.encode()) + rb"\b")
        for match in names.finditer(text, f.start, f.end):
            found = cindex.cursor_at(f.cursor.translation_unit, f.path, match.start())
            meant = found.referenced if found is not None and found.kind == CursorKind.MEMBER_REF_EXPR else None
            if meant is not None and meant.kind == CursorKind.FIELD_DECL and meant.spelling == stride:
                return fields_of(meant.semantic_parent, stride, columns)
        parent = f.cursor.semantic_parent
        waiting = [parent] if parent is not None and parent.kind in CLASSES else []
        while waiting:
            top = waiting.pop()
            place = fields_of(top, stride, columns)
            if place is not None:
                return place
            waiting += bases_of(top)
        return None

    # --- every place that sets one of the two members

    def _check(self, stride: str, columns: str) -> None:
        """Raises Doubt unless all code in sight keeps the relation."""
        self._passed.clear()
        known = frozenset((a.function.path, a.out_at) for a in self.allocations)
        strides = list(self.code.writes(stride, known))
        for a in self.allocations:
            member = _MEMBER.match(a.out)
            if member is not None and member["name"] == stride and not self.code.is_local(a.function, stride):
                text = self.code.texts[a.function.path]
                block = block_around(text, a.at)
                strides.append(Write(a.function, a.function.path, a.at, a.at, member["holder"] or "", "pitch", block))
        widths = list(self.code.writes(columns, frozenset()))
        partners: set[int] = set()
        if not any(self._is_allocated(a, s, w) for a in self.allocations for s in strides for w in widths):
            raise Doubt("no allocation")
        for write in strides:
            fitting = [w for w in widths if (w.path, w.block, w.holder) == (write.path, write.block, write.holder)]
            if not fitting and lacks(write, columns):
                continue
            if len(fitting) != 1:
                raise Doubt(f"{stride} is set without {columns}")
            self._together(write, fitting[0])
            self._fits(write, fitting[0], stride, columns)
            partners.add(id(fitting[0]))
        if any(id(w) not in partners and not lacks(w, stride) for w in widths):
            raise Doubt(f"{columns} is set without {stride}")

    def _together(self, a: Write, b: Write) -> None:
        """Nobody may see an object between the two."""
        first, second = sorted((a, b), key=lambda w: w.at)
        if first.function is None or a.block[0] == first.function.start:
            return  # initialisers, before anybody has the object
        for called in _CALLED.finditer(self.code.texts[a.path], first.end, second.end):
            if called[1] is None or called[1].decode() not in _HARMLESS:
                raise Doubt(f"something happens between the two: {called[0]}")

    def _fits(self, write: Write, width: Write, stride: str, columns: str) -> None:
        if write.value.startswith("swap:") or width.value.startswith("swap:"):
            if write.value != width.value:
                raise Doubt("exchanged with different objects")
            return
        own = f"{write.holder}.{columns}" if write.holder else columns
        text = self.code.texts[write.path]
        initialisers = write.function is not None and write.block[0] == write.function.start
        if not initialisers and not (is_certain(text, write.at) and is_certain(text, width.at)):
            raise Doubt("one of the two may be set alone")
        if write.value == own and write.at > width.at:
            return
        if any(self._is_allocated(a, write, width) for a in self.allocations):
            return
        if not self._same_between(write, width):
            raise Doubt("what one is set to may be changed before the other is set")
        self._fits_values(write.function, write.at, width.value, write.value, (columns, stride), 0)

    def _same_between(self, a: Write, b: Write) -> bool:
        """Whether the variables that two members are set to are the same numbers for both."""
        first, second = sorted((a, b), key=lambda w: w.at)
        names = set(_IDENTIFIER.findall(f"{a.value} {b.value}")) - {self._names(a), self._names(b)}
        f = first.function
        return f is None or all(self.code.keeps(f, name, (), (first.end, second.at)) for name in sorted(names))

    def _is_allocated(self, a: Allocation, write: Write, width: Write) -> bool:
        text = self.code.texts[write.path]
        if a.function is not write.function or block_around(text, a.at) != write.block:
            return False
        if not all(is_certain(text, at) for at in (a.at, write.at, width.at)):
            return False
        own = f"{width.holder}.{a.width.rpartition('.')[2]}" if width.holder else a.width
        same = width.value == a.width or (own == a.width and width.at < a.at and self._names(width) == a.width)
        if not same or (a.width.isidentifier() and self._changes(a, width)):
            return False
        if write.value == "pitch" and write.at == a.at:
            return True
        if write.at < a.at or _divided(write.value, a.out) not in ("", a.element):
            return False
        name = a.out.rpartition(".")[2]
        return self.code.keeps(a.function, name, (a.out_at,), (a.at, write.at))

    def _names(self, write: Write) -> str:
        """What is written, flat."""
        text = self.code.texts[write.path]
        match = re.match(rb"[A-Za-z_]\w*", text[write.at :])
        assert match is not None
        return f"{write.holder}.{match[0].decode()}" if write.holder else match[0].decode()

    def _changes(self, a: Allocation, width: Write) -> bool:
        """Whether the variable that the width is taken from may be another number meanwhile."""
        text = self.code.text(a.function)
        name = a.width
        if self._names(width) == name:
            return False
        places = assigned_at(text, name)
        if len(places) > (0 if name in parameters(a.function) else 1):
            return True
        return not self.code.keeps(a.function, name, [a.function.start + place for place in places])

    def _fits_values(
        self, f: FoundFunction | None, at: int, width: str, stride: str, members: tuple[str, str], depth: int
    ) -> None:
        """Raises Doubt unless one value is known not to be below the other."""
        columns, pitch = members
        if (width == stride and self._is_steady(width)) or (width in _ZERO and stride in _ZERO):
            return
        if rounds_up(stride, width) and self._is_steady(width):
            return
        if width.isdecimal() and stride.isdecimal() and int(stride) >= int(width):
            return
        if stride.startswith(f"{width}+") and stride[len(width) + 1 :].isdecimal():
            return
        row, source = _MEMBER.match(width), _MEMBER.match(stride)
        if source is not None and source["name"] == pitch:
            whole = f"{source['holder']}.{columns}" if source["holder"] else columns
            if width == whole or (f is not None and self._is_checked(f, at, width, whole)):
                return
        if f is not None and row is not None and source is not None and depth < _DEEPEST:
            names = parameters(f)
            if width in names and stride in names and not self._assigned(f, width, stride):
                self._handed_on(f, width, stride, members, depth)
                return
        raise Doubt(f"{pitch} is {stride} where {columns} is {width}")

    def _is_steady(self, value: str) -> bool:
        """Whether an expression is the same number when it is evaluated again: it changes nothing, and calls only
        member functions that cannot."""
        if "++" in value or "--" in value or re.search(r"[^=<>!]=[^=]", value):
            return False
        called = re.findall(r"([A-Za-z_]\w*)\(", value)
        found = [self.code.named.get(name, []) for name in called]
        return all(fs and all(map(self._is_const, fs)) for fs in found)

    def _is_const(self, f: FoundFunction) -> bool:
        text = self.code.texts[f.path]
        opened = text.find(b"(", f.named_at)
        return opened >= 0 and re.match(rb"\s*const\b", text[arguments(text, opened)[1] :]) is not None

    def _assigned(self, f: FoundFunction, *names: str) -> bool:
        return not all(self.code.keeps(f, n) for n in names)

    def _is_checked(self, f: FoundFunction, at: int, width: str, limit: str) -> bool:
        """Whether an assertion in front of a place says that a number is within a limit, or is plus one that is not
        negative."""
        text = self.code.texts[f.path]
        for match in _CHECKS.finditer(text, f.start, at):
            opened = match.end() - 1
            if block_around(text, opened)[1] < at or not is_certain(text, match.start()):
                continue
            if width.isidentifier() and not self.code.keeps(f, width):
                continue
            _, stop = arguments(text, opened)
            parts = flat(text[opened + 1 : stop - 1]).split("&&")
            for part in parts:
                small, sign, large = part.partition("<=")
                if not sign or large != limit:
                    continue
                terms = small.split("+")
                if width in terms and all(f"{t}>=0" in parts for t in terms if t != width):
                    return True
        return False

    def _handed_on(self, f: FoundFunction, width: str, stride: str, members: tuple[str, str], depth: int) -> None:
        """Both are parameters: every call in sight has to keep the relation."""
        key = (id(f), width, stride)
        if key in self._passed:
            return
        self._passed.add(key)
        names = parameters(f)
        if any("=" in part for part in parameter_texts(self.code, f)):
            raise Doubt("a default argument")
        first, second = names.index(width), names.index(stride)
        for g, at, given in self.calls.of(f):
            if len(given) == len(names):
                self._fits_values(g, at, given[first], given[second], members, depth + 1)
            elif any("..." in value for value in given):
                raise Doubt(f"what {f.name} gets is handed on as a pack")


def row_pitches(code: Code, sources: SourceTexts) -> list[RowPitch]:
    """The classes of a program that keep a width and the pitch of its allocation."""
    if not any(b"itch" in text or b"tride" in text for text in code.texts.values()):
        return []
    return _Search(code, sources).run()


def _divided(value: str, pitch: str) -> str | None:
    """By the size of what a value divides a pitch; empty: by nothing; None: it is something else."""
    plain = value
    while True:
        shorter = _CAST.sub("", plain, count=1) if _CAST.match(plain) else plain
        if shorter.startswith("(") and shorter.endswith(")") and shorter.count("(") == 1 + shorter[1:-1].count("("):
            shorter = shorter[1:-1] if _closes_last(shorter) else shorter
        if shorter == plain:
            break
        plain = shorter
    if plain == pitch:
        return ""
    match = re.fullmatch(re.escape(pitch) + "/" + r"(?:\(\w+\))?" + SIZE, plain)
    return match[1] if match is not None else None


def _closes_last(text: str) -> bool:
    """Whether the first bracket is closed by the last one."""
    depth = 0
    for at, sign in enumerate(text):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth == 0:
            return at == len(text) - 1
    return False


def _call_span(code: Code, a: Allocation) -> SourceSpan:
    text = code.texts[a.function.path]
    _, end = arguments(text, text.index(b"(", a.at))
    outer = span(a.function.cursor)
    first, last = (text.count(b"\n", 0, at) + 1 for at in (a.at, end))
    columns = [at - text.rfind(b"\n", 0, at) for at in (a.at, end)]
    return SourceSpan(outer.path, first, columns[0], last, columns[1], a.at, end)
