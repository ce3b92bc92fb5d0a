"""Launches as they are executed: ``<<<…>>>`` and the runtime API, each recorded with the state it happens in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from analyzers.frontend.cindex import Cursor, TypeKind
from analyzers.hostguide.build import TreeBuilder
from analyzers.hostguide.given import Mention
from analyzers.hostguide.hosttypes import OTHER, HostType, PointerTo
from analyzers.hostguide.memory import alternatives
from analyzers.hostguide.methods import MethodCaller
from analyzers.hostguide.places import Frame
from analyzers.hostguide.source import extent
from analyzers.hostguide.tree import ANY_PART, HostFunction, Node
from analyzers.hostguide.values import (
    Address,
    Choice,
    Closure,
    FactLink,
    FunctionValue,
    NoteSource,
    Null,
    Pointer,
    Record,
    Unknown,
    Value,
    Variable,
)
from analyzers.ir import expr as ex
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.model import FactNote


@dataclass(frozen=True, slots=True)
class RawLaunch:
    """One launch on one symbolic path, before it is cut to what matters."""

    kernel: Any
    """Cursor of the kernel instance."""
    guard: Expr
    """Under which a kernel chosen at run time is this one."""
    event: int
    """The same for all kernels that one launch chooses among."""
    grid: Value
    block: Value
    shared: Expr
    arguments: tuple[Value, ...]
    texts: tuple[Node | None, ...]
    """The argument expressions, for notes."""
    facts: FactLink | None
    node: Node
    calls: tuple[Node, ...]
    cooperative: bool
    owner: HostFunction | None
    """The function around the launch, lambdas left out."""
    root: HostFunction | None
    """The function that was called with anything."""
    taken: tuple[HostFunction, ...]
    """Functions of other files that were run before, those around the launch left out."""
    doubt: str = ""
    """Why it may be another kernel that is launched."""
    variables: tuple[tuple[str, Variable, Value | None], ...] = ()
    """The device, constant and managed variables in sight, and what the host put there as far as that is known."""


class Launcher(MethodCaller):
    """Records launches."""

    def __init__(self, builder: TreeBuilder) -> None:
        super().__init__(builder)
        self.launches: list[RawLaunch] = []
        self._events = 0
        self.handed_out: Callable[[], Sequence[Cursor]] = tuple
        """The kernels whose address is taken."""
        self.unresolved: list[tuple[Node, str]] = []
        """Launches whose kernel, or part of a finite set of kernels, could not be told, and why."""
        self.notes: dict[NoteSource, FactNote] = {}
        """Texts of facts that contexts already cite."""
        self.evaluated: set[Mention] = set()
        """Where kernels were named otherwise than to be launched, in code that was run."""
        self.in_lost: dict[str, int] = {}
        """Kernels, by name, that code names which clang could not read, with the line of that."""
        self.given_away: dict[str, tuple[Cursor, str]] = {}
        """By key, the kernels that may be launched where that is not seen, and by whom (see `given`)."""

    def named_here(self, node: Node) -> None:
        if self.by_value and node.value.spelling in self.by_value:
            path, at, _ = extent(node.cursor)
            self.evaluated.add((path, at))

    def given(self, value: Value, how: str = "") -> None:
        for kernel in self._kernels_in(value) if self.by_value else ():
            known = self.given_away.get(kernel.key)
            if known is None or (how and not known[1]):
                self.given_away[kernel.key] = kernel.cursor, how

    def _kernels_in(self, value: Value) -> Iterator[FunctionValue]:
        """The kernels that are a value, parts of one, or lie where one points."""
        waiting, seen = [value], set[int]()
        while waiting:
            top = waiting.pop()
            if isinstance(top, FunctionValue):
                if top.cursor.spelling in self.by_value:
                    yield top
            elif isinstance(top, Record):
                waiting += top.parts.values()
            elif isinstance(top, Choice):
                waiting += [top.first, top.second]
            elif isinstance(top, Closure):
                waiting += top.made.values()
            elif isinstance(top, Address) and id(top.variable) not in seen:
                seen.add(id(top.variable))
                held = self.state.store.get(top.variable)
                waiting += [held] if held is not None else []

    def launch(self, node: Node) -> Value:
        arguments = [a for a in node.args[4:] if a is not None]
        values = tuple(self.evaluate(a) for a in arguments)
        grid, block = self.evaluate(node.arg(1)), self.evaluate(node.arg(2))
        shared = self.integer(node.arg(3), I64)
        kernel = self.evaluate(node.arg(0))
        self.record(node, kernel, grid, block, shared, values, tuple(arguments), False)
        return self.fresh("launch", node.ty)

    def launch_call(self, node: Node, name: str, arguments: tuple[Node, ...]) -> Value:
        cooperative = name == "cudaLaunchCooperativeKernel"
        if name in ("cudaLaunchKernelEx", "cudaLaunchKernelExC"):
            self._launch_extensible(node, name, arguments)
        elif len(arguments) < 4:
            self.unresolved.append((node, "too few arguments"))
        else:
            kernel = self.evaluate(arguments[0])
            grid, block = self.evaluate(arguments[1]), self.evaluate(arguments[2])
            shared = self.integer(arguments[4], I64) if len(arguments) > 4 else ex.const(0, I64)
            self._launch_pointers(node, kernel, grid, block, shared, self.evaluate(arguments[3]), cooperative)
        return self.fresh("status", node.ty)

    def _launch_extensible(self, node: Node, name: str, arguments: tuple[Node, ...]) -> None:
        if len(arguments) < 2:
            self.unresolved.append((node, "too few arguments"))
            return
        configuration = self.pointee(self.evaluate(arguments[0]))
        kernel = self.evaluate(arguments[1])
        held = self.read(configuration, self._pointed(arguments[0])) if configuration is not None else None
        if held is None:
            held = self.fresh("configuration", self._pointed(arguments[0]))
        u32 = IntType(32, False)
        grid, block = (self.part(held, f, u32, f) for f in ("gridDim", "blockDim"))
        shared = self.to_int(self.part(held, "dynamicSmemBytes", IntType(64, False), "shared"), I64, "shared")
        cooperative = self._asks_cooperation(node)
        if name == "cudaLaunchKernelExC":
            values = self.evaluate(arguments[2]) if len(arguments) > 2 else Null()
            self._launch_pointers(node, kernel, grid, block, shared, values, cooperative)
        else:
            rest = arguments[2:]
            converted = tuple(self.evaluate(a) for a in rest)
            self.record(node, kernel, grid, block, shared, converted, rest, cooperative)

    def _pointed(self, node: Node) -> HostType:
        return node.ty.target if isinstance(node.ty, PointerTo) else node.ty

    def _asks_cooperation(self, node: Node) -> bool:
        """Whether the function around the launch sets the cooperative attribute."""
        function = self.frame.function
        if function is None:
            return False
        path, start, end = extent(function.cursor)
        return "cudaLaunchAttributeCooperative" in self.builder.sources.words(path, start, end)

    def _launch_pointers(
        self, node: Node, kernel: Value, grid: Value, block: Value, shared: Expr, array: Value, cooperative: bool
    ) -> None:
        """A launch that gets an array of pointers to its arguments."""
        counts = [
            len(list(k.cursor.type.argument_types())) for _, k in alternatives(kernel) if isinstance(k, FunctionValue)
        ]
        count = max(counts, default=0)
        values: list[Value] = []
        for index in range(count):
            value: Value | None = None
            if isinstance(array, Address) and array.path and isinstance(array.path[-1], int):
                slot = Address(array.variable, (*array.path[:-1], array.path[-1] + index))
                pointer = self.read(slot, PointerTo(IntType(8, False), 1, False))
                target = self.pointee(pointer)
                if target is not None and ANY_PART not in target.path:
                    value = self.read(target, target.variable.ty) if not target.path else self._known_part(target)
            values.append(value if value is not None else self.fresh(f"argument{index}", OTHER))
        self.record(node, kernel, grid, block, shared, tuple(values), tuple([None] * count), cooperative)

    def _known_part(self, target: Address) -> Value | None:
        """A member whose value was written; the type of any other is not known here."""
        held = self.state.store.get(target.variable)
        if isinstance(held, Record) and len(target.path) == 1:
            return held.parts.get(target.path[0])
        return None

    def record(
        self,
        node: Node,
        kernel: Value,
        grid: Value,
        block: Value,
        shared: Expr,
        values: tuple[Value, ...],
        texts: tuple[Node | None, ...],
        cooperative: bool,
    ) -> None:
        calls: list[Node] = []
        owner: HostFunction | None = None
        root: HostFunction | None = None
        frame: Frame | None = self.frame
        around: set[HostFunction | None] = set()
        while frame is not None:
            around.add(frame.function)
            if frame.call is not None:
                calls.append(frame.call)
            if owner is None and frame.enclosing is None:
                owner = frame.function
            root = frame.function
            frame = frame.caller
        taken = tuple(f for f in self.taken if f not in around)
        on_device = {variable: d.name for d, variable in self._globals.items() if self.on_device(d)}
        held = tuple((name, variable, self.state.store.get(variable)) for variable, name in on_device.items())
        values = tuple(self.carried(value) for value in values)
        for value, text in zip(values, texts, strict=False):
            if text is None or not isinstance(text.ty, PointerTo) or not text.ty.const:
                self.forget_behind(value, later=True)
        self.forget_device_variables()
        self._events += 1
        for guard, leaf in alternatives(kernel):
            if isinstance(leaf, Null):
                continue
            doubt = ""
            chosen = [leaf.cursor] if isinstance(leaf, FunctionValue) else []
            if not isinstance(leaf, FunctionValue):
                self.unresolved.append((node, f"its kernel is not known{self._origin(leaf, node)}"))
                chosen, doubt = self._of_its_type(node), "which kernel the host launches here is not known"
            for cursor in chosen:
                defined = self.builder.definition(cursor)
                self.launches.append(
                    RawLaunch(
                        defined, guard, self._events, grid, block, shared, values, texts, self.state.facts, node,
                        tuple(reversed(calls)), cooperative, owner, root, taken, doubt, held,
                    )
                )  # fmt: skip

    def _of_its_type(self, node: Node) -> list[Cursor]:
        """The kernels that a launch through a pointer may mean, by their types."""
        if node.op != "launch":
            return []
        called = node.arg(0).cursor.type.get_canonical()
        if called.kind == TypeKind.POINTER:
            called = called.get_pointee().get_canonical()
        return [k for k in self.handed_out() if k.type.get_canonical().spelling == called.spelling]

    def _origin(self, kernel: Value, node: Node) -> str:
        """The function that gave a kernel which is not known, unless the launch itself names it."""
        function = self.frame.function
        if not isinstance(kernel, (Pointer, Unknown)) or function is None or not node.args:
            return ""
        sources = self.builder.sources
        path, start, end = extent(function.cursor)
        called = re.search(rb"\b" + re.escape(kernel.name.encode()) + rb"\s*\(", sources.text(path)[start:end])
        return f": it comes from {kernel.name}" if called is not None else ""
