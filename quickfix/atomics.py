"""Make updates atomic: what threads do to one cell without an order of their own.

Takes a session and a group of races whose write is part of an update, `x += v`, `x = max(x, v)`, `if (x == a) x = b;`
and the like, gives the `Fix` that turns it into the atomic function that does the same to the cell; or the reason why
there is none. Whether something else still races with the cell is for the engine to say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.update_kinds import AnyUpdate, Cell, Claim, Range, Update
from analyzers.ir.kernel import Atomic, Site, statements
from analyzers.model import Access, Finding, Fix, FixRefusal
from quickfix.atomic_calls import atomic_call, function_of
from quickfix.bounded_claims import bounded_claim
from quickfix.edits import Change, Layout
from quickfix.file_names import listed
from quickfix.naming import NotPossible, line_of
from quickfix.paths import Level, chain_to, in_library, on_host, steps_to
from quickfix.rebuild import Begun, composed, in_old_lines, rebuilt_from
from quickfix.search import sentence
from quickfix.sections import refuse_halves, refuse_parted
from quickfix.session import Session, Trial, names_of
from quickfix.taken_over import taken_over, without_write
from quickfix.verify import RACES, Files, PairKey, findings_of, gone_groups, in_old_text, key_of
from quickfix.wording import edits_of_files


def is_update(findings: Collection[Finding]) -> bool:
    """Whether what collides are reads and writes of one line that are written alike: an update, by its looks."""
    accesses = [a for f in findings for a in f.accesses]
    places = {(a.span.path, a.span.line, a.text.strip("()")) for a in accesses}
    return len(places) == 1 and {a.kind for a in accesses} == {"read", "write"}


def atomic_update(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """The repair of one group of races; None where it is not about an update. Where others update the cell, these
    become atomic, too; where it is used before or afterwards, barriers go between."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    found = _update(session, races)
    if found is None:
        return bounded_claim(session, kernels, group)
    claimed = bounded_claim(session, kernels, group)
    if isinstance(claimed, Fix):
        return claimed
    made = _made_atomic(session, kernels, (), *found)
    return made if isinstance(made, FixRefusal) else gone_on(session, kernels, group, made)


def gone_on(session: Session, kernels: Sequence[KernelAnalysis], group: str, made: Done) -> Fix | FixRefusal:
    """The repair of one group of races that begins with an update of its cell that was made atomic."""
    keys = frozenset(key_of(f) for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES)
    known = {key_of(f) for a in kernels for f in findings_of(a.result) if f.code in RACES} - keys
    done: list[Done] = []
    current, refusal = session, FixRefusal("The cell is used elsewhere without an order, too.")
    while True:
        done.append(made)
        if made.trial.difference.is_clean and group in _gone(session, current, made.trial, done):
            return _fix(session, current, done)
        files = composed([each.trial for each in done])
        current = current.after(made.trial)
        left = _races_left(current, kernels, files, known)
        if len(done) == 1:
            refusal = _not_enough(current, made, left) or refusal
        colliding = [f for f in left if not _has_atomic(f)]
        found = _first_update(current, colliding)
        if found is None:
            # What collides with atomic operations only is ordered by a barrier, else atomic, too.
            may = bool(left) and not any(_decides(current, f) for f in left)
            ordered = _with_barriers(session, current, kernels, done, keys, group) if may else None
            if isinstance(ordered, Fix):
                return ordered
            found = _first_update(current, left)
        if found is None or len(done) >= _MOST_UPDATES:
            return refusal
        # What is said of the update that was asked about is of more use than what is said of another one.
        another = _made_atomic(current, kernels, done, *found)
        if isinstance(another, FixRefusal):
            return refusal
        made = another


def _not_enough(current: Session, made: Done, left: Iterable[Finding]) -> FixRefusal | None:
    """What an atomic update collides with that nothing orders, in the lines of the text before it."""
    others = (a for f in left if _has_atomic(f) for a in f.accesses if a.kind != "atomic")
    for other in others:
        where = in_old_lines(f"`{other.text}` in {current.names.line(other.span)}", current, [made.trial])
        return FixRefusal(
            f"Made atomic, the {made.what} in {made.where(current)} would still collide with the {other.kind} of "
            f"{where}: what depends on that has to be one atomic operation with it."
        )
    worse = made.trial.difference.worse
    return FixRefusal(sentence(worse[0])) if worse else None


def _first_update(session: Session, races: Iterable[Finding]) -> tuple[Access, Level, AnyUpdate] | None:
    return next((found for f in races if (found := _update(session, [f])) is not None), None)


_MOST_UPDATES: Final = 8
"""Updates of a cell that are made atomic for one race."""
_DIFFERENT: Final = "The updates are made in any order, and what is left in the cell depends on it."
_ANY_ORDER: Final = "Atomic additions of floating-point numbers are made in any order: the last digits may differ."


@dataclass(frozen=True, slots=True)
class Done:
    """An update that was made atomic."""

    trial: Trial
    update: AnyUpdate
    function: str
    text: str
    """The cell as it is written."""
    line: int
    """Of the text before all edits."""
    path: str

    @property
    def what(self) -> str:
        return "claim" if isinstance(self.update, Claim) else "update"

    def where(self, session: Session) -> str:
        """Its line in words."""
        return session.names.at(self.path, self.line)

    @property
    def family(self) -> str:
        """Equal for updates whose order does not matter."""
        return "atomicAdd" if self.function == "atomicSub" else self.function


def _made_atomic(
    current: Session,
    kernels: Sequence[KernelAnalysis],
    done: Sequence[Done],
    access: Access,
    level: Level,
    update: AnyUpdate,
) -> Done | FixRefusal:
    """One update in the text that came of those that are `done`."""
    path = level.function.path
    layout = Layout(current.trees.texts[path])
    steps = [each.trial for each in done]
    try:
        if level.function.on_host:
            raise NotPossible(on_host(level.function.name))
        if library := in_library(current.trees, access):
            raise NotPossible(library)
        function = function_of(update)
        gone = list[Change]()
        if isinstance(update, Update) and update.write is not None and update.compared is None:
            update, gone = taken_over(level, update, update.write, layout)
        changes = atomic_call(update, layout) + gone
        if (claimed := _in_conditional(update)) is not None:
            changes += _without_write(level, *claimed, layout.text)
        refuse_halves(current.trees, path, changes)
    except NotPossible as reason:
        return FixRefusal(in_old_lines(sentence(str(reason)), current, steps))
    trial = current.trial({path: changes}, frozenset(), current.kernels_sharing_code(kernels))
    if trial.analysis.result.failure is not None or len(trial.analysis.result.syntax) > len(current.result.syntax):
        return FixRefusal(sentence(trial.difference.worse[0]))
    file = composed(steps).get(path)
    start = changes[0].start if file is None else file.offsets.old(changes[0].start)
    line = line_of(layout.text if file is None else file.before, start or 0)
    reason = not_atomic(trial, path, changes[0], update.cell)
    if reason or start is None:
        return FixRefusal(sentence(f"`{function}` in line {line} {reason or 'is part of another one'}"))
    return Done(trial, update, function, access.text, line, path)


def _gone(session: Session, current: Session, trial: Trial, done: Sequence[Done]) -> frozenset[str]:
    """The groups of findings of the first text of which nothing is left."""
    if current is session:
        return trial.gone
    judged = session.judge(trial, composed([each.trial for each in done]))
    return frozenset(gone_groups(session.result, trial.checked, judged)) if judged.is_clean else frozenset()


def _races_left(
    current: Session, kernels: Sequence[KernelAnalysis], files: Files, known: Collection[PairKey]
) -> list[Finding]:
    """What still races that was asked about, or has shown since."""
    names = names_of(kernels)
    races = [f for a in current.kernels if a.kernel.mangled in names for f in findings_of(a.result) if f.code in RACES]
    olds = ((f, in_old_text(f, files)) for f in races)
    # What is no update any more collides with other accesses of its cell: they have to become one, too.
    return [f for f, old in olds if old is None or key_of(old) not in known or _has_atomic(f)]


def _decides(session: Session, finding: Finding) -> bool:
    """Whether a condition around an atomic operation reads its cell: with barriers in between, all threads would find
    it as it was before all operations."""
    atomics = [a for a in finding.accesses if a.kind == "atomic"]
    steps = [step for a in atomics for level in chain_to(session.trees, a) or () for step in level.steps]
    heads = [(s.statement.keyword, s.statement.head_end) for s in steps if s.statement.kind == "if"]
    places = {a.span.path for a in atomics}
    reads = [a for a in finding.accesses if a.kind == "read" and a.span.path in places]
    return any(low <= a.span.start_offset < high for a in reads for low, high in heads)


def _has_atomic(finding: Finding) -> bool:
    return any(a.kind == "atomic" for a in finding.accesses)


def _notes(done: Sequence[Done]) -> tuple[str, ...]:
    real = any(d.update.cell.type in ("float", "double") and d.function == "atomicAdd" for d in done)
    return (*([_ANY_ORDER] if real else []), *([] if _commute(done) else [_DIFFERENT]))


def _commute(done: Sequence[Done]) -> bool:
    return len({each.family for each in done}) == 1


def _fix(session: Session, current: Session, done: Sequence[Done]) -> Fix:
    trial, first, several = done[-1].trial, done[0], len(done) > 1
    files = composed([each.trial for each in done])
    cells = listed(list(dict.fromkeys(each.text for each in done)))
    functions = listed(list(dict.fromkeys(f"{each.function}()" for each in done)))
    where = session.names.lines((each.path, each.line) for each in done)
    what = "updates" if several else first.what
    cost = "atomic operation for a load and a store"
    return Fix(
        title=f"Make the {what} of {cells} in {where} atomic, by {functions} — {_why(first.update)}",
        kind="use-atomic",
        edits=edits_of_files(files),
        groups=tuple(sorted(_gone(session, current, trial, done))),
        cost=f"{len(done)} times 1 {cost}" if several else f"1 {cost}",
        preferred=_commute(done),
        notes=_notes(done),
    )


def _with_barriers(
    session: Session,
    current: Session,
    kernels: Sequence[KernelAnalysis],
    done: Sequence[Done],
    keys: frozenset[PairKey],
    group: str,
) -> Fix | FixRefusal | None:
    """Order what else is done with the cell by barriers."""
    begun = Begun(
        current,
        tuple(each.trial for each in done),
        tuple(f"make the {each.what} of {each.text} in {each.where(current)} atomic" for each in done),
        tuple("1 atomic operation for a load and a store" for _ in done),
        begin_with_places=True,
    )
    made = rebuilt_from(session, begun, kernels, keys, (group,))
    if not isinstance(made, Fix):
        return made
    return replace(made, preferred=_commute(done), notes=(*made.notes, *_notes(done)))


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
    """An update that the races are about, with the write in it and where that stands: one that collides with itself,
    or with an atomic operation."""
    for write in (a for f in races for a in f.accesses if a.kind == "write"):
        chain = chain_to(session.trees, write)
        if not chain:
            continue
        # The innermost comes last.
        for update in reversed(chain[-1].function.updates):
            if write.span.start_offset in update.places:
                own = any(_is_within(f, write.span.path, update) for f in races)
                return (write, chain[-1], update) if own else None
    return None


def _is_within(finding: Finding, path: str, update: AnyUpdate) -> bool:
    """Whether all accesses are the update's, those that are atomic already aside."""
    rest = [a for a in finding.accesses if a.kind != "atomic"]
    return all(a.span.path == path and a.span.start_offset in update.places for a in rest)


def _in_conditional(update: AnyUpdate) -> tuple[Range, Range] | None:
    """The condition and the write of a conditional that does more than to update."""
    if isinstance(update, Claim):
        return (update.condition, update.write) if update.whole is None else None
    return (update.whole, update.write) if update.compared is not None and update.write is not None else None


def _without_write(level: Level, condition: Range, write: Range, text: bytes) -> list[Change]:
    statement = level.statement
    if statement is None or statement.start != write[0]:
        raise NotPossible(f"the write in line {line_of(text, write[0])} is part of a larger statement")
    refuse_parted(text, condition[0], write[0], "the condition and the write")
    return without_write(Layout(text), level.function, steps_to(level))


def _why(update: AnyUpdate) -> str:
    if isinstance(update, Claim):
        return "one thread gets in"
    return "no thread's update is lost"
