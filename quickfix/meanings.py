"""Whether names still mean what they did in the functions that an edit changes.

Takes the statement trees of the old text and the parsed new one, gives a sentence about a name that means something
else: another variable of its name, another overload or template, a variable of another type. What an edit says more
often than the code did, or has taken away, is no matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from analyzers.frontend.function_trees import function_mentions
from analyzers.frontend.gaps import FunctionTree, SourceTrees
from analyzers.frontend.parse import ParsedUnit
from analyzers.frontend.uses import Meaning
from quickfix.edits import Change, OffsetMap


def meant_otherwise(before: SourceTrees, after: ParsedUnit, changes: Mapping[str, Sequence[Change]]) -> str | None:
    """The name that means something else after the changes, by file, in words; None where there is none."""
    found: dict[tuple[str, int], FunctionTree] = {}
    offsets = {path: OffsetMap(edits) for path, edits in changes.items()}
    for path, edits in changes.items():
        for function in before.functions:
            inside = any(function.start <= c.end and c.start < function.end for c in edits)
            at = offsets[path].new(function.body.start)
            if function.path == path and not function.is_lambda and inside and at is not None:
                found[path, at] = function
    mentions = function_mentions(after.device, found)
    for place, old in found.items():
        new = mentions.get(place)
        if new is not None and (name := _changed(old.meanings, new.meanings, offsets)) is not None:
            return f"`{name}` would mean something else in the edited text"
    return None


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
    return None
