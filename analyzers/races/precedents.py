"""Witnesses of earlier instances: a pair that collides in one instance of a template mostly does so in the next.

Takes the races found in the instances (and under the launches) of one kernel of the source so far, and gives values
with which a question about the same two places of the source is satisfied too, checked by exact evaluation. What
was found for one instance decides nothing about another; it only saves the search, and the same mistake is shown with
the same two threads in all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import Expr, IntType
from analyzers.races.threads import Mode
from analyzers.solve.check import atoms_of, satisfies
from analyzers.solve.order import side_of
from analyzers.solve.query import Query

MAX_KEPT = 4
"""Witnesses kept for two places."""

Question = tuple[Mode, Literal["race", "places"]]
"""How the threads are related, and whether the accesses race or only touch common bytes at some time."""

_Key = tuple[object, ...]
_NUMBER = re.compile(r"\d+")


@dataclass(slots=True)
class Precedents:
    """Of one kernel definition, by the two places of the source."""

    _kept: dict[_Key, list[Mapping[Expr, int]]] = field(default_factory=dict[_Key, list[Mapping[Expr, int]]])
    _unproved: Counter[_Key] = field(default_factory=Counter[_Key])

    _changed: Precedents | None = None

    @property
    def under_conditions(self) -> Precedents:
        """Those of the same kernel where conditions were added to what its launches say."""
        if self._changed is None:
            self._changed = Precedents()
        return self._changed

    def add(self, one: AccessEvent, two: AccessEvent, question: Question, values: Mapping[Expr, int]) -> None:
        """These accesses collide with these values (of a query's symbols, see ``solve.query``)."""
        kept = self._kept.setdefault(_key(one, two, question), [])
        if len(kept) < MAX_KEPT and values not in kept:
            kept.append(dict(values))

    def note_unproved(self, one: AccessEvent, two: AccessEvent, question: Question) -> None:
        """There was no proof about these accesses."""
        self._unproved[_key(one, two, question)] += 1

    def unproved(self, one: AccessEvent, two: AccessEvent, question: Question) -> int:
        """How often there was no proof about the same two places of the source."""
        return self._unproved[_key(one, two, question)]

    def values(self, one: AccessEvent, two: AccessEvent, question: Question, query: Query) -> dict[Expr, int] | None:
        """Values of all symbols of ``query`` that satisfy it, as an earlier collision of the same places had them."""
        for earlier in self._kept.get(_key(one, two, question), ()):
            carried = _carried(query, earlier)
            if satisfies(query, carried):
                return carried
        return None


def _key(one: AccessEvent, two: AccessEvent, question: Question) -> _Key:
    return question, one.site.span, one.kind, two.site.span, two.kind


def _carried(query: Query, earlier: Mapping[Expr, int]) -> dict[Expr, int]:
    """``earlier`` values for the symbols of ``query``: by name, then by name but for the numbers that tell statements
    apart, which differ between instances; zero or the nearest possible value where there is none."""
    alike: dict[object, list[int]] = {}
    for symbol, value in earlier.items():
        alike.setdefault(_family(symbol), []).append(value)
    out: dict[Expr, int] = {}
    for atom in atoms_of(query):
        assert isinstance(atom.ty, IntType)
        value = earlier.get(atom)
        if value is None:
            value = next(iter(alike.get(_family(atom), ())), 0)
            low, high = query.ranges.get(atom, (atom.ty.low, atom.ty.high))
            value = min(max(value, low), high)
        out[atom] = value
    return out


def _family(atom: Expr) -> object:
    name = atom.value[0] if atom.op == "opaque" else atom.value
    return atom.op, atom.ty, side_of(atom), _NUMBER.sub("#", str(name))
