"""Proofs by algebra with as few facts as can be, and without assuming the absence of overflow where none needs that.

Takes the proofs of one launch context, gives the facts that they cite together. A proof names the facts it happened to
use; whether it needs one is found out by proving the same again without it. What one proof needs is cited anyway, so it
is asked of no other: the effort is that of the facts, not of the proofs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
        tags = sorted(frozenset[int]().union(*(p.core for p in self.proofs)) - self.core)
        self._do_without(tags if self.used_no_overflow else [*tags, None])

    def _do_without(self, spared: Sequence[int | None]) -> None:
        """Leave out what can be of ``spared``: facts by their tags, and None for the absence of overflow. Mostly all
        of them can, so that is tried at first. A proof that does without many does without each: this comes to what
        one after the other comes to."""
        if not spared or self._made_without(spared):
            return
        if len(spared) == 1:
            self.core |= {t for t in spared if t is not None}
            self.used_no_overflow |= None in spared
            return
        half = len(spared) // 2
        self._do_without(spared[:half])
        self._do_without(spared[half:])

    def _made_without(self, spared: Sequence[int | None]) -> bool:
        """Whether all proofs that use any of it can be made without; those that were are replaced."""
        tags = frozenset(t for t in spared if t is not None)
        for i, proof in enumerate(self.proofs):
            overflow = None in spared and proof.used_no_overflow
            if overflow or not tags.isdisjoint(proof.core):
                found = self._again(proof, proof.core - tags, overflow=overflow)
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
