"""Executes a kernel completely, all threads of all blocks, at tiny sizes.

``run(kernel, launch)`` interleaves the threads at random, but the same for equal seeds, and gives back every access,
barrier and mishap. Nothing is approximated except what the program IR itself leaves open (memory that nobody wrote,
``Havoc``): such values are drawn from the launch's seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from analyzers.ir import kernel as k
from analyzers.ir.expr import PTR, U64, Expr, FloatType, IntType, const
from analyzers.reference.data import decode, encode, modify
from analyzers.reference.evaluate import Evaluator, Frame, Key, arbitrary, text_number
from analyzers.reference.launch import ConcreteLaunch, Limits, cluster_of, coordinate, mix
from analyzers.reference.memory import AddressSpace, Memory, ObjectEntry, shared_instance
from analyzers.reference.program import Branch, Program, flatten
from analyzers.reference.result import AccessRecord, RunResult
from analyzers.reference.signals import Signals
from analyzers.reference.stepping import LEAVE, Stepper
from analyzers.reference.synchronise import Groups, Thread

Step = Callable[[Thread], "int | None"]
"""Executes one operation of a thread; gives the next one, None for the following one, LEAVE to wait or end."""


class Stop(Exception):
    """The whole execution ends here."""

    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


class CompiledKernel:
    """A kernel ready to be executed again and again."""

    def __init__(self, kernel: k.Kernel) -> None:
        self.kernel = kernel
        self.program: Program = flatten(kernel)
        self.evaluator = Evaluator()


_compiled: dict[int, CompiledKernel] = {}


def compiled(kernel: k.Kernel) -> CompiledKernel:
    """The executable form of a kernel, remembered for the few kernels used last."""
    found = _compiled.get(id(kernel))
    if found is None or found.kernel is not kernel:
        if len(_compiled) >= 16:
            _compiled.pop(next(iter(_compiled)))
        found = _compiled[id(kernel)] = CompiledKernel(kernel)
    return found


def symbol_value(name: str, launch: ConcreteLaunch, block: int, rank: int) -> Any:
    """The value of a ``sym`` leaf in one thread. Raises KeyError for a symbol that programs do not contain."""
    group, _, rest = name.partition(".")
    if group in ("tid", "bid", "bdim", "gdim") and rest in ("x", "y", "z"):
        axis = "xyz".index(rest)
        if group == "tid":
            return coordinate(rank, launch.block)[axis]
        if group == "bid":
            return coordinate(block, launch.grid)[axis]
        return (launch.block if group == "bdim" else launch.grid)[axis]
    if name == "smem.dynamic":
        return launch.dynamic_shared
    kind, _, parameter = name.partition(":")
    if kind == "param":
        return launch.values.get(parameter, 1)
    if kind == "rank":
        return launch.values.get(name, 0)
    raise KeyError(name)


def typed(value: Any, e: Expr) -> Any:
    """A given number as a value of the leaf's type."""
    if isinstance(e.ty, IntType):
        return e.ty.wrap(int(value))
    return float(value) if isinstance(e.ty, FloatType) else value


class Machine(Stepper[Thread]):
    """One execution in progress."""

    def __init__(self, kernel: k.Kernel, launch: ConcreteLaunch, schedule: int, limits: Limits) -> None:
        shared = compiled(kernel)
        super().__init__(shared.program, shared.evaluator)
        self.launch = launch
        self.limits = limits
        self.random = random.Random(schedule)
        self.space = AddressSpace(kernel, launch)
        self.memory = Memory(self.space, launch)
        self.result = RunResult(kernel, launch, memory=self.memory)
        self.threads = [self._thread(n) for n in range(launch.blocks * launch.threads_per_block)]
        self.groups = Groups(self.threads, self.program, self.result)
        self.signals = Signals(launch, self.result)
        self.signalling = any(_orders(s) for s in k.statements(kernel.body))

    # --- threads ----------------------------------------------------------------------------------------------

    def _thread(self, number: int) -> Thread:
        block, rank = divmod(number, self.launch.threads_per_block)

        def resolve(key: Key) -> Any:
            return self._leaf(self.evaluator.leaves[key], number, block, rank)

        frame = Frame(resolve, self.result.undefined)
        return Thread(number, block, rank, cluster_of(block, self.launch), frame)

    def _leaf(self, e: Expr, number: int, block: int, rank: int) -> Any:
        if e.op == "sym":
            return typed(symbol_value(e.value, self.launch, block, rank), e)
        if e.op == "addr":
            return self.space.address(e.value)
        if e.op == "opaque":
            name, scope = e.value
            where = {"thread": number, "warp": mix(block, rank // 32), "block": block}.get(scope, 0)
            return arbitrary(e.ty, self.launch.seed, text_number(str(name)), where)
        self.result.undefined.add("uninitialised")
        return arbitrary(e.ty, self.launch.seed, text_number(e.value), number)

    def run(self) -> RunResult:
        runnable = list(self.threads)
        try:
            while True:
                while runnable:
                    i = self.random.randrange(len(runnable))
                    t = runnable[i]
                    if not self.advance(t, self.random.choice((1, 3, 10, 40, 200))):
                        runnable[i] = runnable[-1]
                        runnable.pop()
                        runnable += self.groups.settle(t)
                released = self.groups.force()
                if not released:
                    break
                runnable += released
        except Stop as stop:
            self.result.outcome = stop.outcome  # pyright: ignore[reportAttributeAccessIssue]
            self.result.reason = stop.reason
        return self.result

    def advance(self, t: Thread, quantum: int) -> bool:
        """Execute up to ``quantum`` operations; False when the thread waits or has ended."""
        t.pc, executed, goes_on = self.execute(t, t.pc, quantum)
        self.result.steps += executed
        if not goes_on:
            return False
        if self.result.steps > self.limits.steps:
            raise Stop("step-limit", f"{self.limits.steps} steps")
        return True

    # --- operations -------------------------------------------------------------------------------------------

    def branch(self, pc: int, s: Branch) -> Step:
        test, otherwise = self.evaluator.value(s.condition), s.otherwise
        return lambda t: None if test(t.frame) else otherwise

    def join(self, region: int) -> Step:
        return lambda t: None

    def assign(self, s: k.Assign) -> Step:
        name, value = s.var, self.evaluator.value(s.value)

        def assign(t: Thread) -> None:
            f = t.frame
            f[name] = value(f)

        return assign

    def unsupported(self, s: k.Unsupported) -> Step:
        reason = f"{s.kind}: {s.text}"

        def stop(t: Thread) -> None:
            raise Stop("unsupported", reason)

        return stop

    def where(self, pc: int) -> Callable[[Frame], tuple[tuple[str, int], ...]]:
        """The iteration vector at an operation."""
        loops = self.program.loops[pc]
        if not loops:
            return lambda f: ()
        return lambda f: tuple([(label, f[key]) for label, key in loops])

    def halt(self, pc: int) -> Step:
        def halt(t: Thread) -> int:
            t.ended = self.place(t, pc)
            return LEAVE

        return halt

    def instance(self, entry: ObjectEntry, t: Thread, pointer: int) -> int:
        """Whose object a pointer means; of a block that the cluster does not have, one that nobody else reaches."""
        if entry.space == "shared":
            return shared_instance(pointer, t.block, self.launch)
        return t.number if entry.private else 0

    def recorder(self, pc: int, s: k.Load | k.Store | k.Atomic) -> Callable[[Thread, ObjectEntry, int, int, int], None]:
        """Appends the record of one execution of ``s`` to the result."""
        where, accesses = self.where(pc), self.result.accesses
        bounds = [(self.evaluator.value(index), extent) for index, extent in s.in_bounds]
        kind = "read" if isinstance(s, k.Load) else "write" if isinstance(s, k.Store) else "atomic"
        writes = not (isinstance(s, k.Load) or (isinstance(s, k.Atomic) and s.op == "load"))
        scope: k.Scope | None = s.scope if isinstance(s, k.Atomic) else "system" if s.volatile else None
        event, width, limit = s.id, s.width, self.limits.accesses
        lanes: k.Lanes = "" if isinstance(s, k.Atomic) else s.lanes

        def record(t: Thread, entry: ObjectEntry, instance: int, offset: int, bits: int) -> None:
            if entry.private or entry.space == "constant":
                return
            f = t.frame
            inside = entry.size is None or 0 <= offset <= entry.size - width
            for index, extent in bounds:
                inside = inside and 0 <= index(f) < extent
            if entry.space != "shared":
                instance = 0
            inside = inside and instance >= 0
            accesses.append(
                AccessRecord(
                    event, entry.name, instance, offset, width, kind, writes, scope, t.number, t.sync, t.epoch,
                    t.warp_epoch, where(f), bits, inside, lanes, t.number if lanes else -1,
                )
            )  # fmt: skip
            if len(accesses) > limit:
                raise Stop("step-limit", f"{limit} accesses")

        return record

    def load(self, pc: int, s: k.Load) -> Step:
        pointer, target, record = self.evaluator.value(s.pointer), s.var, self.recorder(pc, s)
        memory, find, ty, width, volatile = self.memory, self.space.find, s.ty, s.width, s.volatile

        def load(t: Thread) -> None:
            at = pointer(t.frame)
            entry, offset = find(at)
            instance = self.instance(entry, t, at)
            if ty == PTR and not memory.written(entry, instance, offset, width):
                memory.write(entry, instance, offset, width, self.space.pointee(entry, offset))
            bits = memory.read(entry, instance, offset, width)
            if volatile and self.signalling:
                self.signals.read(t, (entry.name, instance, offset, width), "system", "relaxed")
            record(t, entry, instance, offset, bits)
            t.frame[target] = decode(bits, ty, width)

        return load

    def store(self, pc: int, s: k.Store) -> Step:
        pointer, value, record = self.evaluator.value(s.pointer), self.evaluator.value(s.value), self.recorder(pc, s)
        memory, find, ty, width, volatile = self.memory, self.space.find, s.value.ty, s.width, s.volatile

        def store(t: Thread) -> None:
            at = pointer(t.frame)
            entry, offset = find(at)
            instance = self.instance(entry, t, at)
            bits = encode(value(t.frame), ty, width)
            record(t, entry, instance, offset, bits)
            if self.signalling:
                cell = (entry.name, instance, offset, width)
                if volatile:
                    self.signals.write(t, cell, "system", "relaxed", keeps=False)
                else:
                    self.signals.overwrite(cell)
            memory.write(entry, instance, offset, width, bits)

        return store

    def atomic(self, pc: int, s: k.Atomic) -> Step:
        pointer, record = self.evaluator.value(s.pointer), self.recorder(pc, s)
        operands = [self.evaluator.value(e) for e in s.operands]
        target = s.var
        memory, find, ty, width = self.memory, self.space.find, s.ty, s.width

        def atomic(t: Thread) -> None:
            at = pointer(t.frame)
            entry, offset = find(at)
            instance = self.instance(entry, t, at)
            old = decode(memory.read(entry, instance, offset, width), ty, width)
            try:
                new = modify(s.op, ty, old, [o(t.frame) for o in operands])
            except ValueError as error:
                raise Stop("unsupported", str(error)) from error
            bits = encode(new, ty, width)
            cell = (entry.name, instance, offset, width)
            if self.signalling and s.op != "store":
                self.signals.read(t, cell, s.scope, s.order)
            record(t, entry, instance, offset, bits)
            if self.signalling and s.op != "load" and (s.op in ("exch", "store") or new != old):
                self.signals.write(t, cell, s.scope, s.order, keeps=s.op != "store")
            memory.write(entry, instance, offset, width, bits)
            if target is not None:
                t.frame[target] = old

        return atomic

    def barrier(self, pc: int, s: k.Barrier) -> Step:
        mask = None if s.mask is None else self.evaluator.value(s.mask)
        operand = None if s.reduce is None else self.evaluator.value(s.reduce[1])

        def barrier(t: Thread) -> int:
            named = 0xFFFFFFFF if mask is None else mask(t.frame) & 0xFFFFFFFF
            contribution = None if operand is None else operand(t.frame)
            self.groups.arrive_barrier(t, s, self.place(t, pc), named, contribution)
            return LEAVE

        def announce(t: Thread) -> int:
            self.groups.announce(t, s)
            return LEAVE

        if s.phase is not None:
            return self._phase(pc, s, s.phase)
        return announce if s.half == "arrive" else barrier

    def _phase(self, pc: int, s: k.Barrier, phase: k.Phase) -> Step:
        address = self.evaluator.value(phase.place)
        awaited = self.evaluator.value(const(0, U64) if phase.awaited is None else phase.awaited)

        def come(t: Thread) -> int:
            self.groups.come_to_phase(t, s, self.place(t, pc), address(t.frame), int(awaited(t.frame)))
            return LEAVE

        return come

    def fence(self, s: k.Fence) -> Step:
        return lambda t: self.signals.fence(t, s.scope, s.order)

    def collective(self, pc: int, s: k.Collective) -> Step:
        operands = [self.evaluator.value(e) for e in s.operands]
        seed = self.launch.seed

        def collective(t: Thread) -> int:
            arguments = [o(t.frame) for o in operands]
            self.groups.arrive_collective(t, s, self.place(t, pc), arguments, seed)
            return LEAVE

        return collective

    def havoc(self, s: k.Havoc) -> Step:
        key, ty, seed, name = s.var, s.ty, self.launch.seed, text_number(s.var)

        def havoc(t: Thread) -> None:
            t.draws += 1
            t.frame[key] = arbitrary(ty, seed, name, t.number, t.draws)

        return havoc

    def assume(self, pc: int, s: k.Assume) -> Step:
        condition = self.evaluator.value(s.condition)

        def assume(t: Thread) -> int | None:
            if condition(t.frame):
                return None
            if s.source in ("assume", "user"):
                raise Stop("assumption-violated", s.site.text)
            t.ended = self.place(t, pc)
            self.result.stopped[t.number] = s.source
            return LEAVE

        return assume


def _orders(s: k.Stmt) -> bool:
    """Something that makes signals of strong accesses."""
    return isinstance(s, k.Fence) or (isinstance(s, k.Atomic) and s.order not in ("relaxed", "weak", "volatile"))


def run(kernel: k.Kernel, launch: ConcreteLaunch, schedule: int = 0, limits: Limits | None = None) -> RunResult:
    """Execute one launch. ``schedule`` seeds the interleaving, ``launch.seed`` everything else that is left open."""
    return Machine(kernel, launch, schedule, limits or Limits()).run()
