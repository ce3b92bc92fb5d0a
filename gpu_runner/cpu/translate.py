"""A kernel of a PTX module → LLVM IR of one coroutine, with the called functions in it.

The coroutine takes the thread's structure (`layout.THREAD`), gives its handle when it has stopped before the first
instruction, and is resumed by the scheduler from then on. Everything that cannot be translated is found in one pass and
named by `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from gpu_runner.cpu import (
    asynchronous,
    clusters,
    compare,
    floats,
    integers,
    matrices,
    memory,
    products,
    synchronization,
)
from gpu_runner.cpu.body import Body, Buffer, Frame, Layout, Slot, Unsupported, UnsupportedHere
from gpu_runner.cpu.calls import callable_by
from gpu_runner.cpu.external import EXTERNAL
from gpu_runner.cpu.floats import DIRECTED, FUNCTIONS, HALVES
from gpu_runner.cpu.functions import LEVEL, LOCAL_SIZE, Called, Functions, call_of, copy, give, take, text_of
from gpu_runner.cpu.launch import cluster_of
from gpu_runner.cpu.layout import FRAME_ALIGN, RUN, THREAD, Fault, SiteKind, Status, offset
from gpu_runner.cpu.loops import waiting_loops
from gpu_runner.cpu.outlined import called
from gpu_runner.cpu.prelude import Addresses, pointer, prelude
from gpu_runner.cpu.products import PRODUCTS
from gpu_runner.cpu.refusals import refusal
from gpu_runner.cpu.registry import OPERATIONS
from gpu_runner.cpu.sites import Sites
from gpu_runner.cpu.types import TYPES
from gpu_runner.cpu.variables import size_of
from gpu_runner.ptx import model
from gpu_runner.ptx.logged import flat, logged
from gpu_runner.ptx.mangled import base_name

ENTRY: Final = "kernel"
_MOST_LINES: Final = 600_000
OPERATION_MODULES: Final = (
    asynchronous,
    clusters,
    compare,
    floats,
    integers,
    matrices,
    memory,
    products,
    synchronization,
)
"""Importing them registers their operations."""


@dataclass(frozen=True, slots=True)
class Translated:
    """`ir` defines `kernel` and `resume`; `local_size` is the bytes of local memory of a thread."""

    ir: str
    sites: Sites
    local_size: int
    uses_agents: bool = False
    """Records name agents of threads (`layout.SiteKind.ASYNC_ISSUE`)."""
    uses_products: bool = False
    """Warps need their workspaces."""


def translate(
    module: model.Module,
    kernel: str,
    layout: Layout,
    addresses: Addresses,
    logs: bool = True,
    lock_step: bool = False,
) -> Translated:
    """`logs`: accesses are recorded. Without it sites have no chains of calls either, and a function without local
    variables has one copy for all its calls. `lock_step`: the lanes of a warp make each access together, as before
    Volta.

    Raises `Unsupported`, naming all that it cannot translate, and KeyError where there is no such kernel."""
    function = module.definition(kernel)
    if function is None or function.kind != "entry":
        raise KeyError(kernel)
    body = Body(module, layout, addresses)
    body.cluster = cluster_of(function)
    at = 0
    for parameter in function.parameters:
        at = aligned(at, parameter.align or size_of(parameter.type))
        body.parameter_offsets[parameter.name] = at
        at += size_of(parameter.type) * _count(parameter)
    body.parameter_size = at
    once = called(module, kernel) if logs and not lock_step else frozenset[str]()
    functions = Functions(once)
    walker = _Walker(body, logs, lock_step, functions)
    walker.function(function, {}, "%final")
    walker.finish()
    if body.unsupported:
        raise Unsupported(tuple(body.unsupported))
    local_size = aligned(walker.local_size, 16) + functions.stack
    text = _text(body, addresses, local_size, functions.texts)
    return Translated(text, body.sites, local_size, body.uses_agents, body.uses_products)


def aligned(value: int, align: int) -> int:
    return -(-value // align) * align


def _count(variable: model.Variable) -> int:
    count = int(variable.vector[1:]) if variable.vector else 1
    for size in variable.dimensions:
        count *= size or 0
    return count


def _text(body: Body, addresses: Addresses, local_size: int, functions: Sequence[str]) -> str:
    frame_size = pointer(addresses.run + offset(RUN, "frame_size"))
    x, y, z = body.cluster
    lines = [prelude(addresses, local_size, x * y * z, body.parameter_size), DIRECTED, HALVES, FUNCTIONS, *functions]
    lines += [PRODUCTS] if body.uses_products else []
    lines.append(f"{LOCAL_SIZE} = internal constant i64 {local_size}")
    lines.append(f"define ptr @{ENTRY}(ptr %thread) presplitcoroutine {{")
    lines.append("entry:")
    lines.extend(body.allocas)
    lines.append(
        f"""  %id = call token @llvm.coro.id(i32 {FRAME_ALIGN}, ptr null, ptr null, ptr null)
  %size = call i64 @llvm.coro.size.i64()
  %fp = getelementptr i8, ptr %thread, i64 {offset(THREAD, "frame")}
  %memory = load ptr, ptr %fp
  %probe = icmp eq ptr %memory, null
  br i1 %probe, label %measure, label %begin
measure:
  store i64 %size, ptr {frame_size}
  ret ptr null
begin:
  %handle = call ptr @llvm.coro.begin(token %id, ptr %memory)
  %first = call i8 @llvm.coro.suspend(token none, i1 false)
  switch i8 %first, label %suspended [i8 0, label %start  i8 1, label %cleanup]
start:"""
    )
    lines.extend(body.settled())
    if functions:  # where a function comes back to when the time of the run is over
        lines.append(
            """stopped:
  %over = call i8 @llvm.coro.suspend(token none, i1 false)
  switch i8 %over, label %suspended [i8 0, label %final  i8 1, label %cleanup]"""
        )
    lines.append(
        f"""final:
  %sp = getelementptr i8, ptr %thread, i64 {offset(THREAD, "status")}
  %s = load i32, ptr %sp
  %faulted = icmp eq i32 %s, {int(Status.FAULTED)}
  %status = select i1 %faulted, i32 {int(Status.FAULTED)}, i32 {int(Status.EXITED)}
  store i32 %status, ptr %sp
  %last = call i8 @llvm.coro.suspend(token none, i1 true)
  switch i8 %last, label %suspended [i8 0, label %never  i8 1, label %cleanup]
never:
  unreachable
cleanup:
  br label %suspended
suspended:
  call void @llvm.coro.end(ptr %handle, i1 false, token none)
  ret ptr %handle
}}"""
    )
    return "\n".join(lines)


@dataclass(slots=True)
class _Shared:
    """The only copy of a function: its parameters, where the number of the call is, and where the calls go on."""

    held: dict[str, Slot | Buffer]
    number: str
    enter: str
    returns: list[str] = field(default_factory=list[str])
    line: int = 0
    """Of the text: where the jump back is to be written."""


class _Walker:
    """Walks functions in the order of their text and emits what each statement means."""

    def __init__(self, body: Body, logs: bool, lock_step: bool, functions: Functions) -> None:
        self.body = body
        self.logs = logs
        self.lock_step = lock_step
        self.called = functions
        self.local_size = 0
        self._copies = 0
        self._logged: dict[str, frozenset[int]] = {}
        self._shared: dict[str, _Shared] = {}

    def function(self, function: model.Function, buffers: dict[str, Slot | Buffer], leave: str) -> None:
        """Translate the body of a function with its parameters given; returns go to `leave`."""
        body = self.body
        caller = body.frames[-1] if body.frames else None
        self._copies += 1
        start = caller.local_offset + caller.local_size if caller else 0
        calls = (body.location, *caller.calls) if caller else ()
        callers = (caller.function.name, *caller.callers) if caller else ()
        frame = Frame(function, f"f{self._copies}.", [dict(buffers)], start, calls, callers, leave)
        for number, statement in enumerate(flat(function.body or ()), 1):
            if isinstance(statement, model.Label):
                frame.labels[statement.name] = number
            elif isinstance(statement, model.Targets):
                frame.tables[statement.label] = statement
            elif isinstance(statement, model.Prototype):
                frame.prototypes[statement.label] = statement
        if function.name not in self._logged:
            self._logged[function.name] = logged(function).positions if self.logs else frozenset()
        frame.logged = self._logged[function.name]
        body.frames.append(frame)
        frame.loops = waiting_loops(function.body or (), frame.labels)
        location = body.location
        self._block(function.body or ())
        if body.open:
            body.end(f"br label {leave}")
        self.local_size = max(self.local_size, frame.local_offset + frame.local_size)
        body.frames.pop()
        body.location = location

    def _block(self, statements: Iterable[model.Statement]) -> None:
        for statement in statements:
            self.body.frame.position += 0 if isinstance(statement, model.Scope) else 1
            try:
                self._statement(statement)
            except UnsupportedHere as error:
                self.body.unsupported.setdefault(refusal(statement, str(error), self.body))
            if len(self.body.lines) > _MOST_LINES:
                raise Unsupported(("the kernel with everything that it calls is too large",))

    def _statement(self, statement: model.Statement) -> None:
        body = self.body
        match statement:
            case model.Label(name):
                body.block(self._label(name))
            case model.Scope(inner):
                body.frame.scopes.append({})
                self._block(inner)
                body.frame.scopes.pop()
            case model.Registers():
                body.declare(statement)
            case model.Variable():
                self._variable(statement)
            case model.Instruction() | model.Call():
                body.location = statement.location or body.location
                self._guarded(statement)
            case _:
                pass

    def _label(self, name: str) -> str:
        return f"%{self.body.frame.prefix}{name.replace('$', 'L')}"

    def _variable(self, variable: model.Variable) -> None:
        body = self.body
        size = size_of(variable.type) * _count(variable)
        if variable.space == "param":
            place = body.slot(f"[{max(size, 1)} x i8]", 16)
            body.frame.scopes[-1][variable.name] = Buffer(place, size)
        elif variable.space == "local":
            frame = body.frame
            at = aligned(frame.local_offset + frame.local_size, variable.align or size_of(variable.type))
            body.locals[f"{frame.prefix}{variable.name}"] = at
            frame.local_size = at + size - frame.local_offset
        elif variable.space != "shared":
            raise UnsupportedHere(f"variable in .{variable.space}")

    def _guarded(self, statement: model.Instruction | model.Call) -> None:
        """An instruction under a predicate is a branch around it."""
        body = self.body
        if not body.open:  # behind a jump, and no label: never reached
            body.block(body.name("dead"))
        guard = statement.guard
        if guard is None:
            self._perform(statement)
            return
        condition = body.read(model.Register(guard.register), "pred")
        then, after = body.name("then"), body.name("after")
        first, second = (after, then) if guard.negated else (then, after)
        body.branch(condition, first, second)
        body.block(then)
        self._perform(statement)
        body.block(after)

    def _perform(self, statement: model.Instruction | model.Call) -> None:
        body = self.body
        if isinstance(statement, model.Call):
            self._call(statement)
            return
        if self.lock_step and body.frame.position in body.frame.logged:
            body.step(statement)
        match statement.opcode:
            case "bra":
                (target,) = statement.operands
                assert isinstance(target, model.Symbol)
                self._jump_back(target.name, statement)
                body.end(f"br label {self._label(target.name)}")
            case "brx":
                self._indirect_branch(statement)
            case "ret":
                body.end(f"br label {body.frame.leave}")
            case "exit":
                body.end("br label %final")
            case "trap" | "brkpt":
                body.fault(Fault.TRAP, body.site(SiteKind.NONE, statement))
            case "pmevent":
                pass
            case opcode if opcode in OPERATIONS:
                OPERATIONS[opcode](body, statement)
            case _:
                raise UnsupportedHere("instruction")

    def _jump_back(self, label: str, statement: model.Instruction) -> None:
        """A loop that reads memory may wait for another thread: it lets others run now and then. Any other may go on
        forever."""
        frame = self.body.frame
        is_back = frame.labels.get(label, frame.position + 1) <= frame.position
        if self.lock_step and is_back:
            self.body.step(statement, f"{frame.prefix}{label}")
        if (label, frame.position) in frame.loops:
            self.body.pay(1, statement)
        elif is_back:
            self.body.heed(statement)

    def _indirect_branch(self, statement: model.Instruction) -> None:
        body = self.body
        index, table = statement.operands
        if not isinstance(table, model.Symbol) or table.name not in body.frame.tables:
            raise UnsupportedHere("branch without a table")
        targets = body.frame.tables[table.name].names
        for target in targets:
            self._jump_back(target, statement)
        value = body.read(index, "u32")
        cases = "  ".join(f"i32 {number}, label {self._label(name)}" for number, name in enumerate(targets))
        outside = body.name("outside")
        body.end(f"switch i32 {value}, label {outside} [{cases}]")
        body.block(outside)
        body.fault(Fault.UNREACHABLE, body.site(SiteKind.NONE, statement))

    def _call(self, call: model.Call) -> None:
        body = self.body
        if not isinstance(call.target, model.Symbol):
            self._call_through_pointer(call)
            return
        name = call.target.name
        if name in EXTERNAL:
            EXTERNAL[name](body, call)
            return
        function = body.module.definition(name)
        if function is None:
            raise UnsupportedHere(f"call of {name}, which is defined elsewhere")
        if name in self.called.wanted:
            self._call_of(function, call)
            return
        if any(frame.function.name == name for frame in body.frames):
            raise UnsupportedHere(f"recursion through {base_name(name)}, which waits for other threads")
        self._inlined(function, call)

    def _call_of(self, function: model.Function, call: model.Call) -> None:
        """A call of the only translation of a function, which may end the thread."""
        body, frame = self.body, self.body.frame
        known = self.called.functions.get(function.name)
        if known is None:
            known = self._translated(function)
        given = [self._passed(*pair) for pair in zip(function.parameters, call.arguments, strict=True)]
        held = [self._fresh(result) for result in function.results]
        at = aligned(frame.local_offset + frame.local_size, 16) + (0 if known.text else LEVEL)
        if not known.text:  # of itself: the accesses are told as those of the first call
            base, known.is_recursive = "%base", True
        else:
            self.local_size = max(self.local_size, at + known.local_size)
            stack, callers = (body.location, *frame.calls), (frame.function.name, *frame.callers)
            base = body.numbered(body.sites.embed(known.sites, stack, callers))
        call_of(body, known, base, at, [each.place for each in (*given, *held)])
        for result, each in zip(call.results, held, strict=True):
            self._returned(result, each)

    def _translated(self, function: model.Function) -> Called:
        outer = self.body
        body = Body(outer.module, outer.layout, outer.addresses, (outer.location, *outer.frame.calls))
        body.cluster = outer.cluster
        body.unsupported = outer.unsupported
        known = self.called.functions[function.name] = Called(function, body.sites)
        walker = _Walker(body, self.logs, self.lock_step, self.called)
        parameters = [(each, walker._fresh(each)) for each in function.parameters]
        results = [(each, walker._fresh(each)) for each in function.results]
        take(body, [held for _, held in parameters])
        buffers = {variable.name: held for variable, held in (*parameters, *results)}
        walker.function(function, buffers, "%leave")
        body.block("%leave")
        give(body, [held for _, held in results])
        known.local_size = aligned(walker.local_size, 16)
        known.text = text_of(known, body)
        return known

    def _call_through_pointer(self, call: model.Call) -> None:
        """One case for each function that the pointer may be of."""
        body = self.body
        under_way = {frame.function.name for frame in body.frames}
        functions = callable_by(call, body)
        if not functions:
            raise UnsupportedHere("call through a pointer that can be of no function in sight")
        functions = [f for f in functions if f.name not in under_way]
        pointer = body.read(call.target, "b64")
        labels = [body.name("callee") for _ in functions]
        wild, done = body.name("wild"), body.name("called")
        addresses = (body.layout.addresses[function.name] for function in functions)
        cases = "  ".join(f"i64 {at}, label {label}" for at, label in zip(addresses, labels, strict=True))
        body.end(f"switch i64 {pointer}, label {wild} [{cases}]")
        for function, label in zip(functions, labels, strict=True):
            body.block(label)
            self._inlined(function, call)
            body.end(f"br label {done}")
        body.block(wild)
        body.fault(Fault.CALL, body.site(SiteKind.NONE, call))
        body.block(done)

    def finish(self) -> None:
        """Write the returns of the functions that have one copy."""
        for shared in self._shared.values():
            number, *_ = self.body.lines[shared.line].split()
            cases = "  ".join(f"i32 {at}, label {label}" for at, label in enumerate(shared.returns))
            self.body.lines[shared.line] = f"  switch i32 {number}, label {shared.returns[0]} [{cases}]"

    def _inlined(self, function: model.Function, call: model.Call) -> None:
        """The body of the function in the place of the call."""
        body = self.body
        if not self.logs and not _has_locals(function):
            self._jump_to(function, call)
            return
        buffers: dict[str, Slot | Buffer] = {}
        for parameter, argument in zip(function.parameters, call.arguments, strict=True):
            buffers[parameter.name] = self._passed(parameter, argument)
        results: list[tuple[model.Operand, Slot | Buffer]] = []
        for parameter, result in zip(function.results, call.results, strict=True):
            held = self._fresh(parameter)
            buffers[parameter.name] = held
            results.append((result, held))
        leave = body.name("return")
        self.function(function, buffers, leave)
        body.block(leave)
        for operand, held in results:
            self._returned(operand, held)

    def _jump_to(self, function: model.Function, call: model.Call) -> None:
        """To the only copy of a function, and back by the number of the call."""
        body = self.body
        shared = self._shared.get(function.name)
        is_first = shared is None
        if shared is None:
            held = {parameter.name: self._fresh(parameter) for parameter in (*function.parameters, *function.results)}
            shared = self._shared[function.name] = _Shared(held, body.slot("i32"), body.name("enter"))
        for parameter, argument in zip(function.parameters, call.arguments, strict=True):
            self._pass_into(shared.held[parameter.name], parameter, argument)
        back = body.name("back")
        body.emit(f"store i32 {len(shared.returns)}, ptr {shared.number}")
        shared.returns.append(back)
        body.end(f"br label {shared.enter}")
        if is_first:
            body.block(shared.enter)
            leave = body.name("return")
            self.function(function, dict(shared.held), leave)
            body.block(leave)
            number = body.let(f"load i32, ptr {shared.number}")
            body.end(number)
            shared.line = len(body.lines) - 1
        body.block(back)
        for parameter, result in zip(function.results, call.results, strict=True):
            self._returned(result, shared.held[parameter.name])

    def _fresh(self, parameter: model.Variable) -> Slot | Buffer:
        if parameter.space == "reg":
            type_ = TYPES[parameter.type]
            return Slot(self.body.slot(type_.llvm), type_)
        size = size_of(parameter.type) * _count(parameter)
        return Buffer(self.body.slot(f"[{max(size, 1)} x i8]", 16), size)

    def _passed(self, parameter: model.Variable, argument: model.Operand) -> Slot | Buffer:
        """A copy of the argument: the callee may write its parameters."""
        held = self._fresh(parameter)
        self._pass_into(held, parameter, argument)
        return held

    def _pass_into(self, held: Slot | Buffer, parameter: model.Variable, argument: model.Operand) -> None:
        body = self.body
        given = body.lookup(argument.name) if isinstance(argument, model.Symbol | model.Register) else None
        if isinstance(held, Buffer) and isinstance(given, Buffer):
            copy(body, given.place, held.place, min(given.size, held.size))
            return
        type_ = TYPES[parameter.type]
        body.emit(f"store {type_.llvm} {body.read(argument, type_)}, ptr {held.place}")

    def _returned(self, operand: model.Operand, held: Slot | Buffer) -> None:
        body = self.body
        given = body.lookup(operand.name) if isinstance(operand, model.Symbol | model.Register) else None
        if isinstance(given, Buffer) and isinstance(held, Buffer):
            copy(body, held.place, given.place, min(given.size, held.size))
        elif isinstance(held, Slot):
            body.write(operand, body.let(f"load {held.type.llvm}, ptr {held.place}"), held.type)
        else:
            raise UnsupportedHere("this kind of result")


def _has_locals(function: model.Function) -> bool:
    return any(isinstance(each, model.Variable) and each.space == "local" for each in flat(function.body or ()))
