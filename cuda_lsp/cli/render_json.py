"""Results as JSON, schema 1. Every field is documented in `docs/json.md`; fields may be added, not changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from analyzers.model import (
    Access,
    ContextResult,
    FactNote,
    Finding,
    KernelResult,
    LoopTurn,
    Reason,
    SourceSpan,
    Witness,
)
from cuda_lsp import __version__
from cuda_lsp.adoption.comments import CommentIssue
from cuda_lsp.adoption.muting import Muted
from cuda_lsp.cli.inputs import shown
from cuda_lsp.cli.judging import JudgedUnit, Report
from cuda_lsp.cli.render_text import fix_of, refusal_of
from cuda_lsp.cli.summary import STANDINGS, hidden_mistakes, kernel_counts, name_of

SCHEMA: Final = 1


def document(report: Report) -> dict[str, Any]:
    """The whole report of one run."""
    counts = kernel_counts(report.units)
    return {
        "schema": SCHEMA,
        "tool": {"name": "cuda-lsp", "version": __version__},
        "units": [_unit(judged) for judged in report.units],
        "comments": [_issue(issue) for issue in report.all_issues],
        "baseline": _baseline(report),
        "left_out": [{"reason": why, "files": number} for why, number in report.left_out.items()],
        "summary": {name_of(standing): counts[standing] for standing in STANDINGS if counts[standing]},
    }


def render(report: Report) -> str:
    return json.dumps(document(report), indent=2, ensure_ascii=False) + "\n"


def _baseline(report: Report) -> dict[str, Any] | None:
    if not report.baselines:
        return None
    known = sum(muted.how == "known" for _, _, muted in hidden_mistakes(report.units))
    return {
        "paths": [shown(each.path) for each in report.baselines],
        "known": known,
        "gone": [
            {
                "fingerprint": each.fingerprint,
                "path": shown(each.path),
                "kernel": each.kernel,
                "code": each.code,
                "accesses": list(each.accesses),
            }
            for each in report.gone
        ],
    }


def _issue(issue: CommentIssue) -> dict[str, Any]:
    return {"code": issue.code.value, "severity": issue.severity.value, "message": issue.message, **_at(issue.span)}


def _unit(judged: JudgedUnit) -> dict[str, Any]:
    unit = judged.unit
    return {
        "path": shown(unit.path),
        "arch": unit.arch,
        "ms": round(unit.milliseconds, 1),
        "failure": _reason(unit.failure),
        "skipped": [{"what": s.what, **_somewhere(s.span)} for s in unit.skipped],
        "syntax": [{"message": issue.message, **_at(issue.span)} for issue in unit.syntax],
        "kernels": [_kernel(kernel, name_of(standing), judged) for kernel, standing in judged.standings],
    }


def _kernel(kernel: KernelResult, standing: str, judged: JudgedUnit) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "path": shown(kernel.span.path),
        "line": kernel.span.start_line,
        "verdict": kernel.verdict.value,
        "counts_as": standing,
        "shared_accesses": kernel.shared_accesses,
        "global_accesses": kernel.global_accesses,
        "barriers": kernel.barriers,
        "contexts": [_context(kernel, context, judged) for context in kernel.contexts],
    }


def _context(kernel: KernelResult, context: ContextResult, judged: JudgedUnit) -> dict[str, Any]:
    launch = context.launch
    return {
        "launch": {"path": shown(launch.span.path), "line": launch.span.start_line} if launch.span else None,
        "source": launch.source,
        "grid": [_number(part) for part in launch.grid],
        "block": [_number(part) for part in launch.block],
        "verdict": context.verdict.value,
        "reason": _reason(context.reasons[0] if context.reasons else None),
        "reasons": [_reason(reason) for reason in context.reasons],
        "assumptions": list(context.assumptions),
        "facts": [_fact(fact) for fact in context.facts],
        "ms": round(context.milliseconds, 1),
        "findings": [_finding(kernel, finding, judged) for finding in context.findings],
    }


def _finding(kernel: KernelResult, finding: Finding, judged: JudgedUnit) -> dict[str, Any]:
    fix = fix_of(finding, judged.answers)
    refusal = refusal_of(finding, judged.answers) if fix is None else None
    severity = judged.settings.severity_of(finding.code, finding.severity) or finding.severity
    return {
        "code": finding.code.value,
        "severity": severity.value,
        "group": finding.group,
        "fingerprint": judged.identity(kernel, finding).fingerprint,
        "muted": _muted(judged.muted(kernel, finding)),
        "message": finding.message,
        "scope": finding.scope,
        "space": finding.space,
        "object": finding.object,
        "accesses": [_access(access) for access in finding.accesses],
        "notes": [remark.text for remark in finding.explanation],
        "witness": _witness(finding.witness),
        "run": None,
        "fix": {"available": fix is not None, "title": fix.title if fix else None, "reason": refusal},
    }


def _muted(muted: Muted | None) -> dict[str, Any] | None:
    if muted is None:
        return None
    suppression = muted.suppression
    reason = suppression.reason if suppression is not None else ""
    return {"how": muted.how, "reason": reason or None, **_somewhere(suppression.span if suppression else None)}


def _access(access: Access) -> dict[str, Any]:
    return {
        "id": access.id,
        **_at(access.span),
        "kind": access.kind,
        "text": access.text,
        "width": access.width,
        "block": list(access.block) if access.block else None,
        "thread": list(access.thread) if access.thread else None,
        "iterations": _named(access.iterations),
        "loops": [_turn(turn) for turn in access.turns],
        "calls": [_at(call) for call in access.calls],
    }


def _turn(turn: LoopTurn) -> dict[str, Any]:
    return {**_at(turn.span), "iteration": turn.iteration, "variable": turn.variable, "value": turn.value}


def _witness(witness: Witness | None) -> dict[str, Any] | None:
    if witness is None:
        return None
    return {
        "grid": list(witness.grid),
        "block": list(witness.block),
        "parameters": _named(witness.parameters),
        "address": witness.address,
        "data": _named(witness.data),
        "replayed": witness.replayed,
    }


def _named(pairs: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Pairs as an object; equal names, such as two loops written alike, get a number: `for (;;)`, `for (;;) #2`."""
    table: dict[str, int] = {}
    for name, value in pairs:
        key, number = name, 1
        while key in table:
            number += 1
            key = f"{name} #{number}"
        table[key] = value
    return table


def _reason(reason: Reason | None) -> dict[str, Any] | None:
    if reason is None:
        return None
    return {"kind": reason.kind, "text": reason.text, **_somewhere(reason.span)}


def _fact(fact: FactNote) -> dict[str, Any]:
    return {"text": fact.text, "kind": fact.kind, **_somewhere(fact.span)}


def _somewhere(span: SourceSpan | None) -> dict[str, Any]:
    """File and line; both null where there is none."""
    return {"path": shown(span.path) if span else None, "line": span.start_line if span else None}


def _at(span: SourceSpan) -> dict[str, Any]:
    return {"path": shown(span.path), "line": span.start_line, "column": span.start_column}


def _number(part: str) -> int | str:
    return int(part) if part.isdecimal() else part
