"""Comments at barriers that a repair puts elsewhere: they go where these go.

Takes a text with barriers that are taken out, gives what stands above them and behind them; takes the text of a trial
and what stood at the barriers that its own stand for, gives the text with that at them. No code changes, so nothing has
to be proved once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analyzers.frontend.blanking import blanked
from analyzers.frontend.gaps import Statement
from quickfix.edits import Layout, barrier_offsets, is_own
from quickfix.paths import Key
from quickfix.session import Trial


@dataclass(frozen=True, slots=True)
class Comments:
    """Those of a statement that has its line to itself."""

    above: tuple[bytes, ...] = ()
    """That have the lines directly above it to themselves, without the blanks around."""
    behind: bytes = b""
    """That follow it in its line, with the blanks in front."""


def comments_at(layout: Layout, statement: Statement) -> Comments:
    """Those that are about a statement, as far as their places tell."""
    behind = statement.end, layout.line_end(statement.end)
    if not layout.is_first(statement.start) or not is_own(layout, *behind):
        return Comments()
    above: list[bytes] = []
    lines = layout.text[: layout.line_start(statement.start)].splitlines()
    while lines and _is_comment(line := lines.pop().strip()):
        above.insert(0, line)
    return Comments(tuple(above), layout.text[slice(*behind)].rstrip())


def _is_comment(line: bytes) -> bool:
    """Whether a line is one comment that ends with it, and steers nothing."""
    if b"cuda-lsp:" in line or line.endswith(b"\\"):
        return False
    return line.startswith(b"//") or (line.startswith(b"/*") and line.find(b"*/") == len(line) - 2)


def with_comments(trial: Trial, comments: Mapping[Key, Comments]) -> dict[str, bytes]:
    """The edited texts by file. `comments`: by the gap of a barrier."""
    found: dict[str, bytes] = {}
    for path, file in trial.files.items():
        barriers = [
            (at, comments[gap]) for at, gap in barrier_offsets(trial.changes.get(path, ())).items() if gap in comments
        ]
        text = file.after
        for at, of_barrier in sorted(barriers, key=lambda barrier: barrier[0], reverse=True):
            text = _behind(text, at, of_barrier.behind)
        rows = [[line] for line in text.splitlines(keepends=True)]
        for row, of_barrier in [(rows[file.after.count(b"\n", 0, at)], own) for at, own in barriers]:
            _move_above(rows, row, of_barrier.above)
        text = b"".join(row[0] for row in rows)
        same = blanked(text).split() == blanked(file.after).split()
        found[path] = text if same else file.after
    return found


def _move_above(rows: list[list[bytes]], barrier: list[bytes], comments: Sequence[bytes]) -> None:
    """Take lines with comments from where they are, if that is one place, to above the line of a barrier."""
    count = len(comments)
    stripped = [row[0].strip() for row in rows]
    places = [i for i in range(len(rows) - count + 1) if stripped[i : i + count] == list(comments)] if count else []
    if len(places) != 1:
        return
    (line,) = barrier
    indentation, end = line[: len(line) - len(line.lstrip())], line[len(line.rstrip()) :]
    del rows[places[0] : places[0] + count]
    at = next(i for i, row in enumerate(rows) if row is barrier)
    rows[at:at] = [[indentation + comment + end] for comment in comments]


def _behind(text: bytes, at: int, comment: bytes) -> bytes:
    """The text with a comment behind the statement at an offset. One that lasts to the end of its line stays out where
    code follows in it."""
    end = text.index(b";", at) + 1
    line = text.find(b"\n", end)
    rest = text[end : line if line >= 0 else len(text)].strip()
    return text[:end] + comment + text[end:] if comment and (not rest or b"//" not in comment) else text
