"""Conditionals that steps have put into each other, made one: ``if (taken) { if (!taken2) { … } }``.

Takes a text that steps have made, gives the changes after which a conditional that they wrote, and that holds nothing
but another one of theirs, is one with it. What the text before them nests stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzers.frontend.gaps import Body, FunctionTree, Step
from quickfix.conditionals import condition_of
from quickfix.edits import Change, Layout
from quickfix.joined import holds_another, joined
from quickfix.naming import NotPossible, line_of
from quickfix.paths import Level
from quickfix.verify import EditedFile


def flattened(functions: Iterable[FunctionTree], file: EditedFile) -> list[Change]:
    """The changes, sorted, for pairs of which none is in another; none where there is none. `file`: what the steps have
    made of the text before; `functions`: of the text after them."""

    def is_new(level: Level) -> bool:
        return file.offsets.old(level.body.start - 1) is None

    def where(layout: Layout, of: Level, inside: Level) -> tuple[int, int]:
        assert of.owner is not None
        return condition_of(layout, of.owner, inside, line_of(file.after, of.owner.keyword))[0]

    found: list[Change] = []
    end = 0
    for around, outer, inner in sorted(_pairs(functions), key=lambda levels: levels[1].body.start):
        if outer.body.start < end or not (holds_another(outer, inner) and is_new(outer) and is_new(inner)):
            continue
        try:
            found += joined(file.after, around, outer, inner, where)
            end = outer.body.end
        except NotPossible:
            continue
    return found


def _pairs(functions: Iterable[FunctionTree]) -> Iterator[tuple[Level, Level, Level]]:
    for function in functions:
        yield from _nested(function, function.body, ())


def _nested(function: FunctionTree, body: Body, steps: tuple[Step, ...]) -> Iterator[tuple[Level, Level, Level]]:
    """Each body of what is alone in a conditional, with that and the body around it; the outer ones first."""
    for index, statement in enumerate(body.statements):
        around = Level(function, steps, body, index)
        deeper = (*steps, Step(body, index))
        for branch in statement.bodies:
            if statement.kind == "if" and len(branch.statements) == 1 and len(branch.statements[0].bodies) == 1:
                outer = Level(function, deeper, branch, 0)
                inner = branch.statements[0].bodies[0]
                yield around, outer, Level(function, (*deeper, Step(branch, 0)), inner, 0)
            yield from _nested(function, branch, deeper)
