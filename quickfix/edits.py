"""Text edits that insert and delete barrier statements without disturbing anything else.

Works on the bytes of one file and the statement trees of `analyzers.frontend.gaps`; gives `Change`s: small replacements
in which only blanks are ever replaced, so that every place of the old text that holds code has a place in the new one.
Indentation, line ends, comments and preprocessor lines stay; a body without braces gets them.
"""

from __future__ import annotations

import bisect
import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzers.frontend.blanking import blanked, next_visible
from analyzers.frontend.gaps import Body, FunctionTree, Gap, Statement, Step
from analyzers.frontend.plain import UNKNOWN_TEST
from analyzers.model import SourceSpan, TextEdit
from quickfix.negation import opposite

BARRIER: Final = b"__syncthreads();"
WARP_BARRIER: Final = b"__syncwarp();"
FENCE: Final = b"__threadfence();"
GRID_BARRIER: Final = b"cooperative_groups::this_grid().sync();"
WARP_CALL: Final = "__syncwarp"
"""What the barrier of a warp calls."""


@dataclass(frozen=True, slots=True)
class Change:
    """Replace the bytes from `start` to `end` by `text`."""

    start: int
    end: int
    text: bytes
    gap: tuple[str, int, int] | None = None
    """`Gap.key` of the barrier in `text`, if there is one."""
    barrier: bytes = BARRIER
    """How that is written."""
    moved: tuple[tuple[int, int, int], ...] = ()
    """Code of the old text that `text` repeats: (offset in `text`, offset in the old text, length)."""


def apply(text: bytes, changes: Iterable[Change]) -> bytes:
    """The text with all changes made; they must be sorted and must not overlap."""
    parts: list[bytes] = []
    at = 0
    for change in changes:
        if change.start < at:
            raise ValueError("overlapping changes")
        parts += [text[at : change.start], change.text]
        at = change.end
    parts.append(text[at:])
    return b"".join(parts)


def barriers_in(changes: Iterable[Change]) -> list[tuple[int, int, tuple[str, int, int]]]:
    """From where to where the inserted barriers stand in the new text, with the keys of their gaps."""
    found: list[tuple[int, int, tuple[str, int, int]]] = []
    grown = 0
    for change in changes:
        if change.gap is not None:
            at = change.start + grown + change.text.index(change.barrier)
            found.append((at, at + len(change.barrier), change.gap))
        grown += len(change.text) - (change.end - change.start)
    return found


def barrier_offsets(changes: Iterable[Change]) -> dict[int, tuple[str, int, int]]:
    """Where the inserted barriers stand in the new text, with the keys of their gaps."""
    return {at: gap for at, _, gap in barriers_in(changes)}


class OffsetMap:
    """Byte offsets before and after a list of changes."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self._moved = [c.moved for c in changes]
        self._old_ends = [0, *(c.end for c in changes)]
        grown = 0
        self._new_starts: list[int] = []
        self._new_ends = [0]
        for c in changes:
            self._new_starts.append(c.start + grown)
            grown += len(c.text) - (c.end - c.start)
            self._new_ends.append(c.end + grown)

    def old(self, offset: int) -> int | None:
        """The place in the old text, or None for what a change wrote."""
        index = bisect.bisect_right(self._new_ends, offset) - 1
        if self.is_written(offset):
            inside = offset - self._new_starts[index]
            moved = (old + inside - at for at, old, length in self._moved[index] if at <= inside < at + length)
            return next(moved, None)
        return offset - self._new_ends[index] + self._old_ends[index]

    def is_written(self, offset: int) -> bool:
        """Whether a change wrote what is at a place of the new text, anew or as it was elsewhere."""
        index = bisect.bisect_right(self._new_ends, offset) - 1
        return index < len(self._new_starts) and self._new_starts[index] <= offset

    def new(self, offset: int) -> int | None:
        """The place in the new text, or None for what a change took away."""
        for start, moved in zip(self._new_starts, self._moved, strict=True):
            for at, old, length in moved:
                if old <= offset < old + length:
                    return start + at + offset - old
        index = bisect.bisect_right(self._old_ends, offset) - 1
        found = offset - self._old_ends[index] + self._new_ends[index]
        return found if self.old(found) == offset else None


@dataclass(frozen=True, slots=True)
class OffsetChain:
    """Byte offsets before the first and after the last of several edits."""

    maps: tuple[OffsetMap, ...]
    """In the order of the edits."""

    def old(self, offset: int) -> int | None:
        """The place in the text before the first, or None for what one of them wrote."""
        for each in reversed(self.maps):
            found = each.old(offset)
            if found is None:
                return None
            offset = found
        return offset

    def is_written(self, offset: int) -> bool:
        """Whether one of them wrote what is at a place of the last text, anew or as it was elsewhere."""
        for each in reversed(self.maps):
            found = each.old(offset)
            if found is None or each.is_written(offset):
                return True
            offset = found
        return False


# --- insertion ------------------------------------------------------------------------------------------------


def insertions(text: bytes, gaps: Iterable[Gap], barrier: bytes = BARRIER) -> list[Change]:
    """The changes that put a barrier into each gap. All gaps belong to this text; equal gaps get one barrier."""
    by_function: dict[int, tuple[FunctionTree, dict[tuple[int, int], Gap]]] = {}
    for gap in gaps:
        _, chosen = by_function.setdefault(gap.function.body.start, (gap.function, {}))
        chosen[gap.body.start, gap.index] = gap
    changes: list[Change] = []
    for function, chosen in by_function.values():
        changes += _Writer(text, function, chosen.values(), barrier).changes()
    return sorted(changes, key=lambda c: (c.start, c.end))


def respelled(changes: Iterable[Change], spelled: Mapping[tuple[str, int, int], bytes]) -> list[Change]:
    """The changes that put barriers into gaps, with these as they are written there, by their gaps."""
    return [
        replace(c, text=c.text.replace(c.barrier, spelled[c.gap], 1), barrier=spelled[c.gap])
        if c.gap is not None and c.gap in spelled
        else c
        for c in changes
    ]


_PRAGMA: Final = re.compile(rb"[ \t]*#[ \t]*pragma\b(?:[^\n\\]|\\\r?\n|\\.)*\n")


_COMMENT: Final = re.compile(rb"/\*.*?\*/", re.DOTALL)


class Layout:
    """Lines, indentation and line ends of a text."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.code = blanked(text)
        self.newline = b"\r\n" if 2 * text.count(b"\r\n") > text.count(b"\n") else b"\n"

    def line_start(self, at: int) -> int:
        return self.text.rfind(b"\n", 0, at) + 1

    def indentation(self, at: int) -> bytes:
        """The blanks at the beginning of the line; of the one behind it for a `#pragma`, which stands anywhere."""
        start = self.line_start(at)
        while (pragma := _PRAGMA.match(self.text, start)) is not None:
            start = pragma.end()
        end = start
        while self.text[end : end + 1] in (b" ", b"\t"):
            end += 1
        return self.text[start:end]

    def is_first(self, at: int) -> bool:
        """Nothing but blanks precedes it on its line."""
        return not self.text[self.line_start(at) : at].strip()

    def comments(self, start: int, end: int) -> bytes | None:
        """What stays of code that goes: its comments, each with a blank behind it. None where one lasts to the end of
        its line, or is not to be told from code."""
        found = b"".join(m[0] + b" " for m in _COMMENT.finditer(self.text, start, end))
        rest = _COMMENT.sub(lambda m: b" " * len(m[0]), self.text[start:end])
        return found if rest.split() == self.code[start:end].split() else None

    def same_line(self, start: int, end: int) -> bool:
        return b"\n" not in self.text[start:end]

    def last_visible(self, before: int, floor: int) -> int:
        """The offset behind the last byte of code in front of `before`."""
        return floor + len(self.code[floor:before].rstrip())

    def line_end(self, at: int) -> int:
        """Behind what follows `at` on its line as long as that is comments, and behind blanks that end the line; in
        front of the line end."""
        start = at
        while True:
            match = _BLANK_OR_COMMENT.match(self.text, at)
            if match is None or b"\n" in match.group():
                break
            at = match.end()
        ends = self.text[at : at + 1] in (b"\r", b"\n", b"") or self.text[at - 1 : at] == b"\r"
        return start + len(self.text[start:at].rstrip(b"\r" if ends else b" \t\r"))

    def unit(self, function: FunctionTree) -> bytes:
        """One level of indentation, as the function uses it, else as most of the file does."""
        for body in _bodies(function.body):
            if body.braced and body.statements:
                inner, outer = body.statements[0].start, body.start - 1
                if self.is_first(inner) and not self.same_line(outer, inner):
                    deep, shallow = self.indentation(inner), self.indentation(outer)
                    if deep.startswith(shallow) and len(deep) > len(shallow) and body.role != "case":
                        return deep[len(shallow) :]
        return self._usual_unit()

    def _usual_unit(self) -> bytes:
        """What most lines behind one that opens a body are indented by more than that."""
        found = Counter[bytes]()
        for opened in _OPENED.finditer(self.code):
            shallow, deep = opened["outer"], opened["inner"]
            if deep.startswith(shallow) and len(deep) > len(shallow):
                found[deep[len(shallow) :]] += 1
        return found.most_common(1)[0][0] if found else b"\t" if b"\n\t" in self.text else b"  "


_OPENED: Final = re.compile(rb"^(?P<outer>[ \t]*)\S[^\n]*\{[ \t]*\r?\n(?=(?P<inner>[ \t]*)\S)", re.MULTILINE)
_BLANK_OR_COMMENT: Final = re.compile(rb"[ \t]+|//(?:[^\n\\]|\\(?:\r?\n|.))*|/\*.*?\*/", re.DOTALL)
_CONDITIONAL: Final = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b(?:[^\n\\]|\\(?:\r?\n|.))*", re.MULTILINE)


def _bodies(body: Body) -> Iterable[Body]:
    yield body
    for statement in body.statements:
        for inner in statement.bodies:
            yield from _bodies(inner)


class _Writer:
    """Writes the barriers of one function. Changes are collected innermost first, so that what closes an inner body
    comes before what closes an outer one at the same place."""

    def __init__(self, text: bytes, function: FunctionTree, gaps: Iterable[Gap], barrier: bytes) -> None:
        self.barrier = barrier
        self.layout = Layout(text)
        self.function = function
        self.wanted: dict[int, set[int]] = {}
        for gap in gaps:
            self.wanted.setdefault(gap.body.start, set()).add(gap.index)
        self.unit = self.layout.unit(function)
        self.found: list[Change] = []

    def changes(self) -> list[Change]:
        self._body(self.function.body, None, b"")
        return self.found

    def _body(self, body: Body, owner: Statement | None, extra: bytes) -> None:
        """`extra`: how much deeper the body will stand because something around it is broken into lines."""
        indexes = sorted(i for i in self.wanted.get(body.start, ()) if 0 <= i <= len(body.statements))
        if not body.braced and owner is not None and indexes:
            self._add_braces(body, owner, indexes, extra)
            return
        for statement in body.statements:
            for inner in statement.bodies:
                self._body(inner, statement, extra)
        for index in indexes:
            self._into_braces(body, index, extra)

    def _key(self, body: Body, index: int) -> tuple[str, int, int]:
        return (self.function.path, body.start, index)

    # --- bodies with braces

    def _into_braces(self, body: Body, index: int, extra: bytes) -> None:
        layout = self.layout
        before = body.statements[index - 1] if index else None
        after = body.statements[index] if index < len(body.statements) else None
        low = before.end if before else body.start
        high = after.start if after else body.end
        key = self._key(body, index)
        if layout.same_line(low, high):
            if before is None and after is not None:
                self.found.append(Change(high, high, self.barrier + b" ", key, self.barrier))
            elif before is None:
                self.found.append(Change(low, high, b" " + self.barrier + b" ", key, self.barrier))
            else:
                self.found.append(Change(low, low, b" " + self.barrier, key, self.barrier))
            return
        at = outside_conditionals(layout, low, high)
        self._line(at, self._indentation(body, before, after) + extra, key)

    def _line(self, at: int, indentation: bytes, key: tuple[str, int, int]) -> None:
        self.found.append(Change(at, at, self.layout.newline + indentation + self.barrier, key, self.barrier))

    def _indentation(self, body: Body, before: Statement | None, after: Statement | None) -> bytes:
        layout = self.layout
        for statement in (before, after, *body.statements):
            # A pragma in front of a loop says nothing about indentation: the loop does.
            at = (statement.keyword or statement.start) if statement is not None else 0
            if statement is not None and statement.kind != "label" and layout.is_first(at):
                return layout.indentation(at)
        return layout.indentation(body.start) + self.unit

    # --- bodies without braces

    def _add_braces(self, body: Body, owner: Statement, indexes: Sequence[int], extra: bytes) -> None:
        layout = self.layout
        first, last = body.statements[0], body.statements[-1]
        head = layout.last_visible(first.start, owner.start)
        keyword = self._follower(owner, body)
        stop = layout.line_end(last.end)
        following = next_visible(layout.code, stop)
        alone = following >= len(layout.code) or not layout.same_line(stop, following) or following == keyword
        on_head_line = layout.same_line(head, first.start)
        if on_head_line and not alone:
            self._braces_in_line(body, head, indexes, extra)
            return
        outer = layout.indentation(head if body.role == "else" else owner.keyword) + extra
        inner = outer + self.unit if on_head_line else layout.indentation(first.start) + extra
        deeper = extra + self.unit if on_head_line else extra
        for statement in body.statements:
            for part in statement.bodies:
                self._body(part, statement, deeper)
        newline = layout.newline
        barrier = newline + inner + self.barrier
        at_start = self._key(body, 0) if 0 in indexes else None
        at_end = self._key(body, len(body.statements)) if len(body.statements) in indexes else None
        if on_head_line:
            opening = b" {" + (barrier if at_start else b"") + newline + inner
            self.found.append(Change(head, first.start, opening, at_start, self.barrier))
            self._indent_rest(first.start, last.end)
        else:
            self.found.append(Change(head, head, b" {"))
            if at_start:
                self._line(layout.line_end(head), inner, at_start)
        closing = (barrier if at_end else b"") + newline + outer + b"}"
        end = stop
        if keyword is not None and not layout.text[stop:keyword].strip():
            closing, end = closing + b" ", keyword
        self.found.append(Change(stop, end, closing, at_end, self.barrier))

    def _braces_in_line(self, body: Body, head: int, indexes: Sequence[int], extra: bytes) -> None:
        first, last = body.statements[0], body.statements[-1]
        for statement in body.statements:
            for part in statement.bodies:
                self._body(part, statement, extra)
        at_start = self._key(body, 0) if 0 in indexes else None
        at_end = self._key(body, len(body.statements)) if len(body.statements) in indexes else None
        opening = b" { " + (self.barrier + b" " if at_start else b"")
        self.found.append(Change(head, first.start, opening, at_start, self.barrier))
        closing = (b" " + self.barrier if at_end else b"") + b" }"
        self.found.append(Change(last.end, last.end, closing, at_end, self.barrier))

    def _follower(self, owner: Statement, body: Body) -> int | None:
        """Where the `else` or `while` stands that belongs to the statement and follows the body."""
        following = next_visible(self.layout.code, body.end)
        if owner.kind == "do" or (owner.kind == "if" and body.role == "then" and len(owner.bodies) > 1):
            return following
        return None

    def _indent_rest(self, start: int, end: int) -> None:
        """Move the lines of a statement behind its first one level to the right."""
        self.found += [Change(at, at, self.unit) for at in indented(self.layout.text, start, end)]


def indented(text: bytes, start: int, end: int) -> Iterable[int]:
    """Where the lines of a range behind its first begin, as far as they are to be indented with it: not those that
    go on with the line before, which may be inside of a string."""
    at = text.find(b"\n", start, end)
    while at >= 0:
        line = text[at + 1 : end].split(b"\n", 1)[0].strip()
        goes_on = text[:at].rstrip(b"\r").endswith(b"\\")
        if line and not goes_on and not line.startswith(b"#"):
            yield at + 1
        at = text.find(b"\n", at + 1, end)


def outside_conditionals(layout: Layout, low: int, high: int) -> int:
    """An end of line between two statements, under as few `#if`s as possible and as early as possible. Both statements
    are compiled, so an `#else` between them is one whose `#if` or `#endif` is between them, too."""
    depth = least = 0
    at = layout.line_end(low)
    for match in _CONDITIONAL.finditer(layout.text, low, high):
        depth += -1 if match.group(1) == b"endif" else 1
        if depth < least:
            least, at = depth, len(layout.text[: match.end()].rstrip(b"\r"))
    return at


# --- removal --------------------------------------------------------------------------------------------------


def removal(text: bytes, steps: Sequence[Step]) -> list[Change]:
    """The changes that delete the statement at the end of `steps`, with its line when it has one to itself.

    What holds nothing else goes with it when nothing else is lost: an `if` or `else` whose condition only computes a
    value, a loop that only counts. Of an `if` with an `else`, the latter stays, under the opposite condition. Where a
    body without braces would be left with nothing, it becomes `{}`; a label keeps a statement behind it."""
    return _removal_with_owner(Layout(text), steps, ())


def removal_beside(text: bytes, steps: Sequence[Step], others: Sequence[Change]) -> list[Change] | None:
    """The same together with the changes `others`, in order; None where they overlap."""
    layout = Layout(text)
    whole = united((*others, *_removal_with_owner(layout, steps, others)))
    return united((*others, *_plain_removal(layout, steps, others))) if whole is None else whole


def united(changes: Iterable[Change]) -> list[Change] | None:
    """The changes in order, deletions that overlap as one; None where others do."""
    found: list[Change] = []
    for change in sorted(changes, key=lambda c: (c.start, c.end)):
        if not found or found[-1].end <= change.start:
            found.append(change)
        elif found[-1].text or change.text:
            return None
        else:
            found[-1] = Change(found[-1].start, max(found[-1].end, change.end), b"")
    return found


def _removal_with_owner(layout: Layout, steps: Sequence[Step], others: Sequence[Change]) -> list[Change]:
    body, owner = steps[-1].body, _owner(steps)
    if owner is not None and owner.kind == "if" and len(body.statements) == 1:
        outer = steps[-2].body
        if body.role == "else":
            start = next_visible(layout.code, owner.bodies[0].end + owner.bodies[0].braced)
            if not _has_comment(layout, start, owner.end):
                return deleted(layout, start, owner.end)
        elif outer.braced and len(owner.bodies) == 1:
            if "test" in owner.idle and not _has_comment(layout, owner.start, owner.end):
                return deleted(layout, owner.start, owner.end)
        elif outer.braced and (opposite := _opposite(layout, owner)):
            return opposite
    counts = owner is not None and owner.kind == "for" and _only_counts(layout.code, owner)
    alone = len(body.statements) == 1 and steps[-2].body.braced if len(steps) > 1 else False
    if owner is not None and counts and alone and not _has_comment(layout, owner.start, owner.end):
        return deleted(layout, owner.start, owner.end)
    return _plain_removal(layout, steps, others)


def _owner(steps: Sequence[Step]) -> Statement | None:
    """The statement that the last one of `steps` is in a body of."""
    return steps[-2].statement if len(steps) > 1 and steps[-1].body in steps[-2].statement.bodies else None


def _plain_removal(layout: Layout, steps: Sequence[Step], others: Sequence[Change]) -> list[Change]:
    body, target, owner = steps[-1].body, steps[-1].statement, _owner(steps)
    if not body.braced:
        return [Change(target.start, target.end, b"{}")]
    gone = [c for c in others if not c.text]
    kept = [s for s in body.statements if not any(c.start <= s.start and s.end <= c.end for c in gone)]
    before = [s for s in kept if s.start < target.start]
    is_last = not any(s.start > target.start for s in kept)
    in_last_section = body.role == "case" and owner is not None and owner.bodies[-1].start == body.start
    if is_last and (before[-1].kind == "label" if before else in_last_section):
        return [Change(target.start, target.end, b";")]
    return deleted(layout, target.start, target.end)


def _has_comment(layout: Layout, start: int, end: int) -> bool:
    return layout.code[start:end] != layout.text[start:end]


_COUNTING: Final = re.compile(
    rb"for\s*\(\s*(?:(?:const|unsigned|signed|long|short|int|char|auto|[\w:]+_t)\s+)+(\w+)\s*=([^;,]*);([^;,]*);"
    rb"\s*(?:\+\+\s*\1|--\s*\1|\1\s*\+\+|\1\s*--|\1\s*(?:[-+*/]|<<|>>)=[^;,]*)\s*\)\s*"
)


def _only_counts(code: bytes, loop: Statement) -> bool:
    """A `for` that changes nothing but a counter of its own."""
    found = _COUNTING.fullmatch(code[loop.keyword : loop.head_end])
    return found is not None and loop.idle >= {"start", "test", "step"}


def _opposite(layout: Layout, owner: Statement) -> list[Change]:
    """The changes that leave of `if (c) … else X` the text `if (!(c)) X`; none where that is not to be read off."""
    then, other = owner.bodies
    head = layout.code[owner.keyword : owner.head_end]
    found = re.match(rb"if\s*\(", head)
    end = owner.keyword + len(head.rstrip())
    start = next_visible(layout.code, then.end + then.braced)
    if found is None or layout.code[end - 1 : end] != b")" or layout.code[start : start + 4] != b"else":
        return []
    if owner.test == UNKNOWN_TEST or _has_comment(layout, owner.keyword, start):
        return []
    opening = owner.keyword + found.end()
    behind = next_visible(layout.code, start + 4) if not other.braced else other.start - 1
    negated = [Change(*each) for each in opposite(layout.code, (opening, end - 1), owner.test)[0]]
    if other.braced or layout.same_line(start, behind):
        return [*negated, Change(end, behind, b" ")]
    # The other branch keeps its own line.
    return [*negated, Change(end, start + 4, b"")]


def deleted(layout: Layout, start: int, end: int) -> list[Change]:
    """Delete a range; whole lines when nothing else stands on them."""
    text = layout.text
    line = layout.line_start(start)
    after = text.find(b"\n", end)
    after = len(text) if after < 0 else after + 1
    if not text[line:start].strip() and is_own(layout, end, after):
        return [Change(line, after, b"")]
    blanks = start
    while text[blanks - 1 : blanks] in (b" ", b"\t") and blanks > line:
        blanks -= 1
    if blanks > line:
        return [Change(blanks, end, b"")]
    # The first on its line: what follows keeps the indentation.
    while text[end : end + 1] in (b" ", b"\t"):
        end += 1
    return [Change(start, end, b"")]


def is_own(layout: Layout, start: int, end: int) -> bool:
    """The rest of a line says nothing without the statement before it: it is empty, or one comment that ends there. A
    comment that steers the analysis stays."""
    rest = layout.text[start:end].strip()
    if not rest:
        return True
    if layout.code[start:end].strip() or b"cuda-lsp:" in rest:
        return False
    return (rest.startswith(b"//") and not rest.endswith(b"\\")) or (
        rest.startswith(b"/*") and rest.find(b"*/") == len(rest) - 2
    )


# --- edits for the user ---------------------------------------------------------------------------------------


def text_edits(path: str, old: bytes, new: bytes) -> tuple[TextEdit, ...]:
    """Few small edits that turn one text into the other, sorted and without overlap."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    middle = before[head : len(before) - tail], after[head : len(after) - tail]
    edits: list[TextEdit] = []
    matcher = difflib.SequenceMatcher(None, *middle, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            edits.append(_edit(path, old, starts, starts[head + a], starts[head + b], b"".join(middle[1][c:d])))
    return tuple(edits)


def _edit(path: str, old: bytes, starts: Sequence[int], start: int, end: int, new: bytes) -> TextEdit:
    removed = old[start:end]
    prefix = 0
    while prefix < min(len(removed), len(new)) and removed[prefix] == new[prefix]:
        prefix += 1
    suffix = 0
    while suffix < min(len(removed), len(new)) - prefix and removed[-1 - suffix] == new[-1 - suffix]:
        suffix += 1
    # Never split a character.
    while prefix and _inside_character(removed, prefix, new):
        prefix -= 1
    while suffix and _inside_character(removed, len(removed) - suffix, new, len(new) - suffix):
        suffix -= 1
    start, end, new = start + prefix, end - suffix, new[prefix : len(new) - suffix]
    first, last = bisect.bisect_right(starts, start) - 1, bisect.bisect_right(starts, end) - 1
    first, last = min(first, len(starts) - 1), min(last, len(starts) - 1)
    span = SourceSpan(path, first + 1, start - starts[first] + 1, last + 1, end - starts[last] + 1, start, end)
    return TextEdit(span, new.decode("utf-8", "surrogateescape"))


def _inside_character(removed: bytes, at: int, new: bytes, new_at: int | None = None) -> bool:
    other = at if new_at is None else new_at
    return any(index < len(text) and text[index] & 0xC0 == 0x80 for text, index in ((removed, at), (new, other)))
