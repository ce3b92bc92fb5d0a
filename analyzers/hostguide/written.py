"""How host code sets pairs of members, read from its text: the row stride of a matrix and its width.

clang resolves few names in templates that it does not instantiate, so this reads blanked texts, member by member name,
whatever the class: that finds more writes than there are. What is neither a write that is understood nor a plain read
(`reading`) is a doubt. Takes the functions of a program, gives its
writes, in a form in which one can be held against the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from analyzers.frontend.cindex import Cursor, CursorKind, TypeKind
from analyzers.hostguide.brackets import arguments, block_around, flat
from analyzers.hostguide.declared import CLASSES, FoundFunction, called_as
from analyzers.hostguide.reading import Reading, Use, has_reference_members, path_start

_OBJECT = re.compile(rb"((?:[A-Za-z_]\w*\s*(?:->|\.)\s*)+)$")
_REACHED = re.compile(rb"(?:->|\.|::)\s*$")
_ASSIGNED = re.compile(rb"\s*=(?!=)")
_NAME_BEFORE = re.compile(rb"([A-Za-z_]\w*)\s*(?:<[^<>;{}()]*>)?\s*$")
_DECLARED = (
    rb"(?<![\w.>])(?!(?:return|else|do|case|delete|throw|new|goto|and|or|not|using|co_return|co_yield)\b)"
    rb"[A-Za-z_][\w:]*\s+"
)
_STANDARD = re.compile(rb"\bstd\s*::\s*$")
_REFERENCES = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
_FARTHEST = 160
"""Bytes in front of a member's name in which the path to it stands."""


class Doubt(Exception):
    """A member may be written in a way that is not understood."""


def _takes_numbers(function: Cursor) -> bool:
    """Whether a function, or a template of one, may be called with integers by the types of its parameters."""
    taken = [c.type.get_canonical() for c in function.get_children() if c.kind == CursorKind.PARM_DECL]
    known = (ty.get_pointee().get_canonical() if ty.kind in _REFERENCES else ty for ty in taken)
    return not any(ty.kind in (TypeKind.RECORD, TypeKind.POINTER) for ty in known)


def parameters(f: FoundFunction) -> list[str]:
    return [c.spelling for c in f.cursor.get_children() if c.kind == CursorKind.PARM_DECL]


@dataclass(frozen=True, slots=True)
class Write:
    """One member of one object gets a value."""

    function: FoundFunction | None
    """None: an initialiser in a class."""
    path: str
    at: int
    end: int
    holder: str
    """The object, flat; empty for the one that a member function belongs to."""
    value: str
    """Flat; of an exchange the other object, behind ``swap:``."""
    block: tuple[int, int]


class Code:
    """The texts of a program and the functions in them."""

    def __init__(
        self,
        texts: Mapping[str, bytes],
        functions: Sequence[FoundFunction],
        around: Callable[[str, int], FoundFunction | None],
    ) -> None:
        """``texts``: blanked."""
        self.texts = texts
        self.around = around
        self.named: dict[str, list[FoundFunction]] = {}
        self.declared_at: set[tuple[str, int]] = set()
        for f in functions:
            self.named.setdefault(called_as(f), []).append(f)
            self.declared_at.add((f.path, f.named_at))
        self._scoped: dict[str, list[FoundFunction]] | None = None
        self._readings: dict[str, Reading] = {}
        self._referring: bool | None = None

    def scoped(self, name: str) -> list[FoundFunction]:
        """The functions of classes with a name, one each."""
        if self._scoped is None:
            self._scoped = {}
            seen: set[int] = set()
            for f in (f for found in self.named.values() for f in found):
                parent = f.cursor.semantic_parent
                if parent is not None and parent.kind in CLASSES and parent.hash not in seen:
                    seen.add(parent.hash)
                    self._scoped.setdefault(parent.spelling.partition("<")[0], []).append(f)
        return self._scoped.get(name, [])

    def text(self, f: FoundFunction) -> bytes:
        return self.texts[f.path][f.start : f.end]

    def body(self, f: FoundFunction) -> int:
        """Where the body of a function begins."""
        text = self.texts[f.path]
        opened = text.find(b"(", f.named_at)
        _, after = arguments(text, opened) if opened >= 0 else ([], f.start)
        at = after
        while at < f.end:
            sign = text[at : at + 1]
            if sign == b"(":
                _, at = arguments(text, at)
                continue
            if sign == b"{":
                # ``member{value}`` of an initialiser list stands directly behind a name, a body does not
                head = text[after:at].rstrip()
                listed = b":" in head.replace(b"::", b"")
                if not listed or head[-1:] in (b")", b"}"):
                    return at
                _, at = arguments(text, at)
                continue
            at += 1
        return f.end

    def uses(self, name: str) -> Iterator[tuple[str, int]]:
        pattern = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
        for path, text in self.texts.items():
            for match in pattern.finditer(text):
                yield path, match.start()

    def reading(self, path: str) -> Reading:
        """What only reads in a file."""
        if path not in self._readings:
            if self._referring is None:
                self._referring = has_reference_members(list(self.texts.values()))
            self._readings[path] = Reading(self.texts[path], self.named, self._referring)
        return self._readings[path]

    def keeps(
        self, f: FoundFunction, name: str, allowed: Collection[int] = (), within: tuple[int, int] | None = None
    ) -> bool:
        """Whether nothing in a function, or between two offsets of it, may change a variable; ``allowed``: offsets of
        uses that are known."""
        reading, text = self.reading(f.path), self.texts[f.path]
        pattern = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
        for match in pattern.finditer(text, *(within or (f.start, f.end))):
            at = match.start()
            inits = f.cursor.kind == CursorKind.CONSTRUCTOR and f.start < at < self.body(f)
            if at not in allowed and not reading.only_reads(Use(f, path_start(text, at), at + len(name), inits)):
                return False
        return True

    def writes(self, name: str, allowed: frozenset[tuple[str, int]]) -> Iterator[Write]:
        """Every write to a member of this name, in any class. Raises Doubt for uses that may be one of another form
        than an assignment, an initialiser or an exchange; ``allowed``: places of such that are known."""
        for path, at in self.uses(name):
            if (path, at) in allowed or (path, at) in self.declared_at:
                continue
            f = self.around(path, at)
            text = self.texts[path]
            before, end = text[max(0, at - _FARTHEST) : at], at + len(name)
            object_ = _OBJECT.search(before)
            front = before[: object_.start()] if object_ is not None else before
            holder = flat(object_.group(1))[:-1] if object_ is not None else ""
            holder = "" if holder == "this" else holder
            inits = f is not None and f.cursor.kind == CursorKind.CONSTRUCTOR and f.start < at < self.body(f)
            reached = _REACHED.search(before) is not None
            initialised = inits and text[end : end + 1] in (b"(", b"{")
            if not reached and not initialised and f is not None and self.is_local(f, name, at):
                continue
            complex_ = reached if object_ is None else _REACHED.search(front) is not None
            found = self._write(name, f, path, at, holder, inits)
            if found is None:
                if not self.reading(path).only_reads(Use(f, path_start(text, at), end, inits)):
                    raise Doubt(f"{name} may be written through a reference")
                continue
            if complex_:
                raise Doubt(f"a write to {name} of an object that is not named")
            yield found

    def is_local(self, f: FoundFunction, name: str, at: int | None = None) -> bool:
        """Whether an unqualified name in a function, or at one place in it, means a variable of its own."""
        parent = f.cursor.semantic_parent
        if parent is None or parent.kind not in CLASSES or name in parameters(f):
            return True
        text = self.texts[f.path]
        for match in re.finditer(_DECLARED + name.encode() + rb"\s*[=;,({\[]", text[f.start : f.end]):
            declared = f.start + match.start()
            first, last = block_around(text, declared)
            if at is None or (declared < at < last and not _is_parameter(text[max(first, f.start) : declared])):
                return True
        return False

    def _write(self, name: str, f: FoundFunction | None, path: str, at: int, holder: str, inits: bool) -> Write | None:
        text = self.texts[path]
        end = at + len(name)
        assigned = _ASSIGNED.match(text, end)
        if assigned is not None:
            stop = self._value_end(text, assigned.end())
            block = block_around(text, at)
            return Write(f, path, at, stop, holder, flat(text[assigned.end() : stop]), block)
        if f is None:
            return None
        if inits and not holder and text[end:].lstrip()[:1] in (b"(", b"{"):
            opened = text.index(text[end:].lstrip()[:1], end)
            values, stop = arguments(text, opened)
            return Write(f, path, at, stop, holder, ",".join(values) or "0", (f.start, self.body(f)))
        return self._exchanged(name, f, path, at, holder)

    @staticmethod
    def _value_end(text: bytes, start: int) -> int:
        depth, at = 0, start
        while at < len(text):
            sign = text[at : at + 1]
            if sign in b"([{":
                depth += 1
            elif sign in b")]}":
                if depth == 0:
                    break
                depth -= 1
            elif sign in b";," and depth == 0:
                break
            at += 1
        return at

    def _exchanged(self, name: str, f: FoundFunction, path: str, at: int, holder: str) -> Write | None:
        """Two members that change places."""
        text = self.texts[path]
        if text[at + len(name) :].lstrip()[:1] not in (b",", b")"):
            return None
        opened, index = self._call_around(text, at)
        called = _NAME_BEFORE.search(text[max(0, opened - _FARTHEST) : opened]) if opened >= 0 else None
        if called is None or called[1] != b"swap":
            return None
        before = text[max(0, opened - _FARTHEST) : max(0, opened - _FARTHEST) + called.start()]
        if _STANDARD.search(before) is None and any(_takes_numbers(own.cursor) for own in self.named.get("swap", ())):
            raise Doubt(f"{name} is handed to a function of the program that is called swap")
        given, stop = arguments(text, opened)
        if len(given) != 2 or index >= 2 or given[index] != (f"{holder}.{name}" if holder else name):
            return None
        other = given[1 - index]
        if other.rpartition(".")[2] != name:
            raise Doubt(f"{name} is exchanged with something else")
        return Write(f, path, at, stop, holder, f"swap:{other.rpartition('.')[0]}", block_around(text, at))

    @staticmethod
    def _call_around(text: bytes, at: int) -> tuple[int, int]:
        """Where the bracket around an argument opens, and the number of the argument; (-1, 0) outside of brackets."""
        depth = index = 0
        for back in range(at - 1, max(-1, at - 2000), -1):
            sign = text[back : back + 1]
            if sign in b")]":
                depth += 1
            elif sign in b"([":
                if depth == 0:
                    return (back, index) if sign == b"(" else (-1, 0)
                depth -= 1
            elif sign == b"," and depth == 0:
                index += 1
            elif sign in b";{}":
                break
        return -1, 0


def _is_parameter(front: bytes) -> bool:
    """Whether what stands in front of a declaration leaves a bracket open: it is one of a function, or of a loop."""
    return front.count(b"(") > front.count(b")")
