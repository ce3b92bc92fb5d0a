"""The result of a run under the race detector, for people."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace

from analyzers.coordinates import written
from analyzers.model import Finding, Verdict
from cuda_lsp.cli.terminal import Role, Style
from cuda_lsp.running.confirmation import rest_of
from cuda_lsp.running.wording import stuck
from gpu_runner.request import Place, RunAccess, RunFault, RunRace, RunResult
from gpu_runner.shown import memory_of

_UNABLE = frozenset({"unsupported", "launch", "compile", "compiler", "device", "memory", "crash", "internal"})

_WAITING = 8
"""Places at which threads wait that are told."""
_PASSED = (
    "A barrier does not wait for threads that have ended: where those that miss it run to the end of the kernel, it "
    "lets the others pass, here as on most GPUs. CUDA does not promise it (cuda-lsp docs barrier-divergence)."
)


def is_unable(result: RunResult) -> bool:
    """Whether the kernel could not be run."""
    return result.status in _UNABLE


def is_bad(result: RunResult) -> bool:
    """Whether something is wrong with the kernel."""
    return bool(result.faults) or result.status == "deadlock" or any(not race.same_value for race in result.races)


def is_cut_short(result: RunResult) -> bool:
    """Whether no run came to its end, so that what was not seen says nothing."""
    return result.status == "time" and result.ended == 0


def text_of(result: RunResult, shown_path: str, source: list[str], style: Style) -> str:
    """The findings, each with its threads and source lines, and a last line that sums up."""
    result = replace(result, races=_merged(result.races))
    return "\n".join(_lines(result, shown_path, source, style)) + "\n"


def confirmed_text(
    finding: Finding, result: RunResult, seen: RunResult | None, path: str, source: list[str], style: Style
) -> str:
    """Whether a run confirms a finding: what showed it (`seen`), or all that happened."""
    head = f"{path}:{finding.span.line}: {finding.code.value}: {finding.message}"
    verdict = style.paint("error", "confirmed") if seen is not None else f"not confirmed in {_runs(result)}"
    if seen is None and result.runs == 0:
        verdict = "not run"
    elif seen is None and result.is_met:
        verdict += ": the accesses met, and wrote the same value each time"
    if seen is None:
        body = list(_lines(result, path, source, style))
        if finding.code is Verdict.BARRIER_DIVERGENCE and result.status == "finished":
            body.insert(0, _PASSED)
    else:
        shown = replace(seen, races=seen.races[:1], printed="")
        body = [*_lines(shown, path, source, style, with_summary=False)]
        body += _beside(rest_of(result, seen), path, source, style)
        body.append(_summary(result))
    return f"{style.paint('strong', head)}\n{verdict}\n" + "".join(f"  {line}\n" for line in body)


def _beside(rest: RunResult, path: str, source: list[str], style: Style) -> Iterator[str]:
    """What was seen in the same runs, a line each."""

    def told(access: RunAccess) -> str:
        text = _accessed(access.places[0], path, source) if access.places else ""
        return f"{text}at {_where(access, path)}" if text else _where(access, path)

    texts = [f"{told(r.second)} and {told(r.first)}: {_head(r)}" for r in sorted(rest.races, key=_place_of)]
    texts += [f"{_where(fault.access, path)}: {fault.text}" for fault in rest.faults]
    if texts:
        yield style.paint("faint", "seen in the same runs:")
        yield from (f"    {text}" for text in dict.fromkeys(texts))


def _head(race: RunRace) -> str:
    what = "benign race" if race.same_value else "data race"
    return f"{race.scope} {what} on {race.space} {race.address}"


def opinion_text(tool: str, result: RunResult, path: str, source: list[str], style: Style) -> str:
    """What a tool of ``compute-sanitizer`` said, indented below its name."""
    name = style.paint("strong", f"compute-sanitizer, {tool}:")
    lines = list(_lines(result, path, source, style, with_summary=False))
    if result.status == "finished":
        lines += [style.paint("faint", line) for line in result.details]
        lines.append(_seen(result) + " in 1 run")
    return "".join(f"{line}\n" for line in (name, *(f"  {line}" for line in lines)))


def in_own_files(result: RunResult, files: Container[str]) -> RunResult:
    """A result in which what stands in the toolkit's headers, such as the body of an atomic, is where they were called
    from these files."""

    def own(access: RunAccess) -> RunAccess:
        first = next((n for n, place in enumerate(access.places) if place.path in files), 0)
        return replace(access, places=access.places[first:])

    return replace(
        result,
        races=tuple(replace(race, first=own(race.first), second=own(race.second)) for race in result.races),
        faults=tuple(
            replace(fault, access=own(fault.access), other=own(fault.other) if fault.other is not None else None)
            for fault in result.faults
        ),
        waiting=tuple(map(own, result.waiting)),
    )


def _merged(races: Iterable[RunRace]) -> tuple[RunRace, ...]:
    """One race for all that look the same (sides, memory, and the threads' relation), as those of the instructions of a
    function in a header do."""
    found: dict[object, RunRace] = {}
    for race in races:
        sides = sorted(((side.places, side.kind) for side in (race.first, race.second)), key=str)
        key = (*sides, race.scope, race.same_value, memory_of(race.address))
        known = found.get(key)
        found[key] = race if known is None else replace(known, count=known.count + race.count)
    return tuple(found.values())


def _lines(
    result: RunResult, path: str, source: list[str], style: Style, *, with_summary: bool = True
) -> Iterator[str]:
    for race in sorted(result.races, key=_place_of):
        yield from _race(race, path, source, style)
    for fault in result.faults:
        yield from _fault(fault, path, source, style)
    if result.printed:
        yield style.paint("faint", "output of the kernel:")
        yield from (f"    {line}" for line in result.printed.rstrip("\n").split("\n")[:40])
    for access in result.waiting[:_WAITING]:
        yield f"{_where(access, path)}: {stuck(access)}"
        yield from _text_and_calls(access, path, source)
    if len(result.waiting) > _WAITING:
        yield f"    and others in {len(result.waiting) - _WAITING} more places"
    if result.status != "finished":
        yield style.paint("error", f"{result.status}: {result.message}")
        yield from (f"    {line}" for line in result.details)
    for text in result.inputs:
        yield style.paint("faint", f"with {text}")
    if with_summary and not is_unable(result):
        yield _summary(result)


def _place_of(race: RunRace) -> list[int]:
    return [access.places[0].line if access.places else 0 for access in (race.first, race.second)]


def _race(race: RunRace, path: str, source: list[str], style: Style) -> Iterator[str]:
    role: Role = "information" if race.same_value else "error"
    yield f"{_where(race.second, path)}: {style.paint(role, _head(race))}"
    for access in (race.second, race.first):
        yield from _access(access, path, source)
    same = ", both write the same value" if race.same_value else ""
    times = "once" if race.count == 1 else f"{race.count} times"
    yield style.paint("faint", f"    seen {times}{same}")


def _fault(fault: RunFault, path: str, source: list[str], style: Style) -> Iterator[str]:
    yield f"{_where(fault.access, path)}: {style.paint('error', fault.text)}"
    for access in (fault.access, fault.other):
        if access is not None:
            yield from _access(access, path, source)


def _access(access: RunAccess, path: str, source: list[str]) -> Iterator[str]:
    accessed = _accessed(access.places[0], path, source) if access.places else ""
    yield f"    {accessed}{_VERBS.get(access.kind, 'ran')} by {_thread(access)} at {_where(access, path)}"
    yield from _text_and_calls(access, path, source)


def _text_and_calls(access: RunAccess, path: str, source: list[str]) -> Iterator[str]:
    if access.places and (line := _text(access.places[0], path, source)):
        yield f"        {line}"
    for place in access.places[1:]:
        yield f"        called from {_shown(place, path)}"


_VERBS = {"read": "read", "write": "written", "atomic": "atomic access", "barrier": "reached"}


def _text(place: Place, path: str, source: list[str]) -> str:
    ours = place.path.endswith(path) or path.endswith(place.path)
    return source[place.line - 1].strip() if ours and 0 < place.line <= len(source) else ""


def _accessed(place: Place, path: str, source: list[str]) -> str:
    """The access as it is written, where that is known and in one line."""
    if not place.marks or not _text(place, path, source):
        return ""
    mark = place.marks[0]
    line = source[place.line - 1].encode("utf-8", "surrogateescape")[mark.column - 1 :]
    return f"`{line[: mark.length].decode('utf-8', 'replace')}` " if mark.length <= len(line) else ""


def _thread(access: RunAccess) -> str:
    return f"thread {written(access.thread)} of block {written(access.block)}"


def _where(access: RunAccess, path: str) -> str:
    return _shown(access.places[0], path) if access.places else path


def _shown(place: Place, path: str) -> str:
    return f"{path if place.path.endswith(path) else place.path}:{place.line}"


def _summary(result: RunResult) -> str:
    speed = f"{result.accesses:,} records in {result.seconds:.2f} s"
    where = f", on {result.device}" if result.device else ""
    return f"{_seen(result)} in {_runs(result)} ({speed}, compiled by {result.compiler}{where})"


def _runs(result: RunResult) -> str:
    """How many there were, and how many of them came to an end where not all did."""
    runs = "1 run" if result.runs == 1 else f"{result.runs} runs"
    if result.ended == result.runs or result.status == "deadlock":
        return runs
    if result.runs == 1:
        return f"{runs}, which did not come to its end"
    return f"{runs}, of which {result.ended or 'none'} came to {'its end' if result.ended == 1 else 'an end'}"


def _seen(result: RunResult) -> str:
    races = sum(not race.same_value for race in result.races)
    benign = len(result.races) - races
    found = f"{races} race{'s' * (races != 1)}" if races else "no race seen"
    if benign and not races:
        found = f"{benign} benign race{'s' * (benign != 1)}"
    return found + (f", {len(result.faults)} other finding{'s' * (len(result.faults) != 1)}" if result.faults else "")
