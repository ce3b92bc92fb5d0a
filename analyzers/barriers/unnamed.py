"""Barriers and exchanges of a warp that a thread comes to with a mask that does not name its own lane.

PTX leaves undefined what happens then. Asked of one arbitrary thread: it comes there, and its own bit of the mask is 0.
Nothing is said where the mask follows from data, votes or the lanes that are there: such a mask names those that it was
made for. Nor where data of each thread's own decides which lanes come, as these may be the ones that are named, or
where the mask hangs on values that nobody states and that do not decide who comes, as these may be the right ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analyzers.barriers.parting import guard_of, that_stayed
from analyzers.ir import expr as E
from analyzers.ir.events import BarrierEvent, Conjunct
from analyzers.ir.expr import Expr
from analyzers.ir.uniformity import is_uniform
from analyzers.races.check import RaceChecker
from analyzers.races.conditions import query_of, split
from analyzers.races.named_lanes import from_lane, is_known, names, names_all_that_come
from analyzers.races.threads import WARP, Launch, Mode
from analyzers.solve.query import Satisfied

MODE: Final[Mode] = "thread"
"""The question is about one thread."""

_OPEN: Final = ("param:", "host:", "bdim.", "gdim.", "smem.", "rank:")
"""How the names of values begin that a launch may leave open."""


@dataclass(frozen=True, slots=True)
class Unnamed:
    """Values for which a thread comes to a barrier or an exchange whose mask does not name it."""

    event: BarrierEvent
    values: Mapping[Expr, int]
    open: bool
    """Which lanes come, or are named, depends on values that the launch does not fix."""


def check_masks(checker: RaceChecker) -> list[Unnamed]:
    """Every barrier and exchange of a warp whose mask is known, under the checker's launch context."""
    events = checker.launch.events
    found: list[Unnamed] = []
    for event in (*events.barriers, *events.exchanges):
        if checker.effort.is_spent:
            break
        values = _left_out(checker, event)
        if values is not None:
            found.append(Unnamed(event, values, _is_open(checker.launch, event)))
    return found


def _left_out(checker: RaceChecker, event: BarrierEvent) -> Mapping[Expr, int] | None:
    """Values for which a thread comes there and is not named."""
    launch = checker.launch
    if event.scope != "warp" or event.mask is None or not is_known(launch, event.mask):
        return None
    guard = guard_of(event)
    if names_all_that_come(launch, event.mask, guard) or any(_chooses_lanes(launch, c) for c in guard):
        return None
    if not _open_in([launch.bind(event.mask)]) <= _open_in(_parting(launch, guard)):
        return None
    parts = [launch.side(c.condition, 1, MODE) for c in guard]
    parts.append(E.lnot(names(launch, event.mask, 1, 1, MODE)))
    if None in launch.block:
        parts += _ordinary(launch, event.mask, guard)
    # Where it is not certain that there is none, nothing is said.
    return that_stayed(launch, event, guard, MODE, parts, lambda asked: _satisfied(checker, asked))[0]


def _satisfied(checker: RaceChecker, parts: Sequence[Expr]) -> Mapping[Expr, int] | None:
    query = query_of(checker.launch, parts, MODE)
    for part in split(query) if query is not None else ():
        if checker.effort.is_spent:
            return None
        answer = checker.asker.answer(part)
        if isinstance(answer, Satisfied):
            return answer.values
    return None


def _ordinary(launch: Launch, mask: Expr, guard: Sequence[Conjunct]) -> Iterator[Expr]:
    """What is taken for granted of a block whose size nobody states: it has whole warps, as kernels rely on that take
    the lane from the number in the grid; and where all of its threads come, it has no more than the mask names, while
    whoever names a later lane knows of this one."""
    if launch.block[0] is None:
        rest = E.binary("rem", launch.bind(E.BDIM[0]), E.const(WARP, E.U32))
        yield E.compare("eq", rest, E.const(0, E.U32))
    if not any(_is_about_lanes(launch, c) for c in guard):
        yield E.compare("ne", from_lane(launch, mask, 1, 1, MODE), E.const(0, E.U32))


def _is_about_lanes(launch: Launch, c: Conjunct) -> bool:
    """Whether a condition on the coordinates of threads alone says which of them go on."""
    condition = launch.bind(c.condition)
    return c.kind != "assume" and not is_uniform(condition, "warp") and set(E.TID).issuperset(E.symbols(condition))


def _chooses_lanes(launch: Launch, c: Conjunct) -> bool:
    """Whether lanes of one warp may part at a condition on data."""
    condition = launch.bind(c.condition)
    if c.kind == "assume" or is_uniform(condition, "warp") or not E.uses((condition,), _OPAQUE):
        return False
    return launch.agree_in_warps(condition) is not True


def _is_open(launch: Launch, event: BarrierEvent) -> bool:
    return None in launch.block or bool(_open_in(_parting(launch, guard_of(event))))


def _open_in(conditions: Iterable[Expr]) -> set[Expr]:
    """The values that the launch leaves open."""
    return {s for s in E.symbols(*conditions) if s.op == "sym" and str(s.value).startswith(_OPEN)}


def _parting(launch: Launch, guard: Sequence[Conjunct]) -> list[Expr]:
    """The conditions that may keep some lanes of a warp away."""
    conditions = (launch.bind(c.condition) for c in guard)
    return [c for c in conditions if not is_uniform(c, "warp")]


_OPAQUE: Final = E.operations("opaque")
