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

from dataclasses import dataclass, field

from analyzers.ir import expr as E
from analyzers.ir import kernel as K
from analyzers.ir.closedforms import NO_WRAP, Form, close_all, not_past
from analyzers.ir.events import (
    AccessEvent,
    AtomicInfo,
    BarrierEvent,
    Conjunct,
    ConjunctKind,
    Definition,
    FenceEvent,
    Guard,
    KernelEvents,
    LoopInstance,
    UnsupportedEvent,
)
from analyzers.ir.expr import BOOL, I64, Expr, FloatType, IntType, PointerType
from analyzers.ir.memory_state import Cell, State, merge
from analyzers.ir.pointers import address_number, pointed_objects, pointer_targets, points_to, written_objects
from analyzers.ir.uniformity import narrower, varying

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


@dataclass
class _Frame:
    """A Block (or the part of a loop a ``continue`` leaves): where exits to its label gather."""

    label: str
    entry: int
    loops: int
    arrivals: list[_Arrival] = field(default_factory=list["_Arrival"])


def summarize(kernel: K.Kernel, changed: frozenset[str] = frozenset()) -> KernelEvents:
    """The events of one thread of ``kernel``; what has no meaning here becomes an UnsupportedEvent.

    ``changed``: objects that are written during the kernel although no statement says so (through another pointer to
    the same memory)."""
    return _Executor(kernel, changed).run()


class _Executor:
    def __init__(self, kernel: K.Kernel, changed: frozenset[str]) -> None:
        self.kernel = kernel
        self.objects = {o.name: o for o in kernel.objects}
        self.accesses: list[AccessEvent] = []
        self.barriers: list[BarrierEvent] = []
        self.fences: list[FenceEvent] = []
        self.unsupported: list[UnsupportedEvent] = []
        self.loops: dict[str, LoopInstance] = {}
        self.definitions: dict[str, Definition] = {}
        self.assumptions: dict[str, None] = dict.fromkeys(kernel.assumptions)
        self.data: dict[int, Expr] = {}
        self.guard: Guard = ()
        self.active: list[LoopInstance] = []
        self.frames: list[_Frame] = []
        self.state = State()
        self.order = 0
        self.recording = True
        self.points_to = points_to(kernel)
        self.written = written_objects(kernel, self.points_to) | changed
        self.placeholder_level: dict[Expr, str] = {}
        self.placeholders_read: set[Expr] = set()

    def run(self) -> KernelEvents:
        self._block(self.kernel.body)
        return KernelEvents(
            kernel=self.kernel,
            accesses=tuple(self.accesses),
            barriers=tuple(self.barriers),
            fences=tuple(self.fences),
            unsupported=tuple(self.unsupported),
            loops=dict(self.loops),
            definitions=dict(self.definitions),
            assumptions=tuple(self.assumptions),
        )

    # --- expressions ------------------------------------------------------------------------------------

    def value(self, e: Expr) -> Expr:
        """``e`` over the current state, without variables, and with floating-point decisions made opaque."""
        memo: dict[int, Expr] = {}
        for node in E.walk((e,)):
            if node.op == "var":
                memo[node.key] = self.read_variable(node.value, node.ty)
                continue
            args = tuple([memo[a.key] for a in node.args])
            built = node if args == node.args else E.rebuild(node, args)
            if isinstance(built.ty, IntType) and built.args and built.op != "opaque":
                built = self._integer_of(built)
            memo[node.key] = built
        return memo[e.key]

    def _integer_of(self, e: Expr) -> Expr:
        kinds = [a.ty for a in e.args]
        if any(isinstance(t, PointerType) for t in kinds):
            return self._pointer_question(e)
        if any(isinstance(t, FloatType) for t in kinds):
            return self.datum(e)
        return e

    def _pointer_question(self, e: Expr) -> Expr:
        if e.op == "call" and e.value == "ptrtoint":
            number = address_number(e.args[0])
            return self.datum(e) if number is None else number
        if len(e.args) == 2:
            left, right = (self._single_root(a) for a in e.args)
            if left is not None and right is not None and left[0] is right[0]:
                if e.op == "ptrdiff":
                    return E.sub(left[1], right[1])
                if e.op in ("eq", "ne", "lt", "le"):
                    return E.compare(e.op, left[1], right[1])
            if e.op in ("eq", "ne") and (E.NULL in e.args):
                other = e.args[0] if e.args[1] is E.NULL else e.args[1]
                root = self._single_root(other)
                if (
                    root is not None
                    and root[0].op == "addr"
                    and self.objects[root[0].value].kind in ("declared", "dynamic")
                ):
                    return E.TRUE if e.op == "ne" else E.FALSE
        return self.datum(e)

    def _single_root(self, p: Expr) -> tuple[Expr, Expr] | None:
        roots = pointer_targets(p)
        return (roots[0][1], roots[0][2]) if len(roots) == 1 and roots[0][0] is E.TRUE else None

    def datum(self, e: Expr) -> Expr:
        """An opaque stand-in for a value computed from data: the same expression always gives the same stand-in."""
        inputs: dict[int, Expr] = {}
        scope = "grid"
        stack = list(e.args)
        while stack:
            node = stack.pop()
            if isinstance(node.ty, IntType):
                if not E.is_const(node):
                    inputs.setdefault(node.key, node)
            else:
                if node.op == "opaque":
                    scope = narrower(scope, node.value[1])
                stack.extend(node.args)
        key = e.key
        if key not in self.data:
            self.data[key] = E.opaque(f"datum{len(self.data)}", e.ty, tuple(inputs[k] for k in sorted(inputs)), scope)
        return self.data[key]

    def counters(self) -> tuple[Expr, ...]:
        return tuple(loop.counter for loop in self.active)

    def read_variable(self, name: str, ty: E.Type) -> Expr:
        found = self.state.variables.get(name)
        if found is None:
            found = E.opaque(f"undefined:{name}", ty, self.counters())
            self.state.variables[name] = found
        elif found in self.placeholder_level:
            self.placeholders_read.add(found)
        return found

    def level(self, e: Expr) -> str:
        """The largest group that agrees on ``e``, placeholders of the loops under study taken at their assumed
        level."""
        found = varying(e)
        if self.placeholder_level:
            for node in E.walk((e,)):
                if node in self.placeholder_level:
                    found = narrower(found, self.placeholder_level[node])
        return found

    def assign(self, name: str, value: Expr) -> None:
        self.state.variables[name] = value

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

    def _extend(self, condition: Expr, kind: ConjunctKind) -> None:
        for part in E.conjuncts(condition):
            self.guard = (*self.guard, Conjunct(part, kind, len(self.active)))

    def _statement(self, s: K.Stmt) -> _Exits | None:
        if isinstance(s, K.Assign):
            self.assign(s.var, self.value(s.value))
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
            self._extend(self.value(s.condition), "assume")
        elif isinstance(s, K.Collective):
            self._collective(s)
        elif isinstance(s, K.Havoc):
            self.assign(s.var, E.opaque(f"havoc:{s.var}", s.ty, self.counters()))
        elif isinstance(s, K.Fence):
            if self.recording:
                self.fences.append(FenceEvent(s.id, self._tick(), s.scope, s.order, self.guard, self._labels(), s.site))
        else:
            self._reject(s.kind, s.text, s.site)
        return None

    def _reject(self, kind: str, text: str, site: K.Site) -> None:
        if self.recording and all(c.condition is not E.FALSE for c in self.guard):
            self.unsupported.append(UnsupportedEvent(kind, text, self.guard, site))

    def _tick(self) -> int:
        self.order += 1
        return self.order

    def _labels(self) -> tuple[str, ...]:
        return tuple(loop.label for loop in self.active)

    def _if(self, s: K.If) -> _Exits:
        c = self.value(s.condition)
        exits = _Exits()
        guard, before = self.guard, self.state
        sides: list[tuple[Expr, State]] = []
        for condition, body in ((c, s.then), (E.lnot(c), s.orelse)):
            self.guard, self.state = guard, before.copy()
            if condition is E.FALSE:
                continue
            self._extend(condition, "branch")
            inner = self._block(body)
            exits.merge(inner.under(condition))
            if self.state.live:
                sides.append((condition, self.state))
        self.guard = guard
        if not sides:
            self.state = before.copy()
            self.state.live = False
        elif len(sides) == 1:
            self.state = sides[0][1]
        else:
            self.state = merge(c, sides[0][1], sides[1][1])
        return exits

    def _labelled(self, label: str, body: tuple[K.Stmt, ...]) -> _Exits:
        guard = self.guard
        frame = _Frame(label, len(guard), len(self.active))
        self.frames.append(frame)
        exits = self._block(body)
        self.frames.pop()
        result = self.state if self.state.live else None
        for arrival in reversed(frame.arrivals):
            result = arrival.state.copy() if result is None else merge(arrival.condition, arrival.state, result)
        if result is not None:
            result.live = True
            self.state = result
        exits.conditions.pop(label, None)
        self.guard = guard
        return exits

    def _exit(self, s: K.Exit | K.Continue) -> _Exits:
        label = s.label if isinstance(s, K.Exit) else f"{s.label}:continue"
        exits = _Exits()
        exits.add(label, E.TRUE)
        for frame in reversed(self.frames):
            if frame.label == label:
                condition = E.land(*[c.condition for c in self.guard[frame.entry :] if c.kind != "assume"])
                frame.arrivals.append(_Arrival(condition, self.state.copy(), self._labels()))
                break
        self.state.live = False
        return exits

    # --- memory -----------------------------------------------------------------------------------------

    def _targets(self, pointer: Expr, site: K.Site) -> list[tuple[Expr, Expr, Expr]]:
        """(condition, root, offset) of what ``pointer`` may point to."""
        found: list[tuple[Expr, Expr, Expr]] = []
        for condition, root, offset in pointer_targets(self.value(pointer)):
            if root.op == "null":
                continue
            if root.op == "addr" or (root.op == "opaque" and root.value[0].startswith(("mem:", "load"))):
                found.append((condition, root, offset))
            else:
                self._reject("untracked-pointer", f"what `{site.text}` points to is not known", site)
        return found

    def _local_cell(self, root: Expr, offset: Expr, width: int) -> Cell | None:
        if root.op == "addr" and self.objects[root.value].space == "local" and offset.op == "const":
            return Cell(root.value, offset.value, width)
        return None

    def _space(self, root: Expr) -> str:
        return self.objects[root.value].space if root.op == "addr" else "global"

    def _bounds(self, pairs: tuple[tuple[Expr, int], ...]) -> Guard:
        out: list[Conjunct] = []
        for index, extent in pairs:
            i = self.value(index)
            if not isinstance(i.ty, IntType) or i.op == "const" or extent <= 0:
                continue
            parts = [E.compare("lt", i, E.const(extent, i.ty))]
            if i.ty.signed:
                parts.append(E.compare("le", E.const(0, i.ty), i))
            out += [Conjunct(p, "assume", len(self.active)) for p in parts if p is not E.TRUE]
        return tuple(out)

    def _record(
        self,
        s: K.Load | K.Store | K.Atomic,
        kind: str,
        target: tuple[Expr, Expr, Expr],
        extra: Guard,
        value: Expr | None,
    ) -> None:
        condition, root, offset = target
        if not self.recording or self._space(root) in ("local", "param", "constant"):
            return
        guard = self.guard
        for part in E.conjuncts(condition):
            guard = (*guard, Conjunct(part, "branch", len(self.active)))
        atomic = None
        if isinstance(s, K.Atomic):
            known = [
                v.value if v.op == "const" and isinstance(v.ty, IntType) else None for v in map(self.value, s.operands)
            ]
            atomic = AtomicInfo(
                s.op, s.scope, s.order, known[-1] if known else None, known[0] if s.op == "cas" and known else None
            )
        self.accesses.append(
            AccessEvent(
                id=s.id,
                order=self._tick(),
                kind="atomic" if isinstance(s, K.Atomic) else "read" if kind == "read" else "write",
                root=root,
                offset=offset,
                width=s.width,
                guard=guard + extra,
                loops=self._labels(),
                site=s.site,
                atomic=atomic,
                value=value,
                volatile=not isinstance(s, K.Atomic) and s.volatile,
                alignment=K.Alignment(s.width) if isinstance(s, K.Atomic) else s.alignment,
            )
        )

    def _load(self, s: K.Load) -> None:
        targets = self._targets(s.pointer, s.site)
        extra = self._bounds(s.in_bounds)
        result: Expr | None = None
        for target in reversed(targets):
            condition, root, offset = target
            self._record(s, "read", target, extra, None)
            value = self._loaded(s, root, offset)
            result = value if result is None else E.select(condition, value, result)
        if result is None:
            result = E.opaque(f"havoc:{s.id}", s.ty, self.counters())
        self.assign(s.var, result)

    def _loaded(self, s: K.Load, root: Expr, offset: Expr) -> Expr:
        cell = self._local_cell(root, offset, s.width)
        if cell is not None:
            found = self.state.read_cell(cell, s.ty)
            if found is not None:
                return found
            fresh = E.opaque(f"undefined:{s.id}:{cell.object}+{cell.offset}", s.ty, self.counters())
            if not self.state.clobbered(cell):
                self.state.write_cell(cell, fresh)
            return fresh
        if self._space(root) == "local":
            return E.opaque(f"local:{s.id}", s.ty, self.counters())
        if s.volatile:
            return E.opaque(f"volatile:{s.id}", s.ty, self.counters())
        if root.op == "addr" and root.value not in self.written:
            return E.opaque(f"mem:{root.value}:{s.ty}", s.ty, (offset,), "grid")
        where = () if root.op == "addr" else root.args
        return E.opaque(
            f"load:{s.id}:{root.value if root.op == 'addr' else root.value[0]}",
            s.ty,
            (offset, *where, *self.counters()),
            "block",
        )

    def _store(self, s: K.Store) -> None:
        value = self.value(s.value)
        targets = self._targets(s.pointer, s.site)
        extra = self._bounds(s.in_bounds)
        for target in targets:
            condition, root, offset = target
            self._record(s, "write", target, extra, value)
            if self._space(root) == "local":
                cell = self._local_cell(root, offset, s.width)
                if cell is not None and condition is E.TRUE:
                    self.state.write_cell(cell, value)
                elif cell is not None:
                    old = self.state.read_cell(cell, value.ty)
                    self.state.write_cell(
                        cell, E.select(condition, value, old) if old is not None else self._fresh(s, value.ty)
                    )
                else:
                    self.state.clobber(root.value)

    def _fresh(self, s: K.Store, ty: E.Type) -> Expr:
        return E.opaque(f"stored:{s.id}", ty, self.counters())

    def _atomic(self, s: K.Atomic) -> None:
        targets = self._targets(s.pointer, s.site)
        extra = self._bounds(s.in_bounds)
        for target in targets:
            self._record(s, "atomic", target, extra, self.value(s.operands[-1]) if s.operands else None)
            if self._space(target[1]) == "local":
                self.state.clobber(target[1].value)
        if s.var is not None:
            self.assign(s.var, E.opaque(f"atomic:{s.id}", s.ty, self.counters()))

    def _barrier(self, s: K.Barrier) -> None:
        if self.recording:
            mask = self.value(s.mask) if s.mask is not None else None
            if s.mask is not None and mask is not None and mask.op == "const" and mask.value & 0xFFFFFFFF == 0xFFFFFFFF:
                mask = None
            self.barriers.append(
                BarrierEvent(
                    s.id,
                    self._tick(),
                    s.scope,
                    self.guard,
                    self._labels(),
                    s.site,
                    mask,
                    s.tile,
                    s.statement,
                    s.in_macro,
                )
            )
        if s.reduce is not None:
            kind, operand, name = s.reduce
            own = self.value(operand)
            result = E.opaque(f"reduced:{s.id}", E.I32, self.counters(), "block")
            zero = E.const(0, E.I32)
            self.assign(name, result)
            truth = E.cast(own, BOOL)
            if kind == "or":
                self._extend(E.lor(E.lnot(truth), E.compare("ne", result, zero)), "assume")
            elif kind == "and":
                self._extend(E.lor(truth, E.compare("eq", result, zero)), "assume")

    def _collective(self, s: K.Collective) -> None:
        operands = [self.value(o) for o in s.operands]
        broadcast = s.name in ("any", "all", "ballot", "reduce", "activemask") or (
            s.name in ("shfl", "shfl.idx") and len(operands) >= 3 and self.level(operands[2]) in ("block", "grid")
        )
        if operands and all(self.level(o) in ("block", "grid") for o in operands) and s.name.startswith("shfl"):
            self.assign(
                s.var,
                E.opaque(
                    f"warp:{s.id}",
                    s.ty,
                    (*(o for o in operands if isinstance(o.ty, IntType)), *self.counters()),
                    "block",
                ),
            )
            return
        self.assign(s.var, E.opaque(f"warp:{s.id}", s.ty, self.counters(), "warp" if broadcast else "thread"))

    # --- loops ------------------------------------------------------------------------------------------

    def _loop(self, s: K.Loop) -> _Exits:
        before, guard = self.state, self.guard
        plan = self._study(s, before)
        limits = [f.limit for f in plan.forms.values() if f.limit is not None]
        slot = LoopInstance(s.label, plan.counter, s.site, first=self.order + 1, limit=min(limits, default=1 << 40))
        self.state = self._at_iteration(plan, before)
        self.active.append(slot)
        self._extend(_earlier_iteration_went_on(plan.exits, plan.counter, s.label), "assume")
        _, plan.condition = self._iterate(s)
        self.active.pop()
        if self.recording:
            self.loops[s.label] = LoopInstance(s.label, plan.counter, s.site, slot.first, self.order, slot.limit)
        if any(f.no_wrap for f in plan.forms.values()):
            self.assumptions.setdefault(NO_WRAP)
        self.guard = guard
        self._after_loop(s, before, plan)
        outer = _Exits()
        for label in plan.exits.conditions:
            if label not in (s.label, f"{s.label}:continue"):
                outer.add(label, E.opaque(f"left:{s.label}:{label}", BOOL, self.counters(), plan.control))
        if s.condition is E.TRUE and s.label not in plan.exits.conditions:
            self.state.live = False
        self._export_arrivals(s, outer, before, plan)
        return outer

    def _iterate(self, s: K.Loop) -> tuple[_Exits, Expr]:
        """One iteration: head, test, body, latch. Gives the exits of the iteration and the test's value."""
        exits = self._block(s.head)
        condition = self.value(s.condition) if self.state.live else E.FALSE
        self._extend(condition, "loop")
        self._extend(not_past(condition, self.active[-1].counter), "assume")
        inner = self._labelled(f"{s.label}:continue", s.body)
        exits.merge(inner)
        self._not_exited(inner)
        if self.state.live:
            exits.merge(self._block(s.latch))
        return exits, condition

    def _study(self, s: K.Loop, before: State) -> _LoopPlan:
        """Find how the loop changes its variables by executing one iteration over placeholders, until the assumed
        uniformity of the placeholders is consistent."""
        touched = self._touched(s)
        placeholders = {n: E.sym(f"start:{s.label}:{n}", ty) for n, ty in touched.variables.items()}
        starts = {n: self._initial(before, n, ty) for n, ty in touched.variables.items()}
        assumed = {n: self.level(starts[n]) for n in placeholders}
        while True:
            trial = self._trial(s, before, touched, placeholders, assumed)
            levels = {n: narrower(assumed[n], trial.levels[n]) for n in placeholders}
            if levels == assumed:
                break
            assumed = levels
        needed = {n: p for n, p in placeholders.items() if p in trial.read}
        forms = close_all(needed, {n: starts[n] for n in needed}, {n: trial.ends[n] for n in needed}, trial.condition)
        counter = E.sym(f"loop:{s.label}", I64)
        plan = _LoopPlan(
            s.label, counter, touched, forms, assumed, trial.control, frozenset(needed), trial.exits, trial.condition
        )
        at_counter = {p: self._head_value(plan, n, counter) for n, p in needed.items()}
        plan.exits = _Exits({label: E.substitute(c, at_counter) for label, c in trial.exits.conditions.items()})
        plan.condition = E.substitute(trial.condition, at_counter)
        return plan

    def _trial(
        self, s: K.Loop, before: State, touched: _Touched, placeholders: dict[str, Expr], assumed: dict[str, str]
    ) -> _Trial:
        saved = (self.guard, self.recording, self.order, self.frames, self.placeholders_read)
        outer_levels = dict(self.placeholder_level)
        self.recording, self.frames, self.placeholders_read = False, [], set()
        self.placeholder_level.update({p: assumed[n] for n, p in placeholders.items()})
        self.active.append(LoopInstance(s.label, E.sym(f"loop:{s.label}", I64), s.site))
        self.state = before.copy()
        for name, p in placeholders.items():
            self.state.put(name, p)
        for o in touched.clobbered:
            self.state.clobber(o)
        exits, condition = self._iterate(s)
        live = self.state.live
        ends = {n: (self.state.get(n, touched.variables[n]) if live else None) or p for n, p in placeholders.items()}
        levels = {n: self.level(e) for n, e in ends.items()}
        control = "grid"
        for c in (condition, *exits.conditions.values()):
            control = narrower(control, self.level(c))
        read = self.placeholders_read
        self.active.pop()
        self.placeholder_level = outer_levels
        self.guard, self.recording, self.order, self.frames, outer_read = saved
        self.placeholders_read = outer_read | {p for p in read if p in outer_levels}
        return _Trial(ends, levels, control, frozenset(read), exits, condition)

    def _initial(self, before: State, name: str, ty: E.Type) -> Expr:
        found = before.get(name, ty)
        return found if found is not None else E.opaque(f"undefined:{name}", ty, self.counters())

    def _head_value(self, plan: _LoopPlan, name: str, counter: Expr) -> Expr:
        """The value of a variable at the start of iteration ``counter``; called outside the loop."""
        if name in plan.forms:
            return plan.forms[name].at(counter)
        ty = plan.touched.variables[name]
        return E.opaque(f"iterated:{plan.label}:{name}", ty, (*self.counters(), counter), plan.levels[name])

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
            if start is not None and start in self.placeholder_level:
                self.placeholders_read.add(start)
        return state

    def _after_loop(self, s: K.Loop, before: State, plan: _LoopPlan) -> None:
        """The state behind the loop: closed forms at the trip count where the test is the only way out."""
        self.state = before.copy()
        plain = s.condition is not E.TRUE and not set(plan.exits.conditions) - {f"{s.label}:continue"}
        trips = E.opaque(f"trips:{s.label}", I64, self.counters(), plan.control)
        if plain:
            last = E.sub(trips, E.const(1, I64))
            self.definitions[f"trips:{s.label}"] = Definition(
                self.counters(),
                (
                    E.compare("le", E.const(0, I64), trips),
                    E.substitute(E.lnot(plan.condition), {plan.counter: trips}),
                    E.lor(E.compare("eq", trips, E.const(0, I64)), E.substitute(plan.condition, {plan.counter: last})),
                ),
            )
        for name, ty in plan.touched.variables.items():
            if plain and name in plan.forms:
                self.state.put(name, plan.forms[name].at(trips))
            else:
                level = narrower(plan.levels[name], plan.control)
                self.state.put(name, E.opaque(f"after:{s.label}:{name}", ty, self.counters(), level))
        for o in plan.touched.clobbered:
            self.state.clobber(o)

    def _export_arrivals(self, s: K.Loop, outer: _Exits, before: State, plan: _LoopPlan) -> None:
        """States that leave the loop for an enclosing Block: what the loop changes is unknown there."""
        for label, condition in outer.conditions.items():
            for frame in reversed(self.frames):
                if frame.label == label:
                    frame.arrivals = [a for a in frame.arrivals if s.label not in a.loops]
                    state = before.copy()
                    for name, ty in plan.touched.variables.items():
                        state.put(name, E.opaque(f"leaving:{s.label}:{label}:{name}", ty, self.counters()))
                    for o in plan.touched.clobbered:
                        state.clobber(o)
                    path = E.land(*[c.condition for c in self.guard[frame.entry :] if c.kind != "assume"], condition)
                    frame.arrivals.append(_Arrival(path, state, self._labels()))
                    break

    def _touched(self, loop: K.Loop) -> _Touched:
        variables: dict[str, E.Type] = {}
        clobbered: set[str] = set()
        for s in K.statements((*loop.head, *loop.body, *loop.latch)):
            if isinstance(s, K.Assign):
                variables[s.var] = s.value.ty
            elif isinstance(s, (K.Load, K.Collective, K.Havoc)):
                variables[s.var] = s.ty
            elif isinstance(s, K.Barrier) and s.reduce is not None:
                variables[s.reduce[2]] = E.I32
            elif isinstance(s, (K.Store, K.Atomic)):
                if isinstance(s, K.Atomic) and s.var is not None:
                    variables[s.var] = s.ty
                reached = pointed_objects(s.pointer, self.points_to)
                clobbered.update(
                    o.name for o in self.kernel.objects if o.space == "local" and (o.name in reached or "?" in reached)
                )
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


@dataclass(slots=True)
class _LoopPlan:
    """What is known about a loop before its events are recorded."""

    label: str
    counter: Expr
    touched: _Touched
    forms: dict[str, Form]
    levels: dict[str, str]
    """By variable: the largest group that agrees on its value at equal iterations."""
    control: str
    """The largest group that agrees on the trip count."""
    needed: frozenset[str]
    """Variables whose value at the start of an iteration is used in it."""
    exits: _Exits
    condition: Expr


def _earlier_iteration_went_on(exits: _Exits, counter: Expr, label: str) -> Expr:
    """In iteration k >= 1 the thread did not leave in iteration k - 1."""
    left = E.lor(*[c for name, c in exits.conditions.items() if name != f"{label}:continue"])
    if left is E.FALSE:
        return E.TRUE
    before = E.sub(counter, E.const(1, I64))
    return E.lor(E.compare("eq", counter, E.const(0, I64)), E.lnot(E.substitute(left, {counter: before})))
