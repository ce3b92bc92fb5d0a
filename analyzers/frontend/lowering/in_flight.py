"""What open copies do: the accesses that a barrier finds under way, and those of the thread that may disturb them.

A copy stands as if made at its issue, which is exact up to the next barrier. Where a barrier finds it open, the same
accesses are made once more behind it: whoever comes there without another barrier meets them. Where the thread's own
access may touch an open copy the kernel is unknown.

A copy that an earlier iteration issued has other addresses than one of this iteration. In kernels that need it, and
whose commits and waits come in every iteration, groups are counted: each copy keeps the variables of its last few
issues and the numbers of their groups, and was open if its group is newer than the last one waited for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.copy_accesses import disturbed, free_variables, made_again, named, overlap
from analyzers.frontend.lowering.copy_shapes import ends_before_barriers
from analyzers.frontend.lowering.open_copies import (
    COMMIT,
    COMPLETE,
    EVERYTHING,
    MARKS,
    OLD,
    Open,
    State,
    joined,
    left_open,
)
from analyzers.ir.expr import (
    BOOL,
    FALSE,
    I32,
    I64,
    PTR,
    TRUE,
    Expr,
    IntType,
    add,
    addr,
    compare,
    const,
    land,
    substitute,
    var,
)
from analyzers.ir.kernel import (
    Assign,
    Atomic,
    Barrier,
    Block,
    Continue,
    Exit,
    If,
    Kernel,
    Load,
    Loop,
    Stmt,
    Store,
    Unsupported,
    statements,
)
from analyzers.ir.pointers import pointed_objects, points_to

APART = "asynchronous copies of one thread that are open together do not overlap"
MAX_PASSES = 20


@dataclass(slots=True)
class _History:
    """What is kept of the issues of one copy statement, by age."""

    variables: tuple[Expr, ...]
    """Those that say what is copied."""
    kept: list[tuple[Expr, ...]]
    """By age: the variables at the issue."""
    group: list[Expr]
    """By age: the number of the group of the copy, 0 for none."""
    defaults: tuple[Expr, ...] = field(default_factory=tuple)

    def at(self, age: int) -> dict[Expr, Expr]:
        return dict(zip(self.variables, self.kept[age], strict=True))


class Follower:
    """Follows the copies of one kernel. `counting`: number the groups; then every copy has a history."""

    def __init__(self, ctx: Context, kernel: Kernel, *, counting: bool = False) -> None:
        self.ctx = ctx
        self.kernel = kernel
        self.counting = counting
        self.lost = False
        """Something is unknown that counting may tell."""
        self.known = points_to(kernel)
        self.loops: tuple[str, ...] = ()
        self.around: dict[str, tuple[str, ...]] = {}
        """The loops around each copy."""
        self.bodies: dict[str, tuple[Stmt, ...]] = {}
        self.flags: dict[str, Expr] = {}
        """Whether a copy that is not made on all paths was made, in this iteration of the loops around it."""
        self.exits: dict[str, State] = {}
        self.ends = {id(s) for s in ends_before_barriers(kernel.body)}
        """Where a thread may end before a barrier that others pass."""
        self.histories: dict[str, _History] = {}
        self.heads: dict[tuple[str, ...], Expr] = {}
        """How often a loop with copies came to its head so far, by the loops around what is in it."""
        self.committed = var(ctx.name("%committed"), I32) if counting else None
        self.waited = var(ctx.name("%waited"), I32) if counting else None
        """The number of the newest group that was waited for."""

    def run(self) -> tuple[Stmt, ...]:
        """The kernel's body without marks."""
        start = State({})
        self._walk(self.kernel.body, start)  # finds where the copies are
        self.exits.clear()
        body, _ = self._walk(self.kernel.body, start)
        # Everywhere a flag holds a value: a copy may be skipped in the first iteration.
        cleared = [Assign(flag.value, FALSE) for flag in self.flags.values()]
        return (*cleared, *self._beginnings(), *self._with_flags(body, ()))

    def _beginnings(self) -> list[Stmt]:
        counts = (self.committed, self.waited, *self.heads.values())
        out: list[Stmt] = [Assign(v.value, const(0, I32)) for v in counts if v is not None]
        for history in self.histories.values():
            for kept in history.kept:
                out += [Assign(k.value, d) for k, d in zip(kept, history.defaults, strict=True)]
            out += [Assign(g.value, const(0, I32)) for g in history.group]
        return out

    def _with_flags(self, body: tuple[Stmt, ...], loops: tuple[str, ...]) -> tuple[Stmt, ...]:
        """Every flag is lowered where the iteration of the loop around its copy begins."""
        out: list[Stmt] = []
        for s in body:
            if isinstance(s, Loop):
                inner = (*loops, s.label)
                head = (*self._lowered(inner), *self._with_flags(s.head, inner))
                changed = replace(
                    s, head=head, body=self._with_flags(s.body, inner), latch=self._with_flags(s.latch, inner)
                )
                out.append(changed)
            elif isinstance(s, If):
                out.append(replace(s, then=self._with_flags(s.then, loops), orelse=self._with_flags(s.orelse, loops)))
            elif isinstance(s, Block):
                out.append(replace(s, body=self._with_flags(s.body, loops)))
            else:
                out.append(s)
        return tuple(out)

    def _lowered(self, loops: tuple[str, ...]) -> list[Stmt]:
        out: list[Stmt] = [
            Assign(flag.value, FALSE) for label, flag in self.flags.items() if self.around[label] == loops
        ]
        for label, history in self.histories.items():
            if self.around[label] != loops:
                continue
            for age in range(OLD - 1, 0, -1):
                younger = (*history.kept[age - 1], history.group[age - 1])
                older = (*history.kept[age], history.group[age])
                out += [Assign(a.value, b) for a, b in zip(older, younger, strict=True)]
            out += [Assign(k.value, d) for k, d in zip(history.kept[0], history.defaults, strict=True)]
            out.append(Assign(history.group[0].value, const(0, I32)))
        if loops in self.heads:
            out.append(Assign(self.heads[loops].value, add(self.heads[loops], const(1, I32))))
        return out

    # --- statements

    def _walk(self, body: tuple[Stmt, ...], state: State | None) -> tuple[tuple[Stmt, ...], State | None]:
        out: list[Stmt] = []
        for s in body:
            made, state = self._statement(s, state)
            out += made
        return tuple(out), state

    def _statement(self, s: Stmt, state: State | None) -> tuple[list[Stmt], State | None]:
        if isinstance(s, Block):
            if s.label in self.ctx.copies:
                return self._issued(s, state)
            body, state = self._walk(s.body, state)
            return [Block(s.label, body)], joined(state, self.exits.pop(s.label, None))
        if isinstance(s, If):
            then, one = self._walk(s.then, state)
            orelse, two = self._walk(s.orelse, state)
            return [replace(s, then=then, orelse=orelse)], joined(one, two)
        if isinstance(s, Loop):
            return self._loop(s, state)
        if isinstance(s, (Exit, Continue)):
            label = s.label if isinstance(s, Exit) else f"{s.label}:continue"
            found = joined(state, self.exits.get(label))
            if found is not None:
                self.exits[label] = found
            return [*(self._left_behind(state) if id(s) in self.ends and state is not None else ()), s], None
        if isinstance(s, Unsupported) and s.kind.startswith(MARKS):
            following = self._marked(s.kind, state)
            return [*self._closed(state, following), *self._counted(s.kind, state)], following
        if state is None or not state.all():
            return [s], state
        if isinstance(s, Barrier):
            return [s, *self._behind(s, state)], state
        if isinstance(s, (Load, Store, Atomic)):
            return [*self._own(s, state), s], state
        return [s], state

    def _closed(self, before: State | None, after: State | None) -> list[Stmt]:
        if before is None or after is None:
            return []
        labels = {e.label for e in before.all()} - {e.label for e in after.all()}
        return [Assign(self.flags[label].value, FALSE) for label in sorted(labels) if label in self.flags]

    def _counted(self, kind: str, state: State | None) -> list[Stmt]:
        """The numbers behind a mark."""
        if self.committed is None or self.waited is None or state is None or kind.startswith(COMPLETE):
            return []
        if kind == COMMIT:
            return [Assign(self.committed.value, add(self.committed, const(1, I32)))]
        newest = left_open(kind, state)
        if newest is None:
            return []
        out: list[Stmt] = [Assign(self.waited.value, add(self.committed, const(-max(newest, 0), I32)))]
        if newest == EVERYTHING:
            # What is not committed yet has the number that what is issued from here on gets, too.
            for entry in sorted(state.fresh):
                if entry.label in self.histories and entry.age < OLD and not self.ctx.copies[entry.label].barrier:
                    out.append(Assign(self.histories[entry.label].group[entry.age].value, const(0, I32)))
        return out

    def _marked(self, kind: str, state: State | None) -> State | None:
        """Copies of a barrier in memory are open until its phase is complete, whatever else the thread waits for."""
        if state is None:
            return None
        barrier = kind.removeprefix(COMPLETE) if kind.startswith(COMPLETE) else None
        fresh = {e: c for e, c in state.fresh.items() if self.ctx.copies[e.label].barrier is None}
        kept = {e: c for e, c in state.fresh.items() if self.ctx.copies[e.label].barrier not in (None, barrier)}
        following = replace(state, fresh=fresh)
        if barrier is None:
            following = following.marked(kind)
        return replace(following, fresh={**following.fresh, **kept})

    def _loop(self, s: Loop, state: State | None) -> tuple[list[Stmt], State | None]:
        outer, self.loops = self.loops, (*self.loops, s.label)
        exits = dict(self.exits)
        start, made, after = self._aged(state), s, state
        for _ in range(MAX_PASSES):
            self.exits = dict(exits)
            head, current = self._walk(s.head, start)
            after = current if s.condition is not TRUE else None
            body, current = self._walk(s.body, current)
            current = joined(current, self.exits.pop(f"{s.label}:continue", None))
            latch, current = self._walk(s.latch, current)
            made = replace(s, head=head, body=body, latch=latch, own=self._own_variables(s))
            following = joined(start, self._aged(current))
            if following == start:
                break
            start = following
        else:
            text = "which asynchronous copies are open in the loop is not found out"
            made = replace(made, head=(Unsupported("async-copy", text, s.site), *made.head))
        self.loops = outer
        return [made], joined(after, self.exits.pop(s.label, None))

    def _own_variables(self, s: Loop) -> tuple[str, ...]:
        """The variables that come to life in a loop, but for those by which the copies made in it are followed."""
        followed: set[str] = set()
        for label, body in self.bodies.items():
            if self.loops == self.around[label][: len(self.loops)]:
                copy = self.ctx.copies[label]
                followed |= named(body, (copy.to, copy.source, copy.size))
        return tuple(name for name in s.own if name not in followed)

    def _aged(self, state: State | None) -> State | None:
        """Where the loop at hand comes to its head."""
        return None if state is None else state.aged(frozenset(k for k, v in self.around.items() if v == self.loops))

    def _issued(self, s: Block, state: State | None) -> tuple[list[Stmt], State | None]:
        self.around[s.label] = self.loops
        self.bodies[s.label] = s.body
        if state is not None:
            if state.all() or self.ctx.copies[s.label].several:
                self.ctx.assumptions[APART] = None
            state = state.issued(s.label)
        flag = self.flags.get(s.label)
        kept = self._kept(s) if self.counting else []
        return [*s.body, *kept, *([Assign(flag.value, TRUE)] if flag is not None else [])], state

    def _kept(self, s: Block) -> list[Stmt]:
        """What the history keeps of this issue."""
        assert self.committed is not None
        if s.label not in self.histories:
            self.histories[s.label] = self._history(s.label, s.body)
        history = self.histories[s.label]
        names = [Assign(k.value, v) for k, v in zip(history.kept[0], history.variables, strict=True)]
        return [*names, Assign(history.group[0].value, add(self.committed, const(1, I32)))]

    def _history(self, label: str, body: tuple[Stmt, ...]) -> _History:
        copy = self.ctx.copies[label]
        variables = tuple(free_variables(body, (copy.to, copy.source, copy.size)))
        kept = [tuple(var(self.ctx.name(f"{v.value}@{age}"), v.ty) for v in variables) for age in range(OLD)]
        group = [var(self.ctx.name(f"%group@{age}"), I32) for age in range(OLD)]
        return _History(variables, kept, group, tuple(self._default(v) for v in variables))

    def _default(self, variable: Expr) -> Expr:
        """A value of a variable that is not used: a pointer stays in the object it points into."""
        if variable.ty == PTR:
            objects = pointed_objects(variable, self.known)
            return addr(next(iter(objects))) if len(objects) == 1 and not objects & {"?", "*"} else variable
        return const(0, variable.ty) if isinstance(variable.ty, IntType) else variable

    # --- what an open copy does

    def _behind(self, barrier: Barrier, state: State) -> list[Stmt]:
        """The accesses of the copies that a barrier finds open, once more."""
        out: list[Stmt] = []
        for entry, certain in sorted(state.all().items()):
            if self._is_as_issued(entry, certain):
                again = made_again(self.ctx, self.bodies[entry.label], {})
                out += again if certain else [If(self._still_open(entry), again, (), barrier.site)]
            elif self.counting and entry.age < OLD:
                history = self.histories[entry.label]
                again = made_again(self.ctx, self.bodies[entry.label], history.at(entry.age))
                out.append(If(self._is_open(history, entry), again, (), barrier.site))
            else:
                self.lost = True
                text = "a barrier may find a copy open that was issued in an earlier iteration"
                stop = Unsupported("async-copy", text, self.ctx.copies[entry.label].site)
                out.append(If(self._is_old(entry), (stop,), (), barrier.site) if self.counting else stop)
        return out

    def _left_behind(self, state: State) -> list[Stmt]:
        """Where a thread ends: nobody waits for its copies, and barriers count it as arrived."""
        out: list[Stmt] = []
        for entry, certain in sorted(state.all().items()):
            if self._is_recent(entry):
                condition = TRUE if certain else self._still_open(entry)
            elif self.counting:
                condition = (
                    self._is_open(self.histories[entry.label], entry) if entry.age < OLD else self._is_old(entry)
                )
            else:
                self.lost, condition = True, TRUE
            text = "a thread may end while its asynchronous copy is under way, before a barrier that others pass"
            stop = Unsupported("async-copy", text, self.ctx.copies[entry.label].site)
            out.append(If(condition, (stop,), (), stop.site))
        return out

    def _is_recent(self, entry: Open) -> bool:
        """Whether the copy was issued in this iteration of the loops around it: its variables are what they were."""
        around = self.around[entry.label]
        return entry.age == 0 and around == self.loops[: len(around)]

    def _is_as_issued(self, entry: Open, certain: bool) -> bool:
        """Whether a copy's variables are asked themselves, and not what the history keeps of them."""
        return self._is_recent(entry) and (certain or not self.counting)

    def _is_old(self, entry: Open) -> Expr:
        """Whether there was such an early issue at all."""
        around = self.around[entry.label]
        if around not in self.heads:
            self.heads[around] = var(self.ctx.name("%heads"), I32)
        return compare("gt", self.heads[around], const(OLD, I32))

    def _is_open(self, history: _History, entry: Open) -> Expr:
        assert self.waited is not None
        group = history.group[entry.age]
        made = compare("gt", group, const(0, I32))
        if self.ctx.copies[entry.label].barrier is not None:
            return made  # no wait for groups ends it
        return land(made, compare("gt", group, self.waited))

    def _still_open(self, entry: Open) -> Expr:
        """Whether a copy of this iteration that may be open is: made, and not waited for since.

        One from in front of the loops at hand may have been waited for in an earlier iteration: that is counted."""
        if self.counting:
            return self._is_open(self.histories[entry.label], entry)
        self.lost |= self.around[entry.label] != self.loops
        return self._made(entry.label)

    def _made(self, label: str) -> Expr:
        if label not in self.flags:
            self.flags[label] = var(self.ctx.name("%issued"), BOOL)
        return self.flags[label]

    def _own(self, s: Load | Store | Atomic, state: State) -> list[Stmt]:
        """Stop where the access of the thread itself touches what an open copy is moving."""
        writes = not isinstance(s, Load) and not (isinstance(s, Atomic) and s.op == "load")
        touched = pointed_objects(s.pointer, self.known)
        out: list[Stmt] = []
        for entry, certain in sorted(state.all().items()):
            copy = self.ctx.copies[entry.label]
            if copy.several:
                out += self._own_of_several(s, entry, certain, writes, touched)
                continue
            for end in (copy.to, copy.source) if writes else (copy.to,):
                common = touched & pointed_objects(end, self.known)
                if not common and not {"?", "*"} & (touched | pointed_objects(end, self.known)):
                    continue
                stop: Stmt = disturbed(s)
                conditions = self._disturbs(s, entry, end, copy.size, certain)
                self.lost |= conditions is None
                # One in the other: where the copy was not made, nothing is asked of where it goes.
                for condition in reversed(conditions or ()):
                    stop = If(condition, (stop,), (), s.site)
                out.append(stop)
        return out

    def _own_of_several(
        self, s: Load | Store | Atomic, entry: Open, certain: bool, writes: bool, touched: frozenset[str]
    ) -> list[Stmt]:
        """The same where the copy is several: the statements that make it ask for each."""
        meeting = tuple(self._meeting(self.bodies[entry.label], s, writes, touched))
        if not any(isinstance(m, Unsupported) for m in statements(meeting)):
            return []
        if self._is_as_issued(entry, certain):
            again = made_again(self.ctx, meeting, {})
            return list(again) if certain else [If(self._still_open(entry), again, (), s.site)]
        if not self.counting or entry.age >= OLD:
            self.lost = True
            condition = self._is_old(entry) if self.counting else TRUE
            return [If(condition, (disturbed(s),), (), s.site)]
        history = self.histories[entry.label]
        again = made_again(self.ctx, meeting, history.at(entry.age))
        return [If(self._is_open(history, entry), again, (), s.site)]

    def _meeting(
        self, body: Iterable[Stmt], s: Load | Store | Atomic, writes: bool, touched: frozenset[str]
    ) -> Iterable[Stmt]:
        """The statements of copies with questions in place of the accesses: does `s` touch the same bytes?"""
        for copy in body:
            if isinstance(copy, (Load, Store)):
                moved = pointed_objects(copy.pointer, self.known)
                if (writes or isinstance(copy, Store)) and (touched & moved or {"?", "*"} & (touched | moved)):
                    condition = overlap(s.pointer, s.width, copy.pointer, const(copy.width, I64))
                    yield If(condition, (disturbed(s),), (), s.site)
            elif isinstance(copy, Loop):
                parts = {
                    p: tuple(self._meeting(getattr(copy, p), s, writes, touched)) for p in ("head", "body", "latch")
                }
                yield replace(copy, **parts)
            elif isinstance(copy, If):
                sides = {p: tuple(self._meeting(getattr(copy, p), s, writes, touched)) for p in ("then", "orelse")}
                yield replace(copy, **sides)
            else:
                yield copy

    def _disturbs(
        self, s: Load | Store | Atomic, entry: Open, end: Expr, size: Expr, certain: bool
    ) -> tuple[Expr, ...] | None:
        """When an access touches one end of an open copy: conditions of which each is asked where those before it hold.
        None where that cannot be told."""
        if self._is_as_issued(entry, certain):
            condition = overlap(s.pointer, s.width, end, size)
            return (condition,) if certain else (self._still_open(entry), condition)
        if not self.counting:
            return None
        if entry.age >= OLD:
            return (self._is_old(entry),)
        history = self.histories[entry.label]
        then = history.at(entry.age)
        meets = overlap(s.pointer, s.width, substitute(end, then), substitute(size, then))
        return self._is_open(history, entry), meets
