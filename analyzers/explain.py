"""One stage of the analysis of one kernel, as text for people."""

from __future__ import annotations

from analyzers.engine import Engine, KernelAnalysis
from analyzers.ir.printer import kernel_text
from analyzers.model import CheckOptions
from analyzers.requests import CheckRequest
from analyzers.verdicts.explain import (
    PASSES,
    explain_conditions,
    explain_events,
    explain_lockstep,
    explain_pairs,
)


def explain(request: CheckRequest, kernel_name: str, pass_name: str) -> str:
    """One stage of one kernel as text. Raises ValueError for an unknown kernel or pass, ParseFailure for a unit that
    cannot be taken in."""
    if pass_name not in PASSES:
        raise ValueError(f"unknown pass `{pass_name}`; there are {', '.join(PASSES)}")
    analysis = Engine().analyse(request)
    chosen = [a for a in analysis.kernels if kernel_name in (a.kernel.name, a.kernel.base_name)]
    if not chosen:
        names = ", ".join(sorted({a.kernel.name for a in analysis.kernels})) or "none"
        raise ValueError(f"no kernel `{kernel_name}` in {request.path}; there are: {names}")
    return "\n\n".join(_explained(a, pass_name, request.options) for a in chosen)


def _explained(a: KernelAnalysis, pass_name: str, options: CheckOptions) -> str:
    if pass_name == "ir":
        return kernel_text(a.kernel)
    if pass_name == "events":
        return explain_events(a.events)
    if pass_name == "lockstep":
        return explain_lockstep(a.events)
    parts: list[str] = []
    for context in a.contexts:
        grid, block = (", ".join(sizes) for sizes in (context.summary.grid, context.summary.block))
        parts.append(f"kernel {a.kernel.name}, launch grid ({grid}), block ({block}) ({context.summary.source})")
        if pass_name == "pairs":
            parts.append(explain_pairs(a.events, context))
        else:
            parts.append(explain_conditions(a.events, context, options.smt_budget))
    return "\n".join(parts)
