"""Proofs that different threads never meet at two places, whatever accesses stand there.

Takes pairs of accesses, asks about their addresses alone, under the conditions that every access at these places stands
under: once for all accesses there are, and first for whole families of places (`families`). Only a proof says anything.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from analyzers.ir.expr import Expr
from analyzers.races.asking import Asker
from analyzers.races.conditions import essence, places_query, relies_on_alignment, shift_counters
from analyzers.races.families import Families, Family
from analyzers.races.pairs import Pair, place, place_key
from analyzers.races.precedents import Question, places_of
from analyzers.races.recall import Recall
from analyzers.races.threads import Launch, Mode
from analyzers.solve.ladder import QUICK_STEPS
from analyzers.solve.query import Answer, Proved, Query, Satisfied, Undecided
from analyzers.solve.system import MAX_TOTAL_STEPS

FEW_PLACES = 3
"""Pairs of places up to which each is told apart on its own, and not first all of them together."""

FEW_ACCESSES = 2
"""Accesses at two places up to which nothing is searched for long about the places alone: what is asked of each pair
says more, and may be all that there is to ask."""

MAX_UNPROVED = 3
"""How often two places of the source are tried to be told apart, in all instances and launches, before it is left."""


@dataclass
class PlacesApart:
    """Of one launch context."""

    launch: Launch
    asker: Asker
    recall: Recall
    _common: dict[tuple[object, ...], tuple[Expr, ...]] = field(
        default_factory=dict[tuple[object, ...], tuple[Expr, ...]], init=False
    )
    """Place and width -> the conditions under which every access there stands."""
    _standing: Counter[tuple[object, ...]] = field(default_factory=Counter[tuple[object, ...]], init=False)
    """How many accesses stand there."""
    _known: dict[tuple[object, ...], Proved | None] = field(
        default_factory=dict[tuple[object, ...], "Proved | None"], init=False
    )
    _shortly: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]], init=False)
    """Those of which it was not looked for long."""
    _told_apart: dict[tuple[Mode, int, int], Proved | None] = field(
        default_factory=dict[tuple[Mode, int, int], "Proved | None"], init=False
    )
    """(mode, families by identity) -> a proof about all members of the two."""

    def proof(self, pair: Pair, mode: Mode, *, thorough: bool = False) -> Proved | None:
        """A proof that different threads never meet at these two places, made once for all accesses that stand
        there. ``thorough``: searched for at length, however few these are."""
        one, two = place_key(pair.first, pair.one), place_key(pair.second, pair.two)
        key = (mode, one, two)
        if thorough and key in self._shortly:
            self._shortly.discard(key)
            del self._known[key]
        if key not in self._known and self._is_hopeless(pair, (mode, "places")):
            self._known[key] = None
        if key not in self._known and (proof := self._families_apart(pair, mode)) is not None:
            self._known[key] = proof
        if key not in self._known:
            query = places_query(self.launch, pair, mode, self._conditions(one), self._conditions(two))
            patient = thorough or self._are_many(pair)
            found = self._apart(query, pair, (mode, "places"), patient=patient) if query is not None else Proved()
            if isinstance(found, Satisfied):
                self.recall.precedents.add(places_of(pair.one, pair.two), (mode, "places"), found.values)
            self._known[key] = found if isinstance(found, Proved) else None
            if isinstance(found, Undecided) and not patient:
                self._shortly.add(key)
        return self._known[key]

    def _families_apart(self, pair: Pair, mode: Mode) -> Proved | None:
        """The same for all places of the families that the two belong to, if there is a short one."""
        one, two = place_key(pair.first, pair.one), place_key(pair.second, pair.two)
        families = self.launch.once(Families)
        first, second = families.of(one), families.of(two)
        if first is None or second is None or len(first.keys) * len(second.keys) < FEW_PLACES:
            return None
        standing, *limits = first.paired(second)
        if relies_on_alignment(standing) and not relies_on_alignment(pair):
            return None
        key = (mode, id(first), id(second))
        if key not in self._told_apart:
            held = [(*self._common_conditions(f), *known) for f, known in zip((first, second), limits, strict=True)]
            query = places_query(self.launch, standing, mode, *held)
            found = self._shortly_apart(query, standing, (mode, "families")) if query is not None else Proved()
            self._told_apart[key] = found
        return self._told_apart[key]

    def _shortly_apart(self, query: Query, pair: Pair, question: Question) -> Proved | None:
        places = places_of(pair.one, pair.two)
        if shift_counters(query) or self.recall.precedents.unproved(places, question) >= MAX_UNPROVED:
            return None
        found = self.asker.proof(query, QUICK_STEPS) or self.asker.unless_wrapped(query, None, steps=MAX_TOTAL_STEPS)
        if found is None:
            self.recall.precedents.note_unproved(places, question)
        return found

    def _common_conditions(self, family: Family) -> tuple[Expr, ...]:
        """Under which every access of the family stands."""
        every = [self._conditions(key) for key in family.keys]
        return tuple(c for c in every[0] if all(c in other for other in every))

    def _is_hopeless(self, pair: Pair, question: Question) -> bool:
        """Whether earlier instances had no proof about the places. Nothing depends on one but the time that it saves:
        what is asked of each pair is asked at length."""
        return self.recall.precedents.unproved(places_of(pair.one, pair.two), question) >= MAX_UNPROVED

    def _apart(self, query: Query, pair: Pair, question: Question, *, patient: bool) -> Answer | None:
        """Only a proof counts; None where none is looked for."""
        if shift_counters(query):
            return None
        reduced = essence(query)
        known = self.recall.answer(places_of(pair.one, pair.two), question, reduced)
        if known is not None:
            return self.asker.unless_wrapped(query, known, steps=QUICK_STEPS) or known
        steps = MAX_TOTAL_STEPS
        if self.recall.precedents.unproved(places_of(pair.one, pair.two), question):
            found, steps = self.asker.proof(query, QUICK_STEPS), QUICK_STEPS
        else:
            found = self.asker.answer_essence(query, "settled")
            if isinstance(found, Undecided):
                if self.asker.if_positive(query) is not None:
                    steps = QUICK_STEPS
                elif patient:
                    found = self.asker.answer_essence(query)
        if not isinstance(found, Proved):
            found = self.asker.unless_wrapped(query, found, steps=steps) or found
        if patient and not isinstance(found, Proved):
            self.recall.precedents.note_unproved(places_of(pair.one, pair.two), question)
        return found

    def _are_many(self, pair: Pair) -> bool:
        keys = {place_key(pair.first, pair.one), place_key(pair.second, pair.two)}
        return sum(self._standing[key] for key in keys) > FEW_ACCESSES

    def _conditions(self, where: tuple[object, ...]) -> tuple[Expr, ...]:
        if not self._common:
            for a in self.launch.events.accesses:
                key = place_key(place(self.launch, a), a)
                self._standing[key] += 1
                own = [c.condition for c in a.guard]
                known = self._common.get(key)
                self._common[key] = tuple(own) if known is None else tuple(c for c in known if c in own)
        return self._common[where]
