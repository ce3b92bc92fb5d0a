"""Names that a text contains in no way that a search for words finds.

Takes blanked text, gives words that a line splice cuts in two, names that macros paste together, and labels under which
the assembler knows a function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_SPLICED = re.compile(rb"[A-Za-z_]\w*(?:\\\r?\n\w+)+")
_SPLICE = re.compile(rb"\\\r?\n")
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\(([^()]*)\))?((?:[^\n\\]|\\(?:\r?\n|.))*)", re.MULTILINE)
_WORD = re.compile(rb"\w+")
_PASTED = re.compile(rb"\w+(?:\s*##\s*\w+)+")
_LISTED = re.compile(rb"\w+(?:\s*,\s*\w+)+")
_LABEL = re.compile(rb"\b(?:asm|__asm__|__asm|(?:__)?(?:alias|ifunc|weakref)(?:__)?)\s*\(\s*\"(\w+)\"\s*\)")
_MOST_JOINED = 4
"""Arguments that are pasted together at most."""
_MANGLED = re.compile(rb"(\d+)([A-Za-z_])")


def spliced_words(text: bytes) -> Iterator[tuple[str, int]]:
    """(identifier, offset) of those that a backslash at the end of a line cuts in two."""
    for match in _SPLICED.finditer(text):
        yield _SPLICE.sub(b"", match.group()).decode(), match.start()


@dataclass(frozen=True, slots=True)
class Paste:
    """A macro that pastes words together: what is fixed at the ends of the result."""

    before: str
    after: str
    offset: int


def may_give(name: str, before: str, after: str) -> bool:
    """Whether pasting may give a name. Where nothing but arguments is pasted any may come out: see `joined_words`."""
    fixed = len(before) + len(after)
    return 0 < fixed <= len(name) and name.startswith(before) and name.endswith(after)


def pastes(text: bytes) -> Iterator[Paste]:
    """The macros of a text that paste."""
    for macro in _DEFINE.finditer(text):
        if b"##" not in macro.group(3):
            continue
        parameters = {p.strip() for p in (macro.group(2) or b"").split(b",")} | {b"__VA_ARGS__"}
        for match in _PASTED.finditer(_SPLICE.sub(b"  ", macro.group(3))):
            parts = [p.strip() for p in match.group().split(b"##")]
            before, after = (b"" if p in parameters else p for p in (parts[0], parts[-1]))
            yield Paste(before.decode(), after.decode(), macro.start())


@lru_cache(maxsize=256)
def joined_words(text: bytes) -> tuple[tuple[str, int], ...]:
    """(what words in a list make when they are pasted together, the offset of the first): what comes out of a macro
    that pastes its arguments, directly or by another one."""
    found: list[tuple[str, int]] = []
    for listed in _LISTED.finditer(text):
        words = [(match.group(), listed.start() + match.start()) for match in _WORD.finditer(listed.group())]
        for first in range(len(words) - 1):
            joined = words[first][0]
            for word, _ in words[first + 1 : first + _MOST_JOINED]:
                joined += word
                found.append((joined.decode("utf-8", "replace"), words[first][1]))
    return tuple(found)


@lru_cache(maxsize=256)
def labels(data: bytes) -> tuple[tuple[bytes, int], ...]:
    """Names in the labels of a file's declarations (``asm("run")``, ``alias("run")``), of mangled ones the words they
    are made of, with their offsets. ``data`` is not blanked."""
    found: list[tuple[bytes, int]] = []
    for match in _LABEL.finditer(data):
        label, at = match.group(1), match.start(1)
        found.append((label, at))
        if label.startswith(b"_Z"):
            for part in _MANGLED.finditer(label):
                word = label[part.start(2) : part.start(2) + int(part.group(1))]
                found.append((word, at + part.start(2)))
    return tuple(found)
