"""Which files clang has entered, from where: ``clang_getInclusions``, and what it leaves out.

Of a translation unit with a preamble, libclang names no file that the main file itself includes behind the preamble (it
takes all those for listed with it). They are looked for where the text includes something: a candidate counts when
clang has read it. An ``#include`` whose operand is a macro is not understood here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final

from analyzers.frontend import cindex

_INCLUDE: Final = re.compile(rb"^[ \t]*#[ \t]*include(?:_next)?[ \t]*([<\"])([^>\"\n]+)", re.MULTILINE)
_ONCE: Final = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.MULTILINE)
_FOLDERS: Final = frozenset({"-I", "-isystem", "-iquote"})


@dataclass(frozen=True, slots=True)
class Inclusion:
    """One entry of a file. Paths are normalised."""

    source: str
    """The file with the ``#include``; empty for what a compiler option includes."""
    line: int
    path: str


def inclusions(unit: cindex.TranslationUnit, arguments: Sequence[str]) -> list[Inclusion]:
    """All entries that are known, in no certain order. `arguments` are those of clang that name folders."""
    found: dict[Inclusion, None] = {}
    main = os.path.normpath(unit.spelling)
    text = cindex.file_contents(unit, unit.spelling)
    named = {text.count(b"\n", 0, match.start()) + 1: _last(match[2]) for match in _INCLUDE.finditer(text)}
    for one in unit.get_includes():
        # What a compiler option includes has no source.
        source: Any = one.source
        path = os.path.normpath(source.name) if source is not None else ""
        line, included = int(one.location.line), os.path.normpath(one.include.name)
        if path == main and named.get(line, PurePath(included).name) != PurePath(included).name:
            path = ""  # what is compiled beforehand counts as included where the file begins
        found[Inclusion(path, line, included)] = None
    listed = {one.line for one in found if one.source == main}
    folders = list(_folders(arguments))
    line, at = 1, 0
    for match in _INCLUDE.finditer(text):
        line += text.count(b"\n", at, match.start())
        at = match.start()
        if line not in listed:
            path = _entered(unit, match, main, folders)
            if path is None:
                continue
            once = _ONCE.search(cindex.file_contents(unit, path)) is not None
            if not once or all(one.path != path for one in found):
                found[Inclusion(main, line, path)] = None
    return list(found)


def _last(name: bytes) -> str:
    return PurePath(name.decode("utf-8", "surrogateescape")).name


def _folders(arguments: Sequence[str]) -> Iterator[str]:
    following = iter(arguments)
    for argument in following:
        if argument in _FOLDERS:
            yield next(following, "")
        elif argument.startswith("-I"):
            yield argument.removeprefix("-I")


def _entered(unit: cindex.TranslationUnit, match: re.Match[bytes], main: str, folders: Sequence[str]) -> str | None:
    """The file that a directive stands for, as far as clang has read one."""
    name = match[2].decode("utf-8", "surrogateescape")
    beside = [Path(main).parent] if match[1] == b'"' else []
    for folder in (*beside, *folders):
        path = os.path.normpath(Path(folder) / name)
        if cindex.file_contents(unit, path):
            return path
    return None
