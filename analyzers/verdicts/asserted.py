"""Findings about device assertions: definite where the launch fixes all that they depend on, possible otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from analyzers.coordinates import written
from analyzers.model import Access, Finding, Remark, Severity, Verdict
from analyzers.races.threads import Launch
from analyzers.races.witness import concretize, witness_of
from analyzers.verdicts import shown
from analyzers.verdicts.decide import AssertionDecision

ASSERTED: Final = (
    "device assertions hold (what follows one is checked for the threads that pass it; `NDEBUG` removes it)"
)

FAILURES: Final = frozenset({Verdict.ASSERTION_FAILURE, Verdict.POSSIBLE_ASSERTION_FAILURE})


def assertion_finding(launch: Launch, decision: AssertionDecision, anchor: str) -> Finding | None:
    """None where no launch is in sight: then the assertion is what there is to know of the values it speaks of.

    ``anchor``: a name for the place of the assertion."""
    if launch.context.summary.source == "default":
        return None
    event = launch.events.assertions[decision.assertion]
    roots = (*(c.condition for c in event.guard), event.condition)
    concrete = concretize(launch, decision.values, "block", tuple(launch.side(r, 1, "block") for r in roots))
    certain = not decision.open and not launch.context.uncertain
    code = Verdict.ASSERTION_FAILURE if certain else Verdict.POSSIBLE_ASSERTION_FAILURE
    thread, block = concrete.threads[0], concrete.blocks[0]
    values = shown.parameters(launch, concrete, roots)
    access = Access(
        id=-1 - decision.assertion,
        span=event.site.span,
        kind="assertion",
        width=0,
        text=event.site.text,
        block=block,
        thread=thread,
        calls=event.site.calls,
    )
    with_values = ", ".join(f"{name} = {value}" for name, value in values)
    return Finding(
        code=code,
        severity=Severity.ERROR if certain else Severity.INFORMATION,
        message=f"{'Assertion fails' if certain else 'Assertion can fail'}: thread {written(thread)} of block "
        f"{written(block)} comes to `{event.site.text}` and finds it false"
        + (f" with {with_values}" if with_values and not certain else ""),
        span=event.site.span,
        accesses=(access,),
        group=f"{code.value}:{anchor}",
        witness=replace(witness_of(concrete, "", True), parameters=values, data=()),
        explanation=tuple(Remark((line,)) for line in _explanation(launch, decision)),
    )


def _explanation(launch: Launch, decision: AssertionDecision) -> list[str]:
    lines = ["A thread that fails an assertion ends the whole launch with an error."]
    if decision.open:
        lines.append("No host code in sight rules these values out; an assertion before the launch would.")
    if launch.context.uncertain:
        lines.append(f"Only if {launch.context.uncertain}.")
    return lines
