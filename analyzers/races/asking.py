"""Ask the ladder about one launch context: each distinct question once, and once more without wrap-around.

Takes queries, gives answers; what they cost is charged to the context's effort. Answers are kept for the whole process,
by all that they depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.expr import Expr
from analyzers.races.conditions import about_itself, essence, spelled_out, with_chosen_sides, with_parameters
from analyzers.races.lane_counts import counted, without_bits
from analyzers.races.positive_sizes import said_positive, with_positive_sizes
from analyzers.races.threads import Launch
from analyzers.races.wrapping import WithoutWrap, without_wrap
from analyzers.solve import algebra
from analyzers.solve.check import satisfies
from analyzers.solve.divisor_signs import decide_by_signs
from analyzers.solve.effort import PRICES, Effort, price
from analyzers.solve.ladder import QUICK_STEPS, Ladder
from analyzers.solve.query import WRAPS, WRAPS_TEXT, Answer, Proved, Query, Satisfied, Undecided, identity
from analyzers.solve.system import MAX_TOTAL_STEPS

MAX_ANSWERS = 50_000

Patience = Literal["brief", "settled", "hurried", "patient"]
"""How long an answer is looked for: ``brief`` as far as it is found cheaply, ``settled`` the same and not at all about
what is proved but for wrap-around, ``hurried`` not at length about what may wrap around."""

_Patience = Patience | tuple[Patience, tuple[int | None, ...]]
"""With the grid where the answer depends on it."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Of one launch context."""

    launch: Launch
    ladder: Ladder
    poll: Callable[[], None]
    """Called between queries; may raise to stop."""
    effort: Effort
    """Charged with every answer, known ones included."""
    wrap_around: bool = False
    """Unsigned arithmetic on sizes that nobody limits may wrap around."""

    def answer(self, query: Query, patience: Patience = "patient") -> Answer:
        """Through the ladder, once for each distinct question; first without what cannot bear on it."""
        query = with_chosen_sides(query)
        reduced = essence(query)
        found = self._ask_ladder(reduced, patience)
        if _is_left_to_wrapping(found):
            return found
        if isinstance(found, Undecided) and patience not in _CHEAP:
            found = self._in_parameters(query) or found
        if reduced is not query and not isinstance(found, Proved):
            found = self._ask_ladder(query, patience)
        if isinstance(found, Undecided) and patience not in _CHEAP:
            spelled = spelled_out(self.launch, query)
            if spelled is not query:
                found = self._ask_ladder(spelled, patience)
        if isinstance(found, Satisfied):
            exact = self.launch.fusion_definitions(query.conjuncts, query.scope)
            values = self.launch.completed(found.values)
            if any(evaluate(c, values) != 1 for c in exact if all(s in values for s in E.symbols(c))):
                return self._ask_ladder(replace(query, conjuncts=(*query.conjuncts, *exact)), patience)
        return found

    def _in_parameters(self, query: Query) -> Proved | None:
        """A proof from the kernel's parameters, whatever the host computes them from."""
        named = with_parameters(self.launch, query)
        found = None if named is query else self._ask_ladder(essence(named))
        return found if isinstance(found, Proved) else None

    def answer_essence(self, query: Query, patience: Patience = "patient") -> Answer:
        """The same without what cannot bear on the collision: only a proof is one for the query too."""
        found = self._ask_ladder(essence(query), patience)
        if isinstance(found, Undecided) and patience not in _CHEAP and not _is_left_to_wrapping(found):
            spelled = spelled_out(self.launch, query)
            found = found if spelled is query else self._ask_ladder(spelled)
        return found

    def proof(self, query: Query, steps: int) -> Proved | None:
        """A proof of the same by algebra in so many steps."""
        self.effort.charge(PRICES["algebra"])
        return self._quick(essence(query), steps)

    def whole(self, query: Query) -> Query:
        """The query with what its symbols stand for, exactly."""
        exact = self.launch.fusion_definitions(query.conjuncts, query.scope)
        return replace(query, conjuncts=(*query.conjuncts, *exact)) if exact else query

    def needs_wrap(self, query: Query, values: Mapping[Expr, int]) -> bool:
        """Whether what satisfies the query does so only where unsigned arithmetic on open sizes wraps around."""
        plain = without_wrap(self.launch, query)
        return plain is not None and plain.fails(values) and self._is_impossible(plain)

    def _ask_ladder(self, query: Query, patience: Patience = "patient") -> Answer:
        how: _Patience = patience
        if patience in ("patient", "settled"):
            how = (patience, self.launch.grid) if not self.wrap_around else _EXACT[patience]
        numbers = counted(query)
        if numbers is not None:
            found = self._known(numbers.query, how)
            if _is_left_to_wrapping(found):
                # Sums of a ticket and a count seldom wrap around, and that is proved.
                found = self._known(numbers.query)
            masks = numbers.masks(found.values) if isinstance(found, Satisfied) else None
            if isinstance(found, Satisfied) and masks is not None and satisfies(query, {**found.values, **masks}):
                return replace(found, values={**found.values, **masks})
            if isinstance(found, Proved):
                return found
        asked = query if numbers is None else without_bits(query)
        by_signs = decide_by_signs(asked, lambda q: self._known(q, how))
        found = by_signs if by_signs is not None else self._known(asked, how)
        if isinstance(found, Satisfied) and asked is not query and not satisfies(query, found.values):
            # It satisfies the rest; the lanes of the masks are looked at last, as few solvers can.
            found = self._known(query, how)
        if by_signs is not None:
            return found
        if numbers is None and isinstance(found, Undecided) and (plain := without_bits(query)) is not query:
            # Without some of its conditions: what satisfies the rest need not satisfy them.
            weaker = self._known(plain, how)
            if isinstance(weaker, Proved) or (isinstance(weaker, Satisfied) and satisfies(query, weaker.values)):
                found = weaker
        if patience != "patient":
            return found
        if isinstance(found, Undecided) and found.kind == "budget" and self._only_wraps(query):
            return replace(found, kind=WRAPS, text=WRAPS_TEXT)
        return found

    def unless_wrapped(self, query: Query, otherwise: Answer | None, *, steps: int | None = None) -> Proved | None:
        """A proof for sums and products that do not wrap around, where there is none ``otherwise``; with ``steps``, by
        algebra in so many, or the one by algebra for which the query was left to wrapping around."""
        if self.wrap_around:
            return None
        meant = without_wrap(self.launch, query)
        if meant is None or (isinstance(otherwise, Satisfied) and not meant.fails(otherwise.values)):
            return None
        plain = meant.query
        reduced = essence(plain)
        if steps is not None:
            self.effort.charge(PRICES["algebra"])
            if otherwise is None or not _is_left_to_wrapping(otherwise):
                found = self._quick(reduced, steps)
            else:
                # Algebra had its chance when that was found out.
                known = self._quick(reduced, QUICK_STEPS) or self._known(reduced)
                found = known if isinstance(known, Proved) and known.rung == algebra.RUNG else None
            return None if found is None else replace(found, used_no_wrap=True)
        found = self._known(reduced)
        if not isinstance(found, Proved) and reduced is not plain:
            found = self._known(plain)
        if not isinstance(found, Proved):
            found = self._in_parameters(plain) or found
        return replace(found, used_no_wrap=True) if isinstance(found, Proved) else None

    def without_wrapping(self, query: Query, found: Satisfied) -> Answer:
        """What was found, if possible with values for which no sum or product wraps around; undecided where it takes
        one that does and smaller values are not excluded: what needs absurd sizes is no finding."""
        meant = None if self.wrap_around else without_wrap(self.launch, query)
        if meant is None or not meant.fails(found.values):
            return found
        plain = self._known(meant.query)
        if isinstance(plain, Undecided):
            return replace(plain, kind=WRAPS, text=WRAPS_TEXT)
        if isinstance(plain, Satisfied):
            values = self.launch.completed(plain.values)
            if not meant.fails(values) and satisfies(query, values):
                return replace(found, values=values)
        return found

    def if_positive(self, query: Query) -> tuple[Proved, str] | None:
        """A proof by algebra for positive sizes, and the assumption in words: of the sizes that the host names, or of
        the parameters that it computes from them."""
        named = with_parameters(self.launch, query)
        for asked in (query,) if named is query else (query, named):
            meant = with_positive_sizes(asked)
            if meant is None:
                continue
            plain, sizes = meant
            self.effort.charge(PRICES["algebra"])
            found = self._quick(essence(plain), MAX_TOTAL_STEPS)
            found = found or self.unless_wrapped(plain, None, steps=MAX_TOTAL_STEPS)
            if found is not None:
                return found, said_positive(sizes)
        return None

    def _known(self, query: Query, patience: _Patience = "patient") -> Answer:
        """The answer of the ladder, asked once for each distinct question. ``patient`` with a grid: as ``hurried``
        where the question is proved but for wrap-around, which depends on it."""
        key = (*identity(query), self.ladder.budget, patience)
        known = _answers.get(key)
        # A known answer costs what a new one does, or the verdict would depend on what was checked before.
        if known is not None:
            self.effort.charge(known[1])
            return known[0]
        self.poll()
        if len(_answers) >= MAX_ANSWERS:
            _answers.clear()
        before = self.effort.spent
        near = about_itself(query)
        proof = None if near is query else self._remembered(near, QUICK_STEPS)
        if proof is not None:
            found = proof
        elif patience == "brief":
            found = self.ladder.brief(query)
        elif patience == "hurried":
            found = self.ladder.decide(query, lambda: True)
        elif patience == "patient":
            found = self.ladder.decide(query)
        elif patience[0] == "settled":
            found = self.ladder.brief(query, lambda: self._plainly_only_wraps(query))
        else:
            found = self.ladder.decide(query, lambda: self._only_wraps(query), lambda: self._plainly_only_wraps(query))
        self.effort.charge(price(found))
        _answers[key] = found, self.effort.spent - before
        return found

    def _quick(self, query: Query, steps: int) -> Proved | None:
        """A proof by algebra in so many steps, looked for once for each distinct question; first without the facts
        that bring in more than the question speaks of."""
        near = about_itself(query)
        found = None if near is query else self._remembered(near, min(steps, QUICK_STEPS))
        return found or self._remembered(query, steps)

    def _remembered(self, query: Query, steps: int) -> Proved | None:
        key = (*identity(query), steps)
        if key not in _proofs:
            if len(_proofs) >= MAX_ANSWERS:
                _proofs.clear()
            _proofs[key] = self.ladder.proof(query, steps)
        return _proofs[key]

    def _only_wraps(self, query: Query) -> bool:
        """Whether the query is proved to be impossible where those do not wrap around."""
        plain = without_wrap(self.launch, query)
        return plain is not None and self._is_impossible(plain)

    def _plainly_only_wraps(self, query: Query) -> bool:
        """The same, by algebra. Only collisions are asked again without wrap-around (``unless_wrapped``); of anything
        else the exact question is the last."""
        if query.overlap is None:
            return False
        plain = without_wrap(self.launch, query)
        return plain is not None and self._quick(essence(plain.query), QUICK_STEPS) is not None

    def _is_impossible(self, plain: WithoutWrap) -> bool:
        return isinstance(self._known(plain.query), Proved) or self._in_parameters(plain.query) is not None


_CHEAP = ("brief", "settled")
_EXACT: Mapping[Patience, Patience] = {"patient": "patient", "settled": "brief"}
"""Where wrap-around counts."""


def _is_left_to_wrapping(found: Answer) -> bool:
    return isinstance(found, Undecided) and found.kind == WRAPS


_answers: dict[tuple[object, ...], tuple[Answer, int]] = {}
"""Answers by question, with what they cost. Kernels of one style ask the same questions, and so does a kernel after an
edit elsewhere in it."""

_proofs: dict[tuple[object, ...], Proved | None] = {}
"""The same for proofs by algebra in so many steps."""
