"""`check --html`: the race explorer of a whole run as one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from analyzers.model import Fix, FixRefusal, SourceSpan, UnitResult, Verdict
from cuda_lsp.cli.exit_codes import UsageError
from cuda_lsp.cli.inputs import shown
from cuda_lsp.cli.judging import JudgedUnit
from cuda_lsp.cli.render_text import fix_of, refusal_of
from cuda_lsp.explorer.page import render, unit_notices
from cuda_lsp.explorer.scenes import KernelView, Repair
from cuda_lsp.writing import replace_file

_TITLE = "cuda-lsp: findings"


class DiskPlaces:
    """The files as they were analysed, which is as they are on the disk."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[str, ...]] = {}

    def lines(self, path: str) -> Sequence[str]:
        if path not in self._lines:
            try:
                text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
            except OSError:
                text = ""
            # Lines as compilers count them: `splitlines` also splits at form feeds and the like.
            self._lines[path] = tuple(text.split("\n"))
        return self._lines[path]

    def now(self, span: SourceSpan) -> SourceSpan | None:
        return span

    def shown(self, path: str) -> str:
        return shown(path)

    def uri(self, path: str) -> str | None:
        return None


def require_writable(path: str) -> None:
    """Raises `UsageError` before the analysis rather than after it."""
    target = Path(path)
    if target.is_dir():
        raise UsageError(f"--html {path}: this is a folder, not a file")
    if not target.parent.is_dir():
        raise UsageError(f"--html {path}: there is no folder {target.parent}")


def write(path: str, units: Sequence[JudgedUnit]) -> None:
    """The page of all files of a run. What is muted is not drawn; a kernel of which nothing else is left is named, and
    one of a header that another file has told all of is left out."""
    places = DiskPlaces()
    kernels: list[KernelView] = []
    muted: list[str] = []
    told: set[tuple[SourceSpan, str]] = set()
    for judged in units:
        repairs = _repairs(judged.unit, judged.answers)
        shown_as = {kernel.mangled: kernel for kernel in judged.shown.kernels}
        for kernel, standing in judged.standings:
            is_told = (kernel.span, kernel.mangled) in told
            told.add((kernel.span, kernel.mangled))
            if is_told and not any(each.findings or each.reasons for each in shown_as[kernel.mangled].contexts):
                continue
            if isinstance(standing, Verdict):
                kernels.append(KernelView(replace(shown_as[kernel.mangled], verdict=standing), places, repairs=repairs))
            else:
                muted.append(f"{shown(kernel.span.path)}: the findings in {kernel.name} are not drawn: {standing}")
    notices = [notice for judged in units for notice in unit_notices(judged.unit, shown(judged.unit.path))] + muted
    replace_file(path, render(_TITLE, kernels, notices).encode())


def _repairs(unit: UnitResult, answers: Sequence[Fix | FixRefusal]) -> dict[str, Repair]:
    """What is known of repairs, by the group of findings that they are for."""
    repairs: dict[str, Repair] = {}
    for kernel in unit.kernels:
        for context in kernel.contexts:
            for finding in context.findings:
                fix = fix_of(finding, answers)
                refusal = refusal_of(finding, answers) if fix is None else None
                if fix is not None:
                    repairs[finding.group] = Repair(fix.title, fix.cost)
                elif refusal is not None:
                    repairs[finding.group] = Repair(refusal=refusal)
    return repairs
