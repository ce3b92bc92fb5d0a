"""Asynchronous copies that are committed under a condition, and waited for as if a group were committed each time.

Takes a session and a group of races, gives the `Fix` that commits behind the conditional instead, where nothing is left
of the races then. That may commit groups with nothing in them: whoever waits for all but the latest groups waits for
the same copies, or for more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Body, Gap, Statement, Step
from analyzers.model import Fix
from quickfix.edits import Change, Layout, insertions, removal
from quickfix.naming import NotPossible, line_of
from quickfix.removal import merged
from quickfix.sections import refuse_halves, section
from quickfix.session import Session
from quickfix.verify import RACES, findings_of, key_of
from quickfix.wording import edits_of, pairs_in_words

COMMIT: Final = "__pipeline_commit"
_MOST: Final = 4
"""Commits that are tried."""


def committed_always(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | None:
    """The repair of one group of races; None where no such commit is why. Raises `SearchSpentError`."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    if any(f.scope == "inter-block" for f in races):
        return None
    functions = (f for f in session.trees.functions if not (f.on_host or f.of_library))
    found = [(f, *place) for f in functions for place in _conditional(f.body, ())]
    for function, steps, conditional in found[:_MOST]:
        text = session.trees.texts[function.path]
        commit = steps[-1].statement
        if not _is_to_itself(text, conditional, commit):
            continue
        changes, where = {function.path: removal(text, steps)}, "behind"
        if any(c.start <= conditional.keyword and conditional.end <= c.end for c in changes[function.path]):
            alone = Change(conditional.keyword, conditional.end, text[commit.start : commit.end])
            changes, where = {function.path: [alone]}, "out of"
        else:
            around = steps[-2]
            gap = Gap(function, steps[:-2], around.body, around.index + 1)
            inserted = insertions(text, [gap], text[commit.start : commit.end])
            changes = merged(changes, {function.path: inserted})
        try:
            refuse_halves(session.trees, function.path, changes[function.path])
        except NotPossible:
            continue
        trial = session.trial(changes, frozenset(map(key_of, races)), session.kernels_sharing_code(kernels))
        if trial.difference.is_clean and group in trial.gone:
            line = session.names.at(function.path, line_of(text, commit.start))
            return Fix(
                title=f"Move `{COMMIT}()` in {line} {where} its condition — "
                f"orders {pairs_in_words(races, races[0])}, no barrier more",
                kind="restructure",
                edits=edits_of(trial),
                groups=tuple(sorted(trial.gone)),
                cost="no barrier more",
                notes=("Where there is nothing to copy, an empty group is committed.",),
            )
    return None


def _conditional(body: Body, steps: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], Statement]]:
    """The way to each commit that ends a conditional without an `else`, and the conditional."""
    for index, statement in enumerate(body.statements):
        here = (*steps, Step(body, index))
        for inner in statement.bodies:
            yield from _conditional(inner, here)
        plain = statement.kind == "if" and len(statement.bodies) == 1 and not statement.macro and body.braced
        last = statement.bodies[0].statements[-1:] if plain else ()
        if last and last[0].call == COMMIT and not last[0].macro:
            yield (*here, Step(statement.bodies[0], len(statement.bodies[0].statements) - 1)), statement


def _is_to_itself(text: bytes, conditional: Statement, commit: Statement) -> bool:
    """Whether a commit has its lines, in every build in which its conditional is there."""
    whole = section(text, conditional.start) == section(text, commit.start) == section(text, conditional.end)
    return whole and Layout(text).is_first(conditional.keyword)
