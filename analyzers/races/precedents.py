"""Witnesses of earlier questions: a pair that collides in one instance of a template mostly does so in the next, and
what lets one pair of a kernel collide, others too.

Takes the races found in the instances (and under the launches) of one kernel of the source so far, and gives values
with which a question about the same two places of the source, or of the same kind about others, is satisfied too,
checked by exact evaluation. What was found for one decides nothing about another; it only saves the search, and the
same mistake is shown with the same two threads everywhere. Where only what the host says of the launch tells the
instances apart (which of them it picks, say), the values that appear there alone are looked for anew, and all others
stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import Expr, IntType, const, substitute
from analyzers.races.threads import Mode
from analyzers.solve.check import atoms_in, atoms_of, roots_of, satisfies, violations
from analyzers.solve.order import side_of
from analyzers.solve.query import Query

MAX_KEPT = 4
"""Witnesses kept for two places, the latest."""

Question = tuple[Mode, Literal["race", "apart", "places", "families", "happen", "diverge", "miss"]]
"""How the threads are related, and whether the accesses race (in warps that are apart), only touch common bytes at some
time (they, or any of their families), or just happen; or whether the threads part on their way to a barrier, or one
that arrives for its block has returned before it."""

Places = tuple[object, ...]
"""What a question is about, by places of the source."""

_Key = tuple[Question, Places]
_NUMBER = re.compile(r"\d+")


@dataclass(slots=True)
class Precedents:
    """Of one kernel definition, by question and places of the source."""

    _kept: dict[_Key, list[Mapping[Expr, int]]] = field(default_factory=dict[_Key, list[Mapping[Expr, int]]])
    _latest: dict[Question, list[Mapping[Expr, int]]] = field(default_factory=dict[Question, list[Mapping[Expr, int]]])
    """The same for any places."""
    _unproved: Counter[_Key] = field(default_factory=Counter[_Key])

    sizes: dict[tuple[Places, tuple[int, int]], dict[object, int]] = field(
        default_factory=dict[tuple[Places, tuple[int, int]], dict[object, int]]
    )
    """By the places of two accesses and the largest sizes to be tried: ordinary sizes with which both happen, by the
    name of their symbol."""
    _changed: Precedents | None = None

    @property
    def under_conditions(self) -> Precedents:
        """Those of the same kernel where conditions were added to what its launches say."""
        if self._changed is None:
            self._changed = Precedents()
        return self._changed

    def add(self, places: Places, question: Question, values: Mapping[Expr, int]) -> None:
        """It happens there with these values (of a query's symbols, see ``solve.query``)."""
        for kept in (self._kept.setdefault((question, places), []), self._latest.setdefault(question, [])):
            if values not in kept:
                kept.insert(0, dict(values))
                del kept[MAX_KEPT:]

    def note_unproved(self, places: Places, question: Question) -> None:
        """There was no proof about these."""
        self._unproved[question, places] += 1

    def unproved(self, places: Places, question: Question) -> int:
        """How often there was no proof about the same."""
        return self._unproved[question, places]

    def values(
        self,
        places: Places,
        question: Question,
        query: Query,
        search: Callable[[Query], Mapping[Expr, int] | None],
        chosen: Mapping[Expr, int],
    ) -> dict[Expr, int] | None:
        """Values of all symbols of ``query`` that satisfy it, as they were when it happened at the same places;
        ``search`` looks for those that have to be others. What appears only in facts is tried as ``chosen`` for another
        question about the same launch."""
        own = set(atoms_in(query.conjuncts))
        elsewhere = {a: v for a, v in chosen.items() if a not in own}
        tried: list[tuple[dict[Expr, int], list[Expr]]] = []
        for earlier in self._kept.get((question, places), ()):
            values = _carried(query, earlier)
            if elsewhere and satisfies(query, values | elsewhere):
                return values | elsewhere
            failing = violations(query, values)
            if not failing and satisfies(query, values):
                return values
            tried.append((values, failing))
        for earlier in self._latest.get(question, ()):
            values = _carried(query, earlier)
            if satisfies(query, values):
                return values
        for values, failing in tried:
            left = _unsettled(query, values, failing)
            found = search(left) if left is not None else None
            if found is not None and satisfies(query, {**values, **found}):
                return {**values, **found}
        return None


def _unsettled(query: Query, values: Mapping[Expr, int], failing: Collection[Expr]) -> Query | None:
    """What is left of a query where ``values`` hold but for those that appear only in what they do not satisfy
    (``failing``), and in facts; None where something fails that no such value bears on."""
    roots = roots_of(query)
    settled = {a for c in query.conjuncts if c not in failing for a in atoms_in((c,))}
    free = {a for r in failing for a in atoms_in((r,))} - settled
    if not free or any(a.args for a in free) or any(free.isdisjoint(atoms_in((r,))) for r in failing):
        return None
    known = {a: const(v, a.ty) for a, v in values.items() if a not in free and isinstance(a.ty, IntType)}
    bearing = [r for r in roots if not free.isdisjoint(atoms_in((r,)))]
    ranges = {s: r for s, r in query.ranges.items() if s in free}
    conjuncts = tuple(dict.fromkeys(substitute(r, known) for r in bearing))
    return replace(query, conjuncts=conjuncts, facts=(), ranges=ranges, overlap=None)


def places_of(one: AccessEvent, two: AccessEvent) -> Places:
    """The places of two accesses."""
    return one.site.span, one.kind, two.site.span, two.kind


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


@cache
def _family(atom: Expr) -> object:
    """What an atom has in common with those of other instances; as many are kept as there are atoms."""
    name = atom.value[0] if atom.op == "opaque" else atom.value
    return atom.op, atom.ty, side_of(atom), _NUMBER.sub("#", str(name))
