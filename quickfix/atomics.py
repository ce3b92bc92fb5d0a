"""Make updates atomic: what threads do to one cell without an order of their own.

Takes a session and a group of races whose write is part of an update, `x += v`, `x = max(x, v)`, `if (x == a) x = b;`
and the like, gives the `Fix` that turns it into the atomic function that does the same to the cell; or the reason why
there is none. Whether something else still races with the cell is for the engine to say.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.updates import AnyUpdate, Cell, Claim
from analyzers.ir.kernel import Atomic, Site, statements
from analyzers.model import Access, Finding, Fix, FixRefusal
from quickfix.atomic_calls import atomic_call, function_of
from quickfix.edits import Change, Layout, removal
from quickfix.naming import NotPossible, line_of
from quickfix.paths import Level, chain_to, on_host, steps_to
from quickfix.search import sentence
from quickfix.session import Session, Trial
from quickfix.verify import RACES, findings_of
from quickfix.wording import edits_of


def is_update(findings: Collection[Finding]) -> bool:
    """Whether what collides are reads and writes of one line that are written alike: an update, by its looks."""
    accesses = [a for f in findings for a in f.accesses]
    places = {(a.span.path, a.span.line, a.text.strip("()")) for a in accesses}
    return len(places) == 1 and {a.kind for a in accesses} == {"read", "write"}


def atomic_update(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """The repair of one group of races; None where it is not about an update."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    found = _update(session, races)
    if found is None:
        return None
    access, level, update = found
    path = level.function.path
    layout = Layout(session.trees.texts[path])
    try:
        if level.function.on_host:
            raise NotPossible(on_host(level.function.name))
        function = function_of(update)
        changes = atomic_call(update, layout)
        if isinstance(update, Claim) and update.whole is None:
            changes += _without_write(level, update, layout.text)
    except NotPossible as reason:
        return FixRefusal(sentence(str(reason)))
    trial = session.trial({path: changes}, frozenset(), session.kernels_sharing_code(kernels))
    if not trial.difference.is_clean or group not in trial.gone:
        worse = trial.difference.worse
        return FixRefusal(sentence(worse[0] if worse else "the cell is used elsewhere without an order, too"))
    reason = not_atomic(trial, path, changes[0], update.cell)
    if reason:
        return FixRefusal(sentence(f"`{function}` in line {line_of(layout.text, changes[0].start)} {reason}"))
    line = line_of(layout.text, changes[0].start)
    what = "claim" if isinstance(update, Claim) else "update"
    return Fix(
        title=f"Make the {what} of {access.text} in line {line} atomic, by {function}() — {_why(update)}",
        kind="use-atomic",
        edits=edits_of(trial),
        groups=tuple(sorted(trial.gone)),
        cost="1 atomic operation for a load and a store",
        notes=("Atomic additions of floating-point numbers are made in any order: the last digits may differ.",)
        if update.cell.type in ("float", "double") and function == "atomicAdd"
        else (),
    )


def not_atomic(trial: Trial, path: str, change: Change, cell: Cell) -> str:
    """What a change, the first one of its file, wrote instead of an atomic operation on a cell that threads share; a
    clause, empty where it did write one. The function's name may mean something else there, and the cell may be a
    thread's own in other calls."""
    own = {cell.at[0], cell.address[0] if cell.address is not None else cell.at[0]}
    end = change.start + next((at for at, old, _ in change.moved if old in own), len(change.text))

    def is_there(site: Site) -> bool:
        return any(s.path == path and change.start <= s.start_offset <= end for s in (site.span, *site.calls))

    events = [k.events for k in trial.analysis.kernels]
    if not any(e.atomic is not None and is_there(e.site) for found in events for e in found.accesses):
        return "is no function of CUDA's"
    for found in events:
        atomics = (s for s in statements(found.kernel.body) if isinstance(s, Atomic) and s.id in found.private)
        if any(is_there(s.site) for s in atomics):
            return "would be called for variables of a single thread, too, which it does not take"
    return ""


def _update(session: Session, races: Sequence[Finding]) -> tuple[Access, Level, AnyUpdate] | None:
    """The update that all the races are about, with the write in it and where that stands."""
    accesses = [a for f in races for a in f.accesses]
    writes = [a for a in accesses if a.kind == "write"]
    chain = chain_to(session.trees, writes[0]) if writes else None
    if not chain:
        return None
    path, start = writes[0].span.path, writes[0].span.start_offset
    # The innermost comes last.
    for update in reversed(chain[-1].function.updates):
        if start in update.places and all(a.span.path == path for a in writes):
            within = [{a.span.start_offset for a in f.accesses} <= update.places for f in races]
            own = any(within) and all(a.span.start_offset in update.places for a in writes)
            return (writes[0], chain[-1], update) if own else None
    return None


def _without_write(level: Level, claim: Claim, text: bytes) -> list[Change]:
    statement = level.statement
    if statement is None or statement.start != claim.write[0]:
        raise NotPossible(f"the write in line {line_of(text, claim.write[0])} is part of a larger statement")
    layout = Layout(text)
    end = layout.line_end(statement.end)
    if text[statement.end : end].strip() and layout.is_first(statement.start):
        # The comment stays, where the statement was.
        comment = end - len(text[statement.end : end].lstrip())
        return [Change(statement.start, comment, b"")]
    return removal(text, level.function, steps_to(level))


def _why(update: AnyUpdate) -> str:
    if isinstance(update, Claim):
        return "one thread gets in"
    return "no thread's update is lost"
