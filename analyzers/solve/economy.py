"""Proofs by algebra with as few facts as can be, and without assuming the absence of overflow where none needs that.

Takes the proofs of one launch context, gives the facts that they cite together. A proof names the facts it happened to
use; whether it needs one is found out by proving the same again without it. What one proof needs is cited anyway, so it
is asked of no other: the effort is that of the facts, not of the proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from analyzers.solve import algebra
from analyzers.solve.prepare import prepare
from analyzers.solve.query import Answer, Proved, Query, identity

STEPS: Final = 150
"""Effort for one more proof: where it exists it is mostly as short as the first one."""
MAX_PROOFS: Final = 100
"""Further proofs for one context; what was not asked until then is cited."""


_MAX_ANSWERS: Final = 50_000
_answers: dict[tuple[object, ...], Answer] = {}
"""By question: instances of one kernel make the same proofs."""


def _proved_again(query: Query) -> Answer:
    key = identity(query)
    found = _answers.get(key)
    if found is None:
        if len(_answers) >= _MAX_ANSWERS:
            _answers.clear()
        found = _answers[key] = algebra.decide(prepare(query), STEPS)
    return found


def economical(proofs: Iterable[Proved]) -> tuple[frozenset[int], bool]:
    """The tags of the facts, and whether it is needed that signed arithmetic does not overflow."""
    given = list(proofs)
    final = [p for p in given if p.of is None]
    economy = _Economy(
        frozenset[int]().union(*(p.core for p in final)),
        any(p.used_no_overflow for p in final),
        list({id(p.of): p for p in given if p.of is not None}.values()),
    )
    economy.run()
    return economy.core, economy.used_no_overflow


@dataclass(slots=True)
class _Economy:
    core: frozenset[int]
    used_no_overflow: bool
    proofs: list[Proved]
    """Those that may do with less."""
    left: int = MAX_PROOFS

    def run(self) -> None:
        for tag in sorted(frozenset[int]().union(*(p.core for p in self.proofs)) - self.core):
            if not self._all_without(lambda p, t=tag: t in p.core, lambda p, t=tag: self._again(p, p.core - {t})):
                self.core |= {tag}
        if not self.used_no_overflow:
            self.used_no_overflow = not self._all_without(
                lambda p: p.used_no_overflow, lambda p: self._again(p, p.core, overflow=True)
            )

    def _all_without(self, uses: Callable[[Proved], bool], again: Callable[[Proved], Proved | None]) -> bool:
        """Whether all proofs that use it can be made without; those that were are replaced."""
        for i, proof in enumerate(self.proofs):
            if uses(proof):
                found = again(proof)
                if found is None:
                    return False
                self.proofs[i] = found
        return True

    def _again(self, proof: Proved, tags: frozenset[int], *, overflow: bool = False) -> Proved | None:
        """The same from the facts ``tags`` alone, assuming no more than before; ``overflow``: with signed arithmetic
        that overflows."""
        query = proof.of
        if query is None or self.left <= 0:
            return None
        self.left -= 1
        facts = tuple(f for f in query.facts if f.tag < 0 or f.tag in tags)
        fewer = replace(query, facts=facts, no_signed_overflow=query.no_signed_overflow and not overflow)
        answer = _proved_again(fewer)
        if not isinstance(answer, Proved) or answer.used_no_overflow > proof.used_no_overflow:
            return None
        return replace(answer, of=query)
