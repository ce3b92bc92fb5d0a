"""Other readings of a text: the code that a build with other preprocessor conditions compiles.

Takes texts and the functions that matter, gives `Readings`: for the conditionals in those functions, and for those that
decide what they name, the choices of branches, and the texts that have them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product
from math import prod
from operator import add
from typing import Final

from analyzers.frontend.blanking import blanked
from quickfix.declarations import Declaration, declarations, declared_in, named_by, up_to, words_in
from quickfix.directives import Conditional, conditionals, reading
from quickfix.naming import line_of

MOST_READINGS: Final = 8
"""Of one set of functions: with more conditions, each two of them are combined."""
MOST_PAIRED: Final = 12
"""The same where there are many conditions besides: so many combine each two of thirty."""

_NO_TYPES: Final = frozenset({b"return", b"else", b"do", b"case"})
"""Words in front of a call; in front of a declaration there is a type."""
_BEFORE: Final = re.compile(rb"(\w+)[\s*&]*\Z")

Key = tuple[bytes, ...]
"""See `Conditional.key`."""

Choice = Mapping[Key, int]
"""The branches to read, by the keys of the conditionals."""


_Made = tuple[Key, int]
"""One choice."""

Where = tuple[str, int]
"""A file and a line in it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read texts."""

    choice: Choice
    where: Where
    """The first conditional that is read in a certain way."""
    optional: bool = False
    """It is for what is defined, which may be that of builds that this text is not made for."""
    launches: bool = False
    """It is for what the host does with the kernels, too."""

    def of(self, text: bytes) -> bytes:
        """The text with constants for conditions."""
        parts: list[tuple[int, int, bytes]] = []
        for each in conditionals(text):
            choice = self.choice.get(each.key)
            if choice is not None:
                parts += reading(text, each, each.chosen(choice))
        found = bytearray(text)
        for start, end, constant in parts:
            found[start:end] = constant
        return bytes(found)


@dataclass(frozen=True, slots=True)
class Readings:
    """The ways in which some functions may be read, that of this build among them."""

    each: tuple[Reading, ...] = ()
    alone: tuple[Reading, ...] = ()
    """Each choice by itself, to be looked at where none of these that makes it can be."""
    where: Where = ("", 0)
    """The first line in the functions from which on another build may have other code; 0: there is none."""
    complete: bool = True
    """Whether there are no more, as far as the functions go."""


@dataclass(frozen=True, slots=True)
class _Decision:
    """What builds decide by one condition, or one chain of them."""

    choices: tuple[int, ...]
    where: Where


_Decisions = dict[Key, _Decision]


@dataclass(frozen=True, slots=True)
class _Decided:
    """What may be decided otherwise, about some functions."""

    inside: _Decisions
    """In them."""
    defining: _Decisions
    """About what they name, and about what follows, and not in them."""
    launching: _Decisions
    """In host code that names the kernels, and about what that names."""

    def reading(self, choice: Choice, where: Where | None = None) -> Reading:
        """One for what is not in the functions, if nothing says where they are read otherwise. The first conditional
        that it is about is named."""
        launches = not self.launching.keys().isdisjoint(choice)
        if where is not None:
            return Reading(choice, where, launches=launches)
        about = [self.defining[key].where for key in choice if key in self.defining]
        return Reading(choice, min(about, key=lambda where: where[1]), optional=True, launches=launches)


def readings_of(
    texts: Mapping[str, bytes], functions: Mapping[str, Sequence[tuple[int, int]]], kernels: Collection[bytes] = ()
) -> Readings:
    """`functions`: where those begin and end that matter, by file; `texts`: those files, and others that may define
    what they use; `kernels`: the names by which host code launches them."""
    if not any(conditionals(text) for text in texts.values()):
        return Readings()
    decided = _decisions(texts, functions, kernels)
    inside, besides = decided.inside, decided.defining
    first = min((d.where for d in inside.values()), key=lambda where: where[1], default=("", 0))
    complete = _combinations(inside) <= MOST_READINGS
    found = [decided.reading(choice, first) for choice in _choices(inside, MOST_READINGS)]
    if not besides:
        return Readings(tuple(found), where=first, complete=complete)
    more = [decided.reading(choice) for choice in _choices(inside | besides, MOST_PAIRED)]
    alone = [decided.reading({key: choice}) for key, d in besides.items() for choice in d.choices]
    return Readings((*found, *more), tuple(alone), first, complete)


def _decisions(
    texts: Mapping[str, bytes], functions: Mapping[str, Sequence[tuple[int, int]]], kernels: Collection[bytes]
) -> _Decided:
    run = {path: _with_heads(texts[path], ranges) for path, ranges in functions.items()}
    every = {path: [d for d in declarations(text) if not _meets(d, run.get(path, ()))] for path, text in texts.items()}
    hosts = {path: [d for d in found if not d.words.isdisjoint(kernels)] for path, found in every.items()}
    hosting = {path: [up_to(texts[path], d, kernels) for d in found] for path, found in hosts.items()}
    words = {w for path, ranges in run.items() for at in ranges for w in words_in(texts[path], *at)}
    said = named_by(texts.values(), words.difference(kernels))
    there = (w for path, ranges in hosting.items() for at in ranges for w in words_in(texts[path], *at))
    said_there = named_by(texts.values(), set(there) - {n for found in hosts.values() for d in found for n in d.names})
    counts = reduce(add, (Counter(declared_in(text, 0, len(text))) for text in texts.values()), Counter[bytes]())
    decided = _Decided({}, {}, {})
    for path, text in texts.items():
        for each in conditionals(text):
            if each.is_constant():
                continue
            decision = _Decision(each.choices, (path, line_of(text, each.branches[0].start)))
            launches = (
                _cuts(each, hosting[path])
                or _cuts_any(each, every[path], said_there)
                or _defined_otherwise(text, each, said_there, counts)
            )
            if launches:
                decided.launching.setdefault(each.key, decision)
            if _cuts(each, run.get(path, ())):
                decided.inside.setdefault(each.key, decision)
            elif launches or _cuts_any(each, every[path], said) or _defined_otherwise(text, each, said, counts):
                decided.defining.setdefault(each.key, decision)
    for key in decided.inside:
        decided.defining.pop(key, None)
    return decided


def _with_heads(text: bytes, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The functions with what a conditional may cut in front of them: `template` and what that says."""
    starts = {d.end: d.start for d in declarations(text)}
    return [(min(start, starts.get(end, start)), end) for start, end in ranges]


def _meets(declaration: Declaration, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(start < declaration.end and declaration.start < end for start, end in ranges)


def _cuts(conditional: Conditional, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(start < at < end for start, end in ranges for at in conditional.directives)


def _cuts_any(conditional: Conditional, found: Iterable[Declaration], said: Collection[bytes]) -> bool:
    return _cuts(conditional, ((d.start, d.end) for d in found if not d.names.isdisjoint(said)))


def is_skipped(text: bytes, choice: Choice, at: int) -> bool:
    """Whether a place is in a branch that is not read."""
    return any(
        each.branches[0].start < at < each.end and each.branch_at(at) != each.chosen(choice[each.key])
        for each in conditionals(text)
        if each.key in choice
    )


# --- choices --------------------------------------------------------------------------------------------------


def _combinations(decisions: _Decisions) -> int:
    return prod(len(d.choices) for d in decisions.values())


def _choices(decisions: _Decisions, most: int) -> Iterator[Choice]:
    """All, or else `most` that have each two decisions in all ways; none where nothing is decided."""
    if _combinations(decisions) > MOST_READINGS:
        yield from _by_pairs(decisions, most)
        return
    for chosen in product(*(d.choices for d in decisions.values())):
        if chosen:
            yield dict(zip(decisions, chosen, strict=True))


def _by_pairs(decisions: _Decisions, most: int) -> Iterator[Choice]:
    """Choices of all decisions in which each two of them are made in all ways together, as far as so many have room: a
    covering array of strength two, one row after the other (Cohen et al., *The AETG system*, 1997)."""
    left: set[tuple[_Made, _Made]] = {
        ((one, i), (two, j))
        for one, two in combinations(decisions, 2)
        for i, j in product(decisions[one].choices, decisions[two].choices)
    }
    for _ in range(most):
        if not left:
            return
        wanted = Counter(made for pair in left for made in pair)
        row: list[_Made] = []
        for key, decision in decisions.items():
            ways: list[_Made] = [(key, choice) for choice in decision.choices]
            news = [sum((before, way) in left for before in row) for way in ways]
            row.append(max(zip(news, ways, strict=True), key=lambda found: (found[0], wanted[found[1]]))[1])
        left.difference_update(combinations(row, 2))
        yield dict(row)


# --- definitions ----------------------------------------------------------------------------------------------


def _defined_otherwise(
    text: bytes, conditional: Conditional, said: Collection[bytes], counts: Mapping[bytes, int]
) -> set[bytes]:
    """The names of which a conditional chooses between definitions, or between one and none by an `#else`: not those
    that it gives a default for what the build may have defined, and not all that an include guard is around."""
    limits = [*(b.start for b in conditional.branches[1:]), conditional.end]
    parts = zip((b.code for b in conditional.branches), limits, strict=True)
    found = [Counter(declared_in(text, start, end)) for start, end in parts]
    names = {name for part in found for name in part if name in said}
    if not conditional.branches[-1].condition:
        return names
    asked = {name for b in conditional.branches for name in re.findall(rb"!defined\(?(\w+)", b.condition)}
    if any(name in part for part in found for name in asked):
        return set()
    return {name for name in names if max(part[name] for part in found) < counts[name]}


# --- what other builds have more ------------------------------------------------------------------------------


def names_of_function(text: bytes, start: int, name: bytes) -> set[bytes]:
    """The names by which code uses a function that begins at a place: of an operator or a constructor that of its
    class."""
    around = [d for d in declarations(text) if d.start <= start < d.end]
    if re.fullmatch(rb"[A-Za-z_]\w*", name) and not any(name in d.names for d in around):
        return {name}
    return {name, *(n for d in around for n in d.names)}


def used_otherwise(
    texts: Mapping[str, bytes], names: Iterable[bytes], known: Mapping[str, Sequence[tuple[int, int]]]
) -> Where:
    """The first place in a branch at which one of the named functions or macros is used, directly or by way of others,
    outside of the functions that this build is known to run (`known`, by file); line 0: there is none."""
    used = more = set(names)
    every = [d for path, text in texts.items() for d in declarations(text) if not _meets(d, known.get(path, ()))]
    while more:
        more = {name for d in every if not d.words.isdisjoint(used - d.names) for name in d.names} - used
        used = used | more
    found = ((path, at) for path, text in texts.items() for at in _uses_in_branches(text, used, known.get(path, ())))
    return min(((path, line_of(texts[path], at)) for path, at in found), key=lambda where: where[1], default=("", 0))


def _uses_in_branches(text: bytes, names: Collection[bytes], known: Collection[tuple[int, int]]) -> Iterator[int]:
    code = blanked(text)
    cut = [(c.branches[0].start, c.end) for c in conditionals(text) if not c.is_constant()]
    cut = [c for c in cut if code[: c[0]].strip() or code[c[1] :].strip()]
    for match in re.finditer(rb"\b\w+\b", code) if cut else ():
        at = match.start()
        if match[0] in names and _is_in(at, cut) and not _is_in(at, known) and not _is_declared(code, match):
            yield at


def _is_declared(code: bytes, name: re.Match[bytes]) -> bool:
    """Whether a function is declared there: its type is in front of it."""
    before = _BEFORE.search(code, 0, name.start())
    return code[name.end() :].lstrip()[:1] == b"(" and before is not None and before[1] not in _NO_TYPES


def _is_in(at: int, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in ranges)


def first_line(text: bytes, start: int, end: int) -> int:
    """The first line of a function from which on another build may have other code; 0: there is none."""
    branches = (each.branches[0].start for each in conditionals(text) if not each.is_constant())
    inside = [at for at in branches if start < at < end]
    return line_of(text, min(inside)) if inside else 0
