"""The Z3 rung: the query in integer arithmetic, within a budget of solver resource units.

Takes a query, gives a proof with the facts of the unsatisfiable core, or a witness that exact evaluation has
confirmed and a few further calls have made small. Every query gets a context of its own: the outcome does not depend on
what was asked before, and the memory goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from itertools import islice
from typing import Any

from analyzers.ir.expr import BOOL, Expr, walk
from analyzers.ir.intervals import Intervals
from analyzers.solve.check import satisfies
from analyzers.solve.order import by_witness_rank
from analyzers.solve.processor_time import limited
from analyzers.solve.query import Answer, Proved, Query, Satisfied, Undecided
from analyzers.solve.smtlib import Encoder

RUNG = "smt"
LONG_RUNG = "smt-long"
"""Of answers that a second way had, when all that the first one may spend was spent."""
DEFAULT_BUDGET = 2_000_000
ABSTRACT_SHARE = 4
"""Fraction of the budget for the question with common nonlinear terms left open."""
MAX_TERMS = 4_000
"""Different terms of a question beyond which Z3 is not asked: the steps of a hash it neither solves nor always stops at
when the budget is spent. What it has an answer for has a few hundred, or two thousand where threads wait for others."""
TWO_WAYS = 200_000
"""The budget from which on a question that is not decided is asked again in another way."""
_UNITS = "rlimit count"
_SIMPLIFICATIONS = ("simplify", "propagate-values", "solve-eqs", "elim-uncnstr")
_MOST_INSTANCES = 24
"""Values of operators without a meaning for Z3 that it is told one after the other."""
_SMALLER_CALLS = 24
"""At most this many further calls make a witness smaller."""
LEAST_SECONDS, UNITS_PER_SECOND = 3.0, 500_000
"""The processor time a call may take whatever it counts: ten times what its resource units mostly take. Nonlinear
arithmetic can spend minutes between two counts."""
_SMALL = 1 << 10
"""What the coordinates of a thread, or a count of iterations, may come to where something else becomes smaller."""
_HARD_CALL = 11
"""What a call without an answer counts for: where one is hard the next ones are too."""


def decide(query: Query, budget: int = DEFAULT_BUDGET, *, smaller: Callable[[Expr], bool] = lambda _: True) -> Answer:
    """Ask Z3, spending about ``budget`` resource units on the answer, twice where the first way spent them in vain, and
    a fraction of it on a witness in which the symbols that ``smaller`` selects are small."""
    if _is_long(query):
        return Undecided("budget", "the conditions are too long for Z3", RUNG)
    plain = _decide(query, Encoder(_intervals(query), abstract_common=True), budget // ABSTRACT_SHARE, None)
    if plain is not None:
        return plain
    answer = _decide(query, Encoder(_intervals(query)), budget, smaller)
    assert answer is not None
    if budget >= TWO_WAYS and isinstance(answer, Undecided) and answer.kind == "budget":
        other = _decide(query, Encoder(_intervals(query)), budget, smaller, simplified=True)
        return answer if other is None or isinstance(other, Undecided) else replace(other, rung=LONG_RUNG)
    return answer


def _is_long(query: Query) -> bool:
    terms = walk((*query.conjuncts, *(f.condition for f in query.facts)))
    return next(islice(terms, MAX_TERMS, None), None) is not None


def _intervals(query: Query) -> Intervals:
    return Intervals(query.ranges, no_signed_overflow=query.no_signed_overflow)


def _decide(
    query: Query,
    encoder: Encoder,
    budget: int,
    smaller: Callable[[Expr], bool] | None,
    simplified: bool = False,
) -> Answer | None:
    """One encoding. Without ``smaller`` only a proof counts, and nothing is asked when the encoding leaves nothing
    out. ``simplified``: with simplifications of the whole question first."""
    conditions = [encoder.holds(c) for c in query.conjuncts]
    facts = [encoder.holds(f.condition) for f in query.facts]
    if "false" in conditions:
        return Proved(frozenset(), encoder.assumed_no_overflow, RUNG)
    if smaller is None and not encoder.abstracted:
        return None
    instances: list[str] = []
    left = budget
    while True:
        session = _Session(encoder, [*conditions, *instances], facts, simplified)
        outcome = session.check(left)
        left -= session.spent
        if outcome == "unsat":
            core = frozenset(query.facts[i].tag for i in session.core())
            return Proved(core, _rests_on_assumption(encoder, query), RUNG)
        if smaller is None:
            return None
        if outcome == "unknown":
            return Undecided("budget", "Z3: " + session.reason(), RUNG)
        values = session.values()
        if satisfies(query, values):
            break
        if not encoder.approximated:
            return Undecided("internal", "a Z3 model does not satisfy the query", RUNG)
        # It is told what the operators that it knows nothing of give for the values that it chose.
        more = [i for i in encoder.instances(values) if i not in instances]
        if not more or len(instances) >= _MOST_INSTANCES or left <= 0:
            return Undecided("unsupported-operator", "bit operations Z3 was not told about", RUNG)
        instances += more
    return Satisfied(_smaller(session, query, values, budget, [s for s in values if smaller(s)]), RUNG)


def _rests_on_assumption(encoder: Encoder, query: Query) -> bool:
    if not query.no_signed_overflow:
        return False
    return encoder.assumed_no_overflow or encoder.intervals.assumed(
        *query.conjuncts, *(f.condition for f in query.facts)
    )


class _Session:
    """One encoded query in a Z3 solver. The only place that sees Z3's untyped objects."""

    def __init__(self, encoder: Encoder, conditions: list[str], facts: list[str], simplified: bool = False) -> None:
        self._z3: Any = import_module("z3")
        self.is_spent = False
        """The last call was interrupted: Z3 may refuse all that follows."""
        self._encoder = encoder
        self._context: Any = self._z3.Context()
        self._solver: Any = self._simplifying() if simplified else self._direct()
        lines = [*encoder.lines, *(f"(assert {c})" for c in conditions)]
        self._facts = range(len(facts))
        self._assumptions: list[Any] = []
        if simplified:
            # No core is asked of the tactics: a proof of theirs rests on all facts.
            lines += [f"(assert {fact})" for fact in facts]
        else:
            for i, fact in enumerate(facts):
                lines += [f"(declare-const fact{i} Bool)", f"(assert (=> fact{i} {fact}))"]
            self._assumptions = [self._constant(f"fact{i}", True) for i in self._facts]
        self._constants = {e: self._constant(n, e.ty == BOOL) for e, n in encoder.atoms.items()}
        self._solver.from_string("\n".join(lines))

    def _direct(self) -> Any:
        """The solver for what is added step by step. Z3's own choice for the rest tries some tactics for so long by the
        clock: whether a question is decided would depend on the load of the machine."""
        solver = self._z3.SimpleSolver(ctx=self._context)
        # Gröbner bases take most of the time where they are tried, and decide less than what else the budget buys.
        solver.set("arith.nl.grobner", False)
        return solver

    def _simplifying(self) -> Any:
        """The same behind simplifications of the whole question: equations solved, what occurs once left out."""
        steps = [self._z3.Tactic(name, self._context) for name in (*_SIMPLIFICATIONS, "smt")]
        return self._z3.Then(*steps, ctx=self._context).solver()

    def _constant(self, name: str, boolean: bool) -> Any:
        return self._z3.Bool(name, self._context) if boolean else self._z3.Int(name, self._context)

    def check(self, budget: int) -> str:
        """``sat``, ``unsat`` or ``unknown``."""
        self._solver.set("rlimit", budget)
        with limited(LEAST_SECONDS + budget / UNITS_PER_SECOND, self._context.interrupt) as call:
            outcome = str(self._solver.check(*self._assumptions))
        self.is_spent = call.was_interrupted
        return "unknown" if self.is_spent else outcome

    @property
    def spent(self) -> int:
        """Resource units so far."""
        statistics = self._solver.statistics()
        # What is decided on sight has no count.
        return int(statistics.get_key_value(_UNITS)) if _UNITS in statistics.keys() else 0  # noqa: SIM118

    def core(self) -> list[int]:
        """Indices of the facts that the last ``unsat`` used."""
        if not self._assumptions:
            return list(self._facts)
        names = {str(c) for c in self._solver.unsat_core()}
        return [i for i in self._facts if f"fact{i}" in names]

    def reason(self) -> str:
        if self.is_spent:
            return "its time is spent"
        reason = str(self._solver.reason_unknown())
        return "its resource units are spent" if reason == "canceled" else reason

    def values(self) -> dict[Expr, int]:
        """The last model."""
        model = self._solver.model()
        out: dict[Expr, int] = {}
        for e, constant in self._constants.items():
            value = model.eval(constant, model_completion=True)
            out[e] = int(self._z3.is_true(value)) if e.ty == BOOL else int(value.as_long())
        return out

    def keep_within(self, e: Expr, low: int, high: int) -> None:
        """From here on a number stays between two."""
        self._solver.add(self._constants[e] >= low, self._constants[e] <= high)

    def push_within(self, e: Expr, low: int, high: int) -> None:
        self._solver.push()
        self.keep_within(e, low, high)

    def pop(self) -> None:
        self._solver.pop()


def _smaller(
    session: _Session, query: Query, values: dict[Expr, int], budget: int, symbols: Iterable[Expr]
) -> Mapping[Expr, int]:
    """Bring the symbols nearer to zero one by one, in the order of witnesses, as far as a few cheap calls go. None
    moves away from it for that, small ones aside."""
    best = values
    for symbol, value in values.items():
        if symbol.ty != BOOL:
            session.keep_within(symbol, min(-_SMALL, value) if value < 0 else 0, max(_SMALL, value))
    calls = _SMALLER_CALLS
    allowance = max(budget // 8, 10_000)
    ranges = Intervals(query.ranges, no_signed_overflow=query.no_signed_overflow)
    for symbol in by_witness_rank(symbols):
        if symbol.ty == BOOL:
            continue
        lowest = ranges.of(symbol).lo
        if best[symbol] < 0 and calls > 0:
            calls -= 1
            session.push_within(symbol, 0, -best[symbol])
            outcome = session.check(allowance)
            if session.is_spent:
                return best
            if outcome == "sat" and satisfies(query, found := session.values()):
                best = found
            else:
                session.pop()
            calls -= _HARD_CALL if outcome == "unknown" else 0
        lowest = max(lowest, min(0, best[symbol]))
        step = 0
        while calls > 0 and best[symbol] > lowest + step:
            calls -= 1
            session.push_within(symbol, lowest, lowest + step)
            outcome = session.check(allowance)
            if session.is_spent:
                return best
            if outcome == "sat" and satisfies(query, found := session.values()):
                best = found
                break
            session.pop()
            calls -= _HARD_CALL if outcome == "unknown" else 0
            step = 2 * step + 1
        session.push_within(symbol, min(lowest, best[symbol]), best[symbol])
    return best
