"""The part of a program that one kernel needs: what a compiler gets that has neither the host's headers nor its
libraries.

Takes the device pass of a unit and the places of a kernel's definition, gives one text in which the headers of the
user stand where they were included, between ``#line`` directives, so that every line keeps its file and number. In all
of them the declarations that the kernel does not reach are blank. Reached is what the kernel names, and what that
names, types and templates included; directives other than includes stay as they are. For what is reached of the bundled
headers the public header is included that a compiler has it from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final

from analyzers.frontend.access_lines import AccessLines, line_directive
from analyzers.frontend.cindex import CursorKind, TypeKind, namespaces_of, specialized_template
from analyzers.frontend.closures import SPELLED, Closure, closure_at
from analyzers.frontend.expansions import instantiating_uses
from analyzers.frontend.inclusions import inclusions
from analyzers.frontend.instantiations import explicit_instantiations, macros_of
from analyzers.frontend.lexical import source_bytes
from analyzers.frontend.parse import HEADERS, ParsedUnit, is_bundled
from analyzers.model import Mark, SourceSpan, marks_in

_INCLUDE: Final = re.compile(rb"^[ \t]*#[ \t]*include(?:_next)?\b[ \t]*(?:[<\"]([^>\"\n]*))?[^\n]*", re.MULTILINE)
_ONCE: Final = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.MULTILINE)
_DEFINE: Final = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_SELECTED: Final = re.compile(rb"(?:->|\.)\s*(?:template\s+)?([A-Za-z_]\w*)")
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_OF_MACROS: Final = frozenset(
    {
        *("assert.h", "cassert", "cfloat", "climits", "cmath", "cstddef", "cstdint", "cstdio", "float.h", "limits.h"),
        *("math.h", "stddef.h", "stdint.h", "stdio.h", "cuda.h", "cuda_runtime.h"),
    }
)
"""Headers that every CUDA compiler has, and whose macros leave no trace among the declarations."""
_LIMITS: Final[Mapping[str, re.Pattern[bytes]]] = {
    "cfloat": re.compile(rb"(?:FLT|DBL)_(?:MAX|MIN|EPSILON|DIG|MANT_DIG|TRUE_MIN)"),
    "climits": re.compile(rb"(?:CHAR|SCHAR|SHRT|INT|LONG|LLONG)_(?:MAX|MIN|BIT)|U(?:CHAR|SHRT|INT|LONG|LLONG)_MAX"),
}
_PUBLIC: Final[Mapping[str, tuple[str, ...]]] = {
    "core/cuda_lsp/c_library.h": ("cstddef", "cstdint"),
    "core/cuda_lsp/short_float.h": ("cuda_fp16.h",),
    "core/cuda_lsp/math.h": ("cmath",),
    "core/cuda_lsp/device_math.h": ("cmath",),
    "core/cuda_lsp/cpp_core.h": ("limits", "type_traits", "utility"),
    "core/cuda_lsp/cpp_algorithms.h": ("algorithm",),
    "core/cuda_lsp/cpp_functional.h": ("functional", "iterator", "tuple"),
    "core/cuda_lsp/cpp_containers.h": ("array",),
}
"""Where a compiler has from what these bundled headers declare; those of ``cuda/`` have their names."""
_LINE: Final = re.compile(r'^#line \d+ "((?:[^"\\]|\\.)*)"$', re.MULTILINE)
_CUB_ALL: Final = b"cub/cub.cuh"
_CUB: Final = (
    *(f"cub/block/block_{name}.cuh" for name in ("load", "radix_sort", "reduce", "scan", "store")),
    *(f"cub/warp/warp_{name}.cuh" for name in ("reduce", "scan")),
)
"""In place of the header of everything, which NVRTC does not take."""
_ATOMICS_FILE: Final = f"{HEADERS}/libraries/ATen/cuda/Atomic.cuh"
_GPU_ATOMICS: Final = frozenset({"gpuAtomicAdd", "gpuAtomicAddNoReturn", "gpuAtomicMax", "gpuAtomicMin"})
_ATOMICS: Final = b"""
template <typename T> __device__ inline T gpuAtomicAdd(T *address, T value) { return atomicAdd(address, value); }
template <typename T> __device__ inline void gpuAtomicAddNoReturn(T *address, T value) { atomicAdd(address, value); }
template <typename T> __device__ inline T gpuAtomicMax(T *address, T value) { return atomicMax(address, value); }
template <typename T> __device__ inline T gpuAtomicMin(T *address, T value) { return atomicMin(address, value); }
__device__ inline long gpuAtomicAdd(long *address, long value) {
  return (long)atomicAdd((unsigned long long *)address, (unsigned long long)value);
}
__device__ inline void gpuAtomicAddNoReturn(long *address, long value) { gpuAtomicAdd(address, value); }
"""
"""What PyTorch has for the types that CUDA's own atomics take: a slice needs none of its headers."""
_ACCESSORS_FILE: Final = f"{HEADERS}/libraries/cuda_lsp_accessors.h"
"""PyTorch's, complete: a slice gets the text."""
_CURAND_FILE: Final = f"{HEADERS}/libraries/cuda_lsp_curand.h"
_GENERATORS_FILE: Final = f"{HEADERS}/libraries/cuda_lsp_generators.h"
"""What a slice gets where the compiler has no cuRAND."""
_SEMICOLON: Final = re.compile(rb"\s*;")
_OUTER_HEAD: Final = re.compile(
    rb"(?:\btemplate\s*<(?:(?!\btemplate\b)[^;{}])*>|\bextern\s*\"C(?:\+\+)?\")(?:\s|//[^\n]*\n|/\*(?:(?!\*/).)*\*/)*\Z",
    re.DOTALL,
)
_HEAD: Final = 2000
"""No head is longer than so many bytes."""
_BLANKS: Final = bytes(c if c in b"\r\n" else ord(" ") for c in range(256))
_OPENED: Final = frozenset({CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL})
"""Declarations whose members are looked at one by one."""
_CLASSES: Final = frozenset({CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL})
_TEMPLATES: Final = frozenset({CursorKind.CLASS_TEMPLATE, CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION})
_SPECIALISATIONS: Final = _CLASSES | {CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
_USING: Final = frozenset({CursorKind.USING_DIRECTIVE, CursorKind.USING_DECLARATION})
_PARAMETERS: Final = frozenset(
    {
        CursorKind.TEMPLATE_TYPE_PARAMETER,
        CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
        CursorKind.TEMPLATE_TEMPLATE_PARAMETER,
    }
)
_SPACES: Final = frozenset({CursorKind.NAMESPACE_REF, CursorKind.NAMESPACE_ALIAS})
_GENERIC: Final = _TEMPLATES | {CursorKind.FUNCTION_TEMPLATE}
_MEMBER_FUNCTIONS: Final = frozenset({CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.FUNCTION_TEMPLATE})
"""Members of a class that it can do without where nothing names them."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The text that a compiler gets."""

    text: str
    """Accesses on lines of their own (`frontend.access_lines`)."""
    plain: str
    """The same without: as it was written."""
    marks: frozenset[tuple[str, Mark]] = frozenset()
    """The accesses that have a line, by file."""
    classes: tuple[tuple[str, str], ...] = ()
    """Of lambdas that are classes in the text: how `names` calls them, and their names."""


def slice_text(unit: ParsedUnit, kernels: Sequence[tuple[str, int]], names: str = "") -> str:
    """The text alone, as it was written."""
    return sliced(unit, kernels, names).plain


def sliced(
    unit: ParsedUnit,
    kernels: Sequence[tuple[str, int]],
    names: str = "",
    accesses: Iterable[tuple[SourceSpan, str]] = (),
) -> Slice:
    """The kernels at these places (file, byte offset), what they reach, and what is called as one of the words in
    `names`, such as template arguments. `accesses`: where memory is accessed, and how (`MarkedAccess.does`)."""
    pieces = list(_declarations(unit.device.cursor))
    words = {word.decode() for word in _WORD.findall(source_bytes(names))} - {"std", "const", "unsigned"}
    reached: dict[tuple[str, int], _Piece] = {}
    waiting = [p for p in pieces if any(p.file == _path(file) and p.start <= at < p.end for file, at in kernels)]
    waiting += [p for p in pieces if p.cursor.spelling in words and p.outer is None]
    spans = _Spans(pieces, unit)
    closures = dict(_closures(unit, pieces, names))
    for around, closure in closures.values():
        own = _Piece(closure.cursor)
        waiting += [piece for piece in spans.named_by(own) if piece is not around]
    while waiting:
        piece = waiting.pop()
        if (piece.file, piece.start) in reached:
            continue
        reached[piece.file, piece.start] = piece
        if piece.outer is not None:
            waiting.append(piece.outer)
        if not is_bundled(piece.file):
            waiting.extend(spans.named_by(piece))
    reached |= {(p.file, p.start): p for p in _introduced(pieces, list(reached.values()))}
    texts: dict[str, bytearray] = {_path(unit.path): bytearray(source_bytes(unit.text))}
    for piece in pieces:
        if is_bundled(piece.file) or not piece.file:
            continue
        if piece.file not in texts:
            texts[piece.file] = bytearray(source_bytes(unit.text_of(piece.file)))
        if (piece.file, piece.start) not in reached:
            raw = texts[piece.file]
            start = _outer_head(raw, piece.start)
            for closure in (c for around, c in closures.values() if around is piece):
                for begin, end in ((start, closure.start), *closure.blanks):
                    _blank(raw, begin, end)
                start = closure.end
            _blank(raw, start, _end_with_semicolon(raw, piece.end))
    tree = _inclusions(unit)
    _blank_instantiations(unit, tree, pieces, texts)
    words = _mark_needed(unit, tree, {file for file, _ in reached} | {p.file for p, _ in closures.values()}, texts)
    public = dict.fromkeys(name for piece in reached.values() for name in _public_names(piece))
    public.update(dict.fromkeys(_headers_of_macros(words)))
    kept = {path: _ONCE.sub(lambda found: found[0].translate(_BLANKS), bytes(raw)) for path, raw in texts.items()}
    inserted: dict[str, dict[int, bytes]] = {}
    for around, closure in closures.values():
        inserted.setdefault(around.file, {}).update(closure.insertions)
    plain = _rendered(unit, tree, kept, _access_lines(kept, (), inserted))
    # In a template a call of one may mean any of them: what the text names is taken.
    used = _GPU_ATOMICS.intersection(word.decode() for word in _WORD.findall(plain))
    front = b"".join(b"#include <%s>\n" % name.encode() for name in public)
    front += _of_std(words, texts.values())
    has_front = bool(front)
    front += line_directive(1, unit.path) if has_front else b""
    if any(is_bundled(piece.file) and piece.cursor.spelling in used for piece in pieces):
        front += line_directive(1, _ATOMICS_FILE) + _ATOMICS + line_directive(1, unit.path)
    if any(piece.file == _path(_ACCESSORS_FILE) for piece in reached.values()):
        front = _accessors() + front
        front += b"" if has_front else line_directive(1, unit.path)
    if any(piece.file == _path(_CURAND_FILE) for piece in reached.values()):
        text = _ONCE.sub(b"", Path(_GENERATORS_FILE).read_bytes())
        front = line_directive(1, _GENERATORS_FILE) + text + line_directive(1, unit.path) + front
    lines = _access_lines(kept, accesses, inserted)
    marks = frozenset((path, mark) for path, one in lines.items() for mark in one.marks)
    text = front + _rendered(unit, tree, kept, lines)
    classes = tuple((spelled, closure.name) for spelled, (_, closure) in closures.items())
    return Slice(_decoded(text), _decoded(front + plain), marks, classes)


def _closures(unit: ParsedUnit, pieces: Sequence[_Piece], names: str) -> Iterator[tuple[str, tuple[_Piece, Closure]]]:
    """The lambdas that are template arguments in `names`, as these call them, with the functions they stand in."""
    for number, match in enumerate(dict.fromkeys(found.groups() for found in SPELLED.finditer(names))):
        file, line, column = match
        for piece in pieces:
            if is_bundled(piece.file) or PurePath(piece.file).name != PurePath(file).name or piece.outer is not None:
                continue
            text = source_bytes(unit.text if piece.file == _path(unit.path) else unit.text_of(piece.file))
            found = closure_at(piece.cursor, text, file, int(line), int(column), number)
            if found is not None:
                yield f"(lambda at {file}:{line}:{column})", (piece, found)
                break


def _introduced(pieces: Iterable[_Piece], reached: Sequence[_Piece]) -> Iterator[_Piece]:
    """The ``using namespace`` and ``using`` declarations by which something that is reached may be named."""
    names = {(namespaces_of(piece.cursor), piece.cursor.spelling) for piece in reached}
    inside = {
        "::".join(parts[:n]) for parts in (spaces.split("::") for spaces, _ in names) for n in range(1, len(parts))
    }
    for piece in pieces:
        if piece.cursor.kind not in _USING or is_bundled(piece.file):
            continue
        space = next((c.referenced for c in reversed(list(piece.cursor.get_children())) if c.kind in _SPACES), None)
        if space is None:
            continue
        within = namespaces_of(space) + space.spelling
        is_named = (f"{within}::", piece.cursor.spelling) in names
        if is_named if piece.cursor.kind == CursorKind.USING_DECLARATION else within in inside:
            yield piece


def _accessors() -> bytes:
    text = _ONCE.sub(b"", Path(_ACCESSORS_FILE).read_bytes())
    torch = b"namespace torch { using namespace at; }\n"
    return b"#include <cstddef>\n#include <cstdint>\n" + line_directive(1, _ACCESSORS_FILE) + text + torch


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _access_lines(
    texts: Mapping[str, bytes], accesses: Iterable[tuple[SourceSpan, str]], inserted: Mapping[str, Mapping[int, bytes]]
) -> dict[str, AccessLines]:
    """By file, as `inserted` is, what else is put into the text."""
    by_file: dict[str, dict[SourceSpan, str]] = {path: {} for path in inserted}
    for span, does in accesses:
        own = by_file.setdefault(_path(span.path), {})
        own[span] = "".join(letter for letter in "rwa" if letter in own.get(span, "") + does)
    return {
        path: AccessLines(path, texts[path], spans, inserted.get(path))
        for path, spans in by_file.items()
        if path in texts
    }


def qualified_name(unit: ParsedUnit, path: str, offset: int) -> str:
    """The namespaces around the declaration at an offset of a file, each with its ``::``."""
    for piece in _declarations(unit.device.cursor):
        if piece.file == _path(path) and piece.start <= offset < piece.end:
            return namespaces_of(piece.cursor)
    return ""


def typed_arguments(unit: ParsedUnit, path: str, offset: int, arguments: str) -> str:
    """The template arguments of a kernel that is defined there, with commas between, as a compiler takes them: those
    for enumerations are no numbers."""
    piece = next((p for p in _declarations(unit.device.cursor) if p.file == _path(path) and p.start == offset), None)
    parameters = [] if piece is None else [c for c in piece.cursor.get_children() if c.kind in _PARAMETERS]
    found = _separated(arguments)
    for number, parameter in enumerate(parameters[: len(found)]):
        kind = parameter.type.get_canonical()
        if parameter.kind == CursorKind.TEMPLATE_NON_TYPE_PARAMETER and kind.kind == TypeKind.ENUM:
            found[number] = f"static_cast<{kind.spelling}>({found[number]})"
    return ", ".join(found)


def _separated(arguments: str) -> list[str]:
    depth, found = 0, [""]
    for letter in arguments:
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [one.strip() for one in found]


def _path(name: str) -> str:
    """A file's name without ways up and down again: clang names an included file as it was included, or as it was found
    first."""
    return os.path.normpath(name) if name else ""


class _Piece:
    """A declaration at the level of files and namespaces, or a function that is a member of such a class (`outer`)."""

    __slots__ = ("cursor", "end", "file", "inner", "outer", "start")

    def __init__(self, cursor: Any, outer: _Piece | None = None) -> None:
        extent = cursor.extent
        self.cursor = cursor
        self.file = _path(extent.start.file.name) if extent.start.file is not None else ""
        self.start = int(extent.start.offset)
        self.end = int(extent.end.offset)
        self.outer = outer
        self.inner: frozenset[int] = frozenset()
        """Hashes of the cursors that are pieces of their own."""


def _declarations(parent: Any) -> Iterator[_Piece]:
    for cursor in parent.get_children():
        if cursor.kind in _OPENED and any(True for _ in cursor.get_children()):
            yield from _declarations(cursor)
            continue
        piece = _Piece(cursor)
        yield piece
        if cursor.kind in _CLASSES and not is_bundled(piece.file):
            members = [
                _Piece(member, piece)
                for member in cursor.get_children()
                if member.kind in _MEMBER_FUNCTIONS and not member.is_virtual_method()
            ]
            members = [member for member in members if member.file == piece.file and piece.start < member.start]
            piece.inner = frozenset(member.cursor.hash for member in members)
            yield from members


class _Spans:
    """Finds the declaration that holds a place."""

    def __init__(self, pieces: Iterable[_Piece], unit: ParsedUnit) -> None:
        self._unit = unit
        self._by_file: dict[str, list[_Piece]] = {}
        self._by_name: dict[str, list[_Piece]] = {}
        self._constructors: dict[int, list[_Piece]] = {}
        """By the class: where a template makes an object, which of them does it depends on its arguments."""
        for piece in pieces:
            self._by_file.setdefault(piece.file, []).append(piece)
            if piece.outer is not None and _constructs(piece):
                self._constructors.setdefault(id(piece.outer), []).append(piece)
            if not is_bundled(piece.file):
                self._by_name.setdefault(piece.cursor.spelling, []).append(piece)
        self._operators: dict[int, list[_Piece]] = {}
        """Operators of classes that are defined outside of them, by the class: templates use them without a name."""
        for name, named in self._by_name.items():
            for piece in named if name.startswith("operator") else ():
                owner = self._holding(piece.cursor.semantic_parent)
                if owner is not None:
                    self._operators.setdefault(id(owner), []).append(piece)

    def named_by(self, piece: _Piece) -> Iterator[_Piece]:
        """The declarations of everything that a declaration names. In a template a name may stand for whatever its
        arguments make of it: for all that are called so."""
        seen: set[int] = set()
        is_generic = piece.cursor.kind in _GENERIC
        if piece.cursor.kind in _TEMPLATES:
            # Which of them is meant depends on the arguments.
            yield from (p for p in self._by_name.get(piece.cursor.spelling, ()) if p.cursor.kind in _SPECIALISATIONS)
        if is_generic:
            yield from self._selected(piece)
        yield from self._operators.get(id(piece), ())
        owner = self._holding(piece.cursor.semantic_parent)
        if owner is not None:  # of a member that is defined outside of its class
            yield owner
        general = self._holding(specialized_template(piece.cursor))
        if general is not None and general is not piece:
            yield general
        for inner in _below(piece.cursor, piece.inner):
            if inner.kind == CursorKind.OVERLOADED_DECL_REF or (inner.referenced is None and inner.spelling):
                yield from self._by_name.get(inner.spelling, ())
            for target in (inner.referenced, _declaration(inner)):
                if target is None or target.hash in seen:
                    continue
                seen.add(target.hash)
                for place in (target, target.get_definition()):
                    found = self._holding(place)
                    if found is not None:
                        yield found
                        yield from self._constructors.get(id(found), ()) if is_generic else ()

    def _selected(self, piece: _Piece) -> Iterator[_Piece]:
        """Members that the text of a template selects (``p->f``): of which class depends on its arguments, which clang
        does not tell."""
        for name in dict.fromkeys(_SELECTED.findall(source_bytes(self._text(piece.file))[piece.start : piece.end])):
            yield from (p for p in self._by_name.get(name.decode(), ()) if p.outer is not None)

    def _text(self, path: str) -> str:
        return self._unit.text if path == _path(self._unit.path) else self._unit.text_of(path)

    def _holding(self, cursor: Any) -> _Piece | None:
        if cursor is None or cursor.location.file is None:
            return None
        offset = int(cursor.location.offset)
        best: _Piece | None = None
        for piece in self._by_file.get(_path(cursor.location.file.name), ()):
            if piece.start <= offset < piece.end and (best is None or piece.start >= best.start):
                best = piece
        return best


def _constructs(piece: _Piece) -> bool:
    """Whether a member is a constructor, or a template of one."""
    assert piece.outer is not None
    kind, name = piece.cursor.kind, piece.cursor.spelling.split("<")[0]
    return kind == CursorKind.CONSTRUCTOR or (
        kind == CursorKind.FUNCTION_TEMPLATE and name == piece.outer.cursor.spelling.split("<")[0]
    )


def _below(cursor: Any, without: frozenset[int]) -> Iterator[Any]:
    """A cursor and all inside it, but for some of its children."""
    yield cursor
    for child in cursor.get_children():
        if child.hash not in without:
            yield from child.walk_preorder()


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


def _outer_head(raw: bytearray, start: int) -> int:
    """Where the declaration at `start` begins with what stands in front of it: of a member template of a class
    template, defined outside of it, clang takes only the inner template head for the declaration's; ``extern "C"``
    without braces is a declaration around it."""
    while True:
        before = bytes(raw[max(0, start - _HEAD) : start])
        head = _OUTER_HEAD.search(before)
        if head is None:
            return start
        start -= len(before) - head.start()


def _blank(raw: bytearray, start: int, end: int) -> None:
    """Directives inside stay: they may belong to a condition that goes on behind."""
    piece = bytes(raw[start:end])
    kept = b"\n".join(
        line if line.lstrip().startswith(b"#") and number else line.translate(_BLANKS)
        for number, line in enumerate(piece.split(b"\n"))
    )
    raw[start:end] = kept


def _blank_instantiations(
    unit: ParsedUnit, tree: _Inclusion, pieces: Iterable[_Piece], texts: dict[str, bytearray]
) -> None:
    """Those that are explicit: what a kernel needs is instantiated for it, and the templates of others are blank."""
    declared: dict[str, list[tuple[int, int, bool]]] = {}
    for piece in pieces:
        if piece.outer is None:
            declared.setdefault(piece.file, []).append((piece.start, piece.end, piece.cursor.kind in _CLASSES))
    own = {one.path: unit.text_of(one.path) for one in tree.walk() if not is_bundled(one.path)}
    own[_path(unit.path)] = unit.text
    macros = macros_of(own.values())
    expanded = instantiating_uses(unit)
    for path, text in own.items():
        raw = texts.setdefault(path, bytearray(source_bytes(text)))
        known = expanded if path == _path(unit.path) else None
        for start, end in explicit_instantiations(text, macros, declared.get(path, ()), known or {}):
            _blank(raw, start, end)


@dataclass(slots=True)
class _Inclusion:
    """One entry of a file, by the line of its ``#include`` (0: a compiler option)."""

    path: str
    line: int
    inner: list[_Inclusion] = field(default_factory=list["_Inclusion"])
    needed: bool = False

    def walk(self) -> Iterator[_Inclusion]:
        yield self
        for one in self.inner:
            yield from one.walk()


def _inclusions(unit: ParsedUnit) -> _Inclusion:
    """The tree of the files that clang has entered. A unit that was parsed again names them in no certain order."""
    entered: dict[str, dict[tuple[int, str], None]] = {}
    for one in inclusions(unit.device, unit.flags.arguments):
        if one.source:
            entered.setdefault(one.source, {})[one.line, one.path] = None

    def tree(path: str, line: int, above: frozenset[str]) -> _Inclusion:
        inner = sorted(entered.get(path, ()))
        inside = above | {path}
        return _Inclusion(path, line, [tree(file, at, inside) for at, file in inner if file not in inside])

    root = tree(_path(unit.path), 0, frozenset())
    root.needed = True
    return root


def _mark_needed(unit: ParsedUnit, root: _Inclusion, reached: set[str], texts: dict[str, bytearray]) -> set[bytes]:
    """Needed are the files with something that is reached, those that define a macro which a needed file speaks of, and
    what includes them. Gives the words of the needed files."""
    everything = list(root.walk())
    for one in reversed(everything):  # inner ones stand behind those that include them
        one.needed |= one.path in reached or any(inner.needed for inner in one.inner)
    own = [one for one in everything if not is_bundled(one.path)]
    for one in own:
        if one.path not in texts:
            texts[one.path] = bytearray(source_bytes(unit.text_of(one.path)))
    macros = {path: set(_DEFINE.findall(bytes(text))) for path, text in texts.items()}
    words: set[bytes] = set()
    counted: set[str] = set()
    grown = True
    while grown:
        grown = False
        for one in own:
            if one.needed and one.path not in counted:
                counted.add(one.path)
                words |= set(_WORD.findall(_INCLUDE.sub(b"", bytes(texts[one.path]))))
                grown = True
        for one in reversed(everything):
            defines = one.path in macros and not words.isdisjoint(macros[one.path])
            if not one.needed and (defines or any(inner.needed for inner in one.inner)):
                one.needed = grown = True
    return words


def _headers_of_macros(words: set[bytes]) -> Iterator[str]:
    """The C headers whose macros a text speaks of: other headers of CUDA and of libraries bring them along."""
    for header, pattern in _LIMITS.items():
        if any(pattern.fullmatch(word) for word in words):
            yield header


def _of_std(words: set[bytes], texts: Iterable[bytearray]) -> bytes:
    """The headers of ``cuda::std`` that texts include, where that is spoken of: what the bundled ones declare is in
    those of ``std``. Not all versions of the library have all of them."""
    if not words >= {b"cuda", b"std"}:
        return b""
    named = (found[1] or b"" for text in texts for found in _INCLUDE.finditer(text))
    ours = dict.fromkeys(name for name in named if name.startswith(b"cuda/std/"))
    return b"".join(b"#if __has_include(<%s>)\n#include <%s>\n#endif\n" % (name, name) for name in ours)


def _rendered(unit: ParsedUnit, one: _Inclusion, texts: Mapping[str, bytes], lines: Mapping[str, AccessLines]) -> bytes:
    """The text of a file with those that it includes. `lines`: where accesses are to have lines of their own."""
    raw = texts[one.path]
    own = lines.get(one.path) or AccessLines(one.path, raw, {})
    entered: dict[int, list[_Inclusion]] = {}
    for inner in one.inner:
        entered.setdefault(inner.line, []).append(inner)
    out: list[bytes] = []
    at = 0
    for match in _INCLUDE.finditer(raw):
        out.append(own.between(at, match.start()))
        at = match.end()
        line = raw.count(b"\n", 0, match.start()) + 1
        for inner in entered.get(line, ()):
            if inner.needed and not is_bundled(inner.path):
                out += [
                    line_directive(1, inner.path),
                    _rendered(unit, inner, texts, lines),
                    b"\n",
                    line_directive(line, one.path),
                ]
        out.append(match[0] if _stays(match, entered.get(line, ())) else match[0].translate(_BLANKS))
    out.append(own.between(at, len(raw)))
    return b"".join(out)


def _stays(match: re.Match[bytes], entered: Sequence[_Inclusion]) -> bool:
    """Whether a compiler is to see an ``#include``: of a header that it has and that is needed."""
    if match[1] == _CUB_ALL:
        return False
    name = (match[1] or b"").decode("utf-8", "replace")
    if name in _OF_MACROS or name.startswith("cooperative_groups/"):  # what templates name in these leads nowhere
        return True
    return any(one.needed and is_bundled(one.path) and not _facade(one.path) for one in entered)


def _facade(path: str) -> bool:
    """Whether a bundled header stands for one of a library that the compiler of a slice does not have."""
    folder, *rest = PurePath(path).relative_to(HEADERS).parts
    return folder == "libraries" and rest[0] not in ("cub", "thrust", "cuComplex.h")


def _public_names(piece: _Piece) -> Iterator[str]:
    """The headers that declare what a bundled one does."""
    if not is_bundled(piece.file):
        return
    name = PurePath(piece.file).relative_to(HEADERS).as_posix()
    if name.startswith("cuda/"):
        yield name.removeprefix("cuda/")
    if piece.file.endswith("cuda_lsp_cub.h"):
        yield from _CUB
    yield from _PUBLIC.get(name, ())
    if "bfloat" in piece.cursor.spelling:
        yield "cuda_bf16.h"


def files_of(text: str) -> tuple[str, ...]:
    """The files of the user that a slice is made of."""
    named: list[str] = _LINE.findall(text)
    paths = dict.fromkeys(marks_in(re.sub(r"\\(.)", r"\1", path))[0] for path in named)
    return tuple(path for path in paths if not is_bundled(path))
