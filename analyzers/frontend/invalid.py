"""Declarations that clang found an error in, and where code uses them: it leaves that code out without another word, or
means another declaration by it.

``HD int get(int *p);`` is an error of its own where the header is missing that defines ``HD``; of ``p[0] = get(p);``
nothing is said any more, and nothing is left in the tree. ``HD V(int *p);`` inside of ``struct V`` is no constructor
any more, so that ``V v(p);`` takes another one. Takes a translation unit, its errors and texts, gives the names and
where they stand.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from analyzers.frontend import cindex
from analyzers.frontend.blanking import blanked, without_comments
from analyzers.frontend.cindex import CursorKind, TranslationUnit

_SCOPES: Final = frozenset(
    {
        CursorKind.NAMESPACE.value,
        CursorKind.LINKAGE_SPEC.value,
        CursorKind.UNEXPOSED_DECL.value,  # `extern "C"`, in other versions
    }
)
"""What has declarations in it and no meaning of its own."""
_RECORDS: Final = frozenset(
    {
        CursorKind.STRUCT_DECL.value,
        CursorKind.UNION_DECL.value,
        CursorKind.CLASS_DECL.value,
        CursorKind.CLASS_TEMPLATE.value,
        CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION.value,
    }
)
_ENUM: Final = CursorKind.ENUM_DECL.value
_TYPES: Final = _RECORDS | {
    _ENUM,
    CursorKind.TYPEDEF_DECL.value,
    CursorKind.TYPE_ALIAS_DECL.value,
    CursorKind.TYPE_ALIAS_TEMPLATE_DECL.value,
}
_SPECIAL: Final = frozenset(
    {CursorKind.CONSTRUCTOR.value, CursorKind.DESTRUCTOR.value, CursorKind.CONVERSION_FUNCTION.value}
)
"""Members that are used wherever their class is, and not by a name."""
_FIELD: Final = CursorKind.FIELD_DECL.value
_MEMBERS: Final = frozenset({_FIELD, CursorKind.CXX_METHOD.value})
_FRIEND: Final = CursorKind.FRIEND_DECL.value
_BODY: Final = CursorKind.COMPOUND_STMT.value
_PARAMETER: Final = CursorKind.PARM_DECL.value
_ASSERTION: Final = CursorKind.STATIC_ASSERT.value
_PARAMETERS: Final = frozenset(
    {
        CursorKind.TEMPLATE_TYPE_PARAMETER.value,
        CursorKind.TEMPLATE_NON_TYPE_PARAMETER.value,
        CursorKind.TEMPLATE_TEMPLATE_PARAMETER.value,
    }
)

_DEFINE: Final = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)]*\))?((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_WORD: Final = re.compile(
    rb"(?P<member>(?:\.|->|::)\s*)?(?<![\w$\x80-\xff])(?P<name>[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)(?P<call>\s*\()?"
)
_DECLARED: Final = re.compile(rb"\b(?:struct|class|union|enum|using)\s+(\w+)|(\w+)\s*(?=\()")
_IDENTIFIER: Final = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")
_OPERATOR: Final = re.compile(rb"operator(?![\w$\x80-\xff])")
_HIDDEN: Final = re.compile(rb"[\w$]\\\r?\n[\w$]|^[ \t]*#[ \t]*include\b", re.MULTILINE)
"""Names that no text shows: words in two lines, other files."""
_ONCE_MORE: Final = re.compile(r"function '(\w+)' cannot overload")
_TYPE_ONCE_MORE: Final = "redefinition with different types"
_COORDINATES: Final = re.compile(rb"\b(?:threadIdx|blockIdx|blockDim|gridDim)\s*\Z")
_KEYWORDS: Final = frozenset(
    b"""auto bool char class const constexpr double enum explicit extern float friend inline int long namespace noexcept
    operator short signed static struct template typename union unsigned using virtual void volatile __device__ __host__
    __forceinline__ __global__ __inline__ __restrict__""".split()
)
"""Words that are no names of anybody's."""


@dataclass(frozen=True, slots=True)
class CompilerError:
    """What clang says, and where: a byte of a file."""

    message: str
    path: str
    offset: int


@dataclass(frozen=True, slots=True)
class InvalidNames:
    """The names of what is declared with an error, of what is declared by means of such, and of macros that use it."""

    names: frozenset[bytes] = frozenset()
    members: frozenset[bytes] = frozenset()
    """Those of classes: `.`, `->` or `::` stands in front, or they are called."""

    def __bool__(self) -> bool:
        return bool(self.names or self.members)

    def uses(self, text: bytes, start: int = 0, end: int | None = None) -> Iterator[tuple[int, str]]:
        """Where the names stand in a part of a text, and which they are."""
        yield from self.in_code(blanked(text), start, len(text) if end is None else end)

    def in_code(self, code: bytes, start: int, end: int) -> Iterator[tuple[int, str]]:
        """The same of a text without comments."""
        for word in _WORD.finditer(code, start, end):
            name = word["name"]
            if name in self.names or (name in self.members and _is_member(code, word)):
                yield word.start("name"), name.decode()


def hides_names(text: bytes, start: int, end: int) -> int | None:
    """Where a part of a text has code that is not read for names; None where all of it is."""
    found = _HIDDEN.search(text, start, end)
    return found.start() if found is not None else None


def invalid_names(
    unit: TranslationUnit, paths: Iterable[str], text_of: Callable[[str], bytes], errors: Iterable[CompilerError]
) -> InvalidNames:
    """Of the declarations in the files at `paths`, which are the user's. `errors`: all of the unit's."""
    files = frozenset(paths)
    return _Search(unit, files, text_of, [e for e in errors if e.path in files]).found()


# --- what is declared ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Declaration:
    """What has a name, and the words that say what it is: not those of bodies or of other members of its class."""

    names: frozenset[bytes]
    members: frozenset[bytes] = frozenset()
    operates: bool = False
    """An operator outside of classes: it is not used by a name."""
    dropped: bool = False
    """Text that clang has made no declaration of: there are words of anything in it."""
    joins: bool = False
    """A macro that puts names together, which may be any."""
    is_wrong: bool = False
    words: set[bytes] = field(default_factory=set[bytes])
    member_words: set[bytes] = field(default_factory=set[bytes])

    def read(self, code: bytes, start: int, end: int) -> None:
        for word in _WORD.finditer(code, start, end):
            self.words.add(word["name"])
            if _is_member(code, word):
                self.member_words.add(word["name"])


class _Search:
    """Through the declarations of one unit."""

    def __init__(
        self,
        unit: TranslationUnit,
        paths: Iterable[str],
        text_of: Callable[[str], bytes],
        errors: Iterable[CompilerError],
    ) -> None:
        self._texts = {path: text_of(path) for path in paths}
        self._codes = {path: blanked(text) for path, text in self._texts.items()}
        self._again = set[bytes]()
        """What is declared once more, as functions and types of libraries: the first declaration is what is used."""
        self._errors: dict[str, list[int]] = {path: [] for path in self._texts}
        for error in errors:
            again = _declared_again(error, self._texts[error.path])
            self._again |= again
            if not again:
                self._errors[error.path].append(error.offset)
        for offsets in self._errors.values():
            offsets.sort()
        self._declared = list[_Declaration]()
        self._types = set[bytes]()
        self._read(unit)
        for text in self._texts.values():
            self._read_macros(without_comments(text))

    def found(self) -> InvalidNames:
        names, members = set[bytes](), set[bytes]()
        waiting = self._declared
        while wrong := [d for d in waiting if d.is_wrong]:
            for declaration in wrong:
                names |= declaration.names - self._again
                members |= declaration.members
                if declaration.operates:
                    others = self._types if declaration.dropped else declaration.words - _KEYWORDS
                    names |= declaration.words & self._types or others
            waiting = [d for d in waiting if not d.is_wrong]
            for declaration in waiting if names or members else ():
                declaration.is_wrong = declaration.joins or not (
                    names.isdisjoint(declaration.words) and members.isdisjoint(declaration.member_words)
                )
        return InvalidNames(frozenset(names - {b""}), frozenset(members - {b""}))

    def _read(self, unit: TranslationUnit) -> None:
        """The declarations of the files with errors and, where one of them is wrong, those of the others."""
        at_top: dict[str, list[Any]] = {path: [] for path in self._codes}
        for cursor in cindex.children(unit.cursor):
            path = _path(cursor)
            if path in at_top:
                at_top[path].append(cursor)
        for path in sorted(at_top, key=lambda path: not self._errors[path]):
            if self._errors[path] or any(d.is_wrong for d in self._declared):
                self._declare_all(at_top[path], path, 0, len(self._codes[path]))

    def _declare_all(self, cursors: Iterable[Any], path: str, at: int, end: int) -> None:
        """What is declared in a range of a file. The text between declarations counts as one, too."""
        last = len(self._declared)
        for cursor in cursors:
            start, stop = self._extent(cursor, path)
            unfinished = self._dropped(path, at, start, self._declared[last:])
            last = len(self._declared)
            self._declare(cursor, path)
            for declaration in self._declared[last:] if unfinished else ():
                declaration.is_wrong = True
            at = max(at, stop)
        self._dropped(path, at, end, self._declared[last:])

    def _extent(self, cursor: Any, path: str) -> tuple[int, int]:
        """As `_range`; a namespace that is never closed goes on to the end of its file."""
        start, end = _range(cursor)
        return start, end if end > start else len(self._codes[path])

    def _dropped(self, path: str, start: int, end: int, before: list[_Declaration]) -> bool:
        """Of text with an error that clang has made no declaration of: what it may have declared, and those `before` it
        that it may be the end of, as an initializer. Whether it may be the beginning of the one behind it."""
        found = _Declaration(frozenset(), dropped=True)
        self._read_part(found, path, start, end)
        if found.is_wrong:
            code = _outside_of_brackets(self._codes[path][start:end])
            found.names = frozenset(name for m in _DECLARED.finditer(code) for name in m.groups() if name)
            found.operates = b"operator" in found.words
            self._declared.append(found)
            if code.strip(b" \t\r\n;") and self._codes[path][start - 1 : start] != b"}" and code.lstrip()[:1] != b";":
                for declaration in before:
                    declaration.is_wrong = True
        return found.is_wrong and bool(re.split(rb"[;}]", self._codes[path][start:end])[-1].strip())

    def _declare(self, cursor: Any, path: str, owner: _Declaration | None = None) -> None:
        kind = cursor._kind_id
        if kind in _SCOPES:
            inner, (start, end) = cindex.children(cursor), self._extent(cursor, path)
            first = _range(inner[0])[0] if inner else end
            self._declare_all(inner, path, self._codes[path].find(b"{", start, first) + 1 or start, end)
        elif kind == _FRIEND:
            if owner is not None:
                for inner in cindex.children(cursor):
                    self._settle(owner, inner, path)
        elif kind != _ASSERTION:  # which says nothing about what it stands in
            self._declare_one(cursor, path, owner)

    def _declare_one(self, cursor: Any, path: str, owner: _Declaration | None) -> None:
        kind = cursor._kind_id
        name = cursor.spelling.partition("<")[0].encode()
        names = frozenset({name} if _IDENTIFIER.fullmatch(name) else ())
        operates = _OPERATOR.match(name) is not None
        if owner is not None and (operates or kind in _SPECIAL):
            self._settle(owner, cursor, path)
            return
        if kind == _ENUM:
            names |= {c.spelling.encode() for c in cindex.children(cursor)}
        if kind in _TYPES:
            self._types |= names
        is_member = kind in _MEMBERS
        found = _Declaration(frozenset() if is_member else names, names if is_member else frozenset(), operates)
        self._declared.append(found)
        self._settle(found, cursor, path)
        if operates:
            found.words -= {c.spelling.encode() for c in cindex.children(cursor) if c._kind_id == _PARAMETER}
        if owner is not None and (kind == _FIELD or not names):
            self._settle(owner, cursor, path)  # what a class has in it says what it is

    def _settle(self, declaration: _Declaration, cursor: Any, path: str) -> None:
        """Read what says what a declaration is, and look for errors there."""
        declaration.is_wrong |= cindex.is_invalid(cursor)
        inner = cindex.children(cursor)
        members = [c for c in inner if _is_declaration(c._kind_id)] if cursor._kind_id in _RECORDS else []
        bodies = [c for c in inner if c._kind_id == _BODY]
        at, end = _range(cursor)
        for start, stop in [*sorted(_range(c) for c in (*bodies, *members)), (end, end)]:
            self._read_part(declaration, path, at, start)
            at = max(at, stop)
        for member in members:
            self._declare(member, path, declaration)

    def _read_part(self, declaration: _Declaration, path: str, start: int, end: int) -> None:
        if start >= end:
            return
        declaration.read(self._codes[path], start, end)
        errors = self._errors[path]
        at = bisect_left(errors, start)
        declaration.is_wrong |= at < len(errors) and errors[at] < end

    def _read_macros(self, text: bytes) -> None:
        for macro in _DEFINE.finditer(text):
            found = _Declaration(frozenset({macro[1]}), joins=b"##" in macro[2])
            found.read(macro[2], 0, len(macro[2]))
            self._declared.append(found)


def _is_member(code: bytes, word: re.Match[bytes]) -> bool:
    if word["member"] is None:
        return word["call"] is not None
    return _COORDINATES.search(code, max(0, word.start() - 20), word.start()) is None


def _declared_again(error: CompilerError, text: bytes) -> set[bytes]:
    found = _ONCE_MORE.search(error.message)
    if found is not None:
        return {found[1].encode()}
    word = _WORD.match(text, error.offset) if _TYPE_ONCE_MORE in error.message else None
    return {word["name"]} if word is not None else set()


def _outside_of_brackets(code: bytes) -> bytes:
    """The code without what stands in braces, and round brackets empty."""
    out = bytearray()
    depth = 0
    for byte in code:
        if byte in b"({":
            out += b"(" if depth == 0 and byte == ord("(") else b""
            depth += 1
        elif byte in b")}":
            depth = max(0, depth - 1)
        elif depth == 0:
            out.append(byte)
    return bytes(out)


def _is_declaration(kind: int) -> bool:
    return kind not in _PARAMETERS and (kind < 40 or 600 <= kind < 700)  # as `CXCursorKind` numbers them


def _path(cursor: Any) -> str:
    file = cursor.location.file
    return file.name if file is not None else ""


def _range(cursor: Any) -> tuple[int, int]:
    extent = cursor.extent
    return extent.start.offset, extent.end.offset
