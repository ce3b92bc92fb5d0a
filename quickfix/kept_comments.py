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
from quickfix.edits import Layout, barriers_in, is_own
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
    line = layout.text.find(b"\n", statement.end)
    behind = statement.end, line if line >= 0 else len(layout.text)
    if not layout.is_first(statement.start) or not is_own(layout, *behind):
        return Comments()
    above: list[bytes] = []
    end = layout.line_start(statement.start)
    while _is_comment(layout, start := layout.line_start(end - 1), end):
        above.insert(0, layout.text[start:end].strip())
        end = start
    # Else it begins behind code, or goes on with what is said there.
    whole = layout.indentation(end) == layout.indentation(statement.start) and layout.text.startswith(
        (b"//", b"/*"), end + len(layout.indentation(end))
    )
    return Comments(tuple(above) if whole else (), layout.text[slice(*behind)].rstrip())


def _is_comment(layout: Layout, start: int, end: int) -> bool:
    """Whether a line has nothing but comments, or parts of one, in it, and steers nothing."""
    line = layout.text[start:end].strip()
    steers = line.startswith(b"#") or line.endswith(b"\\") or b"cuda-lsp:" in line
    return start < end and bool(line) and not steers and not layout.code[start:end].strip()


def with_comments(trial: Trial, comments: Mapping[Key, Comments]) -> dict[str, bytes]:
    """The edited texts by file. `comments`: by the gap of a barrier."""
    found: dict[str, bytes] = {}
    for path, file in trial.files.items():
        placed = barriers_in(trial.changes.get(path, ()))
        barriers = sorted((at, end, comments[gap]) for at, end, gap in placed if gap in comments)
        text = file.after
        for _, end, of_barrier in reversed(barriers):
            text = _behind(text, end, of_barrier.behind)
        rows = [_Row(line) for line in text.split(b"\n")]
        above: dict[tuple[bytes, ...], list[_Row]] = {}
        for at, _, of_barrier in barriers:
            above.setdefault(of_barrier.above, []).append(rows[file.after.count(b"\n", 0, at)])
        for lines, own in above.items():
            _move_above(rows, own, lines)
        text = b"\n".join(row.line for row in rows)
        same = blanked(text).split() == blanked(file.after).split()
        found[path] = text if same else file.after
    return found


@dataclass(eq=False, slots=True)
class _Row:
    """A line of a text, wherever it is moved."""

    line: bytes


def _move_above(rows: list[_Row], barriers: Sequence[_Row], comments: Sequence[bytes]) -> None:
    """Take lines with comments from where they are to above the lines of barriers, if there are as many of both."""
    count = len(comments)
    stripped = [row.line.strip() for row in rows]
    places = [i for i in range(len(rows) - count + 1) if stripped[i : i + count] == list(comments)] if count else []
    if len(places) != len(barriers):
        return
    for moved, barrier in zip([rows[i : i + count] for i in places], barriers, strict=True):
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
