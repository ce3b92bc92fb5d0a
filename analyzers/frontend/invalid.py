"""Declarations that clang found an error in, and where code uses them: it leaves that code out without another word.

``HD int get(int *p);`` is an error of its own where the header is missing that defines ``HD``; of ``p[0] = get(p);``
nothing is said any more, and nothing is left in the tree. Takes a translation unit and texts, gives the names and where
they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from analyzers.frontend import cindex
from analyzers.frontend.blanking import blanked, without_comments
from analyzers.frontend.cindex import CursorKind, TranslationUnit

_AROUND: Final = frozenset(
    {
        CursorKind.NAMESPACE.value,
        CursorKind.LINKAGE_SPEC.value,
        CursorKind.UNEXPOSED_DECL.value,  # `extern "C"`, in other versions
        CursorKind.STRUCT_DECL.value,
        CursorKind.UNION_DECL.value,
        CursorKind.CLASS_DECL.value,
        CursorKind.CLASS_TEMPLATE.value,
        CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION.value,
        CursorKind.ENUM_DECL.value,
    }
)
"""What has declarations in it."""
_SPECIAL: Final = frozenset({CursorKind.CONSTRUCTOR.value, CursorKind.DESTRUCTOR.value})
"""Used by the name of their class, or by none."""
_MEMBERS: Final = frozenset({CursorKind.FIELD_DECL.value, CursorKind.CXX_METHOD.value})
_DEFINE: Final = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)]*\))?((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_WORD: Final = re.compile(
    rb"(?P<member>(?:\.|->|::)\s*)?(?<![\w$\x80-\xff])(?P<name>[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)(?P<call>\s*\()?"
)
_ONCE_MORE: Final = re.compile(r"function '(\w+)' cannot overload")
_TYPE_ONCE_MORE: Final = "redefinition with different types"
_BUILTIN: Final = re.compile(rb"\b(?:threadIdx|blockIdx|blockDim|gridDim)\s*\Z")


@dataclass(frozen=True, slots=True)
class InvalidNames:
    """What is declared with an error, and the macros that name such."""

    names: frozenset[bytes] = frozenset()
    members: frozenset[bytes] = frozenset()
    """Those of classes: `.`, `->` or `::` stands in front, or they are called."""

    def __bool__(self) -> bool:
        return bool(self.names or self.members)

    def besides(self, errors: Iterable[tuple[str, bytes]]) -> InvalidNames:
        """Without what is declared once more, as functions and types of libraries: the first declaration is the one
        that is used. `errors`: each message of the unit, and the text from its place on."""
        again = set[bytes]()
        for message, text in errors:
            found = _ONCE_MORE.search(message)
            word = _WORD.match(text) if _TYPE_ONCE_MORE in message else None
            again |= {found[1].encode()} if found is not None else {word["name"]} if word is not None else set()
        return replace(self, names=self.names - again) if again else self

    def uses(self, text: bytes, start: int = 0, end: int | None = None) -> Iterator[tuple[int, str]]:
        """Where the names stand in a part of a text, and which they are."""
        yield from self.in_code(blanked(text), start, len(text) if end is None else end)

    def in_code(self, code: bytes, start: int, end: int) -> Iterator[tuple[int, str]]:
        """The same of a text without comments."""
        for word in _WORD.finditer(code, start, end):
            name = word["name"]
            if name in self.names or (name in self.members and _is_member(code, word)):
                yield word.start("name"), name.decode()


def _is_member(code: bytes, word: re.Match[bytes]) -> bool:
    if word["member"] is None:
        return word["call"] is not None
    return _BUILTIN.search(code, max(0, word.start() - 20), word.start()) is None


def invalid_names(unit: TranslationUnit, paths: Iterable[str], text_of: Callable[[str], bytes]) -> InvalidNames:
    """Of the declarations in the files at `paths`, which are the user's. Worth asking where there are errors."""
    files = frozenset(paths)
    names, members = set[bytes](), set[bytes]()
    waiting = [c for c in cindex.children(unit.cursor) if _path(c) in files]
    while waiting:
        cursor = waiting.pop()
        kind = cursor._kind_id
        if cindex.is_invalid(cursor):
            name = (cursor.semantic_parent if kind in _SPECIAL else cursor).spelling.partition("<")[0]
            (members if kind in _MEMBERS else names).add(name.encode())
        if kind in _AROUND:
            waiting += cindex.children(cursor)
    found = InvalidNames(frozenset(names - {b""}), frozenset(members - {b""}))
    return _with_macros(found, [text_of(path) for path in sorted(files)]) if found else found


def _path(cursor: cindex.Cursor) -> str:
    file = cursor.location.file
    return file.name if file is not None else ""


def _with_macros(found: InvalidNames, texts: Iterable[bytes]) -> InvalidNames:
    """The names, and those of the macros that stand for code which uses them, or that put names together."""
    definitions = [(m[1], m[2]) for text in texts for m in _DEFINE.finditer(without_comments(text))]
    while True:
        more = {
            name
            for name, body in definitions
            if name not in found.names and (b"##" in body or next(found.in_code(body, 0, len(body)), None) is not None)
        }
        if not more:
            return found
        found = InvalidNames(found.names | more, found.members)
