"""Which functions can lead to a launch, as clang resolves their calls.

By their texts, all functions may lead to a launch that name one which may; where that is a constructor, these are all
that mention its class. Takes them and the effects of bodies, and tells for an instance whether running it can come to a
launch. Where clang does not say what a body calls, the names in it count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzers.frontend.cindex import CursorKind
from analyzers.hostguide.declared import called_as, in_template
from analyzers.hostguide.implied import Implied
from analyzers.hostguide.tree import identity
from analyzers.hostguide.wanted import Spot, Wanted


class Leading:
    """The functions that lead to launches, each followed once."""

    def __init__(self, implied: Implied, wanted: Wanted) -> None:
        self._implied = implied
        self._launching = wanted.launching
        self._wanted = {(f.path, f.named_at) for f in wanted.functions}
        self._by_name: dict[str, list[Any]] = {}
        for f in wanted.functions:
            self._by_name.setdefault(called_as(f), []).append(f.cursor)
        self._named = wanted.named
        self._known: dict[int, bool] = {}
        self._is_wanted: dict[int, bool] = {}
        """By function, whether it is one of those that may lead to launches by their texts."""

    def may_launch(self, function: Any) -> bool:
        """Whether running a function, the cursor of its definition, may come to a launch."""
        start = identity(function)
        before: dict[int, list[int]] = {start: []}
        """By function, those that call it, as far as they were come by."""
        waiting = [function]
        while waiting:
            at = waiting.pop()
            number = identity(at)
            known = self._known.get(number)
            if known or (known is None and self._launches(at)):
                self._mark(number, before)
                if self._known.get(start):
                    return True
                continue
            if known is None:
                for called in self._called(at):
                    found = identity(called)
                    if found not in before:
                        before[found] = []
                        waiting.append(called)
                    before[found].append(number)
        for number in before:
            self._known.setdefault(number, False)
        return self._known[start]

    def _mark(self, number: int, before: dict[int, list[int]]) -> None:
        """A function leads to a launch, and so do those that call it."""
        marking = [number]
        while marking:
            one = marking.pop()
            self._known[one] = True
            marking += [caller for caller in before[one] if not self._known.get(caller)]

    def _launches(self, function: Any) -> bool:
        return _spot(function) in self._launching

    def _called(self, function: Any) -> Iterator[Any]:
        """The functions that may lead to launches and that a function may call."""
        effects = self._implied.of(function)
        for group in (effects.functions, effects.referred):
            for number, f in group.items():
                wanted = self._is_wanted.get(number)
                if wanted is None:
                    wanted = self._is_wanted[number] = _spot(f) in self._wanted
                if wanted:
                    yield f
        if effects.unresolved or _is_pattern(function):
            names = set(self._named.get(_spot(function), ()))
            waiting = list(names)
            while waiting:
                name = waiting.pop()
                yield from self._by_name.get(name, ())
                inner = self._named.get(name, set[str]()) - names
                names |= inner
                waiting += inner


def _spot(function: Any) -> Spot:
    where = function.location
    return (where.file.name if where.file is not None else "", where.offset)


def _is_pattern(function: Any) -> bool:
    """Whether this is a template, or in one, of which no instance is at hand."""
    return bool(function.kind == CursorKind.FUNCTION_TEMPLATE) or in_template(function)
