"""`cuda-lsp fix`: apply the repairs that the prover has accepted, as a diff or to the files.

A file is checked, its repairs are applied to the text, those that an editor applies at once, and the new text is
checked again, until nothing is on offer: each repair was proved on the text that it is applied to. Files that share a
header see the edits made for each other. Nothing is written before the end, and files that were proved together are
written all or none.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from analyzers.model import NOT_REPAIRED, Finding, Fix, FixPart, TextEdit, UnitResult
from analyzers.old_lines import in_old_lines, lines_of
from analyzers.requests import Progress
from cuda_lsp.cli import exit_codes, inputs, jobs, terminal
from cuda_lsp.cli.check import apart, exit_code, require_known_kernels
from cuda_lsp.cli.inputs import Input, from_here, plain, shown, tell_notices
from cuda_lsp.cli.judging import Judge, JudgedUnit, Report
from cuda_lsp.cli.progress import ProgressBar
from cuda_lsp.cli.render_text import refusal_of
from cuda_lsp.cli.requests import Requests, Selection, ineffective
from cuda_lsp.cli.summary import DEFAULT_FAIL_ON, kernel_counts
from cuda_lsp.cli.terminal import ColorChoice, Role, Style, printable
from cuda_lsp.writing import replace_files

_MAXIMAL_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class FixArguments:
    """The arguments of `fix`, already read."""

    paths: tuple[str, ...]
    selection: Selection
    write: bool = False
    color: ColorChoice = "auto"


@dataclass(frozen=True, slots=True)
class Repaired:
    """One file after its repairs: the last result, and what was done, in order."""

    judged: JudgedUnit
    applied: tuple[Fix, ...]
    left: tuple[Fix, ...] = ()
    """What is not applied because it takes something for granted, or is one of several things to do."""
    refused: tuple[str, ...] = ()
    """What there is no repair for: the place, the mistake and why, with the lines of the text before all repairs."""

    @property
    def unit(self) -> UnitResult:
        return self.judged.unit


def fix(arguments: FixArguments, backend: str, out: TextIO, err: TextIO) -> int:
    """Run the command; the exit code: 1 when something is left to repair, in the files as they are on the disk."""
    for note in ineffective(arguments.selection):
        print(f"cuda-lsp: {note}", file=err)
    files = inputs.collect(arguments.paths)
    tell_notices(files, err)
    texts = {file.path: file.text for file in files if file.text is not None}
    before = dict(texts)
    units, headers = apart(files)
    requests = Requests(arguments.selection, arguments.paths)
    bar = ProgressBar(len(files), err)
    repaired: list[Repaired] = []
    try:
        with jobs.Pool(1, backend, requests.hang_seconds(files)) as pool:
            seen: set[str] = set()
            for file in (*units, *headers):
                # As with `check`: a header is a unit only if no other file of the run includes it.
                if file in units or file.path not in seen:
                    repaired.append(_repair(file, texts, before, requests, pool, bar))
                    seen.update({*repaired[-1].unit.dependencies} - {*repaired[-1].unit.linked})
                bar.finished(shown(file.path))
    finally:
        bar.clear()
    require_known_kernels(arguments.selection, [result.unit for result in repaired])
    changed = [path for path, text in texts.items() if text != before[path]]
    for result in repaired:
        _tell(result, err)
    unwritten = False
    if arguments.write:
        for paths in together(repaired, changed):
            try:
                write({path: (before[path], texts[path]) for path in paths})
            except OSError as error:
                _tell_unwritten(paths, error, err)
                unwritten = True
    else:
        style = terminal.style_for(arguments.color, out)
        for path in changed:
            _print(diff(path, before[path], texts[path], style), out)
    code = (
        exit_codes.NOT_ANALYSED
        if unwritten
        else exit_code(Report(tuple(result.judged for result in repaired), ()), None)
    )
    return exit_codes.FINDINGS if code == exit_codes.CLEAN and changed and not arguments.write else code


def _repair(
    file: Input, texts: dict[str, str], before: dict[str, str], requests: Requests, pool: jobs.Pool, bar: ProgressBar
) -> Repaired:
    """Bring one file to the point where no repair is on offer; `texts` holds the new texts, `before` the old ones."""
    if file.text is None:
        failed = UnitResult(file.path, 0, failure=file.failure)
        return Repaired(Judge(requests.settings).judge(failed, ()), ())
    applied: list[Fix] = []
    workspace = requests.workspace(file.path)
    for turn in range(_MAXIMAL_ROUNDS + 1):
        others = {path: plain(text) for path, text in texts.items() if path != file.path and text != before[path]}
        request = replace(requests.request(file, texts[file.path]), unsaved=others)

        def report(_task: jobs.Task, progress: Progress) -> None:
            bar.working(shown(file.path), progress.done, progress.total, progress.name)

        task = jobs.Task("check-and-repair", request, workspace=workspace)
        (outcome,) = pool.outcomes([task], report)
        assert outcome.unit is not None
        judged = Judge(requests.settings, texts).judge(outcome.unit, outcome.answers)
        wanted = {f.group for k in judged.shown.kernels for c in k.contexts for f in c.findings}
        offered = [fix for fix in outcome.answers if isinstance(fix, Fix) and not wanted.isdisjoint(fix.groups)]
        chosen = compatible(outcome.unit, [fix for fix in offered if _is_exact(fix, texts)])
        is_last = turn == _MAXIMAL_ROUNDS or not chosen
        if not is_last:
            groups = tuple(sorted(wanted))
            (together,) = pool.outcomes([jobs.Task("repair-all", request, groups=groups, workspace=workspace)], report)
            chosen = [a for a in together.answers if isinstance(a, Fix) and _is_exact(a, texts)] or chosen
        edits = [edit for fix in chosen for edit in fix.edits]
        if is_last or not _readable({edit.span.path for edit in edits}, texts, before):
            return _left(judged, applied, offered, before, texts)
        for fix in chosen:
            applied.append(replace(fix, parts=tuple(_parts(fix, before, texts))))
        for path in {edit.span.path for edit in edits}:
            texts[path] = apply(texts[path], [edit for edit in edits if edit.span.path == path])
    raise AssertionError("the last round returns")


def _left(
    judged: JudgedUnit,
    applied: Sequence[Fix],
    offered: Sequence[Fix],
    before: Mapping[str, str],
    now: Mapping[str, str],
) -> Repaired:
    """A file after its last repair: what is left to choose, and for the other findings why they are left."""
    path = judged.unit.path
    wrong = [f for k in judged.shown.kernels for c in k.contexts for f in c.findings if f.code in DEFAULT_FAIL_ON]
    groups = {f.group for f in wrong}
    left = [fix for fix in offered if fix.assumes or (not fix.preferred and not groups.isdisjoint(fix.groups))]
    chosen = {group for fix in left for group in fix.groups}
    refused: dict[str, None] = {}
    for finding in wrong:
        why = refusal_of(finding, judged.answers)
        if why is not None:
            span = finding.span
            old, new = before.get(span.path, ""), now.get(span.path, "")
            line = in_old_lines(f"line {span.line}", old, new).removeprefix("line ")
            said = in_old_lines(why, before[path], now[path])
            repair = "no repair but by choice" if finding.group in chosen else "no repair"
            refused[f"{shown(span.path)}:{line}: {repair} for the {finding.code.value}: {said}"] = None
    done = tuple(_without_what_was_told(fix, wrong, refused) for fix in applied)
    return Repaired(judged, done, tuple(_named(f, before[path], now[path]) for f in left), tuple(refused))


def _without_what_was_told(fix: Fix, wrong: Sequence[Finding], refused: Iterable[str]) -> Fix:
    """A repair that was applied, without notes of races that another one has repaired since, or that are told as
    refused."""
    told = "\n".join(refused)

    def is_left(note: str) -> bool:
        return not note.startswith(NOT_REPAIRED) or (bool(wrong) and note.removeprefix(NOT_REPAIRED) not in told)

    return replace(fix, parts=tuple(replace(p, notes=tuple(n for n in p.notes if is_left(n))) for p in fix.parts))


def _parts(fix: Fix, before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[FixPart]:
    """What a repair consists of, with the lines of the texts before all repairs."""
    for part in fix.parts or (FixPart(fix.title, fix.edits[0].span.path, fix.notes),):
        old, new = before[part.path], now[part.path]
        title, *notes = (in_old_lines(text, old, new) for text in (part.title, *part.notes))
        yield FixPart(title, part.path, tuple(notes))


def _named(fix: Fix, before: str, now: str) -> Fix:
    """The repair with the lines of the text before all repairs in its words."""
    title, *notes = (in_old_lines(text, before, now) for text in (fix.title, *fix.notes))
    return replace(fix, title=title, notes=tuple(notes))


def _is_exact(fix: Fix, texts: Mapping[str, str]) -> bool:
    """Whether an edit leaves alone the bytes that are not UTF-8, which the analysis has not seen."""
    for edit in fix.edits:
        old = texts.get(edit.span.path, "")
        if not old.isascii():
            replaced = _bytes(old)[edit.span.start_offset : edit.span.end_offset].decode("utf-8", "surrogateescape")
            if replaced != plain(replaced):
                return False
    return True


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _readable(paths: Iterable[str], texts: dict[str, str], before: dict[str, str]) -> bool:
    """Load files that edits touch and that were not named; False when one cannot be edited."""
    for path in paths:
        if path not in texts:
            read = inputs.read(Path(path))
            if read.text is None:
                return False
            texts[path] = before[path] = read.text
    return True


def compatible(unit: UnitResult, fixes: Iterable[Fix]) -> list[Fix]:
    """Repairs that go together and need not be asked for: one for each kernel, none touching another's text."""
    kernel_of = {f.group: k.span for k in unit.kernels for c in k.contexts for f in c.findings}
    chosen: list[Fix] = []
    taken: set[object] = set()
    for fix in fixes:
        kernels = {kernel_of.get(group) for group in fix.groups}
        overlaps = any(_overlap(a, b) for other in chosen for a in fix.edits for b in other.edits)
        if fix.applies_unasked and not kernels & taken and not overlaps:
            chosen.append(fix)
            taken |= kernels
    return chosen


def _overlap(a: TextEdit, b: TextEdit) -> bool:
    return (
        a.span.path == b.span.path
        and a.span.start_offset <= b.span.end_offset
        and b.span.start_offset <= a.span.end_offset
    )


def apply(text: str, edits: Sequence[TextEdit]) -> str:
    """The text with edits made, which do not overlap."""
    data = _bytes(text)
    for edit in sorted(edits, key=lambda edit: edit.span.start_offset, reverse=True):
        data = data[: edit.span.start_offset] + edit.new_text.encode() + data[edit.span.end_offset :]
    return data.decode("utf-8", "surrogateescape")


def diff(path: str, old: str, new: str, style: Style) -> str:
    """A unified diff that `patch -p1` takes: where the command ran, or with `-d /` for a file elsewhere."""
    name = shown(path).lstrip("/")
    lines = difflib.unified_diff(lines_of(old), lines_of(new), f"a/{name}", f"b/{name}", n=3)
    return "".join(
        _painted(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n", style) for line in lines
    )


def _print(text: str, out: TextIO) -> None:
    """Bytes that are not UTF-8 come out as they went in."""
    try:
        out.write(text)
    except UnicodeEncodeError:
        out.flush()
        out.buffer.write(_bytes(text))


def _painted(line: str, style: Style) -> str:
    roles: dict[str, Role] = {"+": "added", "-": "removed", "@": "hunk"}
    role = "strong" if line.startswith(("+++", "---")) else roles.get(line[0])
    return style.paint(role, line[:-1]) + "\n" if role else line


def together(repaired: Iterable[Repaired], changed: Collection[str]) -> list[list[str]]:
    """The changed files in groups that are right only as a whole: those that one repair edits, and those that a unit
    was proved with."""
    found: list[set[str]] = [{path} for path in changed]
    for result in repaired:
        edited = {edit.span.path for fix in result.applied for edit in fix.edits}
        used = edited | {result.unit.path, *result.unit.dependencies}
        joined = [group for group in found if group & used]
        found = [group for group in found if not group & used]
        found += [set[str]().union(*joined)] if joined else []
    return sorted(sorted(group) for group in found)


def write(files: Mapping[str, tuple[str, str]]) -> None:
    """Replace the texts of files (old, new), of all or of none, keeping modes and byte order marks. Raises `OSError`,
    which names the file that could not be replaced."""
    contents: dict[str | Path, bytes] = {}
    for path, (old, new) in files.items():
        data = Path(path).read_bytes()
        mark = data[: len(data) - len(_bytes(old))]
        if data != mark + _bytes(old):
            raise OSError(errno.EBUSY, "it has changed meanwhile", path)
        contents[path] = mark + _bytes(new)
    replace_files(contents)


def _tell_unwritten(paths: Sequence[str], error: OSError, err: TextIO) -> None:
    at = error.filename if error.filename in paths else paths[0]
    print(f"{shown(at)}: not written: {error.strerror or error}", file=err)
    for path in paths:
        if path != at:
            print(f"{shown(path)}: not written: its repair needs that of {shown(at)}", file=err)


def _tell(result: Repaired, err: TextIO) -> None:
    name = shown(result.unit.path)
    if result.unit.failure is not None:
        print(f"{name}: not analysed: {result.unit.failure.text}", file=err)
    for part in (part for fix in result.applied for part in fix.parts):
        print(f"{shown(part.path)}: {part.title}", file=err)
        for note in part.notes:
            print(f"  {from_here(note)}", file=err)
    for fix in result.left:
        print(f"{name}: not applied, it is yours to choose: {fix.title}", file=err)
    for line in result.refused:
        print(printable(from_here(line)), file=err)
    left = kernel_counts([result.judged])
    remaining = [f"{left[verdict]} {verdict.value}" for verdict in sorted(DEFAULT_FAIL_ON) if left[verdict]]
    if remaining:
        print(f"{name}: left: {', '.join(remaining)}", file=err)
