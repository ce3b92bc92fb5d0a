"""A stand-in for the analysis, quick and obvious, that finds what marks in the text tell it to find.

It takes CUDA-like text apart with regular expressions and knows these marks, each on a line of a kernel:

    a[i] = a[i + 1];            a race of the write and the read, unless the line before is a barrier
    __syncthreads(); // useless a redundant barrier
    // unknown                  the kernel cannot be decided
    // wait FILE                the check waits until FILE exists (or it is told to stop)
    // crash FILE               the process dies, unless FILE exists; FILE is created first
    // crash always             the process dies
    // hang                     the check never answers again
    // keyed                    the kernel has a content key, by which it may be called hopeless
    // hopeless                 there is no repair for what comes after it, and why names the file
    // offers hang              looking for repairs never ends
    // offers wait FILE         looking for repairs waits there until FILE exists (or it is told to stop)

A line `#error` makes the unit one that cannot be analysed, and an unbalanced brace loses the kernels from there on.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from analyzers.model import (
    Access,
    ContextResult,
    FactNote,
    Finding,
    Fix,
    FixPart,
    FixRefusal,
    KernelResult,
    LaunchSummary,
    Reason,
    Remark,
    Severity,
    Skipped,
    SourceSpan,
    SyntaxIssue,
    TextEdit,
    UnitResult,
    Verdict,
    Witness,
)
from analyzers.requests import PARSE_ERROR, CancelledError, CheckRequest, Event, KernelFinished, Progress, UnitFinished
from cuda_lsp.lookups import include_folders

KERNEL = re.compile(r"__global__\s+void\s+(\w+)\s*\([^)]*\)\s*\{")
LAUNCH = re.compile(r"(\w+)<<<([^,>]+),\s*([^,>]+)>>>\([^)]*\);")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
RACE = re.compile(r"(a\[i\]) = (a\[i \+ 1\]);")


class File:
    """One file's text, with spans in it."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    def span(self, start: int, end: int) -> SourceSpan:
        def place(at: int) -> tuple[int, int, int]:
            before = self.text[:at]
            line_start = before.rfind("\n") + 1
            return before.count("\n") + 1, len(before[line_start:].encode()) + 1, len(before.encode())

        (line, column, offset), (end_line, end_column, end_offset) = place(start), place(end)
        return SourceSpan(self.path, line, column, end_line, end_column, offset, end_offset)


class FakeEngine:
    """The `Backend` of the tests."""

    def __init__(self) -> None:
        self.forgotten: list[str] = []

    def check(self, request: CheckRequest, stop: Callable[[], bool]) -> Iterator[Event]:
        files, missing = load(request)
        if "#error" in request.text:
            yield UnitFinished(failed(request, "#error in the text", files))
            return
        contexts = list(launches(files))
        found = [(file, match, end) for file in files for match, end in kernels(file)]
        balanced = request.text.count("{") == request.text.count("}")
        results: list[KernelResult] = []
        for number, (file, match, end) in enumerate(found):
            body = file.text[match.end() : end]
            content_key = f"key of {match[1]}: {body}" if "// keyed" in body else ""
            yield Progress(number, len(found), match[1], content_key)
            hopeless = request.hopeless.get(content_key)
            if hopeless is None:
                obey(body, stop)
            if stop():
                raise CancelledError
            result = decide(file, match, end, contexts)
            if hopeless is not None:
                left_out = replace(
                    result.contexts[0], verdict=Verdict.UNKNOWN, findings=(), reasons=(Reason(*hopeless),)
                )
                result = replace(result, verdict=Verdict.UNKNOWN, contexts=(left_out,))
            results.append(result)
            yield KernelFinished(result, key=str(hash(body)))
        issues = [SyntaxIssue(f"'{name}' file not found", file.span(0, 0)) for file, name in missing]
        if not balanced:
            issues.append(SyntaxIssue("expected '}'", files[0].span(0, 0)))
        yield UnitFinished(
            UnitResult(
                path=request.path,
                arch=request.flags.arch,
                kernels=tuple(results),
                skipped=(Skipped("a thing", None),),
                syntax=tuple(issues),
                dependencies=tuple(file.path for file in files[1:]),
            )
        )

    def offers(self, request: CheckRequest, result: UnitResult, stop: Callable[[], bool]) -> Iterator[Fix | FixRefusal]:
        if "// offers hang" in request.text:
            obey("// hang", stop)
        obey("\n".join(f"// wait {gate}" for gate in re.findall(r"// offers wait (\S+)", request.text)), stop)
        yield from self._repairs(request, result, stop)
        for finding in (f for k in result.kernels for f in k.contexts[0].findings):
            if is_hopeless(request, finding):
                yield FixRefusal(f"In line {finding.span.line} nothing helps, of {request.path}.", finding.group)

    def hints(self, request: CheckRequest, result: UnitResult, stop: Callable[[], bool]) -> Iterator[Fix]:
        yield from ()

    def _repairs(self, request: CheckRequest, result: UnitResult, stop: Callable[[], bool]) -> Iterator[Fix]:
        for kernel in result.kernels:
            fixes = {finding.group: finding for context in kernel.contexts for finding in context.findings}
            for finding in fixes.values():
                if stop():
                    raise CancelledError
                fix = repair(request, finding) if not is_hopeless(request, finding) else None
                if fix is not None:
                    yield fix

    def fix_for(self, request: CheckRequest, group: str, stop: Callable[[], bool]) -> Fix | FixRefusal:
        for event in self.check(request, stop):
            if isinstance(event, UnitFinished):
                for fix in self._repairs(request, event.result, stop):
                    if group in fix.groups:
                        return fix
        return FixRefusal("nothing to repair")

    def fix_all(self, request: CheckRequest, stop: Callable[[], bool], groups: Sequence[str]) -> Fix | FixRefusal:
        for event in self.check(request, stop):
            if isinstance(event, UnitFinished):
                fixes = [
                    fix
                    for fix in self._repairs(request, event.result, stop)
                    if fix.kind == "insert-barrier" and fix.applies_unasked and not set(groups).isdisjoint(fix.groups)
                ]
                edits = tuple(edit for fix in fixes for edit in fix.edits)
                done = tuple(group for fix in fixes for group in fix.groups)
                parts = tuple(FixPart(fix.title, fix.edits[0].span.path, fix.notes) for fix in fixes)
                cost = f"+{len(fixes)} barriers"
                return Fix(f"Apply {len(fixes)} repairs", "insert-barrier", edits, done, cost, parts=parts)
        return FixRefusal("nothing to repair")

    def still_right(self, request: CheckRequest, fix: Fix, stop: Callable[[], bool]) -> Fix | FixRefusal:
        return fix

    def forget(self, path: str) -> None:
        self.forgotten.append(path)


def is_hopeless(request: CheckRequest, finding: Finding) -> bool:
    return 0 <= request.text.find("// hopeless") <= finding.span.start_offset


def create() -> FakeEngine:
    return FakeEngine()


def load(request: CheckRequest) -> tuple[list[File], list[tuple[File, str]]]:
    """The main file and the files it includes, from beside the includer or the include folders, and the includes that
    lead nowhere."""
    folders = [folder for _, folder in include_folders(request.flags.arguments)]
    files = [File(request.path, request.text)]
    missing: list[tuple[File, str]] = []
    for file in files:
        for name in INCLUDE.findall(file.text):
            for folder in (Path(file.path).parent, *folders):
                path = os.path.normpath(Path(folder) / name)
                if any(known.path == path for known in files):
                    break
                if path in request.unsaved:
                    files.append(File(path, request.unsaved[path]))
                    break
                if Path(path).exists():
                    files.append(File(path, Path(path).read_text(encoding="utf-8")))
                    break
            else:
                missing.append((file, name))
    return files, missing


def kernels(file: File) -> Iterator[tuple[re.Match[str], int]]:
    """Each kernel and the end of its body; one whose brace is not closed is lost, with those behind it."""
    for match in KERNEL.finditer(file.text):
        depth, at = 1, match.end()
        while depth and at < len(file.text):
            depth += {"{": 1, "}": -1}.get(file.text[at], 0)
            at += 1
        if depth:
            return
        yield match, at


def launches(files: list[File]) -> Iterator[tuple[str, LaunchSummary]]:
    for file in files:
        for match in LAUNCH.finditer(file.text):
            span = file.span(match.start(), match.end())
            yield match[1], LaunchSummary("launch", span, (match[2].strip(), "1", "1"), (match[3].strip(), "1", "1"))


def obey(body: str, stop: Callable[[], bool]) -> None:
    """Do what the marks say."""
    for gate in re.findall(r"// wait (\S+)", body):
        while not Path(gate).exists():
            if stop():
                raise CancelledError
            time.sleep(0.002)
    for mark in re.findall(r"// crash (\S+)", body):
        if mark == "always" or not Path(mark).exists():
            if mark != "always":
                Path(mark).touch()
            os.kill(os.getpid(), signal.SIGSEGV)
    if "// hang" in body:
        while True:
            time.sleep(60)


def decide(file: File, match: re.Match[str], end: int, known: list[tuple[str, LaunchSummary]]) -> KernelResult:
    name = match[1]
    body = file.text[match.end() : end]
    findings = tuple(find(file, name, match.end(), end))
    reasons: tuple[Reason, ...] = ()
    verdict = min((finding.code for finding in findings), key=lambda code: code.rank, default=Verdict.RACE_FREE)
    if "// unknown" in body:
        at = match.end() + body.index("// unknown")
        reasons = (Reason("unsupported", "something unknown is used here", file.span(at, at + len("// unknown"))),)
        verdict, findings = Verdict.UNKNOWN, ()
    if "$" in body:
        reasons = (Reason(PARSE_ERROR, "unexpected $", file.span(match.end(), end)),)
        verdict, findings = Verdict.UNKNOWN, ()
    mine = [launch for kernel, launch in known if kernel == name]
    summaries = mine or [LaunchSummary("default", None, ("1", "1", "1"), ("1024", "1", "1"))]
    contexts = tuple(
        ContextResult(
            launch=summary,
            verdict=verdict,
            findings=findings,
            reasons=reasons,
            assumptions=("signed arithmetic does not overflow",),
            facts=(FactNote("n % 256 == 0", summary.span, "assert"),) if mine else (),
        )
        for summary in summaries
    )
    return KernelResult(
        name=name,
        mangled=f"_Z{len(name)}{name}",
        span=file.span(match.start(1), match.end(1)),
        extent=file.span(match.start(), end),
        verdict=verdict,
        contexts=contexts,
        files=(file.path,),
    )


def find(file: File, kernel: str, start: int, end: int) -> Iterator[Finding]:
    body = file.text[start:end]
    for match in RACE.finditer(body):
        if "__syncthreads();" in body[: match.start()].rsplit("\n", 2)[-2]:
            continue
        write, read = (file.span(start + match.start(side), start + match.end(side)) for side in (1, 2))
        yield Finding(
            code=Verdict.DATA_RACE,
            severity=Severity.ERROR,
            message="data race: a[i] is written while another thread reads a[i + 1]",
            span=write,
            accesses=(
                Access(1, write, "write", 4, "a[i]", (0, 0, 0), (1, 0, 0)),
                Access(2, read, "read", 4, "a[i + 1]", (0, 0, 0), (0, 0, 0)),
            ),
            group=f"race {kernel}",
            scope="intra-warp",
            space="shared",
            object="a",
            witness=Witness((1, 1, 1), (2, 1, 1), (("n", 2),), "a[1]", replayed=True),
            explanation=(Remark(("Nothing orders the two accesses.",)),),
        )
    for match in re.finditer(r"__syncthreads\(\); // useless", body):
        span = file.span(start + match.start(), start + match.start() + len("__syncthreads();"))
        yield Finding(
            code=Verdict.REDUNDANT_BARRIER,
            severity=Severity.HINT,
            message="this barrier orders nothing",
            span=span,
            accesses=(Access(3, span, "barrier", 0, "__syncthreads()"),),
            group=f"useless {kernel}",
        )


def repair(request: CheckRequest, finding: Finding) -> Fix | None:
    if finding.span.path != request.path:
        text = request.unsaved.get(finding.span.path) or Path(finding.span.path).read_text(encoding="utf-8")
    else:
        text = request.text
    file = File(finding.span.path, text)
    line_start = len(text.encode()[: finding.span.start_offset].decode().rpartition("\n")[0])
    line_start += 1 if line_start else 0
    if finding.code is Verdict.REDUNDANT_BARRIER:
        return Fix("Remove __syncthreads()", "remove-barrier", (TextEdit(finding.span, ""),), (finding.group,), "-1")
    indent = re.match(r"\s*", text[line_start:].split("\n")[0])
    space = indent[0] if indent else ""
    edit = TextEdit(file.span(line_start, line_start), f"{space}__syncthreads();\n")
    assumes = ("Assumes that n is small.",) if "// assuming" in text else ()
    return Fix("Insert __syncthreads()", "insert-barrier", (edit,), (finding.group,), "+1 barrier", assumes=assumes)


def failed(request: CheckRequest, why: str, files: list[File]) -> UnitResult:
    return UnitResult(
        request.path,
        request.flags.arch,
        dependencies=tuple(file.path for file in files[1:]),
        failure=Reason(PARSE_ERROR, why),
    )
