"""Barriers with two halves: threads arrive, do something else, and wait (``cuda::barrier``, ``__mbarrier_*``, the
``barrier_arrive`` of cooperative groups).

The lowering marks both halves; `ordered` replaces the marks. What all threads did before they arrived comes before what
any does behind the wait, and nothing else is ordered: accesses between the halves may meet those on either side. So the
barrier stands where the threads wait, and the accesses between the halves are made once more behind it. A barrier in
memory is one of the whole block if it was set up for as many threads: that is a condition in the program. Halves that
do not follow each other in one list of statements, a wait for another arrival than the one in front of it, and all that
counts phases are not taken in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from typing import Literal, TypeGuard

from analyzers.frontend.lowering import asynchronous
from analyzers.frontend.lowering.barrier_halves import SPLIT, Mark, Partial, name_of
from analyzers.frontend.lowering.barriers_in_memory import Place
from analyzers.frontend.lowering.context import Context
from analyzers.ir.expr import (
    FALSE,
    TRUE,
    Expr,
    IntType,
    const,
    lnot,
    substitute,
    var,
)
from analyzers.ir.kernel import (
    Assign,
    Assume,
    Atomic,
    Barrier,
    Collective,
    Exit,
    Fence,
    Half,
    Havoc,
    If,
    Load,
    Loop,
    Observe,
    Stmt,
    Store,
    Unsupported,
    statements,
    with_parts,
)

_QUIET = (Assign, Havoc, Observe, Collective, Assume, Fence)
"""They touch no memory."""
_WIDE: dict[str, Literal["block", "cluster", "grid"]] = {"block": "block", "cluster": "cluster", "grid": "grid"}


def ordered(ctx: Context, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body with barriers in place of the marks; as it was where there are none."""
    everything = statements(body)
    if not any(isinstance(s, (Mark, Partial)) for s in everything):
        return body
    arrivals = Counter(s.barrier for s in everything if _arrives(s))
    chosen = {t.barrier for s in everything if isinstance(s, If) for t in _under(s) if _arrives(t)}
    # Threads may come to different ones of barriers at computed places.
    refused = {b for b in arrivals if (b in chosen and arrivals[b] > 1) or (isinstance(b, Place) and b.offset is None)}
    pairing = _Pairing(ctx, frozenset(refused))
    paired = pairing.list(body)
    if not pairing.left:
        return paired
    # What is left of one barrier leaves none of its halves where it is, nor those of others that it may be.
    copied = {c.barrier for c in ctx.copies.values()}
    lost = {_memory_of(s) for s in everything if isinstance(s, Mark) and _is_one_of(s, copied)}
    memory = {place.memory for place in pairing.left if isinstance(place, Place)} - lost
    refused |= {s.barrier for s in everything if isinstance(s, Mark) and _memory_of(s) in memory}
    return _Pairing(ctx, frozenset(refused), frozenset(memory)).list(body)


def _arrives(s: Stmt) -> TypeGuard[Mark]:
    return isinstance(s, Mark) and s.half == "arrive"


def _memory_of(s: Mark) -> str | None:
    return s.barrier.memory if isinstance(s.barrier, Place) else None


def _under(s: If) -> Iterator[Stmt]:
    yield from statements(s.then)
    yield from statements(s.orelse)


class _Pairing:
    def __init__(self, ctx: Context, refused: frozenset[Place | str], met: frozenset[str] = frozenset()) -> None:
        self.ctx = ctx
        self.refused = refused
        """Barriers of which it is not known that all threads arrive at the same places."""
        self.met = met
        """The objects whose barriers threads come to at several places."""
        self.left = set[Place | str]()
        """Barriers with a half that has none beside it."""

    def list(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        body = tuple(t for s in body for t in _polled(s))
        out: list[Stmt] = []
        at = 0
        while at < len(body):
            s = body[at]
            found = self._phase(body, at, s) if _arrives(s) else None
            if found is not None:
                made, at = found
                out += made
                continue
            out.append(self._inside(s))
            at += 1
        return tuple(out)

    def _inside(self, s: Stmt) -> Stmt:
        if isinstance(s, Mark):
            self.left.add(s.barrier)
            return self._meeting(s, s.half)
        if isinstance(s, Partial):
            # The groups of a fixed number of threads may be told apart by the provers.
            grouped = s.barrier.memory in self.met and s.count is not None
            return Assume(TRUE, "assume", s.site) if grouped else Unsupported(s.kind, s.text, s.site)
        return with_parts(s, self.list)

    def _meeting(self, s: Mark, half: Half) -> Stmt:
        """A place where threads meet those that come to the barrier elsewhere."""
        place = s.barrier if isinstance(s.barrier, Place) and s.barrier.memory in self.met and not s.done else None
        threads = self.ctx.barriers.threads(place) if place is not None else None
        if threads is None:
            return Unsupported(*SPLIT, s.site)
        return Barrier(self.ctx.id(), "meeting", s.site, tile=threads[0], half=half, phase=s.phase)

    def _phase(self, body: tuple[Stmt, ...], at: int, first: Mark) -> tuple[list[Stmt], int] | None:
        """The phase that begins with the arrival at `at`, and where the program goes on."""
        end = next((i for i in range(at + 1, len(body)) if _waits(body[i], first.barrier)), None)
        last = body[end] if end is not None else None
        if end is None or not isinstance(last, Mark) or last.token not in _holding(first.token, body[at + 1 : end]):
            return None
        if first.barrier in self.refused:
            if not all(isinstance(s, _QUIET) for s in body[at + 1 : end]) or not _same_place(first, last, body[at:end]):
                return None
            self.left.add(first.barrier)
            return [*body[at + 1 : end], self._meeting(first, "both")], end + 1
        between = self._between(body[at + 1 : end])
        if between is None or (isinstance(first.barrier, Place) and self.ctx.barriers.threads(first.barrier) is None):
            return None
        done, again = between
        if isinstance(first.barrier, str):
            return [*done, Barrier(self.ctx.id(), _WIDE[first.barrier], last.site), *again], end + 1
        barrier = Barrier(self.ctx.id(), "block", last.site)
        copied = asynchronous.completed_on(self.ctx, name_of(first.barrier) or "", barrier.site)
        return [*done, copied, barrier, *again], end + 1

    def _between(self, body: Iterable[Stmt]) -> tuple[list[Stmt], list[Stmt]] | None:
        """The statements between the halves, and their accesses once more."""
        done: list[Stmt] = []
        again: list[Stmt] = []
        for s in body:
            if isinstance(s, _QUIET):
                done.append(s)
            elif isinstance(s, (Load, Store)):
                done += self._access(s, again)
            elif isinstance(s, If):
                then, orelse = self._between(s.then), self._between(s.orelse)
                if then is None or orelse is None:
                    return None
                condition = self._kept(s.condition, done)
                done.append(replace(s, condition=condition, then=tuple(then[0]), orelse=tuple(orelse[0])))
                again.append(If(condition, tuple(then[1]), tuple(orelse[1]), s.site))
            elif isinstance(s, Loop) and all(isinstance(t, _QUIET) for t in statements((*s.head, *s.body, *s.latch))):
                done.append(s)
            else:
                return None
        return done, again

    def _access(self, s: Load | Store, again: list[Stmt]) -> list[Stmt]:
        kept: list[Stmt] = []
        pointer = self._kept(s.pointer, kept)
        bounds = tuple((self._kept(index, kept), extent) for index, extent in s.in_bounds)
        number = self.ctx.id()
        if isinstance(s, Load):
            again.append(replace(s, id=number, var=self.ctx.name("%again"), pointer=pointer, in_bounds=bounds))
        else:
            again.append(replace(s, id=number, pointer=pointer, value=self._kept(s.value, kept), in_bounds=bounds))
        return [*kept, s]

    def _kept(self, e: Expr, out: list[Stmt]) -> Expr:
        if e.op in ("const", "addr"):
            return e
        made = var(self.ctx.name("%kept"), e.ty)
        out.append(Assign(made.value, e))
        return made


def _waits(s: Stmt, barrier: Place | str) -> bool:
    return isinstance(s, Mark) and s.half == "wait" and not s.done and s.barrier == barrier and not _of_parity(s)


def _same_place(first: Mark, last: Mark, between: tuple[Stmt, ...]) -> bool:
    """Whether halves at computed places are of one barrier."""
    if not isinstance(first.barrier, Place) or first.barrier.offset is not None:
        return True
    one, two = first.written, last.written
    changed = _changed(between)
    return one is not None and one is two and not any(n.value in changed for n in _variables(one))


def _of_parity(s: Mark) -> bool:
    return s.phase is not None and s.phase.parity


def _is_one_of(s: Mark, keys: Container[str | None]) -> bool:
    """Whether it is of one of the barriers that copies are made known to."""
    return isinstance(s.barrier, Place) and name_of(s.barrier) in keys


def _holding(token: str, body: Iterable[Stmt]) -> set[str]:
    """The variables that hold what `token` held in front of some statements."""
    holding = {token}
    for s in body:
        if isinstance(s, Assign):
            value = s.value
            while value.op == "cast":
                value = value.args[0]
            if value.op == "var" and value.value in holding:
                holding.add(s.var)
            else:
                holding.discard(s.var)
        else:
            holding -= _changed((s,))
    return holding


def _changed(body: tuple[Stmt, ...]) -> set[str]:
    """The variables that statements give a value."""
    everything = statements(body)
    reduced = {s.reduce[2] for s in everything if isinstance(s, Barrier) and s.reduce is not None}
    return reduced | {s.var for s in everything if isinstance(s, (Assign, Havoc, Collective, Load, Atomic)) and s.var}


def _polled(s: Stmt) -> list[Stmt]:
    """A loop that only asks until the phase is complete is a wait; what it counts on the way is any number."""
    if not isinstance(s, Loop):
        return [s]
    parts = _as_condition(s)
    if parts is None:
        return [s]
    asked, condition, rest = parts
    marks = [t for t in asked if isinstance(t, Mark) and t.done]
    if len(marks) != 1 or not all(isinstance(t, (Assign, Havoc)) or t is marks[0] for t in (*asked, *rest)):
        return [s]
    for t in reversed(asked):
        if isinstance(t, Assign):
            condition = substitute(condition, {n: t.value for n in _variables(condition) if n.value == t.var})
    done = next((n for n in _variables(condition) if n.value == marks[0].done), None)
    if done is None or not isinstance(done.ty, IntType):
        return [s]
    if _reads_anew(asked[: asked.index(marks[0])], (*asked, *rest)):
        return [s]
    ends = substitute(condition, {done: const(1, done.ty)}) is FALSE
    goes_on = substitute(condition, {done: const(0, done.ty)}) is TRUE
    if not ends or not goes_on:
        return [s]
    made: list[Stmt] = list(asked[: asked.index(marks[0])])
    made.append(replace(marks[0], done=""))
    changed = [t for t in (*asked, *rest) if isinstance(t, (Assign, Havoc))]
    types = {t.var: t.value.ty if isinstance(t, Assign) else t.ty for t in changed}
    return made + [Havoc(name, ty, "how often a barrier was asked", s.site) for name, ty in types.items()]


def _reads_anew(body: Iterable[Stmt], loop: Iterable[Stmt]) -> bool:
    """Whether statements of a loop take something from an iteration before: what is asked for may be another one."""
    changed = {t.var for t in loop if isinstance(t, (Assign, Havoc))}
    made: set[str] = set()
    for t in body:
        if isinstance(t, Assign) and any(n.value in changed - made for n in _variables(t.value)):
            return True
        if isinstance(t, (Assign, Havoc)):
            made.add(t.var)
    return False


def _as_condition(s: Loop) -> tuple[tuple[Stmt, ...], Expr, tuple[Stmt, ...]] | None:
    """A loop with one way out: what it does before it decides, the condition to go on, and what it does then."""
    if s.condition is not TRUE:
        return s.head, s.condition, (*s.body, *s.latch)
    everything = (*s.head, *s.body, *s.latch)
    at = next((i for i, t in enumerate(everything) if isinstance(t, If)), None)
    way_out = everything[at] if at is not None else None
    if at is None or not isinstance(way_out, If) or way_out.orelse:
        return None
    if len(way_out.then) != 1 or not isinstance(way_out.then[0], Exit) or way_out.then[0].label != s.label:
        return None
    return everything[:at], lnot(way_out.condition), everything[at + 1 :]


def _variables(e: Expr) -> list[Expr]:
    found = [e] if e.op == "var" else []
    return found + [v for a in e.args for v in _variables(a)]
