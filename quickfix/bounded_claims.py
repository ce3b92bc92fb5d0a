"""Places that threads take as long as there are some: ``if (count < most) list[count++] = v;``.

Takes a session and a group of races on the cell that counts, gives the `Fix` that has each thread take a place by
`atomicAdd` before it compares, or why there is none. It is a choice: the cell then counts the threads that find no
place, too, and may end above the limit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.update_kinds import Bounded, Range, Update
from analyzers.model import Finding, Fix, FixRefusal
from quickfix.atomic_calls import atomic_call
from quickfix.edits import Change, Layout
from quickfix.naming import NotPossible, fresh_name, line_of
from quickfix.paths import Level, around, chain_to, on_host, steps_to
from quickfix.search import sentence
from quickfix.sections import balanced, refuse_parted
from quickfix.session import Session
from quickfix.taken_over import without_write
from quickfix.variables import mentioned, stay
from quickfix.verify import RACES, findings_of
from quickfix.wording import edits_of


def bounded_claim(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """The repair of one group of races; None where it is not about such a cell. Raises `SearchSpentError`."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    found = _claim(session, races)
    if found is None:
        return None
    level, claim = found
    layout = Layout(session.trees.texts[level.function.path])
    try:
        if level.function.on_host:
            raise NotPossible(on_host(level.function.name))
        changes = sorted(
            _changes(level, claim, layout, session.reserved_in(level.function)), key=lambda c: (c.start, c.end)
        )
        refuse_parted(layout.text, claim.cell.at[0], claim.count[1], "the comparison and what counts")
    except NotPossible as reason:
        return FixRefusal(sentence(str(reason)))
    trial = session.trial({level.function.path: changes}, frozenset(), session.kernels_sharing_code(kernels))
    line = session.names.at(level.function.path, line_of(layout.text, claim.cell.at[0]))
    if not trial.difference.is_clean or group not in trial.gone:
        worse = trial.difference.worse
        why = worse[0] if worse else f"with a place for each thread from {line} on there would still be a race"
        return FixRefusal(sentence(why))
    cell, bound = (layout.text[slice(*at)].decode(errors="replace") for at in (claim.cell.at, claim.bound))
    return Fix(
        title=f"Take a place from {cell} in {line} by atomicAdd(), then compare it with {bound} — no two "
        "threads get the same one",
        kind="use-atomic",
        edits=edits_of(trial),
        groups=tuple(sorted(trial.gone)),
        cost="1 atomic operation for a load and a store",
        preferred=False,
        notes=(f"Threads that find no place are counted, too: {cell} may end above {bound}.",),
    )


def _claim(session: Session, races: Sequence[Finding]) -> tuple[Level, Bounded] | None:
    for write in (a for f in races for a in f.accesses if a.kind != "read"):
        chain = chain_to(session.trees, write)
        if not chain:
            continue
        for claim in chain[-1].function.bounded:
            if write.span.start_offset in claim.places:
                return chain[-1], claim
    return None


def _changes(level: Level, claim: Bounded, layout: Layout, names: Collection[bytes]) -> Iterator[Change]:
    """`level`: of what counts; `names`: those that nothing new may have. Raises `NotPossible`."""
    update = Update(claim.cell.at, claim.places, claim.cell, "+", None, "old")
    (taken,) = atomic_call(update, layout)
    function, line = level.function, line_of(layout.text, claim.count[0])
    variables, inside = mentioned(function, claim.cell.at), (claim.cell.at[0], claim.count[0])
    variables |= {u.variable for u in function.uses if u.kind == "declared" and u.at == claim.variable}
    if not stay(function, variables, inside):
        raise NotPossible(f"which cell is counted up in line {line} changes behind the comparison")
    is_statement = level.statement is not None and level.statement.start == claim.count[0]
    if claim.variable is not None:
        if not is_statement:
            raise NotPossible(f"the write in line {line} is part of a larger statement")
        yield taken
        yield from without_write(layout, function, steps_to(level))
        return
    if claim.yields == "nothing":
        if not is_statement:
            raise NotPossible(f"what is counted in line {line} is part of a larger statement")
        yield from without_write(layout, function, steps_to(level))
        if not claim.reads:
            yield taken
            return
    name = fresh_name(level, layout.text, "place", names)
    yield _declared(_conditional(level, claim.cell.at, line), f"{claim.cell.spelling} ".encode() + name + b";", layout)
    opened = b"(" + name + b" = "
    moved = tuple((to + len(opened), at, length) for to, at, length in taken.moved)
    yield replace(taken, text=opened + taken.text + b")", moved=moved)
    for read in claim.reads:
        yield Change(*read, name)
    if claim.yields != "nothing":
        yield Change(*claim.count, name if claim.yields == "old" else b"(" + name + b" + 1)")


def _declared(level: Level, declaration: bytes, layout: Layout) -> Change:
    """A declaration in front of the statement of a level, or of what that is a branch without braces of."""
    while not level.body.braced:
        level = around(level)
    statements, index = level.body.statements, level.position
    keyword = statements[index].keyword or statements[index].start
    if not layout.is_first(keyword):
        return Change(keyword, keyword, declaration + b" ")
    low = statements[index - 1].end if index else level.body.start
    indentation = layout.indentation(keyword)
    if layout.code[low:keyword].strip():
        # Another build has more in front of the statement, which may go on in it.
        if not balanced(layout.text, low, keyword):
            raise NotPossible(f"preprocessor lines cut the code around line {line_of(layout.text, keyword)}")
        at = layout.line_end(low)
        return Change(at, at, layout.newline + indentation + declaration)
    at = layout.line_start(keyword)
    return Change(at, at, indentation + declaration + layout.newline)


def _conditional(level: Level, test: Range, line: int) -> Level:
    """The level whose statement is the conditional that a condition is of."""
    while level.steps:
        level = around(level)
        statement = level.statement
        if statement is not None and statement.kind == "if" and statement.keyword <= test[0] < statement.head_end:
            if statement.macro:
                break
            return level
    raise NotPossible(f"the conditional around line {line} is written by a macro")
