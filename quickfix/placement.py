"""Choose where barriers go: minimum-cost placement as MaxSAT over the gaps of the source.

Every race demands a barrier in one of the gaps between its accesses; gaps that some threads miss are excluded; the
cheapest set of gaps that satisfies all demands is what Z3's optimiser finds. Adding a barrier never makes a race, so a
race that a trial leaves behind demands one more gap than those tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from quickfix.cost import Key, weights
from quickfix.paths import Candidate


@dataclass
class PlacementModel:
    """The demands so far."""

    candidates: dict[Key, Candidate] = field(default_factory=dict[Key, Candidate])
    demands: list[frozenset[Key]] = field(default_factory=list[frozenset[Key]])
    excluded: set[Key] = field(default_factory=set[Key])
    rejected: list[frozenset[Key]] = field(default_factory=list[frozenset[Key]])
    in_vain: set[Key] = field(default_factory=set[Key])
    """Gaps where threads would be kept from what others wait for."""
    why: str = ""
    """What was wrong with the first choice that was rejected, or in vain."""
    doubts: int = 0
    """How often one more barrier was demanded because it was not known whether the others suffice."""
    varying_bodies: frozenset[tuple[str, int]] = frozenset()
    """(path, start) of bodies that not all threads seem to enter: gaps in them are tried last."""

    def demand(self, candidates: Iterable[Candidate], besides: Collection[Key] = ()) -> bool:
        """One of the gaps must get a barrier, those in `besides` do not suffice. False: no gap is left."""
        allowed: set[Key] = set()
        for candidate in candidates:
            self.candidates.setdefault(candidate.key, candidate)
            if candidate.key not in besides:
                allowed.add(candidate.key)
        self.demands.append(frozenset(allowed))
        return bool(allowed - self.barred)

    @property
    def barred(self) -> set[Key]:
        """Gaps that get no barrier."""
        return self.excluded | self.in_vain

    def exclude(self, keys: Iterable[Key]) -> None:
        """No barrier may go there: not all threads get there."""
        self.excluded |= set(keys)

    def keep_free(self, keys: Iterable[Key], why: str) -> None:
        """No barrier may go there: threads would wait at it in vain."""
        self.in_vain |= set(keys)
        self.why = self.why or why

    def reject(self, chosen: Iterable[Key], why: str) -> None:
        """This very choice, or more than it, is not to be tried again."""
        self.rejected.append(frozenset(chosen))
        self.why = self.why or why

    def _varying(self, keys: Iterable[Key]) -> frozenset[Key]:
        return frozenset(k for k in keys if _bodies_around(self.candidates[k]) & self.varying_bodies)

    def solve(self) -> tuple[Candidate, ...] | None:
        """The cheapest choice in source order, or None when no choice meets all demands."""
        demands = [d - self.barred for d in self.demands]
        if not all(demands):
            return None
        used = frozenset[Key]().union(*demands)
        cost = weights([self.candidates[k] for k in used], self._varying(used))
        chosen = _cheapest(demands, self.rejected, cost)
        if chosen is None:
            return None
        return tuple(self.candidates[k] for k in sorted(chosen))


def _bodies_around(candidate: Candidate) -> set[tuple[str, int]]:
    gap = candidate.gap
    return {(gap.function.path, body.start) for body in (gap.body, *(step.body for step in gap.steps))}


def _cheapest(demands: list[frozenset[Key]], rejected: list[frozenset[Key]], cost: dict[Key, int]) -> set[Key] | None:
    keys = _undominated(demands, rejected, cost)
    # Z3 rather than CP-SAT: 5 to 15 ms against 2 to 8 ms a call, but 0.05 s against 0.6 s to import, and it is loaded.
    z3: Any = import_module("z3")
    context = z3.Context()
    solver = z3.Optimize(ctx=context)
    variables: dict[Key, Any] = {key: z3.Bool(f"gap{number}", context) for number, key in enumerate(keys)}
    for demand in demands:
        solver.add(z3.Or([variables[k] for k in keys if k in demand]))
    for choice in rejected:
        if choice <= variables.keys():
            solver.add(z3.Not(z3.And([variables[k] for k in sorted(choice)])))
    for key, variable in variables.items():
        solver.add_soft(z3.Not(variable), cost[key])
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    return {key for key, variable in variables.items() if z3.is_true(model[variable])}


def _undominated(demands: list[frozenset[Key]], rejected: list[frozenset[Key]], cost: dict[Key, int]) -> list[Key]:
    """The gaps worth a variable: of those in the same demands only the cheapest, unless choices were rejected."""
    if rejected:
        return sorted(cost)
    best: dict[tuple[bool, ...], Key] = {}
    for key in sorted(cost):
        signature = tuple(key in demand for demand in demands)
        if signature not in best or cost[key] < cost[best[signature]]:
            best[signature] = key
    return sorted(best.values())
