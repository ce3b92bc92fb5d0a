"""The body of a kernel in the making: LLVM IR as text, with registers, operands and places for the operations to use.

PTX registers become stack slots, which LLVM turns into values. Called functions are translated into the place of the
call, because only the coroutine itself can suspend; each such copy is a `Frame`. Those of which that is not done
(`outlined`) have a body of their own, a function of the thread, of its first site and of where its local memory begins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from gpu_runner.cpu.layout import FIRST_SITE, RUN, THREAD, Collective, Fault, SiteKind, Status, offset
from gpu_runner.cpu.prelude import Addresses, pointer
from gpu_runner.cpu.sites import Order, Scope, Site, Sites
from gpu_runner.cpu.types import TYPES, Type
from gpu_runner.ptx import model

_LOOP: Final = re.compile(r"(?<=i64 )<(f\d+\.[^>]*)>")
"""The place of the end of a loop, which is known behind it."""


class Unsupported(Exception):
    """The kernel uses what the executor cannot run; one line per construct, each once."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


class UnsupportedHere(Exception):
    """One construct cannot be translated; the translation goes on to find the others."""


@dataclass(slots=True)
class Slot:
    """A register: its stack slot and the type that it was declared with."""

    place: str
    type: Type


@dataclass(slots=True)
class Buffer:
    """A variable in the parameter space of a function, or a local one; `place` is a machine address in the IR."""

    place: str
    size: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Where module variables and the shared variables of functions lie."""

    addresses: dict[str, int]
    """Generic addresses of global and constant variables and of functions whose address is taken."""
    shared: dict[str, int]
    """Offsets in the block's shared memory."""
    shared_size: int
    """Bytes of all shared variables of fixed size; dynamic shared memory begins behind them."""
    pointed_to: frozenset[str] = frozenset()
    """Functions that may be called through pointers: their names stand somewhere else than in calls."""


@dataclass(slots=True)
class Frame:
    """One copy of a function's body."""

    function: model.Function
    prefix: str
    scopes: list[dict[str, Slot | Buffer]]
    local_offset: int
    calls: tuple[model.Location | None, ...]
    """Call sites that led here, innermost first."""
    callers: tuple[str, ...]
    leave: str = ""
    """Where ``ret`` goes."""
    labels: dict[str, int] = field(default_factory=dict[str, int])
    """Position of each label in the flat text of the function, to tell jumps back."""
    position: int = 0
    """Of the current statement."""
    logged: frozenset[int] = frozenset()
    """Positions of the instructions whose execution is recorded."""
    loops: frozenset[tuple[str, int]] = frozenset()
    """(label, position) of jumps back where a thread may be waiting for another."""
    tables: dict[str, model.Targets] = field(default_factory=dict[str, model.Targets])
    prototypes: dict[str, model.Prototype] = field(default_factory=dict[str, model.Prototype])
    local_size: int = 0


class Body:
    """The text, and what every operation needs. SSA values are strings such as ``%v7`` or constants."""

    def __init__(
        self,
        module: model.Module,
        layout: Layout,
        addresses: Addresses,
        entered: tuple[model.Location | None, ...] | None = None,
    ) -> None:
        """`entered`: of a function with a body of its own, the calls that led to its first one, innermost first."""
        self.module = module
        self.layout = layout
        self.addresses = addresses
        self.entered = entered
        self.sites = Sites()
        self.lines: list[str] = []
        self.allocas: list[str] = []
        self.frames: list[Frame] = []
        self.location: model.Location | None = None
        self.unsupported: dict[str, None] = {}
        self.open = True
        """Whether the current basic block has no terminator yet."""
        self.carry: str | None = None
        self.locals: dict[str, int] = {}
        """Offsets of local variables, by prefix of the frame and name."""
        self.parameter_offsets: dict[str, int] = {}
        """Of the kernel's parameters."""
        self.parameter_size = 0
        """Bytes of all of them."""
        self.uses_agents = False
        """Whether there are asynchronous copies."""
        self.cluster: tuple[int, int, int] = (1, 1, 1)
        """Blocks of a cluster along each axis."""
        self.uses_products = False
        """Whether there are products of matrices."""
        self._names = 0
        self._steps = 0
        self._ends: dict[str, int] = {}
        """Of loops, by label: the place of the last jump back."""

    # Text

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def name(self, what: str = "v") -> str:
        self._names += 1
        return f"%{what}{self._names}"

    def emit(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def let(self, text: str) -> str:
        """A new value for an instruction."""
        value = self.name()
        self.lines.append(f"  {value} = {text}")
        return value

    def block(self, label: str) -> None:
        """Begin a basic block, falling into it where the last one is open. `label` with its ``%``."""
        if self.open:
            self.emit(f"br label {label}")
        self.lines.append(f"{label[1:]}:")
        self.open = True

    def end(self, terminator: str) -> None:
        """Close the current basic block."""
        self.emit(terminator)
        self.open = False

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        self.end(f"br i1 {condition}, label {then}, label {otherwise}")

    def slot(self, llvm: str, align: int = 0) -> str:
        place = self.name("s")
        self.allocas.append(f"  {place} = alloca {llvm}{f', align {align}' if align else ''}")
        return place

    # The thread and the run

    def thread_field(self, name: str) -> str:
        return self.let(f"getelementptr i8, ptr %thread, i64 {offset(THREAD, name)}")

    def load_thread(self, name: str, llvm: str = "i32") -> str:
        return self.let(f"load {llvm}, ptr {self.thread_field(name)}")

    def store_thread(self, name: str, value: str, llvm: str = "i32") -> None:
        self.emit(f"store {llvm} {value}, ptr {self.thread_field(name)}")

    def load_run(self, name: str, llvm: str = "i32") -> str:
        return self.let(f"load {llvm}, ptr {pointer(self.addresses.run + offset(RUN, name))}")

    def suspend(self) -> None:
        """Give the processor back; the scheduler resumes behind this place."""
        if self.entered is not None:
            raise UnsupportedHere("waiting for other threads in a function that calls itself")
        resumed = self.name("resumed")
        value = self.let("call i8 @llvm.coro.suspend(token none, i1 false)")
        self.end(f"switch i8 {value}, label %suspended [i8 0, label {resumed}  i8 1, label %cleanup]")
        self.block(resumed)

    def wait(self, status: Status, site: str) -> None:
        self.store_thread("status", str(int(status)))
        self.store_thread("site", site)
        self.suspend()

    def step(self, instruction: model.Instruction, loop: str = "") -> None:
        """Wait for the lanes of the warp that are not as far in the text. `loop`: of a jump back, whose place is that
        of the last one of the loop, so that all rounds of a loop begin together."""
        self._steps += 1
        place = str(self._steps)
        if loop:
            self._ends[loop] = self._steps
            place = f"<{loop}>"
        self.store_thread("b", place, "i64")
        self.store_thread("op", str(int(Collective.LOCK_STEP)))
        self.wait(Status.COLLECTIVE, self.site(SiteKind.NONE, instruction))

    def settled(self) -> list[str]:
        """The text, with the places of loops."""
        if not self._ends:
            return self.lines
        return [_LOOP.sub(lambda m: str(self._ends[m[1]]), line) if "i64 <" in line else line for line in self.lines]

    def pay(self, fuel: int, instruction: model.Instruction) -> None:
        """Take from the thread's fuel, and give the processor back when there is none left. A function with a body of
        its own cannot, but when the time of the run is over."""
        if self.entered is not None:
            self.heed(instruction)
            return
        site = self.site(SiteKind.NONE, instruction)
        place = self.thread_field("fuel")
        left = self.let(f"sub i32 {self.let(f'load i32, ptr {place}')}, {fuel}")
        self.emit(f"store i32 {left}, ptr {place}")
        empty, on = self.name("empty"), self.name("on")
        self.branch(self.let(f"icmp sle i32 {left}, 0"), empty, on)
        self.block(empty)
        self.store_thread("site", site)
        self.suspend()
        self.end(f"br label {on}")
        self.block(on)

    def heed(self, instruction: model.Instruction) -> None:
        """Give the processor back where the time of the run is over."""
        site = self.site(SiteKind.NONE, instruction)
        place = pointer(self.addresses.run + offset(RUN, "stop"))
        over = self.let(f"icmp ne i32 {self.let(f'load volatile i32, ptr {place}')}, 0")
        stopped, on = self.name("stopped"), self.name("on")
        self.branch(over, stopped, on)
        self.block(stopped)
        self.store_thread("site", site)
        if self.entered is not None:
            self.end("br label %stopped")
        else:
            self.suspend()
            self.end(f"br label {on}")
        self.block(on)

    def fault(self, what: Fault, site: str, address: str = "0") -> None:
        """End the thread with a fault; the block is closed."""
        self.emit(f"call void @fault(ptr %thread, i64 {address}, i32 {site}, i32 {int(what)})")
        self.end("br label %final")

    def site(
        self,
        kind: SiteKind,
        instruction: model.Instruction | model.Call,
        size: int = 0,
        order: Order = "weak",
        scope: Scope = "none",
        volatile: bool = False,
    ) -> str:
        """The number of a new site, as a value."""
        opcode = instruction.opcode if isinstance(instruction, model.Instruction) else "call"
        text = ".".join((opcode, *instruction.modifiers))
        stack = (instruction.location, *self.frame.calls)
        functions = (self.frame.function.name, *self.frame.callers)
        return self.numbered(self.sites.add(Site(kind, text, stack, functions, size, order, scope, volatile)))

    def numbered(self, site: int) -> str:
        """The number of a site as a value: those of a function with a body of its own depend on the call."""
        return str(site) if self.entered is None else self.let(f"add i32 %base, {site - FIRST_SITE}")

    # Registers and operands

    def declare(self, declaration: model.Registers) -> None:
        if declaration.vector is not None:
            raise UnsupportedHere("vector registers")
        type_ = TYPES.get(declaration.type)
        if type_ is None:
            raise UnsupportedHere(f"registers of type .{declaration.type}")
        for name, count in declaration.names:
            for each in (name,) if count is None else (f"{name}{number}" for number in range(count)):
                self.frame.scopes[-1][each] = Slot("", type_)

    def lookup(self, name: str) -> Slot | Buffer | None:
        for scope in reversed(self.frame.scopes):
            if name in scope:
                found = scope[name]
                if isinstance(found, Slot) and not found.place:
                    found.place = self.slot(found.type.llvm)
                return found
        return None

    def register(self, name: str) -> Slot:
        found = self.lookup(name)
        if not isinstance(found, Slot):
            raise UnsupportedHere(f"special register {name}" if name.startswith("%") else f"{name} as a register")
        return found

    def read(self, operand: model.Operand, type_: Type | str) -> str:
        """The operand as a value of the LLVM type of `type_`."""
        type_ = TYPES[type_] if isinstance(type_, str) else type_
        match operand:
            case model.Register(name):
                if self.lookup(name) is None:
                    return self._special(name, type_)
                slot = self.register(name)
                value = self.let(f"load {slot.type.llvm}, ptr {slot.place}")
                return self.fit(value, slot.type, type_)
            case model.Negated(register):
                return self.let(f"xor i1 {self.read(register, 'pred')}, true")
            case model.Integer(value):
                return self._integer(value, type_)
            case model.Float(bits, width):
                return self._float(bits, width, type_)
            case model.Symbol("WARP_SZ", 0):
                return self._integer(32, type_)
            case model.Symbol(name, add):
                slot = self.lookup(name)
                if isinstance(slot, Slot):
                    return self.fit(self.let(f"load {slot.type.llvm}, ptr {slot.place}"), slot.type, type_)
                return self.address(name, add, type_)
            case _:
                raise UnsupportedHere(f"operand {type(operand).__name__.lower()}")

    def _integer(self, value: int, type_: Type) -> str:
        if type_.kind == "p":
            return "true" if value else "false"
        if type_.kind == "f":
            return self.let(f"sitofp i64 {value} to {type_.llvm}")
        return str(value & ((1 << type_.bits) - 1))

    def _float(self, bits: int, width: int, type_: Type) -> str:
        if type_.kind != "f":
            return str(bits)
        source = TYPES[f"f{width}"]
        value = self.let(f"bitcast i{width} {bits} to {source.llvm}")
        if type_.bits < width:
            return self.let(f"fptrunc double {value} to float")
        return value if type_.bits == width else self.let(f"fpext float {value} to double")

    def fit(self, value: str, held: Type, wanted: Type) -> str:
        """Bits of a register as another type: reinterpreted, and cut where the register is wider."""
        if held.llvm == wanted.llvm:
            return value
        bits = value
        if held.kind == "f":
            bits = self.let(f"bitcast {held.llvm} {value} to i{held.bits}")
        if held.bits != wanted.bits:
            how = "trunc" if held.bits > wanted.bits else "zext"
            bits = self.let(f"{how} i{held.bits} {bits} to i{wanted.bits}")
        return self.let(f"bitcast i{wanted.bits} {bits} to {wanted.llvm}") if wanted.kind == "f" else bits

    def write(self, operand: model.Operand, value: str, type_: Type | str) -> None:
        """Store a value of the type into a register, widened by the type's sign where the register is wider."""
        type_ = TYPES[type_] if isinstance(type_, str) else type_
        match operand:
            case model.Symbol("_"):
                return
            case model.Register(name) | model.Symbol(name):
                slot = self.register(name)
            case _:
                raise UnsupportedHere(f"destination {type(operand).__name__.lower()}")
        if slot.type.bits > type_.bits and type_.kind != "f":
            how = "sext" if type_.signed else "zext"
            value = self.let(f"{how} i{type_.bits} {value} to i{slot.type.bits}")
            type_ = TYPES[f"b{slot.type.bits}"]
        self.emit(f"store {slot.type.llvm} {self.fit(value, type_, slot.type)}, ptr {slot.place}")

    def address(self, name: str, add: int, type_: Type) -> str:
        """The address of a variable in its own state space, as a value, some bytes on."""
        value = self.symbol(name) + add
        if self.entered is None or f"{self.frame.prefix}{name}" not in self.locals:
            return self._integer(value, type_)
        own = self.let(f"add i64 %local, {value}")
        return own if type_.bits == 64 else self.let(f"trunc i64 {own} to {type_.llvm}")

    def symbol(self, name: str) -> int:
        """Address of a variable in its own state space; of global and constant ones that is the generic address."""
        if (key := f"{self.frame.prefix}{name}") in self.locals:
            return self.locals[key]
        if (key := f"{self.frame.function.name}:{name}") in self.layout.shared:
            return self.layout.shared[key]
        if name in self.layout.shared:
            return self.layout.shared[name]
        if name in self.layout.addresses:
            return self.layout.addresses[name]
        if self.frames and any(parameter.name == name for parameter in self.frames[0].function.parameters):
            if self.frame is self.frames[0] and self.entered is None:
                return self.parameter_offsets[name]
            raise UnsupportedHere("the address of a parameter of a function")
        raise UnsupportedHere(f"address of {name}")

    def _special(self, name: str, type_: Type) -> str:
        value = self._special_word(name)
        return self.fit(value, TYPES["b64" if name.endswith(("64", "timer")) else "b32"], type_)

    def _special_word(self, name: str) -> str:
        match name:
            case "%tid.x" | "%tid.y" | "%tid.z" | "%ctaid.x" | "%ctaid.y" | "%ctaid.z":
                return self.load_thread(name[1:].replace(".", "_"))
            case "%ntid.x" | "%ntid.y" | "%ntid.z" | "%nctaid.x" | "%nctaid.y" | "%nctaid.z":
                return self.load_run(name[1:].replace(".", "_"))
            case "%laneid":
                return self.load_thread("lane")
            case "%warpid":
                return self.load_thread("warp")
            case "%nwarpid":
                return "32"
            case "%smid" | "%gridid" | "%clock_hi":
                return "0"
            case "%nsmid":
                return "1"
            case _ if "cluster" in name:
                return self._of_cluster(name)
            case "%envreg1":  # the driver's: where the workspace of a cooperative launch is, high and low half
                return str(self.addresses.workspace >> 32)
            case "%envreg2":
                return str(self.addresses.workspace & 0xFFFFFFFF)
            case "%dynamic_smem_size":
                return self.load_run("dynamic_shared")
            case "%total_smem_size":
                return self.load_run("shared_size")
            case "%reserved_smem_offset_begin" | "%reserved_smem_offset_0" | "%reserved_smem_offset_1":
                return str(self.layout.shared["%reserved_smem"])
            case "%lanemask_eq" | "%lanemask_lt" | "%lanemask_le" | "%lanemask_gt" | "%lanemask_ge":
                return self._lane_mask(name[-2:])
            case "%clock" | "%clock64" | "%globaltimer" | "%globaltimer_lo":
                place = pointer(self.addresses.run + offset(RUN, "clock"))
                value = self.let(f"add i64 {self.let(f'load i64, ptr {place}')}, 16")
                self.emit(f"store i64 {value}, ptr {place}")
                return value if name.endswith(("64", "timer")) else self.let(f"trunc i64 {value} to i32")
            case _:
                raise UnsupportedHere(f"special register {name}")

    def _of_cluster(self, name: str) -> str:
        own = self.cluster["xyz".index(name[-1])] if name[-2] == "." else 1
        match name.partition(".")[0]:
            case "%cluster_ctaid":
                return self.let(f"urem i32 {self.load_thread(f'ctaid_{name[-1]}')}, {own}")
            case "%cluster_ctarank":
                return self.load_thread("cluster_rank")
            case "%cluster_nctaid":
                return str(own)
            case "%cluster_nctarank":
                return str(self.cluster[0] * self.cluster[1] * self.cluster[2])
            case "%clusterid":
                return self.let(f"udiv i32 {self.load_thread(f'ctaid_{name[-1]}')}, {own}")
            case "%nclusterid":
                return self.let(f"udiv i32 {self.load_run(f'nctaid_{name[-1]}')}, {own}")
            case "%is_explicit_cluster":
                return str(int(self.cluster != (1, 1, 1)))
            case _:
                raise UnsupportedHere(f"special register {name}")

    def _lane_mask(self, relation: str) -> str:
        lane = self.load_thread("lane")
        own = self.let(f"shl i32 1, {lane}")
        below = self.let(f"sub i32 {own}, 1")
        match relation:
            case "eq":
                return own
            case "lt":
                return below
            case "le":
                return self.let(f"or i32 {below}, {own}")
            case "ge":
                return self.let(f"xor i32 {below}, -1")
            case _:
                return self.let(f"xor i32 {self.let(f'or i32 {below}, {own}')}, -1")
