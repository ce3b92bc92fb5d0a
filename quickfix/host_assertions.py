"""Assertions in host code: a kernel that is right whenever sizes meet a relation which no host code in sight states.

Takes a session and a group of races that all would be gone under such relations (`Finding.relations`), gives the edit
that asserts them in front of each launch concerned, with the check that the host file uses already, or `assert`. It is
accepted when a check of the edited host code proves the kernel. An assertion changes what the program does when it
fails, so it is a choice and never applied with others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.lexical import source_bytes
from analyzers.hostguide.asserted import is_assertion
from analyzers.ir.context import LaunchContext
from analyzers.model import Fix, FixRefusal, SourceSpan
from quickfix.edits import Change, Layout, OffsetMap, apply
from quickfix.includes import COMMENT, DIRECTIVE, included
from quickfix.session import Session
from quickfix.verify import RACES, EditedFile
from quickfix.wording import edits_of_files, pair_in_words

_MOST_LAUNCHES: Final = 8
"""Launches in front of which one repair asserts."""
_CHECKS: Final = 2
"""Checks of the project that are tried before `assert`."""
_STANDARD: Final = "assert"
_CALL: Final = re.compile(rb"(?<=[;{}])\s*(?P<name>[A-Za-z_]\w*)\s*(?P<open>\()")
_MULTIPLE: Final = re.compile(r"(.+) % (\d+) == 0")
_PLAIN: Final = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*")
"""Arguments that may be evaluated once more: names and members."""
_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:#\d+)?")
_PRAGMA: Final = re.compile(rb"#[ \t]*pragma\b|\b_Pragma\b")
_COMPARISON: Final = re.compile(rb"[=!]=|(?<![-<])[<>](?![<>])")
_LAUNCHED: Final = re.compile(rb">>>\s*\(")
_CLOSING: Final = {b")": b"(", b"]": b"[", b"}": b"{"}


def relations_of(kernels: Iterable[KernelAnalysis], group: str) -> dict[SourceSpan, dict[str, None]] | None:
    """The conditions to assert, by launch; None where some race of the group is not settled by any."""
    found: dict[SourceSpan, dict[str, None]] = {}
    for analysis in kernels:
        for context, result in zip(analysis.contexts, analysis.result.contexts, strict=True):
            for finding in result.findings:
                if finding.group != group or finding.code not in RACES:
                    continue
                if not finding.relations or result.launch.source != "launch" or result.launch.span is None:
                    return None
                wanted = found.setdefault(result.launch.span, {})
                wanted.update(dict.fromkeys(_as_passed(r, analysis, context) for r in finding.relations))
    return found or None


def _as_passed(relation: str, analysis: KernelAnalysis, context: LaunchContext) -> str:
    """The relation with `@name@` for what the launch passes as the parameter `name` of the kernel."""
    names = {str(value.value).rsplit(":", 1)[-1]: s for s, value in context.bindings if value.op == "sym"}
    parameters = {f"param:{p.name}": p.name for p in analysis.kernel.parameters}

    def passed(match: re.Match[str]) -> str:
        symbol = names.get(match.group())
        parameter = parameters.get(str(symbol.value)) if symbol is not None else None
        return f"@{parameter}@" if parameter is not None else match.group()

    return _NAME.sub(passed, relation)


def asserted_by_host(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """The choice; the reason where a launch leaves no place for an assertion; None where there is no relation, or no
    proof with it. Raises `SearchSpentError`."""
    wanted = relations_of(kernels, group)
    if wanted is None or len(wanted) > _MOST_LAUNCHES:
        return None
    parameters = {span: names for a in kernels for span in wanted for names in [_declared(a, span)] if names}
    for check in _checks(session, wanted):
        edits: dict[str, list[Change]] = {}
        said: dict[str, None] = {}
        for span, relations in sorted(wanted.items()):
            text = text_of(session, span.path)
            if text is None:
                return None
            condition = _written(text, span, relations, parameters.get(span, ()))
            if condition is None:
                return _unchecked(span, "passes more than names", group)
            change = _in_front(text, span, condition, check)
            if change is None:
                return _unchecked(span, "is no statement of its own in braces", group)
            said[condition] = None
            edits.setdefault(span.path, []).append(change)
        fix = _tried(session, kernels, group, edits, check, tuple(said), sorted(wanted))
        if fix is not None:
            return fix
    return None


def _unchecked(launch: SourceSpan, why: str, group: str) -> FixRefusal:
    return FixRefusal(f"No check on the host is offered: the launch in line {launch.line} {why}.", group)


def _declared(analysis: KernelAnalysis, span: SourceSpan) -> tuple[str, ...]:
    """The names of a kernel's parameters in order, if the launch is one of this kernel."""
    launched = any(c.launch.span == span for c in analysis.result.contexts)
    return tuple(name for name, _ in analysis.result.parameters) if launched else ()


def text_of(session: Session, path: str) -> bytes | None:
    """The text of a file that was checked: of the unit, of its program, or of an open document."""
    request = session.request
    if path == request.path:
        return source_bytes(request.text)
    for file in request.program.files:
        if file.path == path:
            return source_bytes(request.unsaved.get(path, file.text))
    if path in request.unsaved:
        return source_bytes(request.unsaved[path])
    return session.trees.texts.get(path)


def _written(text: bytes, span: SourceSpan, relations: Iterable[str], parameters: Sequence[str]) -> str | None:
    """The conditions with the arguments of the launch in them; None where one is more than a name."""
    arguments = _arguments(text, span)
    found: list[str] = []
    for relation in relations:
        for parameter in re.findall(r"@([^@]+)@", relation):
            head, _, member = parameter.partition(".")
            at = parameters.index(head) if head in parameters else len(arguments)
            argument = arguments[at].strip() if at < len(arguments) else ""
            if not _PLAIN.fullmatch(argument):
                return None
            relation = relation.replace(f"@{parameter}@", f"{argument}.{member}" if member else argument)
        found.append(relation)
    return " && ".join(_not_implied(dict.fromkeys(found)))


def _not_implied(conditions: Iterable[str]) -> list[str]:
    """Conditions without the multiples that another one implies: of ``w % 2 == 0`` and ``w % 4 == 0`` the second."""
    multiples = {c: (m[1], int(m[2])) for c in conditions if (m := _MULTIPLE.fullmatch(c))}

    def is_implied(condition: str) -> bool:
        size, divisor = multiples.get(condition, ("", 0))
        return any(size == other and n > divisor > 0 and n % divisor == 0 for other, n in multiples.values())

    return [c for c in conditions if not is_implied(c)]


def _arguments(text: bytes, span: SourceSpan) -> list[str]:
    """The arguments of a launch as they are written."""
    code = Layout(text).code
    opened = _LAUNCHED.search(code, span.start_offset, span.end_offset)
    if opened is None:
        return []
    depth, start = 0, opened.end()
    found: list[str] = []
    for at in range(start, span.end_offset):
        sign = code[at : at + 1]
        if sign in (b"(", b"[", b"{"):
            depth += 1
        elif sign in (b")", b"]", b"}"):
            depth -= 1
        if depth < 0 or (sign == b"," and depth == 0):
            found.append(text[start:at].decode("utf-8", "replace"))
            start = at + 1
        if depth < 0:
            break
    return found


# --- which check ----------------------------------------------------------------------------------------------


def _checks(session: Session, wanted: Iterable[SourceSpan]) -> Iterator[tuple[str, bool]]:
    """(name, whether it takes a message): the checks that host code in these files makes, the nearest first, then
    `assert`."""
    near: dict[tuple[str, bool], int] = {}
    for span in wanted:
        code = Layout(text_of(session, span.path) or b"").code
        for match in _CALL.finditer(code):
            name = match["name"].decode()
            message = _takes_message(code, match.start("open"))
            if name != _STANDARD and is_assertion(name) and message is not None:
                distance = abs(match.start("name") - span.start_offset)
                each = name, message
                near[each] = min(near.get(each, distance), distance)
    yield from sorted(near, key=lambda each: near[each])[:_CHECKS]
    if not any(_is_switched_off(text_of(session, span.path) or b"") for span in wanted):
        yield _STANDARD, False


def _is_switched_off(text: bytes) -> bool:
    """The file itself says that `assert` is to do nothing."""
    found = [m for m in DIRECTIVE.finditer(COMMENT.sub(b" ", text)) if re.match(rb"NDEBUG\b", m["rest"])]
    return any(m["word"] == b"define" for m in found) and found[-1]["word"] != b"undef"


def _takes_message(code: bytes, opening: int) -> bool | None:
    """Whether a call has a second argument, a text; None where the first one compares nothing (it may be a status, of
    which zero is success) or the second one is something else."""
    depth, first, at = 0, b"", opening
    for at in range(opening, len(code)):
        sign = code[at : at + 1]
        depth += (sign in (b"(", b"[", b"{")) - (sign in (b")", b"]", b"}"))
        if depth == 0 or (sign == b"," and depth == 1):
            first = code[opening + 1 : at]
            break
    if not _COMPARISON.search(first):
        return None
    if depth == 0:
        return False
    return True if code[at + 1 :].lstrip().startswith(b'"') else None


# --- where ----------------------------------------------------------------------------------------------------


def _in_front(text: bytes, span: SourceSpan, condition: str, check: tuple[str, bool]) -> Change | None:
    """The assertion in front of the statement of a launch; None in what a macro takes, under a head without braces, and
    in a directive."""
    layout = Layout(text)
    code = _without_directives(layout.code)
    if not code[span.start_offset : span.end_offset].strip():
        return None  # written by a macro of this file
    begin = max(code.rfind(sign, 0, span.start_offset) for sign in (b";", b"{", b"}")) + 1
    if begin == 0 or _is_in_brackets(code, begin):
        return None
    start = begin + len(code[begin:]) - len(code[begin:].lstrip())
    if start != span.start_offset or _PRAGMA.search(text, begin, start):
        return None  # under a head or an operator, which may keep the launch from being made, or a pragma
    name, message = check
    said = f', "{condition}"' if message else ""
    written = f"{name}({condition}{said});".encode()
    rest = layout.newline + layout.indentation(start) if layout.is_first(start) else b" "
    return Change(start, start, written + rest)


def _without_directives(code: bytes) -> bytes:
    """The same with blanks for preprocessor lines and those that continue them."""
    lines = code.split(b"\n")
    inside = False
    for i, line in enumerate(lines):
        directive = inside or line.lstrip().startswith(b"#")
        inside = directive and line.rstrip().endswith(b"\\")
        if directive:
            lines[i] = b" " * len(line)
    return b"\n".join(lines)


def _is_in_brackets(code: bytes, at: int) -> bool:
    """Whether a place is inside of parentheses: in a head, or in what a call or a macro takes."""
    opened: list[bytes] = []
    for match in re.finditer(rb"[()\[\]{}]", code[:at]):
        sign = match.group()
        if sign in _CLOSING:
            if opened and opened[-1] == _CLOSING[sign]:
                opened.pop()
        else:
            opened.append(sign)
    return b"(" in opened


# --- proved ---------------------------------------------------------------------------------------------------


def _tried(
    session: Session,
    kernels: Sequence[KernelAnalysis],
    group: str,
    edits: dict[str, list[Change]],
    check: tuple[str, bool],
    conditions: Sequence[str],
    launches: Sequence[SourceSpan],
) -> Fix | None:
    files: dict[str, EditedFile] = {}
    for path, changes in edits.items():
        text = text_of(session, path) or b""
        include = included(text, b"cassert", b"assert.h") if check[0] == _STANDARD else None
        every = sorted([*changes, *([include] if include is not None else ())], key=lambda c: (c.start, c.end))
        files[path] = EditedFile(text, apply(text, every), OffsetMap(every))
    difference, gone = session.rechecked(files, sorted({a.kernel.name for a in kernels}))
    if not difference.is_clean or group not in gone:
        return None
    finding = next(f for a in kernels for c in a.result.contexts for f in c.findings if f.group == group)
    lines = sorted({span.line for span in launches})
    where = f"the launch in line {lines[0]}" if len(lines) == 1 else f"{len(lines)} launches"
    caveat = "; `assert` is off under NDEBUG" if check[0] == _STANDARD else ""
    elsewhere = sorted(files.keys() - {session.request.path})
    return Fix(
        title=f"Check {' and '.join(f'`{c}`' for c in conditions)} before {where} — without it "
        f"{pair_in_words(*finding.accesses[:2])} collide{caveat}",
        kind="assert-host",
        edits=edits_of_files(files),
        groups=tuple(sorted(gone)),
        cost="1 check on the host per launch",
        preferred=False,
        notes=tuple(f"Changes {path}." for path in elsewhere),
    )
