"""What is run of a kernel: the inputs that the user names, the witness of each finding, or else a launch that is known.

`outcomes` runs one after the other and gives each outcome as it comes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from analyzers.coordinates import written
from analyzers.model import Finding, Verdict
from analyzers.requests import CheckRequest
from cuda_lsp.cache import default_directory
from cuda_lsp.running import confirmation
from cuda_lsp.running.arguments import arguments_for
from cuda_lsp.running.fixtures import Fixture, parse_fixture
from gpu_runner import harness
from gpu_runner.request import (
    Argument,
    ArrayArgument,
    Dim3,
    Part,
    Recast,
    RecordArgument,
    Request,
    RunResult,
    ScalarArgument,
    SharedArgument,
    Variable,
)

if TYPE_CHECKING:
    from analyzers.explain import Launchable, MemObject

_FORWARDED: Final = ("-D", "-U", "-I", "-std", "--std")
_GRID: Final[Dim3] = (2, 1, 1)
_BLOCK: Final[Dim3] = (64, 1, 1)
"""Of a kernel of which nothing is known."""
DYNAMIC_SHARED: Final = 32 << 10
"""Bytes, where nobody says how many."""
_EXTERN_SHARED: Final = re.compile(r"\bextern\b[^;{}]*\b__shared__\b|\b__shared__\b\s*\bextern\b")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run, or all that were made for one finding."""

    title: str
    """What was run."""
    result: RunResult
    finding: Finding | None = None
    seen: RunResult | None = None
    """What of the result shows the finding's claim; None: nothing does."""
    request: Request | None = field(default=None, repr=False, compare=False)
    """The launch that was run, with arrays and contents as they were in the end."""

    @property
    def confirmed(self) -> bool:
        return self.seen is not None


def check_for_runs(request: CheckRequest, *, of_findings: bool) -> CheckRequest:
    """The check that runs begin with: no run is about barriers that order nothing. `of_findings`: its findings are run;
    where inputs are given, nothing is decided."""
    options = replace(request.options, redundancy=False)
    return replace(request, options=options if of_findings else replace(options, kernel_effort=0))


def base_request(
    launchable: Launchable,
    path: str,
    flags: Sequence[str],
    *,
    build: Literal["confirm", "shipped"] = "confirm",
    arch: int = 80,
    seeds: int = 4,
    seconds: float = 30.0,
    lock_step: bool = False,
    device: Literal["cpu", "gpu", "auto"] = "cpu",
) -> Request:
    """Everything but the launch. `flags` are those of the front end."""
    return Request(
        kernel=launchable.mangled,
        grid=(1, 1, 1),
        block=(1, 1, 1),
        names=tuple(name for name, _ in launchable.parameters),
        variables=tuple(_variable(one) for one in launchable.variables),
        source=launchable.text,
        plain=launchable.plain,
        path=path,
        build=build,
        arch=arch,
        flags=_compiler_flags(flags),
        instances=(launchable.instance or launchable.name,) if launchable.is_template else (),
        folder=str(default_directory()),
        seeds=tuple(range(seeds)),
        seconds=seconds,
        lock_step=lock_step,
        device=device,
    )


def _variable(one: MemObject) -> Variable:
    recast = tuple(Recast(cast.size, cast.align, cast.gaps, cast.offset) for cast in one.recast)
    return Variable(one.display or one.name, one.size, one.element, one.extents, one.gaps, recast)


def _compiler_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Those of the front end's flags that CUDA compilers know as well."""
    found: list[str] = []
    following = iter(flags)
    for flag in following:
        if flag in ("-D", "-U", "-I"):
            found.append(flag + next(following, ""))
        elif flag in ("-include", "-isystem", "-iquote"):
            value = next(following, "")
            found.append(f"-I{value}" if flag != "-include" else f"-include={value}")
        elif flag.startswith(_FORWARDED):
            found.append(flag)
    return tuple(found)


def fixtures(launchable: Launchable, path: str) -> tuple[Fixture, ...]:
    """The inputs that comments at the kernel name. Raises `ArgumentError`."""
    folder = str(Path(path).parent)
    return tuple(one for text in launchable.runs for one in parse_fixture(text, folder, launchable.name))


def findings(launchable: Launchable, group: str | None) -> list[Finding]:
    """Those that a run may confirm; `group`: only this one. What CUDA defines shows in no run."""
    found = [f for f in launchable.findings if group in (None, f.group)]
    return [f for f in found if f.witness is not None and f.code is not Verdict.BARRIER_AFTER_EXIT]


def outcomes(
    launchable: Launchable,
    base: Request,
    given: Sequence[str] = (),
    group: str | None = None,
    named: Sequence[Fixture] = (),
    shared: int | None = None,
) -> Iterator[Outcome]:
    """Run. `given`: arguments that hold for all runs; `group`: only what may confirm this finding; `named`: the inputs
    that the user names; `shared`: bytes of dynamic shared memory, where the user says so. Raises `ArgumentError`."""
    shown: list[Outcome] = []
    for fixture in named:
        outcome = _run(launchable, base, given, fixture, shared)
        shown.append(outcome)
        if group is None:
            yield outcome
    wanted = findings(launchable, group)
    ran = too_large = False
    for finding in wanted:
        known = [
            (one, seen)
            for one in shown
            if one.request is not None
            and (seen := confirmation.shown_of(finding, one.result, one.request, launchable.marks)) is not None
        ]
        if known:
            one, seen = known[0]
            yield Outcome(one.title, one.result, finding, seen, one.request)
            continue
        witness = finding.witness
        assert witness is not None
        title = f"grid {written(witness.grid)}, block {written(witness.block)}"
        bytes_of = dict(launchable.shared)
        size = shared if shared is not None else bytes_of.get(finding.group, DYNAMIC_SHARED)
        asked = replace(base, dynamic_shared=size)
        host = dict(launchable.numbers).get(finding.group, ())
        together = dict(launchable.together).get(finding.group, ())
        request, result, seen = confirmation.confirm(
            asked, launchable.parameters, given, finding, launchable.records, launchable.marks, host, together
        )
        ran |= result.runs > 0
        yield Outcome(title, result, finding, seen, launched(request, result))
        too_large = result.status in ("launch", "memory")
    if group is None and not shown and (not wanted or (too_large and not ran)):  # no witness that could be launched
        yield _run(launchable, base, given, Fixture(), shared)


def _run(launchable: Launchable, base: Request, given: Sequence[str], fixture: Fixture, shared: int | None) -> Outcome:
    grid, block, _, passed = next(iter(launchable.launches), (launchable.grid, _BLOCK, None, ()))
    grid, block = fixture.grid or grid or _GRID, fixture.block or block
    told = {text.partition("=")[0] for text in given if "=" in text}
    texts = [*(text for text in fixture.arguments if text.partition("=")[0] not in told), *given]
    host: list[str] = []
    if fixture.grid is None and fixture.block is None:
        host = confirmation.passed(launchable.parameters, launchable.records, passed, texts)
    texts = [*host, *texts]
    arguments, notes = arguments_for(launchable.parameters, texts, grid, block, launchable.records)
    notes += [f"{text.replace('=', ' = ')}, as in the host's launch" for text in host]
    size, said = shared_bytes(launchable, grid, block, fixture.shared if fixture.shared is not None else shared)
    if said:
        notes.append(f"shared: {said}")
    request = replace(
        base,
        grid=grid,
        block=block,
        arguments=arguments,
        dynamic_shared=size,
        seeds=base.seeds if fixture.seeds is None else tuple(range(fixture.seeds)),
        growing=confirmation.made_up(arguments, [name for name, _ in launchable.parameters], texts),
        shrinking=confirmation.made_up_numbers(arguments, [name for name, _ in launchable.parameters], texts),
    )
    result = harness.run(request)
    notes = smaller_numbers(notes, request, result)
    made_up = f" ({'; '.join(notes)})" if notes else ""
    title = (fixture.title or f"grid {written(grid)}, block {written(block)}") + made_up
    return Outcome(title, result, request=launched(request, result))


def smaller_numbers(notes: Sequence[str], request: Request, result: RunResult) -> list[str]:
    """What was made up, with the numbers that had to be smaller."""
    before, after = dict(_numbers(request, request.arguments)), dict(_numbers(request, result.arguments))
    told: list[str] = []
    for note in notes:
        name = note.partition(" = ")[0]
        old, new = before.get(name), after.get(name)
        is_other = None not in (old, new) and old != new
        told.append(f"{name} = {new:g}, as {old:g} is too large for a run" if is_other else note)
    return told


def larger_arrays(request: Request, result: RunResult) -> Iterator[str]:
    """The arrays that had to be larger, and how large they are now."""
    before = dict(_arrays(request, request.arguments))
    for name, count in _arrays(request, result.arguments):
        if count != before[name]:
            yield f"{name}: {count} elements, as accesses were outside of {before[name]}"


def _arrays(request: Request, arguments: Sequence[Argument]) -> Iterator[tuple[str, int]]:
    for part in _parts(request, arguments):
        if isinstance(part.argument, ArrayArgument):
            yield part.name, part.argument.count


def _numbers(request: Request, arguments: Sequence[Argument]) -> Iterator[tuple[str, float]]:
    for part in _parts(request, arguments):
        if isinstance(part.argument, ScalarArgument):
            yield part.name, part.argument.value


def _parts(request: Request, arguments: Sequence[Argument]) -> Iterator[Part]:
    """The arguments, those of class type by their parts."""
    for name, argument in zip(request.names, arguments, strict=False):
        if isinstance(argument, RecordArgument):
            yield from argument.parts
        elif not isinstance(argument, SharedArgument):
            yield Part(name, 0, argument)


def shared_bytes(launchable: Launchable, grid: Dim3, block: Dim3, told: int | None) -> tuple[int, str]:
    """The bytes of dynamic shared memory of a launch, and how to call them where nobody has `told` them: those of the
    host's launch of that size, where it says so, or else some for a kernel that has such memory."""
    if told is not None:
        return told, ""
    fitting = (size for g, b, size, _ in launchable.launches if b == block and g in (None, grid))
    known = next((size for size in fitting if size is not None), None)
    if known is not None:
        return known, f"{known} bytes, as in the host's launch" if known else ""
    if _EXTERN_SHARED.search(launchable.text) is None:
        return 0, ""
    return DYNAMIC_SHARED, f"{DYNAMIC_SHARED} bytes"


def launched(request: Request, result: RunResult) -> Request:
    """The launch that a result is of, without what was looked for."""
    return replace(
        request, arguments=result.arguments or request.arguments, growing=(), shrinking=(), goal=None, focus=()
    )
