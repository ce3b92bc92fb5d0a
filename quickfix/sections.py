"""What preprocessor conditions a place stands under: an edit must be whole under each of them.

Only one reading of the text is analysed. Where one part of an edit stands behind an `#else` and another one outside of
it, the text that is compiled under the other condition has half of the edit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from analyzers.frontend.gaps import Gap, SourceTrees
from quickfix.edits import Change
from quickfix.naming import NotPossible, line_of

_DIRECTIVES: Final = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b", re.MULTILINE)

_ELSE: Final = re.compile(rb"^[ \t]*#[ \t]*(?:elif|else)", re.MULTILINE)


def balanced(text: bytes, start: int, end: int) -> bool:
    """No `#if` that encloses the one place and not the other."""
    depth = 0
    for match in _DIRECTIVES.finditer(text, start, end):
        word = match.group(1)
        if depth == 0 and not word.startswith(b"if"):
            return False
        depth += word.startswith(b"if") - (word == b"endif")
    return depth == 0


def refuse_halves(trees: SourceTrees, path: str, changes: Iterable[Change]) -> None:
    """Raise `NotPossible` where changes of the code of one function stand under different conditions, or in a file that
    is not edited."""
    text, changes = trees.texts[path], list(changes)
    if changes and (library := trees.library(path)):
        raise NotPossible(f"line {line_of(text, changes[0].start)} is in {library}")
    found: dict[int, tuple[int, ...]] = {}
    for change in changes:
        if not change.text.strip() and not text[change.start : change.end].strip():
            continue  # indentation
        function = next((f.start for f in trees.functions if f.path == path and f.start <= change.start < f.end), -1)
        for place in {change.start, change.end}:
            if found.setdefault(function, section(text, place)) != section(text, place):
                raise NotPossible(f"preprocessor lines cut the code around line {line_of(text, change.start)}")


def refuse_parted(text: bytes, start: int, end: int, what: str) -> None:
    """Raise `NotPossible` where another build may have other code between two places: `what` is done there."""
    found = _DIRECTIVES.search(text, start, end)
    if found is not None:
        raise NotPossible(f"there are preprocessor lines between {what} (line {line_of(text, found.start())})")


def is_cut(text: bytes, gap: Gap) -> bool:
    """Whether a body around a place begins under a condition that the place does not stand under: in another build it
    may belong to something else."""
    if not _ELSE.search(text, gap.function.start, gap.function.end):
        return False
    statements = gap.body.statements
    own = section(text, statements[gap.index].start if gap.index < len(statements) else gap.body.end)
    heads = (section(text, body.start) for body in (*(step.body for step in gap.steps), gap.body))
    return any(own[: len(head)] != head for head in heads)


def section(text: bytes, place: int) -> tuple[int, ...]:
    """The offsets of the directives under which a place stands: for each `#if` around it, the branch."""
    around: list[int] = []
    for match in _DIRECTIVES.finditer(text, 0, place):
        if not match[1].startswith(b"if") and around:
            around.pop()
        if match[1] != b"endif":
            around.append(match.start())
    return tuple(around)
