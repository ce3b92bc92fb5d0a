"""How host code sets pairs of members, read from its text: the row stride of a matrix and its width.

clang resolves few names in templates that it does not instantiate, so this reads blanked texts, member by member name,
whatever the class: that finds more writes than there are, never fewer. Takes the functions of a program, gives its
writes, in a form in which one can be held against the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from analyzers.frontend.cindex import CursorKind, TypeKind
from analyzers.hostguide.declared import CLASSES, FoundFunction, called_as

_OBJECT = re.compile(rb"((?:[A-Za-z_]\w*\s*(?:->|\.)\s*)+)$")
_REACHED = re.compile(rb"(?:->|\.|::)\s*$")
_COMPOUND = re.compile(rb"\s*(?:[-+*/%&|^]=|<<=|>>=|\+\+|--|\[)")
_ASSIGNED = re.compile(rb"\s*=(?!=)")
_BEFORE_WRITE = re.compile(rb"(?:\+\+|--|>>)\s*$")
_ADDRESS = re.compile(rb"(?:^|[(,={};:?!<>+\-*/%|^]|&&|\breturn)\s*&\s*$")
_BOUND = re.compile(rb"&\s*\w+\s*[={(]\s*$")
_NAME_BEFORE = re.compile(rb"([A-Za-z_]\w*)\s*(?:<[^<>;{}()]*>)?\s*$")
_BLANKS = re.compile(r"\s+")
_AROUND_SIGN = re.compile(r"\s*([^\w\s])\s*")
_REFERRING = frozenset({"exchange", "tie", "ref", "addressof", "forward", "move"})
_FARTHEST = 160
"""Bytes in front of a member's name in which the path to it stands."""


class Doubt(Exception):
    """A member may be written in a way that is not understood."""


def flat(text: bytes | str) -> str:
    """Code on one line, with blanks only between words, and no ``this->``."""
    plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    found = _AROUND_SIGN.sub(r"\1", _BLANKS.sub(" ", plain)).strip()
    return re.sub(r"\bthis->", "", found).replace("->", ".")


def arguments(text: bytes, opened: int) -> tuple[list[str], int]:
    """The arguments between the bracket at ``opened`` and the one that closes it, and the offset after that."""
    depth, start, at = 0, opened + 1, opened
    found: list[str] = []
    while at < len(text):
        sign = text[at : at + 1]
        if sign in b"([{":
            depth += 1
        elif sign in b")]}":
            depth -= 1
            if depth == 0:
                last = flat(text[start:at])
                return ([*found, last] if last or found else found), at + 1
        elif sign == b"," and depth == 1:
            found.append(flat(text[start:at]))
            start = at + 1
        at += 1
    return found, at


def parameters(f: FoundFunction) -> list[str]:
    return [c.spelling for c in f.cursor.get_children() if c.kind == CursorKind.PARM_DECL]


def block_around(text: bytes, at: int) -> tuple[int, int]:
    """The innermost braces around an offset: the first byte inside, and that of the closing one."""
    depth = 0
    start = at
    while start > 0:
        sign = text[start - 1 : start]
        if sign == b"}":
            depth += 1
        elif sign == b"{":
            if depth == 0:
                break
            depth -= 1
        start -= 1
    depth, end = 0, at
    while end < len(text):
        sign = text[end : end + 1]
        if sign == b"{":
            depth += 1
        elif sign == b"}":
            if depth == 0:
                break
            depth -= 1
        end += 1
    return start, end


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

    def writes(self, name: str, allowed: frozenset[tuple[str, int]]) -> Iterator[Write]:
        """Every write to a member of this name, in any class. Raises Doubt for one that has another form than an
        assignment, an initialiser or an exchange; ``allowed``: places of such that are known."""
        local: dict[int, bool] = {}
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
            if object_ is None and f is not None and id(f) not in local:
                local[id(f)] = self.is_local(f, name)
            if object_ is None and f is not None and local[id(f)] and not _REACHED.search(before):
                inits = f.cursor.kind == CursorKind.CONSTRUCTOR and at < self.body(f)
                if not (inits and text[end : end + 1] in (b"(", b"{")):
                    continue
            complex_ = object_ is None and _REACHED.search(before) is not None
            complex_ = complex_ or (object_ is not None and _REACHED.search(front) is not None)
            found = self._write(name, f, path, at, holder, front)
            if found is None:
                continue
            if complex_:
                raise Doubt(f"a write to {name} of an object that is not named")
            yield found

    def is_local(self, f: FoundFunction, name: str) -> bool:
        """Whether an unqualified name in a function means a variable of its own."""
        parent = f.cursor.semantic_parent
        if parent is None or parent.kind not in CLASSES or name in parameters(f):
            return True
        declared = rb"(?<![\w.>])(?!return\b|else\b|case\b|delete\b|throw\b|new\b)[A-Za-z_][\w:]*\s+" + name.encode()
        return re.search(declared + rb"\s*[=;,({\[]", self.text(f)) is not None

    def _write(self, name: str, f: FoundFunction | None, path: str, at: int, holder: str, front: bytes) -> Write | None:
        text = self.texts[path]
        end = at + len(name)
        if _COMPOUND.match(text, end) and not text[end:].lstrip().startswith(b"["):
            raise Doubt(f"{name} is changed")
        if _BEFORE_WRITE.search(front) or _ADDRESS.search(front) or _BOUND.search(front):
            raise Doubt(f"{name} may be written through a reference")
        assigned = _ASSIGNED.match(text, end)
        if assigned is not None:
            stop = self._value_end(text, assigned.end())
            block = block_around(text, at)
            return Write(f, path, at, stop, holder, flat(text[assigned.end() : stop]), block)
        if f is None:
            return None
        is_constructor = f.cursor.kind == CursorKind.CONSTRUCTOR
        if is_constructor and not holder and f.start < at < self.body(f) and text[end:].lstrip()[:1] in (b"(", b"{"):
            opened = text.index(text[end:].lstrip()[:1], end)
            values, stop = arguments(text, opened)
            return Write(f, path, at, stop, holder, ",".join(values) or "0", (f.start, self.body(f)))
        return self._as_argument(name, f, path, at, holder)

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

    def _as_argument(self, name: str, f: FoundFunction, path: str, at: int, holder: str) -> Write | None:
        """A member that a call may write: exchanged, or given as a reference."""
        text = self.texts[path]
        end = at + len(name)
        if re.match(rb"\s*;", text[end : end + 8]) and re.search(rb"\breturn\s+(?:this\s*->\s*)?$", text[:at][-40:]):
            result = f.cursor.result_type
            if result.kind == TypeKind.LVALUEREFERENCE and not result.get_pointee().is_const_qualified():
                raise Doubt(f"{f.name} gives a reference to {name}")
            return None
        if text[end:].lstrip()[:1] not in (b",", b")"):
            return None
        opened, index = self._call_around(text, at)
        called = _NAME_BEFORE.search(text[max(0, opened - _FARTHEST) : opened]) if opened >= 0 else None
        if called is None:
            return None
        callee = called[1].decode()
        given, stop = arguments(text, opened)
        whole = f"{holder}.{name}" if holder else name
        if index >= len(given) or given[index] != whole:
            return None
        if callee == "swap" and len(given) == 2:
            other = given[1 - index]
            if other.rpartition(".")[2] != name:
                raise Doubt(f"{name} is exchanged with something else")
            return Write(f, path, at, stop, holder, f"swap:{other.rpartition('.')[0]}", block_around(text, at))
        if callee in _REFERRING or any(_takes_reference(g, index) for g in self.named.get(callee, ())):
            raise Doubt(f"{callee} may write {name}")
        return None

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


def _takes_reference(f: FoundFunction, index: int) -> bool:
    given = [c for c in f.cursor.get_children() if c.kind == CursorKind.PARM_DECL]
    if index >= len(given):
        return False
    ty = given[index].type
    return ty.kind == TypeKind.LVALUEREFERENCE and not ty.get_pointee().is_const_qualified()
