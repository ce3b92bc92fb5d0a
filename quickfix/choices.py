"""What can be done about threads that write one cell in one execution of a statement: no barrier orders that.

Takes a session and a group of races that are all between writes of one statement, gives what makes it defined which
value is left: one thread writes, where all threads of the block get there and mean the same cell, or one for each cell
(`leaders`); or the writes are exchanges, in any order. Both are choices, because what the kernel was meant to do is not
for a proof to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Statement
from analyzers.frontend.update_kinds import Cell, Store
from analyzers.ir import kernel as k
from analyzers.ir.kernel import statements
from analyzers.ir.uniformity import is_uniform
from analyzers.model import Access, Finding, Fix, Verdict
from quickfix.atomic_calls import exchange
from quickfix.atomics import not_atomic
from quickfix.edits import Change, Layout
from quickfix.leaders import leaders
from quickfix.lost_updates import which_cell
from quickfix.naming import NotPossible, line_of
from quickfix.paths import Level, chain_to
from quickfix.session import Session, Trial, names_of
from quickfix.verify import RACES, findings_of, in_old_text, key_of
from quickfix.wording import edits_of

_FIRST: Final = ("threadIdx.x", "threadIdx.y", "threadIdx.z")
_MOST_WRITERS: Final = 4
"""Conditions for one writer that are tried."""


def choices(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Iterator[Fix]:
    """The cheaper one first. Raises `SearchSpentError`."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    found = _write(session, races)
    if found is None:
        return
    access, level, store = found
    if level.function.on_host:
        return
    path = level.function.path
    layout = Layout(session.trees.texts[path])
    line = session.names.at(path, line_of(layout.text, store.whole[0]))
    statement = level.statement
    if (
        store.is_idle
        and statement is not None
        and _is_all(statement, store, layout)
        and _is_alone(session, kernels, access)
    ):
        writers = list(_writers(kernels, access, races))
        several = leaders(session, kernels, access) if not writers else ()
        each = ((condition, f"one thread for each cell, with {condition},") for condition in several)
        for condition, who in islice(chain(writers, each), _MOST_WRITERS):
            title = f"Let only {who} write {access.text} in {line} — no barrier can order its writes"
            changes = _guarded(statement, condition, braced=level.body.braced)
            fix = _tried(session, kernels, group, {path: changes}, title, "restructure", store.cell)
            if fix is not None:
                yield fix
                break
    if which_cell(kernels, group) is not None:
        return
    try:
        exchanged = exchange(store, layout)
    except NotPossible:
        return
    title = f"Make the writes of {access.text} in {line} atomic — in any order, any of the values is left"
    fix = _tried(session, kernels, group, {path: [exchanged]}, title, "use-atomic", store.cell)
    if fix is not None:
        yield fix


def _is_all(statement: Statement, store: Store, layout: Layout) -> bool:
    """Whether a statement does nothing besides."""
    rest = layout.code[store.whole[1] : statement.end].strip()
    return statement.start == store.whole[0] and rest == b";"


def _is_alone(session: Session, kernels: Sequence[KernelAnalysis], access: Access) -> bool:
    """Whether a write is executed by way of the same calls only, by no other kernel, and never to memory of a thread's
    own: what one thread is chosen for, the others do not need."""
    if not session.kernels_sharing_code(kernels) <= names_of(kernels):
        return False
    found = ((s, a.events.private) for a in kernels for s in statements(a.events.kernel.body))
    writes = [(s, private) for s, private in found if isinstance(s, k.Store) and s.site.span == access.span]
    return all(s.site.calls == access.calls and s.id not in private for s, private in writes)


def _guarded(statement: Statement, condition: str, *, braced: bool) -> list[Change]:
    """In a body without braces an `else` may follow, which must not become that of the new condition."""
    opened, closed = ("", "") if braced else ("{ ", " }")
    first = Change(statement.start, statement.start, f"{opened}if ({condition}) ".encode())
    return [first] if braced else [first, Change(statement.end, statement.end, closed.encode())]


def _write(session: Session, races: Sequence[Finding]) -> tuple[Access, Level, Store] | None:
    """The one assignment whose writes collide in equal iterations, if that is what the races are about."""
    if not races or any(a.kind != "write" for f in races for a in f.accesses):
        return None
    access = races[0].accesses[0]
    chain = chain_to(session.trees, access)
    if not chain or any(a.span != access.span or a.calls != access.calls for f in races for a in f.accesses):
        return None
    stores = (s for s in chain[-1].function.stores if access.span.start_offset in s.places)
    store = next(stores, None)
    return (access, chain[-1], store) if store is not None else None


def _is_common(analysis: KernelAnalysis, access: Access, group: str) -> bool:
    """All threads of the block, or of the grid, get to the write and mean the same cell."""
    events = [e for e in analysis.events.accesses if e.site.span.start_offset == access.span.start_offset]
    own = [e for e in events if e.site.span.path == access.span.path and e.writes]
    values = [v for e in own for v in (e.offset, e.root, *(c.condition for c in e.guard))]
    return bool(own) and all(is_uniform(value, group) for value in values)


def _writers(kernels: Sequence[KernelAnalysis], access: Access, races: Iterable[Finding]) -> Iterator[tuple[str, str]]:
    """Conditions that hold for one thread of those that mean the same cell, the most frequent first."""
    block = max((len(_extents(c.launch.block)) for a in kernels for c in a.result.contexts), default=3)
    threads = " && ".join(f"{name} == 0" for name in _FIRST[:block])
    if all(f.scope != "inter-block" for f in races) and all(_is_common(a, access, "block") for a in kernels):
        yield threads, "the first thread of each block"
    if all(_is_common(a, access, "grid") for a in kernels):
        grid = max((len(_extents(c.launch.grid)) for a in kernels for c in a.result.contexts), default=3)
        blocks = " && ".join(f"blockIdx.{axis} == 0" for axis in "xyz"[:grid])
        yield f"{blocks} && {threads}", "the first thread of the grid"


def _extents(dimensions: Sequence[str]) -> Sequence[str]:
    """Without the trailing ones."""
    kept = list(dimensions)
    while len(kept) > 1 and kept[-1] == "1":
        kept.pop()
    return kept


def _tried(
    session: Session,
    kernels: Sequence[KernelAnalysis],
    group: str,
    changes: dict[str, list[Change]],
    title: str,
    kind: str,
    cell: Cell,
) -> Fix | None:
    trial = session.trial(changes, frozenset(), session.kernels_sharing_code(kernels))
    if not trial.difference.is_clean or group not in trial.gone or _still_collide(trial, kernels, group):
        return None
    ((path, (change, *_)),) = changes.items()
    if kind == "use-atomic" and not_atomic(trial, path, change, cell):
        return None
    return Fix(
        title=title,
        kind="use-atomic" if kind == "use-atomic" else "restructure",
        edits=edits_of(trial),
        groups=tuple(sorted(trial.gone)),
        cost="1 exchange for a store" if kind == "use-atomic" else "",
        preferred=False,
    )


def _still_collide(trial: Trial, kernels: Sequence[KernelAnalysis], group: str) -> bool:
    """Whether threads write the same cell as before, if only the same value now."""
    keys = {key_of(f) for a in kernels for f in findings_of(a.result) if f.group == group}
    every = (f for k in trial.analysis.result.kernels for f in findings_of(k) if f.code is Verdict.BENIGN_RACE)
    olds = (in_old_text(f, trial.files) for f in every)
    return any(old is not None and key_of(old) in keys for old in olds)
