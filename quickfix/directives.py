"""The preprocessor conditionals of a text, and what makes it one in which other branches of them are read.

Takes and gives bytes. A text that is read otherwise has constants of the same length for conditions, so that offsets
and lines stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from analyzers.frontend.blanking import without_comments

_CONDITION: Final = re.compile(
    rb"^(?P<start>[ \t]*\#[ \t]*)(?P<word>if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b"
    rb"(?P<rest>(?:[^\n\\]|\\(?:\r?\n|.))*)",
    re.MULTILINE | re.DOTALL,
)
_NAMED: Final = re.compile(rb"(!?)defined(?:\((\w+)\)|(\w+))")
_CONSTANT: Final = re.compile(rb"\(*(?:(0|false)|1|true)\)*")
_ALWAYS: Final = frozenset({b"__CUDACC__", b"__CUDA_ARCH__", b"__cplusplus"})
"""What is defined where the device is compiled for: without it, the code is another program's."""


@dataclass(frozen=True, slots=True)
class Branch:
    """`#if` or `#elif` with its condition, or `#else`, up to the next one of the same conditional."""

    start: int
    """Of the directive."""
    word: tuple[int, int]
    """Where that stands: `if`, `elif` and the like."""
    said: int
    """Where its condition ends."""
    code: int
    """Where the directive ends."""
    condition: bytes
    """Without blanks, a name by `defined`; empty for `#else`."""


@dataclass(frozen=True, slots=True)
class Conditional:
    """From `#if` to `#endif`."""

    branches: tuple[Branch, ...]
    end: int
    """The `#endif`."""

    @property
    def key(self) -> tuple[bytes, ...]:
        """Equal for conditionals that the same builds decide alike. ``#ifndef X`` is ``#ifdef X`` with the branches
        exchanged."""
        conditions = self._conditions
        return (conditions[0].removeprefix(b"!"),) if self._is_single else conditions

    @property
    def _conditions(self) -> tuple[bytes, ...]:
        return tuple(b.condition for b in self.branches if b.condition)

    @property
    def _is_single(self) -> bool:
        conditions = self._conditions
        return len(conditions) == 1 and _NAMED.fullmatch(conditions[0]) is not None

    @property
    def choices(self) -> tuple[int, ...]:
        """The ways in which some build may read it: by a branch, or by none of them, which is the number of its
        conditions."""
        conditions = self._conditions
        found: list[int] = []
        for index, condition in enumerate(conditions):
            value = _decided(condition)
            if value is not False:
                found.append(index)
            if value:
                return tuple(found)
        return (*found, len(conditions))

    def chosen(self, choice: int) -> int:
        """The index of the branch for a choice of its key; that of none of them is the one of `#else`."""
        return 1 - choice if self._is_single and self.branches[0].condition.startswith(b"!") else choice

    def branch_at(self, at: int) -> int:
        """The index of the branch that a place is in."""
        return sum(b.start < at for b in self.branches) - 1

    def is_constant(self) -> bool:
        """Whether all builds that matter decide it alike."""
        return len(self.choices) == 1

    @property
    def directives(self) -> tuple[int, ...]:
        """Where they begin."""
        return (*(b.start for b in self.branches), self.end)


@lru_cache(maxsize=16)
def conditionals(text: bytes) -> tuple[Conditional, ...]:
    """All that are closed, in the order of their ends."""
    code = without_comments(text)
    opened: list[list[Branch]] = []
    found: list[Conditional] = []
    for match in _CONDITION.finditer(code):
        word = match["word"]
        if word == b"endif":
            if opened:
                found.append(Conditional(tuple(opened.pop()), match.start()))
            continue
        said = match.start("rest") + len(match["rest"].rstrip())
        condition = _condition(word, match["rest"])
        branch = Branch(match.start(), match.span("word"), said, match.end(), condition)
        if word.startswith(b"if"):
            opened.append([branch])
        elif opened:
            opened[-1].append(branch)
    return tuple(found)


def reading(text: bytes, conditional: Conditional, chosen: int) -> Iterable[tuple[int, int, bytes]]:
    """What is written instead of the conditions for one branch to be read, of the same length: from where, to where."""
    for index, branch in enumerate(conditional.branches):
        if not branch.condition or index > chosen:
            continue
        start, end = branch.word[0], branch.said
        word = b"if" if index == 0 else b"elif"
        constant = word + (b" 1" if index == chosen else b" 0")
        blank = re.sub(rb"(?:(?!\\\r?\n)[^\r\n])", b" ", text[start + len(constant) : end])
        yield start, end, constant + blank


def _condition(word: bytes, rest: bytes) -> bytes:
    if word == b"else":
        return b""
    written = b"".join(re.sub(rb"\\\r?\n", b" ", rest).split()) or b"?"
    if word.endswith(b"def"):
        return (b"!" if word.endswith(b"ndef") else b"") + b"defined" + written
    named = _NAMED.fullmatch(written)
    return named[1] + b"defined" + (named[2] or named[3]) if named is not None else written


def _decided(condition: bytes) -> bool | None:
    """The value that a condition has in all builds that matter; None where that depends."""
    constant, named = _CONSTANT.fullmatch(condition), _NAMED.fullmatch(condition)
    if constant is not None:
        return constant[1] is None
    if named is not None and (named[2] or named[3]) in _ALWAYS:
        return not named[1]
    return None
