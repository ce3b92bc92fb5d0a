"""Other readings of a text: the code that a build with other preprocessor conditions compiles.

Takes texts and the functions that matter, gives `Readings`: for the conditionals in those functions, and for those that
define the macros, functions, types and numbers that they use, the choices of branches, and the texts that have them. A
text that is read otherwise has the same bytes but for the conditions, which are constants of the same length: offsets
and lines stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import product
from math import prod
from operator import add
from typing import Final

from analyzers.frontend.blanking import blanked, without_comments
from quickfix.naming import definitions, line_of

MOST_READINGS: Final = 8
"""Of one set of functions: with more conditions, each is turned round by itself."""
_MOST_DEFINITIONS: Final = 8
"""Readings for what is defined elsewhere."""

_CONDITION: Final = re.compile(
    rb"^(?P<start>[ \t]*\#[ \t]*)(?P<word>if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b"
    rb"(?P<rest>(?:[^\n\\]|\\(?:\r?\n|.))*)",
    re.MULTILINE | re.DOTALL,
)
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_DECLARATOR: Final = re.compile(
    rb"\benum\b[^{};()]*\{|(?P<name>[A-Za-z_]\w*)(?=\s*[(\[{};=,:])|(?P<open>[({])|(?P<close>[)}])"
)
"""The head of an enumeration; what may be a name that is declared, by what is behind it."""
_INCLUDE: Final = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"', re.MULTILINE)
_INCLUDED: Final = b"#include"
"""The name of what the project's headers define."""
_BUILT_IN: Final = frozenset(
    b"bool char short int long float double unsigned signed void auto const alignas decltype extern struct class "
    b"__launch_bounds__ __attribute__ __align__ __declspec public private protected".split()
)
_CALL: Final = rb"(?:(?P<before>\b\w+)[\s*&]*)?(?<!\w)(?P<name>%b)\s*(?:<[\w\s,]*>)?\s*\("
_NO_TYPES: Final = frozenset({b"return", b"else", b"do", b"case"})
"""Words in front of a call; in front of a declaration there is a type."""
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

    def branch_at(self, at: int) -> int:
        """The index of the branch that a place is in."""
        return sum(b.start < at for b in self.branches) - 1

    def is_constant(self) -> bool:
        """Whether all builds that matter decide it alike."""
        first = self.branches[0].condition
        named = _NAMED.fullmatch(first)
        return _CONSTANT.fullmatch(first) is not None or (named is not None and (named[2] or named[3]) in _ALWAYS)


Choice = Mapping[tuple[bytes, ...], int]
"""The branches to read, by the keys of the conditionals."""


Where = tuple[str, int]
"""A file and a line in it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read texts."""

    choice: Choice
    where: Where
    """The first conditional that is read in a certain way."""
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
    where: Where = ("", 0)
    """The first line in the functions from which on another build may have other code; 0: there is none."""
    complete: bool = True
    """Whether there are no more."""


def readings_of(texts: Mapping[str, bytes], functions: Mapping[str, Sequence[tuple[int, int]]]) -> Readings:
    """`functions`: where those begin and end that matter, by file; `texts`: those files, and others that may define
    what they use."""
    if not any(_CONDITION.search(text) for text in texts.values()):
        return Readings()
    inside: dict[tuple[bytes, ...], tuple[int, Where]] = {}
    defining: dict[tuple[bytes, ...], tuple[int, Where]] = {}
    ranges_of = [(path, start, end) for path, ranges in functions.items() for start, end in ranges]
    said = _said(texts.values(), (w for path, start, end in ranges_of for w in _WORD.findall(texts[path], start, end)))
    defined = reduce(add, map(_names_defined, texts.values()), Counter[bytes]())
    for path, text in texts.items():
        ranges = functions.get(path, ())
        for each in _conditionals(text):
            if each.is_constant():
                continue
            where = path, line_of(text, each.branches[0].start)
            directives = [*(b.start for b in each.branches), each.end]
            if any(start < at < end for start, end in ranges for at in directives):
                inside.setdefault(each.key, (each.choices, where))
            elif _defined_otherwise(text, each, said, defined):
                defining.setdefault(each.key, (each.choices, where))
    first = min((where for _, where in inside.values()), key=lambda where: where[1], default=("", 0))
    complete = prod(choices for choices, _ in inside.values()) <= MOST_READINGS
    if complete and inside:
        every = product(*(range(choices) for choices, _ in inside.values()))
        found = [Reading(dict(zip(inside, chosen, strict=True)), first) for chosen in every]
    else:
        found = list(_each_alone(inside))[:MOST_READINGS]
    more = _of_definitions({k: v for k, v in defining.items() if k not in inside})
    return Readings((*found, *(replace(r, optional=True) for r in more)), first, complete)


def is_skipped(text: bytes, choice: Choice, at: int) -> bool:
    """Whether a place is in a branch that is not read."""
    return any(
        each.branches[0].start < at < each.end and each.branch_at(at) != each.chosen(choice[each.key])
        for each in _conditionals(text)
        if each.key in choice
    )


def used_otherwise(
    text: bytes, names: Collection[bytes], uses: Iterable[int], known: Collection[tuple[int, int]]
) -> int:
    """The first line on which one of the named functions is called in a branch, or on which one of the `uses` of macros
    is, outside of the functions that this build is known to run; 0: there is none."""
    code = blanked(text)
    every = (m for name in names for m in re.finditer(_CALL % re.escape(name), code))
    found = [m.start("name") for m in every if m["before"] is None or m["before"] in _NO_TYPES]
    cut = [(c.branches[0].start, c.end) for c in _conditionals(text) if not c.is_constant()]
    guards = [c for c in cut if not code[: c[0]].strip() and not code[c[1] :].strip()]
    cut = [c for c in cut if c not in guards]
    other = (at for at in (*found, *uses) if _is_in(at, cut) and not _is_in(at, known))
    return min((line_of(text, at) for at in other), default=0)


def _is_in(at: int, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in ranges)


def first_line(text: bytes, start: int, end: int) -> int:
    """The first line of a function from which on another build may have other code; 0: there is none."""
    branches = (each.branches[0].start for each in _conditionals(text) if not each.is_constant())
    inside = [at for at in branches if start < at < end]
    return line_of(text, min(inside)) if inside else 0


def _of_definitions(known: Mapping[tuple[bytes, ...], tuple[int, Where]]) -> list[Reading]:
    """Each condition by itself; first all of them together where there are many."""
    alone = list(_each_alone(known))
    if len(alone) <= _MOST_DEFINITIONS:
        return alone
    first = min((where for _, where in known.values()), key=lambda where: where[1])
    most = max(choices for choices, _ in known.values())
    joint = [Reading({k: min(i, n - 1) for k, (n, _) in known.items()}, first) for i in range(most)]
    return [*joint, *alone][:_MOST_DEFINITIONS]


def _each_alone(known: Mapping[tuple[bytes, ...], tuple[int, Where]]) -> Iterator[Reading]:
    """Each condition decided by itself, the others as they are."""
    for key, (choices, where) in known.items():
        yield from (Reading({key: choice}, where) for choice in range(choices))


def _said(texts: Collection[bytes], words: Iterable[bytes]) -> set[bytes]:
    """The words, and those of the macros among them."""
    every = [(name, _WORD.findall(text, start, end)) for text in texts for name, start, end in definitions(text)]
    said, before = {*words, _INCLUDED}, -1
    while len(said) > before:
        before = len(said)
        said.update(w for name, body in every if name in said for w in body)
    return said


def _names_defined(text: bytes, start: int = 0, end: int | None = None) -> Counter[bytes]:
    """How many definitions there are of which names in a part of the text."""
    end = len(text) if end is None else end
    macros = (name for name, _, _ in definitions(text[start:end]))
    included = (_INCLUDED for _ in _INCLUDE.finditer(text, start, end))
    return Counter((*macros, *_declared(text, start, end), *included))


def _declared(text: bytes, start: int, end: int) -> Iterator[bytes]:
    """The functions, types and numbers that are declared in a part of the text, outside of all braces and parentheses
    that open there."""
    depth = 0
    for match in _DECLARATOR.finditer(blanked(text), start, end):
        opened, closed = match["open"], match["close"]
        if match["name"] and not depth and match["name"] not in _BUILT_IN:
            yield match["name"]
        depth += 1 if opened else 0
        depth = max(depth - 1, 0) if closed else depth


def _defined_otherwise(
    text: bytes, conditional: _Conditional, said: Collection[bytes], defined: Mapping[bytes, int]
) -> set[bytes]:
    """The names of which a conditional chooses between definitions, or between one and none by an `#else`: not those
    that it gives a default for what the build may have defined, and not all that an include guard is around."""
    limits = [*(b.start for b in conditional.branches[1:]), conditional.end]
    parts = zip((b.code for b in conditional.branches), limits, strict=True)
    found = [_names_defined(text, start, end) for start, end in parts]
    names = {name for part in found for name in part if name in said}
    if not conditional.branches[-1].condition:
        return names
    asked = {name for b in conditional.branches for name in re.findall(rb"!defined\(?(\w+)", b.condition)}
    if any(name in part for part in found for name in asked):
        return set()
    return {name for name in names if max(part[name] for part in found) < defined[name]}


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
