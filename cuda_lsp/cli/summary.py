"""The figures of a run: what each kernel counts as, and how many findings are out of sight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, get_args

from analyzers.model import Finding, KernelResult, Severity, SourceSpan, Verdict
from cuda_lsp.adoption.fingerprints import Places, key_of
from cuda_lsp.adoption.muting import How, Muted
from cuda_lsp.cli.judging import JudgedUnit

DEFAULT_FAIL_ON: Final = frozenset(
    {
        Verdict.DATA_RACE,
        Verdict.BARRIER_DIVERGENCE,
        Verdict.ASSERTION_FAILURE,
        Verdict.LANE_NOT_IN_MASK,
        Verdict.MISSING_LANES,
        Verdict.POSSIBLE_DATA_RACE,
    }
)
_ALARMING: Final = (Severity.ERROR, Severity.WARNING)
STANDINGS: Final[tuple[Verdict | How, ...]] = (
    *(verdict for verdict in Verdict if verdict is not Verdict.RACE_FREE),
    *get_args(How),
    Verdict.RACE_FREE,
)
"""What a kernel can count as, in the order in which it is told."""


def name_of(standing: Verdict | How) -> str:
    return standing.value if isinstance(standing, Verdict) else standing


def kernel_counts(units: Iterable[JudgedUnit]) -> Counter[Verdict | How]:
    """How many kernels count as what; one of a header that several files include once, as the worst."""
    worst: dict[tuple[SourceSpan, str], Verdict | How] = {}
    for judged in units:
        for kernel, standing in judged.standings:
            key = kernel.span, kernel.mangled
            if key not in worst or STANDINGS.index(standing) < STANDINGS.index(worst[key]):
                worst[key] = standing
    return Counter(worst.values())


def hidden_mistakes(units: Iterable[JudgedUnit]) -> Iterator[tuple[KernelResult, Finding, Muted]]:
    """The findings that are not shown, each once for all launches and instances."""
    seen: set[tuple[object, str, Places]] = set()
    for judged in units:
        for kernel, finding, muted in judged.hidden:
            key = key_of(kernel, finding)
            if key not in seen:
                seen.add(key)
                yield kernel, finding, muted


def fails(judged: JudgedUnit, fail_on: frozenset[str] | None) -> bool:
    """Whether something in a unit makes the exit code 1. `fail_on`: the codes that do; None: those that the settings
    call error or warning, and without a word in the settings `DEFAULT_FAIL_ON`."""
    for kernel in judged.unit.kernels:
        for context in kernel.contexts:
            codes = {finding.code for finding in context.findings if judged.muted(kernel, finding) is None}
            if not any(judged.muted(kernel, finding) for finding in context.findings):
                codes.add(context.verdict)
            if context.reasons:
                codes.add(Verdict.UNKNOWN)
            if any(_code_fails(judged, code, fail_on) for code in codes):
                return True
    return any(issue.code.value in (fail_on or ()) for issue in judged.issues)


def _code_fails(judged: JudgedUnit, code: Verdict, fail_on: frozenset[str] | None) -> bool:
    if fail_on is not None:
        return code.value in fail_on
    chosen = judged.settings.severity.get(code.value)
    return code in DEFAULT_FAIL_ON if chosen is None else chosen in {severity.value for severity in _ALARMING}
