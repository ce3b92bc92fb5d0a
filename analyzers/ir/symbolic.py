"""Symbolic execution of the program IR: ``Kernel`` in, ``KernelEvents`` out.

One arbitrary thread is executed once over the structured program. Variables map to expressions, joins become
``select``, loops are
summarised by closed forms (``closedforms``) or, where there is none, by opaque values indexed by the iteration. What
a thread loads is an
opaque value of the load, its address and its iterations: equal for threads that read the same place in the same
iteration. That is
sound for a first race in an execution, because a load whose cell can change meanwhile is itself one side of a race.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from analyzers.ir import expr as E
from analyzers.ir import kernel as K
from analyzers.ir.agreement import Carried, Departures
from analyzers.ir.closedforms import Form, Rings, close_all, not_past
from analyzers.ir.cycles import in_ring, placeholders_in
from analyzers.ir.effects import Effects
from analyzers.ir.evaluate import partial_operations
from analyzers.ir.events import (
    AssertionEvent,
    BarrierEvent,
    Conjunct,
    ConjunctKind,
    Definition,
    FenceEvent,
    KernelEvents,
    LoopInstance,
    ObservationEvent,
    WaitEvent,
)
from analyzers.ir.expr import BOOL, I64, Expr
from analyzers.ir.falling import never_grows
from analyzers.ir.kept_values import Kept, kept_values
from analyzers.ir.memory_state import State, contents_of, merge
from analyzers.ir.pointers import pointed_objects
from analyzers.ir.quiet_loads import quiet_loads
from analyzers.ir.reads import Reads
from analyzers.ir.retries import retried_reads
from analyzers.ir.trip_counts import constant_trips
from analyzers.ir.uniformity import narrower
from analyzers.ir.unrolling import unrolled
from analyzers.ir.warp_scans import WARP

_EXIT_KIND: dict[str, ConjunctKind] = {"return": "return", "break": "break", "switch-break": "break"}


@dataclass
class _Exits:
    """How control leaves a region early: label -> condition relative to the region's entry."""

    conditions: dict[str, Expr] = field(default_factory=dict[str, Expr])

    def add(self, label: str, condition: Expr) -> None:
        self.conditions[label] = E.lor(self.conditions.get(label, E.FALSE), condition)

    def under(self, condition: Expr) -> _Exits:
        return _Exits({label: E.land(condition, c) for label, c in self.conditions.items()})

    def merge(self, other: _Exits) -> None:
        for label, c in other.conditions.items():
            self.add(label, c)


@dataclass(frozen=True, slots=True)
class _Arrival:
    """One early exit: under which condition (relative to the frame's entry), in which state, out of which loops."""

    condition: Expr
    state: State
    loops: tuple[str, ...]
    seen: Expr = E.TRUE
    """What the thread knows of atomics and volatile loads."""


@dataclass
class _Frame:
    """A Block (or the part of a loop a ``continue`` leaves): where exits to its label gather."""

    label: str
    entry: int
    loops: int
    arrivals: list[_Arrival] = field(default_factory=list["_Arrival"])


SIGNALS: Final = ("atomic:", "volatile:")
"""How the names of values begin that other threads may change at any time."""

MAX_STATEMENTS: Final = 200_000
"""Statements that are followed in one kernel, those of loops several times."""


class TooMuchWorkError(Exception):
    """The kernel is too large to be followed."""


def summarize(kernel: K.Kernel, changed: frozenset[str] = frozenset(), wraps: bool = False) -> KernelEvents:
    """The events of one thread of ``kernel``; what has no meaning here becomes an UnsupportedEvent.

    ``changed``: objects that are written during the kernel although no statement says so (through another pointer to
    the same memory). ``wraps``: unsigned variables that wait at an open limit may wrap around."""
    return _Executor(kernel, changed, wraps).run()


class _Executor(Effects):
    def __init__(self, kernel: K.Kernel, changed: frozenset[str], wraps: bool) -> None:
        super().__init__(kernel, changed)
        self.rings = Rings(wraps=wraps)
        self.frames: list[_Frame] = []
        self.departing: list[dict[str, list[tuple[int, State]]]] = []
        """Of the loops under study, from the outermost: by label, in how many loops an iteration was left, and how."""
        self.followed = 0
        self.reads = Reads()
        self.sized: dict[Expr, K.Site] = {}
        self.assertions: list[AssertionEvent] = []
        self.observations: list[ObservationEvent] = []

    def run(self) -> KernelEvents:
        for name in self.indexed:
            self.assign(contents_of(name), E.opaque(f"undefined:{name}", E.F64, (), "grid"))
        own = {o.name for o in self.kernel.objects if o.space == "local" and o.kind != "unknown"}
        body = unrolled(self.kernel.body, own)
        self.reads = Reads.of(body)
        self.quiet = quiet_loads(self.kernel, body, self.points_to)
        self._block(body)
        return KernelEvents(
            kernel=self.kernel,
            accesses=tuple(self.accesses),
            barriers=tuple(b for b in self.barriers if b.scope != "meeting"),
            meetings=tuple(b for b in self.barriers if b.scope == "meeting"),
            exchanges=tuple(self.exchanges),
            private=frozenset(self.private),
            fences=tuple(self.fences),
            unsupported=tuple(self.unsupported),
            loops=dict(self.loops),
            definitions=dict(self.definitions),
            waits=tuple(self.waits),
            assertions=tuple(self.assertions),
            observations=tuple(self.observations),
            assumptions=tuple(self.assumptions),
            sized=self.sized,
            broadcasts=self.broadcasts,
            scans=self.warp_scans.found,
            matches=self.matches,
            retried=retried_reads(self.kernel),
            wraps=self.rings.wraps,
        )

    # --- statements -------------------------------------------------------------------------------------

    def _block(self, body: tuple[K.Stmt, ...]) -> _Exits:
        """Execute statements in order; on return ``state.live`` tells whether the end is reached."""
        exits = _Exits()
        entry = self.guard
        for s in body:
            if not self.state.live:
                break
            inner = self._statement(s)
            if inner is not None and inner.conditions:
                prefix = E.land(*[c.condition for c in self.guard[len(entry) :] if c.kind != "assume"])
                exits.merge(inner.under(prefix))
                self._not_exited(inner)
        return exits

    def _not_exited(self, exits: _Exits) -> None:
        """Extend the guard: control did not leave through any of ``exits``."""
        for label, c in exits.conditions.items():
            kind: ConjunctKind = "break"
            if label == K.KERNEL_BLOCK:
                kind = "return"
            elif any(f.label == label and f.loops == len(self.active) for f in self.frames):
                kind = "branch"
            self._extend(E.lnot(c), kind)

    def _statement(self, s: K.Stmt) -> _Exits | None:
        self.followed += 1
        if self.followed > MAX_STATEMENTS:
            raise TooMuchWorkError(f"the kernel has more than {MAX_STATEMENTS:,} statements to follow")
        if isinstance(s, K.Assign):
            self.assign(s.var, self.warp_scans.summed(self.limited(self.value(s.value))))
        elif isinstance(s, K.Load):
            self._load(s)
        elif isinstance(s, K.Store):
            self._store(s)
        elif isinstance(s, K.Atomic):
            self._atomic(s)
        elif isinstance(s, K.Barrier):
            self._barrier(s)
        elif isinstance(s, K.If):
            return self._if(s)
        elif isinstance(s, K.Loop):
            return self._loop(s)
        elif isinstance(s, K.Block):
            return self._labelled(s.label, s.body)
        elif isinstance(s, (K.Exit, K.Continue)):
            return self._exit(s)
        elif isinstance(s, K.Assume):
            self._assume(s)
        elif isinstance(s, K.Collective):
            self._collective(s)
        elif isinstance(s, K.Havoc):
            if self.recording and s.tile is not None:
                self.exchanged(s.site, scope="warp" if s.tile == WARP else "tile", tile=s.tile)
            self.assign(s.var, E.opaque(f"havoc:{s.var}", s.ty, self.counters()))
        elif isinstance(s, K.Fence):
            if self.recording:
                self.fences.append(FenceEvent(s.id, self._tick(), s.scope, s.order, self.guard, self._labels(), s.site))
        elif isinstance(s, K.Observe):
            if self.recording:
                self.observations.append(ObservationEvent(self._tick(), s.kind, self._labels(), s.site))
        else:
            self._reject(s.kind, s.text, s.site)
        return None

    def _assume(self, s: K.Assume) -> None:
        condition = self.value(s.condition)
        if s.source == "assert" and self.recording:
            self.assertions.append(AssertionEvent(self._tick(), condition, self.guard, self._labels(), s.site))
        self._extend(condition, "assume")

    def _if(self, s: K.If) -> _Exits:
        c = self.value(s.condition)
        exits = _Exits()
        guard, before = self.guard, self.state
        sides: list[tuple[Expr, State]] = []
        seen: list[Expr] = []
        ways: list[tuple[int, int, Expr]] = []
        exchanged: list[range] = []
        for condition, body in ((c, s.then), (E.lnot(c), s.orelse)):
            self.guard, self.state = guard, before.copy()
            if condition is E.FALSE:
                continue
            self._extend(condition, "branch")
            first, asked = len(self.barriers), len(self.exchanges)
            inner = self._block(body)
            exits.merge(inner.under(condition))
            returned = inner.conditions.get(K.KERNEL_BLOCK, E.FALSE)
            ways.append((first, len(self.barriers), E.land(condition, returned)))
            exchanged.append(range(asked, len(self.exchanges)))
            if self.state.live:
                sides.append((condition, self.state))
                seen.append(self._seen(len(guard) + len(E.conjuncts(condition))))
        self.guard = guard
        if len(ways) == 2:
            self._depart(ways, len(guard))
            for own, (_, _, returned) in zip(exchanged, reversed(ways), strict=True):
                self._part(self.exchanges, own, returned, len(guard))
        if len(seen) == 2:
            self._know(E.lor(E.lnot(c), seen[0]), E.lor(c, seen[1]))
        elif seen:
            self._know(seen[0])
        if not sides:
            self.state = before.copy()
            self.state.live = False
        elif len(sides) == 1:
            self.state = sides[0][1]
        else:
            self.state = merge(c, sides[0][1], sides[1][1])
            if self.warp_scans.shuffled:
                self.state.variables = {n: self.warp_scans.summed(x) for n, x in self.state.variables.items()}
        return exits

    def _depart(self, ways: list[tuple[int, int, Expr]], place: int) -> None:
        """To return in one branch is to return before the barriers of the other one. ``ways``: of each branch, its
        first barrier, the one behind its last, and when a thread returns in it."""
        for (first, end, _), (waits, waited, returned) in zip(ways, reversed(ways), strict=True):
            if waits == waited:  # else threads wait at a barrier of the one branch, others at one of the other
                self._part(self.barriers, range(first, end), returned, place)

    def _part(self, events: list[BarrierEvent], own: Iterable[int], returned: Expr, place: int) -> None:
        """Note of events in one branch when a thread returns in the other one."""
        conjunct = Conjunct(E.lnot(returned), "return", len(self.active))
        for i in own if returned is not E.FALSE else ():
            events[i] = replace(events[i], departures=(*events[i].departures, (place, conjunct)))

    def _labelled(self, label: str, body: tuple[K.Stmt, ...]) -> _Exits:
        guard = self.guard
        frame = _Frame(label, len(guard), len(self.active))
        self.frames.append(frame)
        exits = self._block(body)
        self.frames.pop()
        result = self.state if self.state.live else None
        seen = [self._seen(frame.entry)] if self.state.live else []
        seen += [a.seen for a in frame.arrivals]
        for arrival in reversed(frame.arrivals):
            result = arrival.state.copy() if result is None else merge(arrival.condition, arrival.state, result)
        if result is not None:
            result.live = True
            self.state = result
        exits.conditions.pop(label, None)
        self.guard = guard
        self._know(E.lor(*seen))
        return exits

    def _seen(self, entry: int) -> Expr:
        """What was found out of atomics and volatile loads since the guard had ``entry`` parts."""
        return E.land(*(c.condition for c in self.guard[entry:] if _of_signals(c.condition)))

    def _know(self, *facts: Expr) -> None:
        """Extend the guard by what all ways that lead here have found out."""
        for fact in facts:
            if _of_signals(fact):
                self._extend(fact, "assume")

    def _exit(self, s: K.Exit | K.Continue) -> _Exits:
        label = s.label if isinstance(s, K.Exit) else f"{s.label}:continue"
        exits = _Exits()
        exits.add(label, E.TRUE)
        if self.departing:
            left = self.state.copy()
            for departures in self.departing:
                departures.setdefault(label, []).append((len(self.active), left))
        for frame in reversed(self.frames):
            if frame.label == label:
                condition = E.land(*[c.condition for c in self.guard[frame.entry :] if c.kind != "assume"])
                frame.arrivals.append(_Arrival(condition, self.state.copy(), self._labels(), self._seen(frame.entry)))
                break
        self.state.live = False
        return exits

    # --- loops ------------------------------------------------------------------------------------------

    def _loop(self, s: K.Loop) -> _Exits:
        before, guard = self.state, self.guard
        plan = self._study(s, before)
        limits = [f.limit for f in plan.forms.values() if f.limit is not None]
        slot = LoopInstance(s.label, plan.counter, s.site, first=self.order + 1, limit=min(limits, default=1 << 40))
        self.state = self._at_iteration(plan, before)
        self.state.end(s.own)
        self.active.append(slot)
        self._came_here(s, plan)
        if self.recording:
            # Otherwise the study of the loop has told all that is asked for: going through nested loops once more at
            # every level would take twice as long for each.
            _, plan.condition = self._iterate(s, _is_left_elsewhere(s, plan.exits))
        self.active.pop()
        if self.recording:
            self.loops[s.label] = LoopInstance(s.label, plan.counter, s.site, slot.first, self.order, slot.limit)
        for form in plan.forms.values():
            self.assumptions.update(dict.fromkeys(form.assumptions))
            self.sized.update(dict.fromkeys(form.sized - self.sized.keys(), s.site))
        self.guard = guard
        self._after_loop(s, before, plan)
        self._waited(s, plan)
        outer = _Exits()
        agreed = plan.carried.end()
        for label in plan.exits.conditions:
            if label not in (s.label, f"{s.label}:continue"):
                given = (*self.counters(), *agreed.inputs)
                outer.add(label, E.opaque(f"left:{s.label}:{label}", BOOL, given, agreed.level))
        if s.condition is E.TRUE and s.label not in plan.exits.conditions:
            self.state.live = False
        self._export_arrivals(s, outer, before, plan)
        return outer

    def _came_here(self, s: K.Loop, plan: _LoopPlan) -> None:
        """Extend the guard: the thread did not leave the loop in the iteration before this one."""
        last = E.sub(plan.counter, E.const(1, I64))
        first = E.compare("eq", plan.counter, E.const(0, I64))
        if any(not isinstance(h, K.Assign) for h in s.head):
            # Behind the test this follows from the test itself; before it, what the head does is done once more.
            self._extend(E.lor(first, E.substitute(plan.condition, {plan.counter: last})), "loop")
        for label, left in plan.exits.conditions.items():
            if label == f"{s.label}:continue":
                continue
            stayed = E.lnot(left)
            kind: ConjunctKind = "return" if label == K.KERNEL_BLOCK else "break"
            self._extend(E.lor(first, E.substitute(stayed, {plan.counter: last})), kind)
            passed = not_past(stayed, plan.counter, _is_left_elsewhere(s, plan.exits, label))
            self._extend(E.lor(first, E.substitute(passed, {plan.counter: last})), "assume")

    def _iterate(self, s: K.Loop, left_elsewhere: bool = True) -> tuple[_Exits, Expr]:
        """One iteration: head, test, body, latch. Gives the exits of the iteration and the test's value.
        ``left_elsewhere``: whether the test may be not the only way out."""
        exits = self._block(s.head)
        condition = self.value(s.condition) if self.state.live else E.FALSE
        self._extend(condition, "loop")
        self._extend(not_past(condition, self.active[-1].counter, left_elsewhere), "assume")
        inner = self._labelled(f"{s.label}:continue", s.body)
        exits.merge(inner.under(condition))
        self._not_exited(inner)
        if self.state.live:
            exits.merge(self._block(s.latch).under(condition))
        return exits, condition

    def _study(self, s: K.Loop, before: State) -> _LoopPlan:
        """Find how the loop changes its variables by executing one iteration over placeholders, until the assumed
        uniformity of the placeholders is consistent."""
        touched = self._changed_by((*s.head, *s.body, *s.latch), s.own)
        placeholders = {n: E.sym(f"start:{s.label}:{n}", ty) for n, ty in touched.variables.items()}
        starts = {n: self._initial(before, n, ty) for n, ty in touched.variables.items()}
        assumed = {n: self.level(starts[n]) for n in placeholders}
        trial, assumed = self._settled(s, before, touched, placeholders, assumed)
        closed = self._kept_in_rings(starts, placeholders, trial)
        while closed:
            self.rings.ranges.update({placeholders[n]: (0, size - 1) for n, size in closed.items()})
            trial, assumed = self._settled(s, before, touched, placeholders, assumed)
            left = {n: size for n, size in closed.items() if not in_ring(trial.ends[n], size, self.rings.ranges)}
            if not left:
                break
            for n in left:
                self.rings.ranges.pop(placeholders[n])
                del closed[n]
        needed = {n: p for n, p in placeholders.items() if p in trial.read}
        counter = E.sym(f"loop:{s.label}", I64)
        ends = {n: trial.ends[n] for n in needed}
        starting = {n: starts[n] for n in needed}
        decisions = (trial.condition, *trial.exits.conditions.values())
        falling = {
            n: starts[n]
            for n, p in needed.items()
            if n not in closed and never_grows(ends[n], p, trial.condition) and _is_plain(starts[n])
        }
        carried = Carried(
            placeholders,
            starts,
            trial.ends,
            assumed,
            trial.control,
            decisions,
            trial.left,
            counter,
            frozenset((*closed, *falling)),
            self.level,
        )
        plan = _LoopPlan(s.label, counter, touched, carried, frozenset(needed), trial.exits, trial.condition)
        plan.rings = closed

        flags: set[str] = set()

        def unknown(name: str, k: Expr) -> Expr:
            flags.add(name)
            return self._iterated(plan, name, k)

        leaving = [c for label, c in trial.exits.conditions.items() if label != f"{s.label}:continue"]
        plan.forms = close_all(
            needed, starting, ends, trial.condition, counter, before.computed(), self.rings, unknown, leaving
        )
        plan.falling = {n: start for n, start in falling.items() if n not in plan.forms}
        for n in closed:
            self.rings.ranges.pop(placeholders[n], None)
        # What forms go by, which they ask for where they are used, is left as it is named in them.
        for form in plan.forms.values():
            form.at(counter)
        known = plan.forms.keys() | plan.rings.keys() | plan.falling.keys() | flags
        left = {n: p for n, p in placeholders.items() if n not in needed and p in E.symbols(trial.ends[n])}
        plan.kept = self._kept_over_iterations(
            plan,
            {n: trial.ends[n] for n in (*ends, *left) if n not in known},
            {n: starts[n] for n in (*ends, *left)},
            needed,
            left,
        )
        for n in plan.kept.keys() & left.keys():
            self._kept_value(plan, n, counter)  # what is known of it is noted
        at_counter = {p: self._head_value(plan, n, counter) for n, p in needed.items()}
        plan.set_anew = {
            n: E.substitute(trial.ends[n], at_counter)
            for n, p in placeholders.items()
            if n not in needed and p not in E.symbols(trial.ends[n])
        }
        plan.exits = _Exits({label: E.substitute(c, at_counter) for label, c in trial.exits.conditions.items()})
        plan.condition = E.substitute(trial.condition, at_counter)
        if s.condition is not E.TRUE and set(plan.exits.conditions) <= {f"{s.label}:continue"}:
            plan.trips = constant_trips(plan.condition, counter)
        plan.around = self._depends_on(plan.condition, *plan.exits.conditions.values())
        trips = self._trips(plan)
        at_end = {p: self._last_value(plan, n, trips) for n, p in needed.items()}
        plan.ending = E.substitute(trial.condition, {counter: trips, **at_end})
        return plan

    def _kept_over_iterations(
        self,
        plan: _LoopPlan,
        ends: Mapping[str, Expr],
        starts: Mapping[str, Expr],
        needed: Mapping[str, Expr],
        left: Mapping[str, Expr],
    ) -> dict[str, Kept]:
        """Variables that some iterations set, in terms of the counter. ``left``: those that none asks for."""
        found = kept_values(ends, starts, {**needed, **left})
        others = {p: self._head_value(plan, n, plan.counter) for n, p in needed.items() if n not in found}

        def meant(e: Expr) -> Expr:
            return E.substitute(e, others)

        return {n: Kept(k.start, meant(k.sets), meant(k.value)) for n, k in found.items()}

    def _settled(
        self, s: K.Loop, before: State, touched: _Touched, placeholders: dict[str, Expr], assumed: dict[str, str]
    ) -> tuple[_Trial, dict[str, str]]:
        """One iteration over placeholders whose assumed uniformity is consistent, and that."""
        while True:
            trial = self._trial(s, before, touched, placeholders, assumed)
            levels = {n: narrower(assumed[n], trial.levels[n]) for n in placeholders}
            if levels == assumed:
                return trial, assumed
            assumed = levels

    def _kept_in_rings(
        self, starts: Mapping[str, Expr], placeholders: Mapping[str, Expr], trial: _Trial
    ) -> dict[str, int]:
        """Variables that go round in loops inside of this one if they do so here, with the sizes of their rings."""
        out: dict[str, int] = {}
        for name, p in placeholders.items():
            size = self.rings.wished.pop(p, 0)
            if size and p in trial.read and self.rings.holds(starts[name], size):
                out[name] = size
        return out

    def _trial(
        self, s: K.Loop, before: State, touched: _Touched, placeholders: dict[str, Expr], assumed: dict[str, str]
    ) -> _Trial:
        saved = (self.guard, self.recording, self.order, self.frames, self.placeholders_read)
        outer_levels = dict(self.placeholder_level)
        self.recording, self.frames, self.placeholders_read = False, [], set()
        self.placeholder_level.update({p: assumed[n] for n, p in placeholders.items()})
        self.active.append(LoopInstance(s.label, E.sym(f"loop:{s.label}", I64), s.site))
        self.state = before.copy()
        self.state.end(s.own)
        for name, p in placeholders.items():
            self.state.put(name, p)
        for o in touched.clobbered:
            self.state.clobber(o)
        self.departing.append({})
        exits, condition = self._iterate(s)
        live = self.state.live
        ends = {n: (self.state.get(n, touched.variables[n]) if live else None) or p for n, p in placeholders.items()}
        levels = {n: self.level(e) for n, e in ends.items()}
        left = self._departures(self.departing.pop(), exits, placeholders, ends)
        control = "grid"
        for c in (condition, *exits.conditions.values()):
            control = narrower(control, self.level(c))
        read = self.placeholders_read
        self.active.pop()
        self.placeholder_level = outer_levels
        self.guard, self.recording, self.order, self.frames, outer_read = saved
        self.placeholders_read = outer_read | {p for p in read if p in outer_levels}
        return _Trial(ends, levels, control, frozenset(read), exits, condition, left)

    def _departures(
        self,
        found: Mapping[str, list[tuple[int, State]]],
        exits: _Exits,
        placeholders: Mapping[str, Expr],
        ends: Mapping[str, Expr],
    ) -> dict[str, Departures]:
        """What the variables hold where the iteration was left for each label."""
        out = {label: Departures() for label in exits.conditions if label in found}
        for label, departures in out.items():
            for depth, state in found[label]:
                if depth > len(self.active):
                    departures.nested = True
                    continue
                for name, p in placeholders.items():
                    value = state.get(name, p.ty)
                    if value is not None and value is not p and value is not ends[name]:
                        departures.values.setdefault(name, []).append(value)
                        levels = departures.levels
                        levels[name] = narrower(levels.get(name, "grid"), self.level(value))
        return out

    def _initial(self, before: State, name: str, ty: E.Type) -> Expr:
        """The value in front of a loop. One that has none there is not read before the loop sets it, which would be
        undefined: so it stands in the way of no agreement."""
        found = before.get(name, ty)
        return found if found is not None else E.opaque(f"undefined:{name}", ty, self.counters(), "grid")

    def _head_value(self, plan: _LoopPlan, name: str, counter: Expr) -> Expr:
        """The value of a variable at the start of iteration ``counter``; called outside the loop."""
        if name in plan.forms:
            return plan.forms[name].at(counter)
        if name in plan.kept:
            return self._kept_value(plan, name, counter)
        identity = f"iterated:{plan.label}:{name}"
        value = self._iterated(plan, name, counter)
        if name in plan.rings:
            self.rings.ranges[value] = 0, plan.rings[name] - 1
            if counter is plan.counter:
                self._define(identity, value.args, _in_ring(value, plan.rings[name]))
        elif name in plan.falling and counter is plan.counter:
            self._define(identity, value.args, (E.compare("le", value, plan.falling[name]),))
        return value

    def _define(self, identity: str, arguments: tuple[Expr, ...], conditions: tuple[Expr, ...]) -> None:
        """Note what is known of a value that a loop here makes."""
        self.definitions[identity] = Definition(arguments, conditions, self._reached())

    def _kept_value(self, plan: _LoopPlan, name: str, counter: Expr) -> Expr:
        """What the last iteration before ``counter`` that set a variable has set it to; called outside the loop."""
        kept, identity = plan.kept[name], f"set:{plan.label}:{name}"
        level = plan.carried.levels.get(name, "thread")
        last = E.opaque(identity, I64, (*self.counters(), counter), level)
        if counter is plan.counter:
            self._define(identity, last.args, kept.known(last, counter, counter))
        return kept.after(last, plan.counter)

    def _iterated(self, plan: _LoopPlan, name: str, counter: Expr) -> Expr:
        """What is not known of a variable at the start of an iteration; called outside the loop."""
        agreed = plan.carried.at_start(name)
        given = (*self.counters(), counter, *agreed.inputs)
        return E.opaque(f"iterated:{plan.label}:{name}", plan.touched.variables[name], given, agreed.level)

    def _behind(self, plan: _LoopPlan, name: str, label: str, kind: str) -> Expr:
        """What is not known of a variable behind the loop, which was left for ``label``."""
        agreed = plan.carried.behind(name, label, name in plan.needed or not self.reads.only_in(plan.label, name))
        return E.opaque(kind, plan.touched.variables[name], (*self.counters(), *agreed.inputs), agreed.level)

    def _last_value(self, plan: _LoopPlan, name: str, trips: Expr) -> Expr:
        """The value of a variable when the test is made for the last time: a counter may have wrapped around now."""
        form = plan.forms.get(name)
        return self._head_value(plan, name, trips) if form is None else form.past(trips)

    def _trips(self, plan: _LoopPlan) -> Expr:
        if plan.trips is not None:
            return E.const(plan.trips, I64)
        return E.opaque(f"trips:{plan.label}", I64, plan.around, plan.carried.control)

    def _depends_on(self, *conditions: Expr) -> tuple[Expr, ...]:
        """The counters of the loops around, where the conditions on which a loop ends may differ between their
        iterations; none where they are the same in all."""
        counters = self.counters()
        outer = set(counters)
        varies = any(n in outer or n in self.placeholder_level for n in E.walk(conditions))
        return counters if varies else ()

    def _at_iteration(self, plan: _LoopPlan, before: State) -> State:
        state = before.copy()
        for name in plan.touched.variables:
            if name in plan.needed:
                state.put(name, self._head_value(plan, name, plan.counter))
            else:
                state.variables.pop(name, None)
        for o in plan.touched.clobbered:
            state.clobber(o)
        for name in plan.needed:
            start = before.variables.get(name)
            if start is not None:
                self.note_read(start)
        return state

    def _after_loop(self, s: K.Loop, before: State, plan: _LoopPlan) -> None:
        """The state behind the loop: closed forms at the trip count where the test is the only way out."""
        self.state = before.copy()
        left = set(plan.exits.conditions) - {f"{s.label}:continue"}
        plain = s.condition is not E.TRUE and not left
        counted = plain or (left == {s.label} and _left_at_the_end(s))
        trips, one = self._trips(plan), E.const(1, I64)
        if plain and plan.trips is None:
            self._define(
                f"trips:{s.label}",
                plan.around,
                (
                    E.compare("le", E.const(0, I64), trips),
                    E.lnot(plan.ending),
                    E.lor(
                        E.compare("eq", trips, E.const(0, I64)),
                        E.substitute(plan.condition, {plan.counter: E.sub(trips, one)}),
                    ),
                ),
            )
        elif counted and not plain:
            leaves = plan.exits.conditions[s.label]
            stays = E.substitute(E.lnot(leaves), {plan.counter: E.sub(trips, E.const(2, I64))})
            self._define(
                f"trips:{s.label}",
                plan.around,
                (
                    E.compare("le", one, trips),
                    E.substitute(leaves, {plan.counter: E.sub(trips, one)}),
                    E.lor(E.compare("eq", trips, one), stays),
                ),
            )
        for name in plan.touched.variables:
            if counted and name in plan.forms:
                self.state.put(name, plan.forms[name].past(trips))
            elif counted and name in plan.kept:
                self.state.put(name, self._kept_value(plan, name, trips))
            elif counted and name in plan.set_anew and trips is not E.const(0, I64):
                value = E.substitute(plan.set_anew[name], {plan.counter: E.sub(trips, one)})
                if trips.op != "const":
                    start = self._initial(before, name, plan.touched.variables[name])
                    value = E.select(E.compare("eq", trips, E.const(0, I64)), start, value)
                self.state.put(name, value)
            else:
                identity = f"after:{s.label}:{name}"
                value = self._behind(plan, name, s.label, identity)
                self.state.put(name, value)
                if name in plan.rings and counted:
                    self.rings.ranges[value] = 0, plan.rings[name] - 1
                    self._define(identity, value.args, _in_ring(value, plan.rings[name]))
                elif name in plan.falling and counted:
                    self._define(identity, value.args, (E.compare("le", value, plan.falling[name]),))
        if plain:
            self._last_head(s, plan)
        for o in plan.touched.clobbered:
            self.state.clobber(o)

    def _waited(self, s: K.Loop, plan: _LoopPlan) -> None:
        """Extend the guard behind a loop that an atomic or a volatile load ends by what that gave in the end."""
        last = self._last(plan)
        failed = E.FALSE if s.condition is E.TRUE else E.lnot(plan.condition)
        left = plan.exits.conditions.get(s.label, E.FALSE)
        fact = E.substitute(E.lor(failed, left), {plan.counter: last})
        if not _of_signals(fact):
            return
        if self.recording:
            self.waits.append(WaitEvent(self._tick(), fact, self.guard, self._labels(), s.label, s.site))
        self._extend(fact, "assume")

    def _last(self, plan: _LoopPlan) -> Expr:
        """The iteration in which the loop is left."""
        return E.opaque(f"last:{plan.label}", I64, self.counters())

    def _last_head(self, s: K.Loop, plan: _LoopPlan) -> None:
        """The head is executed once more than the body, before the test that fails."""
        known = True
        for h in s.head:
            known = known and isinstance(h, K.Assign)
            if known and isinstance(h, K.Assign):
                self.assign(h.var, self.value(h.value))
        if known:
            return
        for name in self._changed_by(s.head, s.own).variables:
            self.state.put(name, self._behind(plan, name, s.label, f"after:{s.label}:{name}"))

    def _export_arrivals(self, s: K.Loop, outer: _Exits, before: State, plan: _LoopPlan) -> None:
        """States that leave the loop for an enclosing Block: what the loop changes is unknown there."""
        for label, condition in outer.conditions.items():
            for frame in reversed(self.frames):
                if frame.label == label:
                    frame.arrivals = [a for a in frame.arrivals if s.label not in a.loops]
                    state = before.copy()
                    for name in plan.touched.variables:
                        state.put(name, self._behind(plan, name, label, f"leaving:{s.label}:{label}:{name}"))
                    for o in plan.touched.clobbered:
                        state.clobber(o)
                    path = E.land(*[c.condition for c in self.guard[frame.entry :] if c.kind != "assume"], condition)
                    left = E.substitute(plan.exits.conditions[label], {plan.counter: self._last(plan)})
                    seen = left if _of_signals(left) else E.TRUE
                    frame.arrivals.append(_Arrival(path, state, self._labels(), seen))
                    break

    def _changed_by(self, body: tuple[K.Stmt, ...], own: Iterable[str] = ()) -> _Touched:
        """``own``: variables that are not there before and behind."""
        variables: dict[str, E.Type] = {}
        clobbered: set[str] = set()
        for s in K.statements(body):
            if isinstance(s, K.Assign):
                variables[s.var] = s.value.ty
            elif isinstance(s, (K.Load, K.Collective, K.Havoc)):
                variables[s.var] = s.ty
            elif isinstance(s, K.Barrier) and s.result is not None:
                name, variables[name] = s.result[0], s.result[1]
            elif isinstance(s, (K.Store, K.Atomic)):
                if isinstance(s, K.Atomic) and s.var is not None:
                    variables[s.var] = s.ty
                reached = pointed_objects(s.pointer, self.points_to)
                clobbered.update(
                    o.name for o in self.kernel.objects if o.space == "local" and (o.name in reached or "?" in reached)
                )
        variables |= {contents_of(o): E.F64 for o in clobbered if o in self.indexed}
        for name in own:
            variables.pop(name, None)
        return _Touched(variables, frozenset(clobbered))


@dataclass(frozen=True, slots=True)
class _Touched:
    """What a loop may change: variables, and local objects of which nothing is kept."""

    variables: dict[str, E.Type]
    clobbered: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Trial:
    """One iteration executed over placeholders."""

    ends: dict[str, Expr]
    levels: dict[str, str]
    control: str
    read: frozenset[Expr]
    exits: _Exits
    condition: Expr
    left: Mapping[str, Departures]


@dataclass(slots=True)
class _LoopPlan:
    """What is known about a loop before its events are recorded."""

    label: str
    counter: Expr
    touched: _Touched
    carried: Carried
    needed: frozenset[str]
    """Variables whose value at the start of an iteration is used in it."""
    exits: _Exits
    condition: Expr
    forms: dict[str, Form] = field(default_factory=dict[str, Form])
    around: tuple[Expr, ...] = ()
    """The counters of the loops around that the trip count depends on."""
    trips: int | None = None
    """How often the loop goes round, where that is a constant."""
    ending: Expr = E.FALSE
    """The test when it is made for the last time, and fails."""
    rings: dict[str, int] = field(default_factory=dict[str, int])
    """Variables that are numbers of a ring at the start of every iteration, with its size."""
    falling: dict[str, Expr] = field(default_factory=dict[str, Expr])
    """Variables that are never greater than in front of the loop, with their values there."""
    kept: dict[str, Kept] = field(default_factory=dict[str, Kept])
    """Variables that some iterations set."""
    set_anew: Mapping[str, Expr] = field(default_factory=dict[str, Expr])
    """What each iteration sets the variables to that none asks for, in terms of the counter."""


def _of_signals(e: Expr) -> bool:
    return any(n.op == "opaque" and n.value[0].startswith(SIGNALS) for n in E.symbols(e))


def _is_plain(start: Expr) -> bool:
    """A value in front of a loop of which something may be said wherever the loop is: computed without divisions or
    shifts that may be undefined, and not one at the start of an iteration of a loop that is only being studied."""
    return not partial_operations(start) and not any(placeholders_in(start))


def _in_ring(e: Expr, size: int) -> tuple[Expr, ...]:
    assert isinstance(e.ty, E.IntType)
    return E.compare("le", E.const(0, e.ty), e), E.compare("lt", e, E.const(size, e.ty))


def _is_left_elsewhere(loop: K.Loop, exits: _Exits, label: str | None = None) -> bool:
    """Whether there is a way out of a loop beside its test, or beside the jumps to a label."""
    if exits.conditions.keys() - {f"{loop.label}:continue", label}:
        return True
    return label is not None and loop.condition is not E.TRUE


def _left_at_the_end(loop: K.Loop) -> bool:
    """The loop has no test of its own, and its only way out is the last thing of an iteration."""
    if loop.condition is not E.TRUE:
        return False
    last = (loop.latch or loop.body)[-1:]
    ways = [x for x in K.statements((*loop.head, *loop.body, *loop.latch)) if isinstance(x, K.Exit)]
    return (
        len(ways) == 1
        and len(last) == 1
        and isinstance(last[0], K.If)
        and last[0].then == (ways[0],)
        and not last[0].orelse
    )
