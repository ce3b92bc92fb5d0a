"""Make updates atomic: what threads add to one cell without an order of their own.

Takes a session and a group of races that are all between executions of one statement `x += v`, `x++` and the like,
gives the `Fix` that turns it into the atomic function that does the same to the cell; or the reason why there is none.
Whether something else still races with the cell is for the engine to say.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Statement
from analyzers.model import Finding, Fix, FixRefusal
from quickfix.edits import Change
from quickfix.naming import line_of
from quickfix.paths import chain_to
from quickfix.search import sentence
from quickfix.session import Session
from quickfix.verify import RACES, findings_of
from quickfix.wording import edits_of

_WHOLE: Final = frozenset({"int", "unsigned int"})
_LONG: Final = _WHOLE | {"unsigned long long"}
_REAL: Final = frozenset({"float", "double"})
_NARROW: Final = frozenset({"bool", "char", "signed char", "unsigned char", "short", "unsigned short"})
_FUNCTIONS: Final[dict[str, tuple[str, frozenset[str]]]] = {
    "+=": ("atomicAdd", _LONG | _REAL),
    "++": ("atomicAdd", _LONG),
    "-=": ("atomicSub", _WHOLE),
    "--": ("atomicSub", _WHOLE),
    "&=": ("atomicAnd", _LONG),
    "|=": ("atomicOr", _LONG),
    "^=": ("atomicXor", _LONG),
}
"""Operator -> the function, and the types of cells it has an overload for."""


DEREFERENCED: Final = re.compile(rb"\*\s*(?=[A-Za-z_]\w*\Z)")
"""A name behind a star, and nothing else."""


def is_update(findings: Collection[Finding]) -> bool:
    """Whether all that collides are the read and the write of one place in the source: an update, by its looks."""
    accesses = [a for f in findings for a in f.accesses]
    places = {(a.span.path, a.span.start_offset, a.span.end_offset) for a in accesses}
    return len(places) == 1 and {a.kind for a in accesses} == {"read", "write"}


def atomic_update(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """The repair of one group of races; None where it is not about one update."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    if not races or not is_update(races):
        return None
    access = races[0].accesses[0]
    chain = chain_to(session.trees, access)
    statement = chain[-1].statement if chain else None
    if chain is None or statement is None or statement.assignment is None:
        return None
    path = chain[-1].function.path
    text = session.trees.texts[path]
    if statement.assignment.target[0] != access.span.start_offset:
        return None
    changes = _changes(statement, text)
    if isinstance(changes, str):
        return FixRefusal(sentence(changes))
    trial = session.trial({path: changes}, frozenset(), session.kernels_sharing_code(kernels))
    if not trial.difference.is_clean or group not in trial.gone:
        worse = trial.difference.worse
        return FixRefusal(sentence(worse[0] if worse else "the cell is used elsewhere without an order, too"))
    return Fix(
        title=f"Make the update of {access.text} in line {line_of(text, statement.start)} atomic",
        kind="use-atomic",
        edits=edits_of(trial),
        groups=tuple(sorted(trial.gone)),
        cost="1 atomic operation for a load and a store",
        notes=("Atomic additions of floating-point numbers are made in any order: the last digits may differ.",)
        if statement.assignment.target_type in _REAL
        else (),
    )


def _changes(statement: Statement, text: bytes) -> list[Change] | str:
    update = statement.assignment
    assert update is not None
    known = _FUNCTIONS.get(update.operator)
    if known is None:
        return f"there is no atomic function for `{update.operator}`"
    function, types = known
    if update.operator == "-=" and update.target_type in _REAL:
        function, types = "atomicAdd", _REAL
    if update.target_type not in types:
        return f"`{function}` has no form for cells of type `{update.target_type}`"
    if update.value_type and not _is_exact(update.target_type, update.value_type):
        return (
            f"a `{update.value_type}` would be converted to `{update.target_type}` before it is added, not afterwards"
        )
    return sorted(_written(statement, text, function), key=lambda c: (c.start, c.end))


def _is_exact(target: str, value: str) -> bool:
    """Whether converting the value first comes to the same as converting the result."""
    if target in _REAL:
        return value == target or value in _NARROW or (target == "double" and value in {"float", *_WHOLE})
    return value in _NARROW | _WHOLE | {"long", "unsigned long", "long long", "unsigned long long"}


def _written(statement: Statement, text: bytes, function: str) -> Iterable[Change]:
    update = statement.assignment
    assert update is not None
    (start, end), (low, high) = update.target, update.value
    pointer = DEREFERENCED.match(text[start:end])
    # `&*p` is `p`.
    opening, first = (f"{function}(", start + pointer.end()) if pointer else (f"{function}(&", start)
    if update.operator in ("++", "--"):
        yield Change(statement.start, first, opening.encode())
        yield Change(end, high, b", 1)")
        return
    negated = update.operator == "-=" and function == "atomicAdd"
    yield Change(start, first, opening.encode())
    yield Change(end, low, b", -(" if negated else b", ")
    yield Change(high, high, b"))" if negated else b")")
