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
from analyzers.frontend.cindex import Cursor, CursorKind
from analyzers.hostguide.declared import CLASSES, FoundFunction
from analyzers.hostguide.notes import span
from analyzers.hostguide.pitch_allocations import SIZE, Allocation, Allocations, assignments, rounds_up
from analyzers.hostguide.source import SourceTexts
from analyzers.hostguide.written import Code, Doubt, Write, arguments, block_around, flat, parameters
from analyzers.model import FactNote, SourceSpan

_CAST = re.compile(
    r"(?:(?:static_cast|reinterpret_cast)<[\w: ]+>|\((?:\w|:| )+\)|(?:int|long|unsigned|\w+_t))(?=[(\w])"
)
_MEMBER = re.compile(r"^(?:(?P<holder>[\w.]+)\.)?(?P<name>\w+)$")
_CHECKS = re.compile(rb"\b(?:\w*_)?(?:ASSERT|CHECK|ICHECK|DCHECK|REQUIRE|REQUIRES|ENFORCE|EXPECTS|VERIFY|assert)\s*\(")
_HARMLESS = frozenset({"swap", "sizeof", "int", "size_t", "move", "NULL"})
_CALLED = re.compile(rb"([A-Za-z_]\w*)\s*\(|<<<|\b(return|throw|goto|break|continue)\b")
_SIZES = {"char": 1, "short": 2, "int": 4, "unsigned": 4, "float": 4, "long": 8, "double": 8, "size_t": 8}
_CLASS_HEAD = re.compile(rb"\b(?:class|struct|union)\s+(?:\w+\s+)?$")
_ZERO = frozenset({"0", "NULL", "0u", "0U", "0L", "0UL"})
_DEEPEST = 6


FieldPlace = tuple[str, int]
"""The file and offset of the name that a member is declared with, the same in all instances of a template."""


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
        self._passed: set[tuple[int, str, str]] = set()

    def run(self) -> list[RowPitch]:
        self.allocations = list(Allocations(self.code).find())
        found: dict[tuple[str, str], RowPitch] = {}
        for allocation in self.allocations:
            for stride, columns, scale in self._members_set(allocation):
                declared = self._declared(allocation, stride, columns)
                if declared is None or (stride, columns) in found:
                    continue
                try:
                    self._check(stride, columns)
                except Doubt:
                    continue
                found[stride, columns] = self._relation(allocation, stride, columns, scale, declared)
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

    def _declared(self, allocation: Allocation, stride: str, columns: str) -> tuple[FieldPlace, FieldPlace] | None:
        """Where the class that an allocation is for declares the two members."""
        f = allocation.function
        text = self.code.texts[f.path]
        names = re.compile(rb"\b" + re.escape(stride.encode()) + rb"\b")
        for match in names.finditer(text, f.start, f.end):
            found = cindex.cursor_at(f.cursor.translation_unit, f.path, match.start())
            meant = found.referenced if found is not None and found.kind == CursorKind.MEMBER_REF_EXPR else None
            if meant is not None and meant.kind == CursorKind.FIELD_DECL and meant.spelling == stride:
                return _fields(meant.semantic_parent, stride, columns)
        parent = f.cursor.semantic_parent
        waiting = [parent] if parent is not None and parent.kind in CLASSES else []
        while waiting:
            top = waiting.pop()
            place = _fields(top, stride, columns)
            if place is not None:
                return place
            waiting += _bases(top)
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
            if not fitting and _lacks(write, columns):
                continue
            if len(fitting) != 1:
                raise Doubt(f"{stride} is set without {columns}")
            self._together(write, fitting[0])
            self._fits(write, fitting[0], stride, columns)
            partners.add(id(fitting[0]))
        if any(id(w) not in partners and not _lacks(w, stride) for w in widths):
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
        if write.value == own and write.at > width.at:
            return
        if any(self._is_allocated(a, write, width) for a in self.allocations):
            return
        self._fits_values(write.function, write.at, width.value, write.value, (columns, stride), 0)

    def _is_allocated(self, a: Allocation, write: Write, width: Write) -> bool:
        if a.function is not write.function or block_around(self.code.texts[write.path], a.at) != write.block:
            return False
        own = f"{width.holder}.{a.width.rpartition('.')[2]}" if width.holder else a.width
        same = width.value == a.width or (own == a.width and width.at < a.at and self._names(width) == a.width)
        if not same or (a.width.isidentifier() and self._changes(a, width)):
            return False
        if write.value == "pitch" and write.at == a.at:
            return True
        return write.at > a.at and _divided(write.value, a.out) in ("", a.element)

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
        values = assignments(text, name)
        steps = re.search(
            rb"(?:\+\+|--|(?<!&)&)\s*" + name.encode() + rb"\b|\b" + name.encode() + rb"\s*(?:\+\+|--)", text
        )
        return steps is not None or len(values) > (0 if name in parameters(a.function) else 1)

    def _fits_values(
        self, f: FoundFunction | None, at: int, width: str, stride: str, members: tuple[str, str], depth: int
    ) -> None:
        """Raises Doubt unless one value is known not to be below the other."""
        columns, pitch = members
        if width == stride or (width in _ZERO and stride in _ZERO) or rounds_up(stride, width):
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

    def _assigned(self, f: FoundFunction, *names: str) -> bool:
        body = self.code.texts[f.path][self.code.body(f) : f.end]
        return any(assignments(body, n) or re.search(rb"(?<!&)&\s*" + n.encode() + rb"\b", body) for n in names)

    def _is_checked(self, f: FoundFunction, at: int, width: str, limit: str) -> bool:
        """Whether an assertion in front of a place says that a number is within a limit, or is plus one that is not
        negative."""
        text = self.code.texts[f.path]
        for match in _CHECKS.finditer(text, f.start, at):
            opened = match.end() - 1
            if block_around(text, opened)[1] < at:
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
        if any("=" in part for part in _parameter_texts(self.code, f)):
            raise Doubt("a default argument")
        first, second = names.index(width), names.index(stride)
        for g, at, given in self._calls(f):
            if len(given) == len(names):
                self._fits_values(g, at, given[first], given[second], members, depth + 1)

    def _calls(self, f: FoundFunction) -> Iterator[tuple[FoundFunction | None, int, list[str]]]:
        is_constructor = f.cursor.kind == CursorKind.CONSTRUCTOR
        name = f.name.partition("<")[0]
        between = rb"\s*(?:<[^<>;{}()]*>)?\s*>*\s*" + (rb"(?:[A-Za-z_]\w*\s*)?([({])" if is_constructor else rb"([(])")
        pattern = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b" + between)
        for path, text in self.code.texts.items():
            for match in pattern.finditer(text):
                words = re.finditer(rb"[A-Za-z_]\w*", match[0])
                if any((path, match.start() + w.start()) in self.code.declared_at for w in words):
                    continue
                if _CLASS_HEAD.search(text[max(0, match.start() - 40) : match.start()]):
                    continue
                given, _ = arguments(text, match.end() - 1)
                yield self.code.around(path, match.start()), match.start(), given


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


def _parameter_texts(code: Code, f: FoundFunction) -> list[str]:
    text = code.texts[f.path]
    opened = text.find(b"(", f.named_at)
    return arguments(text, opened)[0] if opened >= 0 else []


def _bases(record: Cursor) -> list[Cursor]:
    found: list[Cursor] = []
    for child in cindex.class_members(record):
        if child.kind == CursorKind.CXX_BASE_SPECIFIER:
            named = [
                c.referenced for c in child.get_children() if c.kind in (CursorKind.TEMPLATE_REF, CursorKind.TYPE_REF)
            ]
            for meant in named:
                defined = meant.get_definition() or meant if meant is not None else None
                if defined is not None and defined.kind in CLASSES:
                    found.append(defined)
    return found


def _lacks(write: Write, member: str) -> bool:
    """Whether the class that a write belongs to is known not to have another member."""
    f = write.function
    if f is None or write.holder:
        if f is None:
            return False
        found = cindex.cursor_at(f.cursor.translation_unit, write.path, write.at)
        meant = found.referenced if found is not None and found.kind == CursorKind.MEMBER_REF_EXPR else None
        parent = meant.semantic_parent if meant is not None and meant.kind == CursorKind.FIELD_DECL else None
    else:
        parent = f.cursor.semantic_parent
    waiting = [parent] if parent is not None and parent.kind in CLASSES else []
    if not waiting:
        return False
    while waiting:
        top = waiting.pop()
        if any(c.kind == CursorKind.FIELD_DECL and c.spelling == member for c in cindex.class_members(top)):
            return False
        bases = _bases(top)
        if len(bases) != sum(c.kind == CursorKind.CXX_BASE_SPECIFIER for c in cindex.class_members(top)):
            return False
        waiting += bases
    return True


def _fields(record: Cursor | None, stride: str, columns: str) -> tuple[FieldPlace, FieldPlace] | None:
    if record is None:
        return None
    fields = {c.spelling: c for c in cindex.class_members(record) if c.kind == CursorKind.FIELD_DECL}
    found = [place_of_field(fields[name]) for name in (stride, columns) if name in fields]
    return (found[0], found[1]) if len(found) == 2 and found[0] and found[1] else None


def place_of_field(cursor: Cursor) -> FieldPlace | None:
    """Where a member is declared that a cursor declares or refers to."""
    field = cursor if cursor.kind == CursorKind.FIELD_DECL else cursor.referenced
    if field is None or field.kind != CursorKind.FIELD_DECL or field.location.file is None:
        return None
    return field.location.file.name, field.location.offset


def _call_span(code: Code, a: Allocation) -> SourceSpan:
    text = code.texts[a.function.path]
    _, end = arguments(text, text.index(b"(", a.at))
    outer = span(a.function.cursor)
    first, last = (text.count(b"\n", 0, at) + 1 for at in (a.at, end))
    columns = [at - text.rfind(b"\n", 0, at) for at in (a.at, end)]
    return SourceSpan(outer.path, first, columns[0], last, columns[1], a.at, end)
