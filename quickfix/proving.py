"""The engine's own prover, asked about the threads of a block for the repairs.

Takes a launch and conditions of `analyzers.ir.expr` over one thread or two (`Launch.side`), tells whether it is proved
that they do not hold at once. What that takes is on the account of the session.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from analyzers.ir import expr as E
from analyzers.ir.expr import Expr
from analyzers.races.check import RaceChecker
from analyzers.races.conditions import query_of, split
from analyzers.races.threads import Launch
from analyzers.solve.query import Proved
from quickfix.session import Session
from quickfix.solving import Solving


@contextmanager
def prover(session: Session, launch: Launch) -> Generator[RaceChecker]:
    """What answers questions about a launch, on the session's account."""
    solving = Solving.of(session.request, session.poll)
    try:
        yield solving.checker(launch)
    finally:
        session.charge(solving.effort.spent)


def is_never(checker: RaceChecker, conditions: Iterable[Expr]) -> bool:
    """Whether it is proved that the conditions do not hold at once."""
    query = query_of(checker.launch, conditions, "block")
    if query is None:
        return True
    return all(
        not checker.effort.is_spent and isinstance(checker.asker.answer(part, "brief"), Proved) for part in split(query)
    )


def are_equal(checker: RaceChecker, known: Iterable[Expr], one: Expr, two: Expr) -> bool:
    """Whether it is proved that of two conditions both hold or none."""
    known = list(known)
    return all(is_never(checker, [*known, *each]) for each in ((one, E.lnot(two)), (E.lnot(one), two)))
