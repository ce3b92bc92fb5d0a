"""Whether names still mean what they did in the functions that an edit changes.

Takes the statement trees of the old text and the parsed new one, gives a sentence about a name that means something
else: another variable of its name, another overload or template, a variable of another type. What an edit says more
often than the code did, or has taken away, is no matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from analyzers.frontend.function_trees import function_mentions
from analyzers.frontend.gaps import Body, FunctionTree, SourceTrees
from analyzers.frontend.parse import ParsedUnit
from analyzers.frontend.uses import Meaning, Use
from quickfix.edits import Change, OffsetMap


def meant_otherwise(before: SourceTrees, after: ParsedUnit, changes: Mapping[str, Sequence[Change]]) -> str | None:
    """The name that means something else after the changes, by file, in words; None where there is none. What cannot be
    compared may mean anything."""
    found: dict[tuple[str, int], FunctionTree] = {}
    offsets = {path: OffsetMap(edits) for path, edits in changes.items()}
    for path, edits in changes.items():
        for function in before.functions:
            inside = any(function.start <= c.end and c.start < function.end for c in edits)
            if function.path != path or function.is_lambda or not inside:
                continue
            ends = function.body.start, function.start, function.body.end
            at = next((new for end in ends if (new := offsets[path].new(end)) is not None), None)
            if at is None:
                return _unknown(function)
            found[path, at] = function
    mentions = function_mentions(after.device, found)
    for place, old in found.items():
        new = mentions.get(place)
        if new is None:
            return _unknown(old)
        name = _changed(old.meanings, new.meanings, offsets) or _confused(old, new.uses, offsets[place[0]])
        if name is not None:
            return f"`{name}` would mean something else in the edited text"
    return None


def _confused(old: FunctionTree, new: Sequence[Use], offsets: OffsetMap) -> str | None:
    """The first name by which the new text means one variable where the old one meant two. One of them may take over
    from the other: it is declared as before, the other not any more. A new one may take over from several, of which no
    two were there at once."""
    before: dict[tuple[int, str], set[int]] = {}
    for use in old.uses:
        before.setdefault((use.at, use.name), set()).add(use.variable)
    declared_before = {u.variable: u.at for u in old.uses if u.kind == "declared"}
    meant: dict[int, set[int]] = {}
    declared: dict[int, int] = {}
    for use in new:
        at = offsets.old(use.at)
        known = before.get((at, use.name), ()) if at is not None else ()
        if len(known) == 1 and use.variable >= 0:
            (variable,) = known
            meant.setdefault(use.variable, set()).add(variable)
            if use.kind == "declared":
                declared[use.variable] = variable
    still = {*declared.values(), *(v for each in meant.values() for v in each if v not in declared_before)}
    names = {u.variable: u.name for u in new}
    for variable, each in meant.items():
        if len(each) < 2 or each & still == {declared.get(variable)}:
            continue
        if each & still or not _apart(old, sorted(declared_before[v] for v in each)):
            return names[variable]
    return None


def _apart(function: FunctionTree, declared: Sequence[int]) -> bool:
    """Whether the bodies with variables that are `declared` at some offsets, in order, have nothing in common."""
    ends = [_innermost(function.body, at).end for at in declared]
    return all(end <= at for end, at in zip(ends, declared[1:], strict=False))


def _innermost(body: Body, at: int) -> Body:
    """The innermost body that an offset is in, or `body`. What a loop declares in its head is in the one around."""
    inside = (b for s in body.statements for b in s.bodies if b.start <= at < b.end)
    inner = next(inside, None)
    return body if inner is None else _innermost(inner, at)


def _unknown(function: FunctionTree) -> str:
    return f"what the names of `{function.name}` would mean in the edited text is not known"


def _changed(
    old: Mapping[str, Counter[Meaning]], new: Mapping[str, Counter[Meaning]], offsets: Mapping[str, OffsetMap]
) -> str | None:
    """The first name that means one thing less often than before, and another one more often."""

    def in_old_text(meaning: Meaning) -> Meaning:
        where, at = meaning
        path = where.partition("\n")[0]
        before = offsets[path].old(at) if at >= 0 and path in offsets else at
        return where, -2 if before is None else before

    for name, before in sorted(old.items()):
        after = Counter[Meaning]()
        for meaning, count in new.get(name, Counter[Meaning]()).items():
            after[in_old_text(meaning)] += count
        if before - after and after - before:
            return name
    # An operator that is called now, where the language had one: `operator=` of what is assigned, say.
    called = (name for name in sorted(new) if name.startswith("operator"))
    return next((name for name in called if new[name].total() > old.get(name, Counter[Meaning]()).total()), None)
