"""Results as SARIF 2.1.0 (OASIS), for code scanning services: one run, one result for each mistake.

A mistake has the first access as its location, the others as related locations, and the two threads as the two thread
flows of one code flow. What comments suppress is there with its justification; what the settings switch off is not.
Columns count code points; paths below the working directory are relative to `%SRCROOT%`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from analyzers.model import (
    Access,
    ContextResult,
    Finding,
    Fix,
    KernelResult,
    Severity,
    SourceSpan,
    TextEdit,
    UnitResult,
    Verdict,
)
from cuda_lsp import __version__, documentation
from cuda_lsp.adoption.comments import CommentCode, CommentIssue
from cuda_lsp.adoption.fingerprints import Identity, Key, key_of
from cuda_lsp.adoption.muting import Muted
from cuda_lsp.cli.inputs import shown
from cuda_lsp.cli.judging import JudgedUnit, Report
from cuda_lsp.cli.render_text import describe_launch, fix_of, lines_of, thread_text

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT: Final = "cudaLsp/v1"
_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}
_RULES: Final = (*(v for v in Verdict if v not in (Verdict.UNKNOWN, Verdict.RACE_FREE)), *CommentCode)
_RULE_LEVELS: Final[Mapping[Verdict | CommentCode, str]] = {
    Verdict.DATA_RACE: "error",
    Verdict.BARRIER_DIVERGENCE: "error",
    Verdict.ASSERTION_FAILURE: "error",
    Verdict.LANE_NOT_IN_MASK: "error",
    Verdict.MISSING_LANES: "warning",
    Verdict.POSSIBLE_DATA_RACE: "warning",
    CommentCode.INVALID: "warning",
}


@dataclass(frozen=True, slots=True)
class _Occurrence:
    kernel: KernelResult
    context: ContextResult
    finding: Finding


def render(report: Report) -> str:
    return json.dumps(document(report), indent=2, ensure_ascii=False) + "\n"


def document(report: Report) -> dict[str, Any]:
    """The whole log of one run."""
    results = list(_results(report.units))
    results += [_issue(issue) for issue in report.all_issues]
    results += [_gone(each) for each in report.gone]
    notifications = list(_notifications(judged.unit for judged in report.units))
    run = {
        "tool": {
            "driver": {
                "name": "cuda-lsp",
                "semanticVersion": __version__,
                "rules": [_rule(code) for code in _RULES],
                "notifications": [{"id": "not-analysed"}, {"id": Verdict.UNKNOWN.value}],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"uri": Path.cwd().as_uri() + "/"}},
        "invocations": [
            {
                "executionSuccessful": all(judged.unit.failure is None for judged in report.units),
                "toolExecutionNotifications": notifications,
            }
        ],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: Verdict | CommentCode) -> dict[str, Any]:
    file = documentation.pages().get(code.value)
    page = file.read_text(encoding="utf-8") if file is not None else ""
    paragraph = next((part for part in page.split("\n\n") if part.strip() and not part.startswith("#")), code.value)
    description = " ".join(paragraph.split()).rstrip(".:") + "."
    rule: dict[str, Any] = {
        "id": code.value,
        "shortDescription": {"text": description.partition(". ")[0].rstrip(".") + "."},
        "fullDescription": {"text": description},
        "defaultConfiguration": {"level": _RULE_LEVELS.get(code, "note")},
    }
    if page:
        rule["help"] = {"text": page, "markdown": page}
    return rule


# Results


def _results(units: Iterable[JudgedUnit]) -> Iterator[dict[str, Any]]:
    """The mistakes of a run. One in a header is told with the first file that includes it; the launches that the others
    have of it are added."""
    told: dict[Key, dict[str, Any]] = {}
    for judged in units:
        new: dict[Key, dict[str, Any]] = {}
        for muted, occurrences in _mistakes(judged):
            fresh = [each for each in occurrences if key_of(each.kernel, each.finding) not in told]
            for each in occurrences:
                if (result := told.get(key_of(each.kernel, each.finding))) is not None:
                    _add(result["properties"]["kernels"], each.kernel.name)
                    _add(result["properties"]["launches"], describe_launch(each.context.launch))
            if fresh:
                result = _result(judged, muted, fresh)
                new |= {key_of(each.kernel, each.finding): result for each in fresh}
                yield result
        told = new | told


def _add(texts: list[str], text: str) -> None:
    if text not in texts:
        texts.append(text)


def _mistakes(judged: JudgedUnit) -> Iterator[tuple[Muted | None, list[_Occurrence]]]:
    """Those of a unit; what of a mistake is muted in another way is one of its own."""
    mistakes: dict[tuple[object, ...], tuple[Muted | None, list[_Occurrence]]] = {}
    for kernel in judged.unit.kernels:
        for context in kernel.contexts:
            for finding in context.findings:
                muted = judged.muted(kernel, finding)
                if muted is None or muted.how != "off":
                    key = (kernel.span, finding.code, finding.group, muted)
                    _, occurrences = mistakes.setdefault(key, (muted, []))
                    occurrences.append(_Occurrence(kernel, context, finding))
    for muted, occurrences in mistakes.values():
        yield muted, sorted(occurrences, key=lambda each: each.finding.span)


def _result(judged: JudgedUnit, muted: Muted | None, occurrences: list[_Occurrence]) -> dict[str, Any]:
    first = occurrences[0]
    kernel, finding = first.kernel, first.finding
    severity = judged.settings.severity_of(finding.code, finding.severity) or finding.severity
    result: dict[str, Any] = {
        "ruleId": finding.code.value,
        "ruleIndex": _RULES.index(finding.code),
        "level": _LEVELS[severity],
        "message": {"text": finding.message},
        "locations": [
            {
                "physicalLocation": _physical(finding.span),
                "logicalLocations": [{"name": kernel.name, "kind": "function"}],
            }
        ],
        "partialFingerprints": {FINGERPRINT: judged.identity(kernel, finding).fingerprint},
        "properties": {
            "kernels": list(dict.fromkeys(each.kernel.name for each in occurrences)),
            "launches": list(dict.fromkeys(describe_launch(each.context.launch) for each in occurrences)),
            "assumptions": list(first.context.assumptions),
        },
    }
    related = list(_related(occurrences))
    if related:
        result["relatedLocations"] = related
    if len(finding.accesses) > 1:
        result["codeFlows"] = [{"threadFlows": [_thread_flow(finding, access) for access in finding.accesses]}]
    if judged.baseline is not None:
        known = all(judged.baseline.knows(judged.identity(each.kernel, each.finding)) for each in occurrences)
        result["baselineState"] = "unchanged" if known else "new"
    suppressions = list(_suppressions(muted))
    if suppressions:
        result["suppressions"] = suppressions
    fix = fix_of(finding, judged.answers)
    if fix is not None:
        result["fixes"] = [_fix(fix)]
    return result


def _related(occurrences: list[_Occurrence]) -> Iterator[dict[str, Any]]:
    """The other accesses of the first pair, and the first access of each further pair."""
    first = occurrences[0]
    seen = {first.finding.span}
    places = [(access.span, thread_text(first.finding, access)) for access in first.finding.accesses]
    for each in occurrences[1:]:
        if key_of(each.kernel, each.finding) != key_of(first.kernel, first.finding):
            places += [(access.span, f"also: {access.kind} of {access.text}") for access in each.finding.accesses]
    number = 0
    for span, text in places:
        if span not in seen:
            seen.add(span)
            number += 1
            yield {"id": number, "physicalLocation": _physical(span), "message": {"text": text}}


def _thread_flow(finding: Finding, access: Access) -> dict[str, Any]:
    """The way of one of the two threads: the calls, then the access."""
    steps = [{"location": {"physicalLocation": _physical(call), "message": {"text": "call"}}} for call in access.calls]
    where = {"physicalLocation": _physical(access.span), "message": {"text": thread_text(finding, access)}}
    return {"locations": [*steps, {"location": where}]}


def _suppressions(muted: Muted | None) -> Iterator[dict[str, Any]]:
    if muted is not None and muted.suppression is not None:
        place = {"physicalLocation": _physical(muted.suppression.span)}
        found: dict[str, Any] = {"kind": "inSource", "location": place}
        if muted.suppression.reason:
            found["justification"] = muted.suppression.reason
        yield found


def _fix(fix: Fix) -> dict[str, Any]:
    by_path: dict[str, list[TextEdit]] = {}
    for edit in fix.edits:
        by_path.setdefault(edit.span.path, []).append(edit)
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(path),
                "replacements": [
                    {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.new_text}} for edit in edits
                ],
            }
            for path, edits in by_path.items()
        ],
    }


def _issue(issue: CommentIssue) -> dict[str, Any]:
    return {
        "ruleId": issue.code.value,
        "ruleIndex": _RULES.index(issue.code),
        "level": _LEVELS[issue.severity],
        "message": {"text": issue.message},
        "locations": [{"physicalLocation": _physical(issue.span)}],
    }


def _gone(identity: Identity) -> dict[str, Any]:
    """An entry of the baseline that no longer occurs."""
    text = f"No longer found in {identity.kernel}: {', '.join(identity.accesses)}"
    return {
        "ruleId": identity.code,
        "level": "none",
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(identity.path)}}],
        "partialFingerprints": {FINGERPRINT: identity.fingerprint},
        "baselineState": "absent",
    }


def _notifications(units: Iterable[UnitResult]) -> Iterator[dict[str, Any]]:
    """What could not be analysed or decided."""
    told: set[tuple[SourceSpan, str]] = set()
    for unit in units:
        if unit.failure is not None:
            span = unit.failure.span
            where = _physical(span) if span is not None else {"artifactLocation": _artifact(unit.path)}
            yield {
                "descriptor": {"id": "not-analysed"},
                "level": "error",
                "message": {"text": unit.failure.text},
                "locations": [{"physicalLocation": where}],
            }
        for kernel in unit.kernels:
            for reason in dict.fromkeys(reason for context in kernel.contexts for reason in context.reasons):
                if (kernel.span, reason.text) not in told:
                    told.add((kernel.span, reason.text))
                    yield {
                        "descriptor": {"id": Verdict.UNKNOWN.value},
                        "level": "note",
                        "message": {"text": f"{kernel.name} is not decided: {reason.text}"},
                        "locations": [{"physicalLocation": _physical(reason.span or kernel.span)}],
                    }


# Places


def _physical(span: SourceSpan) -> dict[str, Any]:
    return {"artifactLocation": _artifact(span.path), "region": _region(span)}


def _artifact(path: str) -> dict[str, Any]:
    return dict(_artifact_of(path))


@cache
def _artifact_of(path: str) -> Mapping[str, str]:
    from urllib.parse import quote

    relative = shown(path)
    if Path(relative).is_absolute():
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(relative), "uriBaseId": "%SRCROOT%"}


def _region(span: SourceSpan) -> dict[str, int]:
    return {
        "startLine": span.start_line,
        "startColumn": _column(span.path, span.start_line, span.start_column),
        "endLine": span.end_line,
        "endColumn": _column(span.path, span.end_line, span.end_column),
    }


def _column(path: str, line: int, byte_column: int) -> int:
    lines = lines_of(path)
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    if text.isascii():
        return byte_column
    return len(text.encode()[: byte_column - 1].decode(errors="replace")) + 1
