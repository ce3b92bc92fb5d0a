"""What a CUDA source says about itself, and whether an analysis agrees.

A comment at the end of a line states what must be found there; several statements are separated by `;`:

    s[t] = t;            // expect: data-race intra-block with +1, fix: yes
    __syncthreads();     // expect: barrier-divergence
    __global__ void k()  // expect: race-free, cites 12
    __global__ void k()  // expect: unknown(recursion)
    __global__ void k()  // expect: data-race at -9 with -7

A race stands at the first access of its pair in the source; `with` names the line of the other one, `at` another line
than the comment's own. Lines are absolute (`12`), relative to the comment (`+1`, `-9`), or `self`. The scope may be
left
out; `intra-block` covers `intra-warp`. `fix` says whether a repair is offered, `cites` which line a proof has to name.

A comment belongs to the kernel around it, or else to the next one below. What is found in a kernel must be what is
expected there, nothing more and nothing less. Where the analysis is known to fall short, `// today: … because …`
states
what it answers instead; the `expect` beside it stays the truth, and the test fails as soon as the two agree.

`check` is the only function of the corpus tests that touches the analysis.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

import quickfix
from analyzers.engine import Engine
from analyzers.frontend.flags import CompileFlags
from analyzers.hostguide.program import Program
from analyzers.model import CheckOptions, ContextResult, Finding, Fix, KernelResult, UnitResult, Verdict
from analyzers.requests import CheckRequest, UnitFinished
from cuda_lsp.workspace.program_index import ProgramIndex

RACES = frozenset({Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE, Verdict.BENIGN_RACE})
_SCOPES = ("intra-warp", "intra-block", "inter-block")

Place = tuple[Verdict, int, int | None]
"""A finding by its code, the line of its first access (or its barrier) and the line of the other access of a race."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the analysis says about a text."""

    unit: UnitResult
    has_fix: Callable[[str], bool]
    """Whether a repair is offered for a group of findings."""


@cache
def _engine() -> Engine:
    return Engine()


def check(text: str, path: str = "/corpus/unit.cu", options: CheckOptions | None = None, folder: str = "") -> Checked:
    """Check one text as if it were the file `path`: by itself, or as part of the program in a folder."""
    program = Program()
    if folder:
        program = ProgramIndex(folder).refresh({}).program(path, lambda _: CompileFlags())
    request = CheckRequest(path, text, options=options or CheckOptions(), program=program)
    unit = next(event.result for event in _engine().check(request) if isinstance(event, UnitFinished))

    def has_fix(group: str) -> bool:
        return isinstance(quickfix.fix_for(_engine(), request, group), Fix)

    return Checked(unit, has_fix)


class ExpectationError(ValueError):
    """An expectation that cannot be read, or a kernel without one."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One statement about one kernel."""

    verdict: Verdict
    line: int
    """Of the first access or the barrier; of the kernel for `race-free` and `unknown`."""
    other: int | None = None
    scope: str | None = None
    reason: str | None = None
    """The kind of an `unknown`."""
    fix: bool | None = None
    cites: int | None = None

    @property
    def place(self) -> Place:
        return self.verdict, self.line, self.other


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel of a corpus file and what is expected of it."""

    name: str
    first_line: int
    last_line: int
    expected: tuple[Expected, ...]
    """The truth."""
    today: tuple[Expected, ...] = ()
    """What the analysis answers instead, where it is known to fall short."""
    because: str = ""

    @property
    def is_race_free(self) -> bool:
        return all(e.verdict is Verdict.RACE_FREE for e in self.expected)


# --- reading --------------------------------------------------------------------------------------------------

_COMMENT = re.compile(r"//\s*(expect|today):\s*(.*)$")
_STATEMENT = re.compile(
    r"""(?P<verdict>[a-z-]+) (?: \((?P<reason>[a-z0-9-]+)\) )?
        (?: \s+ (?P<scope>intra-warp|intra-block|inter-block) )?
        (?: \s+ at \s+ (?P<at>[+-]?\d+) )?
        (?: \s+ with \s+ (?P<other>[+-]?\d+|self) )?
        (?P<options> (?: ,\s*(?:fix:\s*(?:yes|no)|cites\s+[+-]?\d+) )* )""",
    re.VERBOSE,
)
_KERNEL = re.compile(
    r"^[^/#\n]*?\b__global__\s+void\s+(?:__(?:launch_bounds|cluster_dims)__\([^)]*\)\s*)*(\w+)\s*\(", re.MULTILINE
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:.*\\\n)*.*", re.MULTILINE)
_MACRO_KERNEL = re.compile(r"^DEFINE_\w+\((\w+)", re.MULTILINE)
"""A kernel that a macro of the corpus writes."""


def cases(text: str) -> tuple[Case, ...]:
    """The kernels of a corpus file in source order; raises `ExpectationError` for one without an expectation."""
    lines = text.splitlines()
    comments = [
        (number, match[1], match[2]) for number, line in enumerate(lines, 1) if (match := _COMMENT.search(line))
    ]
    kernels = list(_kernels(text))
    if not kernels:
        raise ExpectationError("no kernel in the file")
    found: list[Case] = []
    for index, (name, first, last) in enumerate(kernels):
        after = kernels[index - 1][2] if index else 0
        mine = [comment for comment in comments if after < comment[0] <= last]
        truth = tuple(e for line, word, rest in mine if word == "expect" for e in _statements(rest, line))
        if not truth:
            raise ExpectationError(f"line {first}: the kernel {name} has no expectation")
        today, because = _today(mine)
        found.append(Case(name, first, last, truth, today, because))
    stray = [line for line, _, _ in comments if line > kernels[-1][2]]
    if stray:
        raise ExpectationError(f"line {stray[0]}: an expectation behind the last kernel")
    return tuple(found)


def _today(comments: list[tuple[int, str, str]]) -> tuple[tuple[Expected, ...], str]:
    today: list[Expected] = []
    reasons: list[str] = []
    for line, word, rest in comments:
        if word == "today":
            statements, separator, reason = rest.partition(" because ")
            if not separator:
                raise ExpectationError(f"line {line}: `today` without a reason (`because …`)")
            today += _statements(statements, line)
            reasons.append(reason.strip())
    return tuple(today), "; ".join(reasons)


def _statements(text: str, line: int) -> Iterator[Expected]:
    for part in text.split(";"):
        match = _STATEMENT.fullmatch(part.strip())
        if match is None:
            raise ExpectationError(f"line {line}: cannot read the expectation {part.strip()!r}")
        try:
            verdict = Verdict(match["verdict"])
        except ValueError:
            raise ExpectationError(f"line {line}: {match['verdict']!r} is no verdict") from None
        if (verdict in RACES) != (match["other"] is not None):
            raise ExpectationError(f"line {line}: `with` belongs to races, and to them only")
        at = _line(match["at"], line)
        other = at if match["other"] == "self" else _line(match["other"], line)
        fix = re.search(r"fix:\s*(yes|no)", match["options"])
        cites = re.search(r"cites\s+([+-]?\d+)", match["options"])
        yield Expected(
            verdict,
            min(at, other) if verdict in RACES else at,
            max(at, other) if verdict in RACES else None,
            match["scope"],
            match["reason"],
            fix[1] == "yes" if fix else None,
            _line(cites[1], line) if cites else None,
        )


def _line(written: str | None, here: int) -> int:
    if written is None:
        return here
    return here + int(written) if written[0] in "+-" else int(written)


def _kernels(text: str) -> Iterator[tuple[str, int, int]]:
    """(name, first line, last line) of the kernels defined in a text, declarations and instantiations left out."""
    text = _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line_of(offset: int) -> int:
        return bisect_right(starts, offset)

    found: list[tuple[str, int, int]] = []
    for match in _KERNEL.finditer(text):
        end = _end_of_body(text, match.end())
        if end is not None:
            found.append((match[1], line_of(match.start(1)), line_of(end)))
    found += [(match[1], line_of(match.start()), line_of(match.start())) for match in _MACRO_KERNEL.finditer(text)]
    yield from sorted(found, key=lambda kernel: kernel[1])


def _end_of_body(text: str, after_parenthesis: int) -> int | None:
    """The offset of the brace that closes the function whose parameter list has just opened; None for a
    declaration."""
    position, depth = after_parenthesis, 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
    rest = re.compile(r"\s*\{").match(text, position)
    if rest is None:
        return None
    position, depth = rest.end(), 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        position += 1
    return position - 1


# --- comparing ------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Found:
    """What the analysis says about one kernel, all its instances and contexts together."""

    verdict: Verdict
    findings: dict[Place, list[Finding]] = field(default_factory=dict[Place, list[Finding]])
    contexts: list[ContextResult] = field(default_factory=list[ContextResult])

    @property
    def reasons(self) -> set[str]:
        return {reason.kind for context in self.contexts for reason in context.reasons}


def place_of(finding: Finding) -> Place:
    lines = sorted(access.span.line for access in finding.accesses)
    return (finding.code, lines[0], lines[-1]) if finding.code in RACES else (finding.code, finding.span.line, None)


def found_in(unit: UnitResult) -> dict[int, Found]:
    """By line of the kernel's name."""
    table: dict[int, Found] = {}
    for kernel in unit.kernels:
        found = table.setdefault(kernel.span.line, Found(kernel.verdict))
        found.verdict = min(found.verdict, kernel.verdict, key=lambda verdict: verdict.rank)
        for context in kernel.contexts:
            found.contexts.append(context)
            for finding in context.findings:
                found.findings.setdefault(place_of(finding), []).append(finding)
    return table


def disagreements(case: Case, kernels: dict[int, Found]) -> list[str]:
    """What is wrong with the analysis of one kernel, in sentences; empty when all is as expected."""
    if case.today:
        if not _mismatches(case.expected, case, kernels):
            return [f"{case.name}: the limitation is gone ({case.because}); remove the `today` comment"]
        return _mismatches(case.today, case, kernels)
    return _mismatches(case.expected, case, kernels)


def _mismatches(expected: tuple[Expected, ...], case: Case, kernels: dict[int, Found]) -> list[str]:
    found = kernels.get(case.first_line)
    if found is None:
        return [f"{case.name} (line {case.first_line}): the kernel was not seen"]
    wrong: list[str] = []
    for e in expected:
        wrong += _mismatch(e, found)
    wanted = {e.place for e in expected}
    wrong += [
        f"unexpected {_show(place)}: {f[0].message}" for place, f in found.findings.items() if place not in wanted
    ]
    worst = min((e.verdict for e in expected), key=lambda verdict: verdict.rank)
    if all(e.verdict is not Verdict.UNKNOWN for e in expected) and found.reasons:
        texts = {f"{r.kind}: {r.text}" for context in found.contexts for r in context.reasons}
        wrong.append("unexpected unknown: " + "; ".join(sorted(texts)))
    if not wrong and found.verdict is not worst:
        wrong.append(f"the kernel's verdict is {found.verdict.value}, not {worst.value}")
    return [f"{case.name} (line {case.first_line}): {text}" for text in wrong]


def _mismatch(expected: Expected, found: Found) -> list[str]:
    """What is wrong about a single expectation, its fix left aside."""
    wrong: list[str] = []
    if expected.verdict is Verdict.UNKNOWN:
        if expected.reason is not None and expected.reason not in found.reasons:
            wrong.append(f"missing unknown({expected.reason}), found {sorted(found.reasons) or found.verdict.value}")
    elif expected.verdict is not Verdict.RACE_FREE:
        findings = found.findings.get(expected.place)
        if findings is None:
            wrong.append(f"missing {_show(expected.place)}")
        elif expected.scope is not None and not any(_covers(expected.scope, f.scope) for f in findings):
            wrong.append(f"{_show(expected.place)} is {findings[0].scope}, not {expected.scope}")
    if expected.cites is not None and expected.cites not in _cited(found):
        wrong.append(f"line {expected.cites} is not cited, only {sorted(_cited(found))}")
    return wrong


def fix_disagreements(case: Case, checked: Checked, kernels: dict[int, Found]) -> list[str]:
    """Repairs that are offered and should not be, or the other way round; missing findings are no concern here."""
    found = kernels.get(case.first_line)
    wrong: list[str] = []
    for e in case.today or case.expected:
        findings = found.findings.get(e.place, []) if found else []
        if e.fix is None or not findings:
            continue
        offered = any(checked.has_fix(group) for group in dict.fromkeys(f.group for f in findings))
        if offered != e.fix:
            wrong.append(f"{case.name}: {'no ' if e.fix else 'a '}repair is offered for {_show(e.place)}")
    return wrong


def _covers(wanted: str, actual: str | None) -> bool:
    return actual == wanted or (wanted == "intra-block" and actual == "intra-warp")


def _cited(found: Found) -> set[int]:
    return {fact.span.line for context in found.contexts for fact in context.facts if fact.span is not None}


def _show(place: Place) -> str:
    verdict, line, other = place
    return f"{verdict.value} on line {line}" + (f" with line {other}" if other is not None else "")


def unseen(known: tuple[Case, ...], unit: UnitResult) -> list[KernelResult]:
    """Kernels that the analysis found and no case speaks of."""
    lines = {case.first_line for case in known}
    return [kernel for kernel in unit.kernels if kernel.span.line not in lines]
