"""Comments at barriers that a repair puts elsewhere: they go where these go.

Takes a text with barriers that are taken out, gives what stands above them and behind them; takes the text of a trial
and what stood at the barriers that its own stand for, gives the text with that at them. No code changes, so nothing has
to be proved once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from analyzers.frontend.blanking import blanked
from analyzers.frontend.gaps import Statement
from quickfix.edits import Layout, barriers_in, is_own
from quickfix.paths import Key
from quickfix.session import Trial
from quickfix.verify import EditedFile, Files


@dataclass(frozen=True, slots=True)
class Comments:
    """Those of a statement that has its line to itself."""

    above: tuple[bytes, ...] = ()
    """The lines directly above it that have nothing else in them, without its own indentation."""
    behind: bytes = b""
    """What follows in its line, with the blanks in front."""
    start: int = -1
    """Where those above begin in the text."""


def comments_at(layout: Layout, statement: Statement) -> Comments:
    """Those that are about a statement, as far as their places tell."""
    text, line = layout.text, layout.text.find(b"\n", statement.end)
    behind = statement.end, line if line >= 0 else len(text)
    if not layout.is_first(statement.start) or not is_own(layout, *behind):
        return Comments()
    indentation, end = layout.indentation(statement.start), layout.line_start(statement.start)
    above: list[bytes] = []
    while _is_comment(layout, start := layout.line_start(end - 1), end):
        above.insert(0, text[start:end].removeprefix(indentation).rstrip())
        end = start
    if not above or layout.indentation(end) != indentation or not above[0].startswith((b"//", b"/*")):
        above = []  # it begins behind code, or goes on with what is said there
    return Comments(tuple(above), text[slice(*behind)].rstrip(), end + len(indentation))


def _is_comment(layout: Layout, start: int, end: int) -> bool:
    """Whether a line has nothing but comments, or parts of one, in it, and steers nothing."""
    line = layout.text[start:end].strip()
    steers = line.startswith(b"#") or line.endswith(b"\\") or b"cuda-lsp:" in line
    return start < end and bool(line) and not steers and not layout.code[start:end].strip()


def with_comments(trial: Trial, whole: Files, comments: Mapping[Key, Comments]) -> dict[str, EditedFile]:
    """The files as they are to be. `whole`: the edit that ends with the trial, from the text that the places of
    comments are of; `comments`: by the gap of a barrier."""
    found = dict(whole)
    for path, file in trial.files.items():
        placed = barriers_in(trial.changes.get(path, ()))
        barriers = sorted((at, end, comments[gap]) for at, end, gap in placed if gap in comments)
        rows = [_Row(line) for line in file.after.split(b"\n")]
        moved = [[rows[number] for number in _lines(file.after, whole[path], own)] for _, _, own in barriers]
        lines = [rows[file.after.count(b"\n", 0, at)] for at, _, _ in barriers]
        text = file.after
        for _, end, of_barrier in reversed(barriers):
            text = _behind(text, end, of_barrier.behind)
        for row, line in zip(rows, text.split(b"\n"), strict=True):
            row.line = line
        for barrier, own in zip(lines, moved, strict=True):
            _move_above(rows, barrier, own)
        text = b"\n".join(row.line for row in rows)
        if blanked(text).split() == blanked(file.after).split():
            found[path] = replace(whole[path], after=text)
    return found


@dataclass(eq=False, slots=True)
class _Row:
    """A line of a text, wherever it is moved."""

    line: bytes


def _lines(text: bytes, whole: EditedFile, comments: Comments) -> range:
    """The numbers of the lines in which comments stand now; none where they are not there as they were."""
    said, at = [line.strip() for line in comments.above], 0
    lines = text.split(b"\n")
    for number, line in enumerate(lines):
        here, rest = at + len(line) - len(line.lstrip()), lines[number : number + len(said)]
        if said and [each.strip() for each in rest] == said and whole.offsets.old(here) == comments.start:
            return range(number, number + len(said))
        at += len(line) + 1
    return range(0)


def _move_above(rows: list[_Row], barrier: _Row, moved: Sequence[_Row]) -> None:
    """Take lines from where they are to above the line of a barrier."""
    if not moved:
        return
    indentation, old = _indentation(barrier.line), _indentation(moved[0].line)
    for row in moved:
        rows.remove(row)
        row.line = indentation + (row.line.removeprefix(old) if row.line.startswith(old) else row.line.lstrip())
    at = rows.index(barrier)
    rows[at:at] = moved


def _indentation(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip())]


def _behind(text: bytes, end: int, comment: bytes) -> bytes:
    """The text with a comment behind the statement that ends at an offset. One that lasts to the end of its line stays
    out where code follows in it."""
    line = text.find(b"\n", end)
    rest = text[end : line if line >= 0 else len(text)].strip()
    return text[:end] + comment + text[end:] if comment and (not rest or b"//" not in comment) else text
