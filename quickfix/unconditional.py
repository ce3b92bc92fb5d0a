"""Barriers that stand under a condition and are needed without it: the condition goes, where the engine proves that.

Takes a session and a group of races, looks for conditionals between the accesses that hold nothing but a barrier, gives
the `Fix` that leaves the barrier of one of them alone. No second barrier stands beside the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Body, Statement
from analyzers.model import Finding, Fix
from quickfix.edits import Change
from quickfix.naming import line_of
from quickfix.removal import BARRIER_CALLS
from quickfix.search import ways_between
from quickfix.sections import section
from quickfix.session import Session
from quickfix.verify import RACES, findings_of, key_of
from quickfix.wording import edits_of, pairs_in_words

_MOST: Final = 4
"""Conditionals that are tried."""


def without_condition(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | None:
    """The repair of one group of races; None where no such barrier orders them. Raises `SearchSpentError`."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    if any(f.scope == "inter-block" for f in races):
        return None
    found = dict[tuple[str, int], tuple[Statement, Statement]]()
    for race in races:
        found.update(_conditional_barriers(session, race))
    targets = frozenset(map(key_of, races))
    for (path, at), (conditional, barrier) in list(found.items())[:_MOST]:
        text = session.trees.texts[path]
        written = text[barrier.start : barrier.end]
        change = Change(at, conditional.end, written, moved=((0, barrier.start, len(written)),))
        trial = session.trial({path: [change]}, targets)
        if not trial.difference.is_clean or group not in trial.gone:
            continue
        condition = _condition(text, conditional)
        called = written.decode("utf-8", "surrogateescape").rstrip("; \t")
        where = f" where `{condition}` is false" if condition else ""
        cost = f"+1 {'warp barrier' if barrier.call == '__syncwarp' else 'barrier'}{where}"
        line = session.names.at(path, line_of(text, barrier.start))
        return Fix(
            title=f"Take {called} in {line} out of its condition — orders {pairs_in_words(races, races[0])}, {cost}",
            kind="move-barrier",
            edits=edits_of(trial),
            groups=tuple(sorted(trial.gone)),
            cost=cost,
        )
    return None


def _conditional_barriers(
    session: Session, race: Finding
) -> Iterator[tuple[tuple[str, int], tuple[Statement, Statement]]]:
    """Between the accesses of a race, in as few loops as any place there: the file, where the conditional begins, the
    conditional and its barrier."""
    candidates = ways_between(session, race).candidates
    fewest = min((len(c.loops) for c in candidates), default=0)
    for gap in (c.gap for c in candidates if len(c.loops) == fewest):
        path, text = gap.function.path, session.trees.texts[gap.function.path]
        for statement in (gap.before, gap.after):
            barrier = _only_barrier(statement, text) if statement is not None else None
            if statement is not None and barrier is not None:
                yield (path, statement.start), (statement, barrier)


def _only_barrier(statement: Statement, text: bytes) -> Statement | None:
    """The barrier that is all that a conditional does, with nothing said in or about it that would be lost."""
    inner: tuple[Body, ...] = statement.bodies
    plain = statement.kind == "if" and len(inner) == 1 and not statement.macro and "test" in statement.idle
    if not plain or statement.start != statement.keyword or len(inner[0].statements) != 1:
        return None
    (barrier,) = inner[0].statements
    around = text[statement.head_end : barrier.start] + text[barrier.end : statement.end]
    if barrier.macro or barrier.call not in BARRIER_CALLS or around.strip(b"{} \t\r\n"):
        return None
    whole = section(text, statement.start) == section(text, barrier.start) == section(text, statement.end)
    return barrier if whole else None


def _condition(text: bytes, conditional: Statement) -> str:
    """What stands in the parentheses, if that is one line."""
    opening = text.find(b"(", conditional.keyword, conditional.head_end)
    written = text[opening + 1 : conditional.head_end].rstrip()[:-1].strip()
    return "" if b"\n" in written else written.decode("utf-8", "surrogateescape")
