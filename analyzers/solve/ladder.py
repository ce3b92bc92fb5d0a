"""The ladder of solvers: each question goes to the cheapest rung that can answer it.

Takes a :class:`Query` and a :class:`Budget`, gives the answer of the first rung that has one, with the rung's name; a
:class:`Ladder` also counts answers and time per rung.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from analyzers.ir.expr import Expr, IntType, compare, const, walk
from analyzers.solve import algebra, cpsat, guess, smt
from analyzers.solve import enumerate as enumerate_rung
from analyzers.solve.check import satisfies
from analyzers.solve.order import side_of
from analyzers.solve.prepare import Prepared, prepare
from analyzers.solve.query import WRAPS, WRAPS_TEXT, Answer, Proved, Query, Satisfied, Undecided, identity
from analyzers.solve.system import MAX_TOTAL_STEPS

_T = TypeVar("_T")
_A = TypeVar("_A", bound=Answer)


QUICK_STEPS = 120
"""Effort of the first attempt at a proof by algebra; nearly all that there are need less. Where it was not enough,
trying sizes comes before the second attempt."""
MIDDLE_STEPS = 500
"""Effort of the second one, when values were not found at once."""
LARGE_QUESTION = 24
"""Conditions beyond which trying sizes is slower than CP-SAT; for fewer, most of everyday's, CP-SAT need not even be
loaded."""
MAX_OPEN = 32
"""Questions of which is remembered what the cheap rungs found out: the next one asked at length is mostly the last."""
FIRST_SHARE = 16
"""Z3 first gets this fraction of its budget: most of what it can decide at all needs no more."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much each rung may spend, in units that do not depend on the machine."""

    smt: int = smt.DEFAULT_BUDGET
    """Z3 resource units per query."""
    rows: int = enumerate_rung.CHEAP
    """Combinations of values per thread that are enumerated before Z3 is asked."""
    many_rows: int = enumerate_rung.EXPENSIVE
    """Combinations of values per thread that are enumerated when nothing else has an answer."""
    smallest: bool = True
    """Whether values that satisfy a query are made small; those that nobody will see need not be."""


def _no() -> bool:
    return False


def _common(symbol: Expr) -> bool:
    return side_of(symbol) == 0


def _may_wrap(prepared: Prepared) -> bool:
    """Whether unsigned arithmetic, or its conversion to a signed type of the same width, may wrap around within the
    ranges that are known."""
    for n in walk((*prepared.query.conjuncts, *(f.condition for f in prepared.query.facts))):
        if n.op not in ("add", "sub", "mul", "cast") or not isinstance(n.ty, IntType):
            continue
        source = n.args[0].ty if n.op == "cast" else n.ty
        unsigned = isinstance(source, IntType) and not source.signed and source.width == n.ty.width
        if unsigned and prepared.intervals.wraps(n):
            return True
    return False


def _none(symbol: Expr) -> bool:
    del symbol
    return False


@dataclass(frozen=True, slots=True)
class _Left:
    """What the cheap rungs found out about a question that they did not answer."""

    prepared: Prepared
    short: Undecided
    """What they say of it."""
    proof: Undecided
    """Why there is no quick one by algebra."""
    rows: Answer | enumerate_rung.Candidate
    """What enumeration came to."""
    may_wrap: bool


@dataclass(slots=True)
class Ladder:
    """Asks the rungs in turn and keeps count."""

    budget: Budget = field(default_factory=Budget)
    answered: dict[str, int] = field(default_factory=dict[str, int])
    """Rung -> queries it answered; ``none`` for undecided ones."""
    milliseconds: dict[str, float] = field(default_factory=dict[str, float])
    """Rung -> time spent in it, answered or not."""
    _open: dict[tuple[object, ...], _Left] = field(default_factory=dict[tuple[object, ...], _Left])
    """The last questions that the cheap rungs had no answer to."""

    def decide(
        self, query: Query, only_wraps: Callable[[], bool] = _no, plainly_only_wraps: Callable[[], bool] = _no
    ) -> Answer:
        """The first rung's answer that is one; the last rung's reason otherwise.

        ``only_wraps`` is asked when the cheap rungs have no answer: whether the query is known to be impossible but
        for unsigned arithmetic that wraps around. Nothing more is spent on it then. ``plainly_only_wraps`` is asked
        the same before anything is searched for, and answers at once."""
        return self._counted(self._climb(query, only_wraps, plainly_only_wraps))

    def proof(self, query: Query, steps: int = MAX_TOTAL_STEPS) -> Proved | None:
        """A proof by algebra, or nothing: what is worth asking where only a cheap proof helps."""
        answer = self._timed("algebra", lambda: self._algebra(prepare(query), steps))
        if not isinstance(answer, Proved):
            return None
        return self._counted(answer)

    def values(self, query: Query) -> Mapping[Expr, int] | None:
        """Values that satisfy the query, as far as they are found cheaply: what is worth asking where most are known
        from elsewhere."""
        prepared = self._timed("algebra", lambda: prepare(query))
        found = self._timed("guess", lambda: self._tried(prepared, False, None))
        if found is not None:
            return found[1]
        answer = self._timed("cpsat", lambda: self._cpsat(prepared, cpsat.SMALL))
        return answer.values if isinstance(answer, Satisfied) else None

    def brief(self, query: Query, plainly_only_wraps: Callable[[], bool] = _no) -> Answer:
        """The same without the rungs that take long: what is worth asking where an answer only adds to others."""
        answer = self._cheaply(query, plainly_only_wraps, _no)
        if isinstance(answer, _Left):
            answer = answer.short
        if isinstance(answer, Undecided) and answer.kind != WRAPS:
            answer = Undecided("not-applicable", "not looked for at length", answer.rung)
        return self._counted(answer)

    def _counted(self, answer: _A) -> _A:
        rung = "none" if isinstance(answer, Undecided) else answer.rung
        self.answered[rung] = self.answered.get(rung, 0) + 1
        _all_answered[rung] += 1
        return answer

    def _climb(self, query: Query, only_wraps: Callable[[], bool], plainly: Callable[[], bool]) -> Answer:
        left = self._cheaply(query, plainly, only_wraps if plainly is not _no else _no)
        if not isinstance(left, _Left):
            return left
        prepared, short, first, found = left.prepared, left.short, left.proof, left.rows
        for rung, work in (
            ("algebra", lambda: self._algebra(prepared) if first.kind == "budget" else first),
            ("enumerate", lambda: self._complete(prepared, found)),
            ("cpsat", lambda: self._cpsat(prepared, cpsat.MIDDLE)),
        ):
            answer = self._timed(rung, work)
            if not isinstance(answer, Undecided):
                return answer
        if left.may_wrap and only_wraps():
            return short
        answer = self._timed("smt", lambda: self._smt(prepared, self.budget.smt))
        if not isinstance(answer, Undecided):
            return answer
        last = self._timed("cpsat", lambda: self._cpsat(prepared, cpsat.LONG))
        if isinstance(last, Undecided):
            last = self._timed("enumerate", lambda: self._many(prepared))
        return answer if isinstance(last, Undecided) else last

    def _cheaply(self, query: Query, plainly: Callable[[], bool], only_wraps: Callable[[], bool]) -> Answer | _Left:
        """The answer of the rungs that take a tenth of a second at most; what is left to go on with, where there is
        more to try."""
        key = identity(query)
        left = self._open.get(key)
        if left is not None:
            known = left.may_wrap and (plainly() or only_wraps())
            return Undecided(WRAPS, WRAPS_TEXT, "algebra") if known else left
        answer = self._tried_cheaply(self._timed("algebra", lambda: prepare(query)), plainly, only_wraps)
        if isinstance(answer, _Left):
            if len(self._open) >= MAX_OPEN:
                del self._open[next(iter(self._open))]
            self._open[key] = answer
        return answer

    def _tried_cheaply(
        self, prepared: Prepared, plainly: Callable[[], bool], only_wraps: Callable[[], bool]
    ) -> Answer | _Left:
        first = self._timed("algebra", lambda: self._algebra(prepared, QUICK_STEPS))
        if not isinstance(first, Undecided):
            return first
        found = self._timed("enumerate", lambda: enumerate_rung.decide(prepared, self.budget.rows))
        answer = self._timed("enumerate", lambda: self._enumerated(prepared, found))
        if not isinstance(answer, Undecided):
            return answer
        wraps = _may_wrap(prepared)
        if wraps and plainly():
            return Undecided(WRAPS, WRAPS_TEXT, "algebra")
        small = ("cpsat", lambda: self._cpsat(prepared, cpsat.SMALL))
        tried = ("guess", lambda: self._guess(prepared))
        question = prepared.query
        is_large = len(question.conjuncts) + len(question.facts) > LARGE_QUESTION
        for rung, work in (small, tried) if is_large else (tried, small):
            answer = self._timed(rung, work)
            if not isinstance(answer, Undecided):
                return answer
        if wraps and only_wraps():
            return Undecided(WRAPS, WRAPS_TEXT, "algebra")
        for rung, work in (
            ("algebra", lambda: self._algebra(prepared, MIDDLE_STEPS) if first.kind == "budget" else first),
            ("guess", lambda: self._guess(prepared, large=True)),
            ("smt", lambda: self._smt(prepared, self.budget.smt // FIRST_SHARE)),
        ):
            answer = self._timed(rung, work)
            if not isinstance(answer, Undecided):
                return answer
        return _Left(prepared, answer, first, found, wraps)

    def _algebra(self, prepared: Prepared, steps: int = MAX_TOTAL_STEPS) -> Answer:
        answer = algebra.decide(prepared, steps)
        if isinstance(answer, Proved) and (answer.core or answer.used_no_overflow):
            return replace(answer, of=prepared.original)
        return answer

    def _many(self, prepared: Prepared) -> Answer:
        found = enumerate_rung.decide(prepared, self.budget.many_rows)
        answer = self._enumerated(prepared, found)
        answer = self._complete(prepared, found) if isinstance(answer, Undecided) else answer
        return answer if isinstance(answer, Undecided) else replace(answer, rung=enumerate_rung.LONG_RUNG)

    def _enumerated(self, prepared: Prepared, found: Answer | enumerate_rung.Candidate) -> Answer:
        """What an enumeration says without the help of another rung."""
        if not isinstance(found, enumerate_rung.Candidate):
            return found
        values = prepared.restore(found.values)
        if satisfies(prepared.original, values):
            return Satisfied(values, enumerate_rung.RUNG)
        return Undecided("not-applicable", "opaque values are not enumerated", enumerate_rung.RUNG)

    def _guess(self, prepared: Prepared, *, large: bool = False) -> Answer:
        found = self._tried(prepared, large, None)
        if found is None:
            return Undecided("budget", "no values found by trying", guess.RUNG)
        smaller = self._tried(prepared, False, found[0]) if self.budget.smallest else None
        values = (smaller or found)[1]
        return Satisfied(self._smallest_threads(prepared.original, values), guess.RUNG)

    def _tried(
        self, prepared: Prepared, large: bool, below: Mapping[Expr, int] | None
    ) -> tuple[Mapping[Expr, int], Mapping[Expr, int]] | None:
        """Values of the prepared and of the original query."""
        for found in guess.decide(prepared, large, below):
            values = prepared.restore(found)
            if satisfies(prepared.original, values):
                return found, values
        return None

    def _complete(self, prepared: Prepared, found: Answer | enumerate_rung.Candidate) -> Answer:
        """Values for the symbols that were not enumerated, with the others as found."""
        query = prepared.query
        if isinstance(found, enumerate_rung.Candidate) and not found.complete:
            fixed = [compare("eq", s, const(v, s.ty)) for s, v in found.values.items() if isinstance(s.ty, IntType)]
            answer = smt.decide(replace(query, conjuncts=(*query.conjuncts, *fixed)), self.budget.smt // 8)
            if isinstance(answer, Satisfied):
                restored = prepared.restore(answer.values)
                if satisfies(prepared.original, restored):
                    return Satisfied(restored, enumerate_rung.RUNG)
        return Undecided(
            "not-applicable", "conditions that are not enumerated exclude the pair found", enumerate_rung.RUNG
        )

    def _smt(self, prepared: Prepared, budget: int) -> Answer:
        answer = smt.decide(prepared.query, budget, smaller=_common if self.budget.smallest else _none)
        if isinstance(answer, Proved):
            return Proved(prepared.core(answer.core), answer.used_no_overflow or prepared.assumed, answer.rung)
        if not isinstance(answer, Satisfied):
            return answer
        values = prepared.restore(answer.values)
        if not satisfies(prepared.original, values):
            # Simplification leaves out that a substituted value is defined.
            return smt.decide(prepared.original, budget)
        return Satisfied(self._smallest_threads(prepared.original, values), answer.rung)

    def _cpsat(self, prepared: Prepared, stages: cpsat.Stages) -> Answer:
        answer = cpsat.decide(prepared.query, stages)
        if not isinstance(answer, Satisfied):
            return answer
        values = prepared.restore(answer.values)
        if not satisfies(prepared.original, values):
            return Undecided("not-applicable", "the values found do not satisfy the query", cpsat.RUNG)
        return Satisfied(self._smallest_threads(prepared.original, values), answer.rung)

    def _smallest_threads(self, query: Query, values: Mapping[Expr, int]) -> Mapping[Expr, int]:
        """The first pair of threads with the same dimensions, parameters and data."""
        if not self.budget.smallest:
            return values
        fixed = {s: (v, v) for s, v in values.items() if _common(s)}
        near = prepare(replace(query, ranges={**query.ranges, **fixed}))
        found = enumerate_rung.decide(near, self.budget.rows)
        if isinstance(found, enumerate_rung.Candidate):
            better = near.restore({**values, **found.values})
            if satisfies(query, better):
                return better
        return values

    def _timed(self, rung: str, work: Callable[[], _T]) -> _T:
        started = time.perf_counter()
        try:
            return work()
        finally:
            spent = (time.perf_counter() - started) * 1e3
            self.milliseconds[rung] = self.milliseconds.get(rung, 0.0) + spent
            _all_milliseconds[rung] += spent


_all_answered = Counter[str]()
_all_milliseconds: defaultdict[str, float] = defaultdict(float)


def tally() -> dict[str, tuple[int, float]]:
    """What all ladders of this process did, for measurements: rung -> (questions it answered, milliseconds spent in it,
    answered or not); ``none`` for undecided ones."""
    rungs = sorted({*_all_answered, *_all_milliseconds})
    return {rung: (_all_answered[rung], _all_milliseconds.get(rung, 0.0)) for rung in rungs}


def decide(query: Query, budget: Budget | None = None) -> Answer:
    """One query through the ladder."""
    return Ladder(budget or Budget()).decide(query)
