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
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from analyzers.frontend.lowering import asynchronous
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.nodes import Node
from analyzers.ir.expr import (
    BDIM,
    FALSE,
    TRUE,
    U32,
    U64,
    Expr,
    IntType,
    cast,
    compare,
    const,
    lnot,
    mul,
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

_ARRIVE, _AWAIT, _TEST = "%arrive:", "%await:", "%test:"
_OF = "|"
"""In the text of a wait: what it gives, and the variable that holds the arrival it waits for."""
_SPLIT = ("split-barrier", "a barrier that separates arriving from waiting")
_WIDTH = 8
"""Bytes of a barrier in memory."""
_QUIET = (Assign, Havoc, Observe, Collective, Assume, Fence)
"""They touch no memory."""
_WIDE: dict[str, Literal["block", "cluster", "grid"]] = {"block": "block", "cluster": "cluster", "grid": "grid"}


def key_of(ctx: Context, pointer: Expr) -> str | None:
    """A name for a barrier in shared memory that stands at a fixed place."""
    offset = 0
    while pointer.op in ("ptradd", "cast", "var"):
        if pointer.op == "var":
            held = ctx.assigned(pointer.value) if pointer.value.startswith("%") else None
            if held is None:
                return None
            pointer = held
            continue
        if pointer.op == "ptradd":
            if pointer.args[1].op != "const":
                return None
            offset += int(pointer.args[1].value)
        pointer = pointer.args[0]
    if pointer.op != "addr" or ctx.objects[pointer.value].space != "shared":
        return None
    return f"{pointer.value}+{offset}"


def init(ctx: Context, node: Node, pointer: Expr, expected: Expr) -> bool:
    """Set up a barrier in memory; False where it is not known which one, here and below."""
    key = key_of(ctx, pointer)
    if key is None:
        return False
    site = ctx.site(node)
    ctx.emit(Store(ctx.id(), pointer, ctx.havoc(U64, "a new barrier", node), _WIDTH, site))
    everybody = cast(mul(mul(BDIM[0], BDIM[1]), BDIM[2]), U32)
    some = Unsupported("partial-barrier", "a barrier of some threads of the block", site)
    ctx.emit(If(compare("ne", cast(expected, U32), everybody), (some,), (), site))
    ctx.phases.add(key)
    return True


def arrive_at(ctx: Context, node: Node, pointer: Expr, count: Expr, token: Expr) -> bool:
    """`token` stands for this arrival."""
    key = key_of(ctx, pointer)
    if key is None or count.op != "const" or count.value != 1:
        return False
    one = const(1, U64)
    ctx.emit(Atomic(ctx.id(), None, "add", U64, pointer, (one,), _WIDTH, "block", "relaxed", ctx.site(node)))
    arrive(ctx, node, key, token.value)
    return True


def wait_at(ctx: Context, node: Node, pointer: Expr, token: Expr) -> bool:
    key = key_of(ctx, pointer)
    if key is not None:
        wait(ctx, node, key, _named(ctx, token))
    return key is not None


def test_at(ctx: Context, node: Node, pointer: Expr, token: Expr, done: Expr) -> bool:
    """`done` says whether the phase is complete."""
    key = key_of(ctx, pointer)
    if key is not None:
        ctx.emit(Unsupported(f"{_TEST}{key}", f"{done.value}{_OF}{_named(ctx, token)}", ctx.site(node)))
    return key is not None


def _named(ctx: Context, token: Expr) -> str:
    kept = ctx.temporary(token.ty, "token")
    ctx.assign(kept, token)
    return kept.value


def arrive(ctx: Context, node: Node, key: str, token: str = "") -> None:
    ctx.emit(Unsupported(f"{_ARRIVE}{key}", token, ctx.site(node)))


def wait(ctx: Context, node: Node, key: str, token: str = "") -> None:
    ctx.emit(Unsupported(f"{_AWAIT}{key}", f"{_OF}{token}", ctx.site(node)))


def ordered(ctx: Context, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body with barriers in place of the marks; as it was where there are none."""
    everything = statements(body)
    arrivals = Counter(key for s in everything if (key := _marked(s, _ARRIVE)) is not None)
    if not any(_marked(s, kind) is not None for s in everything for kind in (_ARRIVE, _AWAIT, _TEST)):
        return body
    chosen = {key for s in everything if isinstance(s, If) for t in _under(s) if (key := _marked(t, _ARRIVE))}
    unclear = {key for key in chosen if arrivals[key] > 1}
    unset = {key for key in arrivals if key not in _WIDE and key not in ctx.phases}
    return _Pairing(ctx, frozenset(unclear | unset)).list(body)


def _under(s: If) -> Iterator[Stmt]:
    yield from statements(s.then)
    yield from statements(s.orelse)


def _marked(s: Stmt, kind: str) -> str | None:
    return s.kind.removeprefix(kind) if isinstance(s, Unsupported) and s.kind.startswith(kind) else None


class _Pairing:
    def __init__(self, ctx: Context, refused: frozenset[str]) -> None:
        self.ctx = ctx
        self.refused = refused
        """Barriers of which it is not known that all threads arrive at the same places."""

    def list(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        body = tuple(t for s in body for t in _polled(s))
        out: list[Stmt] = []
        at = 0
        while at < len(body):
            s = body[at]
            key = _marked(s, _ARRIVE)
            found = self._phase(body, at, key) if key is not None else None
            if found is not None:
                made, at = found
                out += made
                continue
            out.append(self._inside(s))
            at += 1
        return tuple(out)

    def _inside(self, s: Stmt) -> Stmt:
        if isinstance(s, Unsupported) and s.kind.startswith((_ARRIVE, _AWAIT, _TEST)):
            return Unsupported(*_SPLIT, s.site)
        return with_parts(s, self.list)

    def _phase(self, body: tuple[Stmt, ...], at: int, key: str) -> tuple[list[Stmt], int] | None:
        """The phase that begins with the arrival at `at`, and where the program goes on."""
        end = next((i for i in range(at + 1, len(body)) if _marked(body[i], _AWAIT) == key), None)
        first, last = body[at], body[end] if end is not None else None
        if end is None or not isinstance(first, Unsupported) or not isinstance(last, Unsupported):
            return None
        if key in self.refused or last.text.partition(_OF)[2] not in _holding(first.text, body[at + 1 : end]):
            return None
        between = self._between(body[at + 1 : end])
        if between is None:
            return None
        done, again = between
        barrier = Barrier(self.ctx.id(), _WIDE.get(key, "block"), last.site)
        copied = [] if key in _WIDE else [asynchronous.completed_on(self.ctx, key, barrier.site)]
        return [*done, *copied, barrier, *again], end + 1

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
    marks = [t for t in asked if isinstance(t, Unsupported) and t.kind.startswith(_TEST)]
    if len(marks) != 1 or not all(isinstance(t, (Assign, Havoc)) or t is marks[0] for t in (*asked, *rest)):
        return [s]
    for t in reversed(asked):
        if isinstance(t, Assign):
            condition = substitute(condition, {n: t.value for n in _variables(condition) if n.value == t.var})
    answer, _, token = marks[0].text.partition(_OF)
    done = next((n for n in _variables(condition) if n.value == answer), None)
    if done is None or not isinstance(done.ty, IntType):
        return [s]
    ends = substitute(condition, {done: const(1, done.ty)}) is FALSE
    goes_on = substitute(condition, {done: const(0, done.ty)}) is TRUE
    if not ends or not goes_on:
        return [s]
    made: list[Stmt] = list(asked[: asked.index(marks[0])])
    made.append(Unsupported(_AWAIT + marks[0].kind.removeprefix(_TEST), f"{_OF}{token}", marks[0].site))
    changed = [t for t in (*asked, *rest) if isinstance(t, (Assign, Havoc))]
    types = {t.var: t.value.ty if isinstance(t, Assign) else t.ty for t in changed}
    return made + [Havoc(name, ty, "how often a barrier was asked", s.site) for name, ty in types.items()]


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
