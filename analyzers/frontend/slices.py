"""The part of a file that one kernel needs: what a compiler gets that has neither the host's headers nor its libraries.

Takes the device pass of a unit and the places of a kernel's definition, gives a text of equal lines in which all
other declarations of the file are blank, and the ``#include`` lines too that lead to nothing the kernel reaches.
Reached is what the kernel names, and what that names, types and templates included; directives other than includes
stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from analyzers.frontend.cindex import CursorKind
from analyzers.frontend.lexical import source_bytes
from analyzers.frontend.parse import ParsedUnit, is_bundled

_INCLUDE: Final = re.compile(rb"^[ \t]*#[ \t]*include\b[ \t]*(?:[<\"]([^>\"\n]*))?[^\n]*", re.MULTILINE)
_DEFINE: Final = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_OF_MACROS: Final = frozenset(
    {
        *("assert.h", "cassert", "cfloat", "climits", "cmath", "cstddef", "cstdint", "cstdio", "float.h", "limits.h"),
        *("math.h", "stddef.h", "stdint.h", "stdio.h", "cuda_runtime.h"),
    }
)
"""Headers that every CUDA compiler has, and whose macros leave no trace among the declarations."""
_SEMICOLON: Final = re.compile(rb"\s*;")
_BLANKS: Final = bytes(c if c in b"\r\n" else ord(" ") for c in range(256))
_OPENED: Final = frozenset({CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL})
"""Declarations whose members are looked at one by one."""


def slice_text(unit: ParsedUnit, kernels: Sequence[int]) -> str:
    """The file's text with all but the kernels at these offsets, and what they reach, taken out."""
    pieces = list(_declarations(unit.device.cursor))
    own = [piece for piece in pieces if piece.file == unit.path]
    at = {(piece.file, piece.start): piece for piece in pieces}
    reached: set[tuple[str, int]] = set()
    waiting = [piece for piece in own if any(piece.start <= offset < piece.end for offset in kernels)]
    spans = _Spans(pieces)
    while waiting:
        piece = waiting.pop()
        if (piece.file, piece.start) in reached:
            continue
        reached.add((piece.file, piece.start))
        waiting.extend(spans.named_by(piece.cursor))
    raw = bytearray(source_bytes(unit.text))
    for piece in own:
        if (piece.file, piece.start) not in reached:
            _blank(raw, piece.start, _end_with_semicolon(raw, piece.end))
    needed = {file for file, _ in reached if not is_bundled(file)}
    _drop_includes(
        raw, unit, needed | {piece.file for key, piece in at.items() if key in reached and is_bundled(key[0])}
    )
    return raw.decode("utf-8", "surrogateescape")


def qualified_name(unit: ParsedUnit, offset: int) -> str:
    """The namespaces around the declaration at an offset of the file, each with its ``::``."""
    for piece in _declarations(unit.device.cursor):
        if piece.file == unit.path and piece.start <= offset < piece.end:
            names: list[str] = []
            parent = piece.cursor.semantic_parent
            while parent is not None and parent.kind == CursorKind.NAMESPACE:
                names.insert(0, parent.spelling)
                parent = parent.semantic_parent
            return "".join(f"{name}::" for name in names if name)
    return ""


class _Piece:
    """A declaration at the level of files and namespaces."""

    __slots__ = ("cursor", "end", "file", "start")

    def __init__(self, cursor: Any) -> None:
        extent = cursor.extent
        self.cursor = cursor
        self.file = extent.start.file.name if extent.start.file is not None else ""
        self.start = int(extent.start.offset)
        self.end = int(extent.end.offset)


def _declarations(parent: Any) -> Iterator[_Piece]:
    for cursor in parent.get_children():
        if cursor.kind in _OPENED and any(True for _ in cursor.get_children()):
            yield from _declarations(cursor)
        else:
            yield _Piece(cursor)


class _Spans:
    """Finds the declaration that holds a place."""

    def __init__(self, pieces: Iterable[_Piece]) -> None:
        self._by_file: dict[str, list[_Piece]] = {}
        for piece in pieces:
            self._by_file.setdefault(piece.file, []).append(piece)

    def named_by(self, cursor: Any) -> Iterator[_Piece]:
        """The declarations of everything that is named below a cursor."""
        seen: set[int] = set()
        for inner in cursor.walk_preorder():
            for target in (inner.referenced, _declaration(inner)):
                if target is None or target.hash in seen:
                    continue
                seen.add(target.hash)
                for place in (target, target.get_definition()):
                    found = self._holding(place)
                    if found is not None:
                        yield found

    def _holding(self, cursor: Any) -> _Piece | None:
        if cursor is None or cursor.location.file is None:
            return None
        offset = int(cursor.location.offset)
        best: _Piece | None = None
        for piece in self._by_file.get(cursor.location.file.name, ()):
            if piece.start <= offset < piece.end and (best is None or piece.start >= best.start):
                best = piece
        return best


def _declaration(cursor: Any) -> Any:
    """Where the type of a cursor is declared."""
    try:
        found = cursor.type.get_declaration()
    except ValueError:
        return None
    return found if found.kind != CursorKind.NO_DECL_FOUND else None


def _end_with_semicolon(raw: bytearray, end: int) -> int:
    behind = _SEMICOLON.match(raw, end)
    return behind.end() if behind is not None else end


def _blank(raw: bytearray, start: int, end: int) -> None:
    """Directives inside stay: they may belong to a condition that goes on behind."""
    piece = bytes(raw[start:end])
    kept = b"\n".join(
        line if line.lstrip().startswith(b"#") and number else line.translate(_BLANKS)
        for number, line in enumerate(piece.split(b"\n"))
    )
    raw[start:end] = kept


def _defines(unit: ParsedUnit, path: str, words: set[bytes]) -> bool:
    """Whether a header of the user's defines a macro that is one of the words."""
    if is_bundled(path):
        return False
    return any(name in words for name in _DEFINE.findall(source_bytes(unit.text_of(path))))


def _drop_includes(raw: bytearray, unit: ParsedUnit, needed: set[str]) -> None:
    """Blank the includes of the file that lead to no needed one."""
    leads: dict[int, set[str]] = {}
    stack: list[tuple[str, int]] = []
    for include in unit.device.get_includes():
        # What a compiler option includes has no source.
        source, target = include.source.name if include.source else "", include.include.name
        while stack and stack[-1][0] != source:
            stack.pop()
        line = int(include.location.line) if source == unit.path else stack[-1][1] if stack else 0
        stack.append((target, line))
        leads.setdefault(line, set()).add(target)
    words = set(_WORD.findall(_INCLUDE.sub(b"", bytes(raw))))
    for match in list(_INCLUDE.finditer(bytes(raw))):
        line = raw.count(b"\n", 0, match.start()) + 1
        targets = leads.get(line, set())
        plain = (match[1] or b"").decode("utf-8", "replace") in _OF_MACROS
        if not (plain or targets & needed or any(_defines(unit, target, words) for target in targets)):
            _blank(raw, match.start(), match.end())
