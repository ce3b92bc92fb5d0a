"""Other readings of a text: the code that a build with other preprocessor conditions compiles.

Takes texts and the functions that matter, gives `Readings`: for the conditionals in those functions, and for those that
define what the functions use, the choices of branches, and the texts that have them. A text that is read otherwise has
the same bytes but for the conditions, which are constants of the same length: offsets and lines stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Final

from analyzers.frontend.blanking import without_comments
from quickfix.naming import definitions, line_of

MOST_READINGS: Final = 8
"""Of one set of functions: with more conditions, each is turned round by itself."""
_MOST_DEFINITIONS: Final = 4
"""Readings for what macros are defined as."""

_CONDITION: Final = re.compile(
    rb"^(?P<start>[ \t]*\#[ \t]*)(?P<word>if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b"
    rb"(?P<rest>(?:[^\n\\]|\\(?:\r?\n|.))*)",
    re.MULTILINE | re.DOTALL,
)
_NAMED: Final = re.compile(rb"(!?)defined(?:\((\w+)\)|(\w+))")
_CONSTANT: Final = re.compile(rb"\(*(?:0|1|true|false)\)*")
_ALWAYS: Final = frozenset({b"__CUDACC__", b"__CUDA_ARCH__", b"__cplusplus"})
"""What is defined where the device is compiled for: without it, the code is another program's."""


@dataclass(frozen=True, slots=True)
class _Branch:
    """`#if` or `#elif` with its condition, or `#else`, up to the next one of the same conditional."""

    start: int
    """Of the directive."""
    word: tuple[int, int]
    """Where that stands: `if`, `elif` and the like."""
    code: int
    """Where the directive ends."""
    condition: bytes
    """Without blanks, a name by `defined`; empty for `#else`."""


@dataclass(frozen=True, slots=True)
class _Conditional:
    branches: tuple[_Branch, ...]
    end: int
    """The `#endif`."""

    @property
    def key(self) -> tuple[bytes, ...]:
        """Equal for conditionals that the same builds decide alike. ``#ifndef X`` is ``#ifdef X`` with the branches
        exchanged."""
        conditions = tuple(b.condition for b in self.branches if b.condition)
        return (conditions[0].removeprefix(b"!"),) if self._is_single else conditions

    @property
    def _is_single(self) -> bool:
        conditions = [b.condition for b in self.branches if b.condition]
        return len(conditions) == 1 and _NAMED.fullmatch(conditions[0]) is not None

    @property
    def choices(self) -> int:
        """How many ways there are to read it: a branch, or none of them."""
        return sum(bool(b.condition) for b in self.branches) + 1

    def chosen(self, choice: int) -> int:
        """The index of the branch for a choice of its key; that of none of them is the one of `#else`."""
        return 1 - choice if self._is_single and self.branches[0].condition.startswith(b"!") else choice

    def is_constant(self) -> bool:
        """Whether all builds that matter decide it alike."""
        first = self.branches[0].condition
        named = _NAMED.fullmatch(first)
        return _CONSTANT.fullmatch(first) is not None or (named is not None and (named[2] or named[3]) in _ALWAYS)


Choice = Mapping[tuple[bytes, ...], int]
"""The branches to read, by the keys of the conditionals."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read texts."""

    choice: Choice
    line: int
    """Where the first conditional stands that is read in a certain way."""
    optional: bool = False
    """It is for the definitions of macros, which may be those of builds that this text is not made for."""

    def of(self, text: bytes) -> bytes:
        """The text with constants for conditions."""
        parts: list[tuple[int, int, bytes]] = []
        for each in _conditionals(text):
            choice = self.choice.get(each.key)
            if choice is not None:
                parts += _constants(text, each, each.chosen(choice))
        found = bytearray(text)
        for start, end, constant in parts:
            found[start:end] = constant
        return bytes(found)


@dataclass(frozen=True, slots=True)
class Readings:
    """The ways in which some functions may be read, that of this build among them."""

    each: tuple[Reading, ...] = ()
    line: int = 0
    """The first line in the functions from which on another build may have other code; 0: there is none."""
    complete: bool = True
    """Whether there are no more."""


def readings_of(texts: Mapping[str, bytes], functions: Mapping[str, Sequence[tuple[int, int]]]) -> Readings:
    """`functions`: where those begin and end that matter, by file."""
    inside: dict[tuple[bytes, ...], tuple[int, int]] = {}
    defining: dict[tuple[bytes, ...], tuple[int, int]] = {}
    for path, ranges in functions.items():
        text = texts[path]
        if not _CONDITION.search(text):
            continue
        words = frozenset(w for start, end in ranges for w in re.findall(rb"[A-Za-z_]\w*", text[start:end]))
        for each in _conditionals(text):
            if each.is_constant():
                continue
            line = line_of(text, each.branches[0].start)
            directives = [*(b.start for b in each.branches), each.end]
            if any(start < at < end for start, end in ranges for at in directives):
                inside.setdefault(each.key, (each.choices, line))
            elif not words.isdisjoint(_defined_otherwise(text, each)):
                defining.setdefault(each.key, (each.choices, line))
    lines = [line for _, line in inside.values()]
    complete = prod(choices for choices, _ in inside.values()) <= MOST_READINGS
    if complete and inside:
        every = product(*(range(choices) for choices, _ in inside.values()))
        found = [Reading(dict(zip(inside, chosen, strict=True)), min(lines)) for chosen in every]
    else:
        found = list(_each_alone(inside))[:MOST_READINGS]
    more = [
        Reading(r.choice, r.line, optional=True)
        for r in _each_alone({k: v for k, v in defining.items() if k not in inside})
    ]
    return Readings((*found, *more[:_MOST_DEFINITIONS]), min(lines, default=0), complete)


def first_line(text: bytes, start: int, end: int) -> int:
    """The first line of a function from which on another build may have other code; 0: there is none."""
    branches = (each.branches[0].start for each in _conditionals(text) if not each.is_constant())
    inside = [at for at in branches if start < at < end]
    return line_of(text, min(inside)) if inside else 0


def _each_alone(known: Mapping[tuple[bytes, ...], tuple[int, int]]) -> Iterator[Reading]:
    """Each condition decided by itself, the others as they are."""
    for key, (choices, line) in known.items():
        yield from (Reading({key: choice}, line) for choice in range(choices))


def _defined_otherwise(text: bytes, conditional: _Conditional) -> set[bytes]:
    """The macros that several branches of a conditional define, one of them an `#else`: not a default for what the
    build may have defined."""
    if conditional.branches[-1].condition:
        return set()
    limits = [*(b.start for b in conditional.branches[1:]), conditional.end]
    parts = zip((b.code for b in conditional.branches), limits, strict=True)
    found = [{name for name, _, _ in definitions(text[start:end])} for start, end in parts]
    return set[bytes]().union(*found)


@lru_cache(maxsize=8)
def _conditionals(text: bytes) -> tuple[_Conditional, ...]:
    """All that are closed, in the order of their ends."""
    code = without_comments(text)
    opened: list[list[_Branch]] = []
    found: list[_Conditional] = []
    for match in _CONDITION.finditer(code):
        word = match["word"]
        if word == b"endif":
            if opened:
                found.append(_Conditional(tuple(opened.pop()), match.start()))
            continue
        branch = _Branch(match.start(), match.span("word"), match.end(), _condition(word, match["rest"]))
        if word.startswith(b"if"):
            opened.append([branch])
        elif opened:
            opened[-1].append(branch)
    return tuple(found)


def _condition(word: bytes, rest: bytes) -> bytes:
    if word == b"else":
        return b""
    written = b"".join(re.sub(rb"\\\r?\n", b" ", rest).split()) or b"?"
    if word.endswith(b"def"):
        return (b"!" if word.endswith(b"ndef") else b"") + b"defined" + written
    named = _NAMED.fullmatch(written)
    return named[1] + b"defined" + (named[2] or named[3]) if named is not None else written


def _constants(text: bytes, conditional: _Conditional, chosen: int) -> Iterable[tuple[int, int, bytes]]:
    """What is written instead of the conditions for one branch to be read, of the same length: from where, to where."""
    for index, branch in enumerate(conditional.branches):
        if not branch.condition or index > chosen:
            continue
        start, end = branch.word[0], branch.code
        word = b"if" if index == 0 else b"elif"
        constant = word + (b" 1" if index == chosen else b" 0")
        written = text[start:end]
        kept = re.search(rb"\s*(?://|/\*)", written)
        stop = len(written) if kept is None else kept.start()
        blank = re.sub(rb"(?:(?!\\\r?\n)[^\r\n])", b" ", written[len(constant) : stop])
        yield start, end, constant + blank + written[stop:]
