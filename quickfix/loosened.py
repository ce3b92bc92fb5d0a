"""Races that were there before and that barriers which an edit takes away may have ordered at times.

Takes what an edit did and the kernels of the edited text, leaves out the races that are no more frequent for it: those
of one access with itself that collide, if at all, in one execution of it. Nothing is between in one execution, whatever
barriers there are; that the edited text has barriers between all others, or that those touch different bytes, is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from analyzers.analysed import KernelAnalysis
from analyzers.ir.events import AccessEvent
from analyzers.model import Finding
from analyzers.races.pairs import conflicting
from analyzers.races.threads import Launch
from quickfix.solving import Solving
from quickfix.verify import Difference, Files, key_of, old_offset


def is_of_one_execution(finding: Finding) -> bool:
    """Whether the accesses of a race are one access, in equal iterations: no barrier can be between them."""
    one, two = finding.accesses[:2]
    return one.id == two.id and one.iterations == two.iterations


def without_as_frequent(
    difference: Difference, kernels: Iterable[KernelAnalysis], files: Files, solving: Solving
) -> Difference:
    """The difference without the loosened races that collide in one execution only."""
    asked = {key_of(f)[1] for f in difference.loosened if is_of_one_execution(f)}
    if not asked:
        return difference

    def places_in_old_text(event: AccessEvent) -> tuple[tuple[str, int | None], ...]:
        return tuple((s.path, old_offset(s, files)) for s in (*event.site.calls, event.site.span))

    seen: set[frozenset[tuple[tuple[str, int | None], ...]]] = set()
    elsewhere = set(seen)
    for analysis in kernels:
        for context in analysis.contexts:
            launch = Launch(analysis.decisive, context)
            checker = solving.checker(launch)
            for pair in conflicting(launch):
                places = frozenset((places_in_old_text(pair.one), places_in_old_text(pair.two)))
                if places not in asked or places in elsewhere:
                    continue
                seen.add(places)
                if pair.one is not pair.two or not checker.is_of_one_execution(pair):
                    elsewhere.add(places)
    kept = seen - elsewhere
    gone = [f for f in difference.loosened if key_of(f)[1] in kept]

    def left(races: Iterable[Finding]) -> tuple[Finding, ...]:
        return tuple(f for f in races if not any(f is each for each in gone))

    return replace(difference, new_races=left(difference.new_races), loosened=left(difference.loosened))
