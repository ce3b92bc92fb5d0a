"""Loads, stores and atomics: checked, recorded, and performed (PTX ISA chapters "ld", "st", "atom", "red")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpu_runner.cpu.body import Body, Buffer, UnsupportedHere
from gpu_runner.cpu.compare import packed, unpacked
from gpu_runner.cpu.floats import canonical, from_half, to_half
from gpu_runner.cpu.layout import FLAG_NO_WRITE, LOCAL_BASE, PARAM_BASE, SHARED_BASE, Fault, SiteKind
from gpu_runner.cpu.prelude import pointer
from gpu_runner.cpu.registry import operation
from gpu_runner.cpu.sites import Order, Scope
from gpu_runner.cpu.types import TYPES, Type, bits_type
from gpu_runner.ptx import model

_SPACES: Final = frozenset({"global", "shared", "local", "const", "param"})
_ORDERS: Final[dict[str, Order]] = {
    "weak": "weak",
    "relaxed": "relaxed",
    "acquire": "acquire",
    "release": "release",
    "acq_rel": "acq_rel",
    "volatile": "relaxed",
    "mmio": "relaxed",
}
_SCOPES: Final[dict[str, Scope]] = {"cta": "cta", "cluster": "cluster", "gpu": "gpu", "sys": "sys"}
_CACHE: Final = frozenset({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "unified", "level"})
SYNCHRONIZING_FUEL: Final = 64
"""What a volatile or atomic access takes from the fuel: threads that wait in a loop give way soon."""


@dataclass(frozen=True, slots=True)
class Form:
    """What the modifiers of a memory instruction say."""

    space: str
    """``generic`` where none is named."""
    type: Type
    count: int
    order: Order
    scope: Scope
    volatile: bool


def form_of(instruction: model.Instruction, extra: frozenset[str] = frozenset()) -> Form:
    space, count = "generic", 1
    order: Order = "weak"
    scope: Scope = "none"
    for modifier in instruction.modifiers[:-1]:
        base = modifier.split("::")[0]
        if base in _SPACES:
            space = base
        elif modifier in _ORDERS:
            order = _ORDERS[modifier]
        elif modifier in _SCOPES:
            scope = _SCOPES[modifier]
        elif modifier in ("v2", "v4", "v8"):
            count = int(modifier[1:])
        elif base not in _CACHE and not base.startswith("L") and modifier not in extra:
            raise UnsupportedHere(f"modifier .{modifier}")
    type_ = TYPES.get(instruction.modifiers[-1])
    if type_ is None:
        raise UnsupportedHere(f"type .{instruction.modifiers[-1]}")
    volatile = "volatile" in instruction.modifiers or "mmio" in instruction.modifiers
    return Form(space, type_, count, order, "sys" if volatile else scope, volatile)


def address_of(body: Body, operand: model.Operand, space: str) -> str:
    """The generic address of a memory operand."""
    if not isinstance(operand, model.Address):
        raise UnsupportedHere("this kind of address")
    window = {"shared": SHARED_BASE, "local": LOCAL_BASE, "param": PARAM_BASE}.get(space, 0)
    match operand.base:
        case model.Register(name):
            slot = body.register(name)
            value = body.read(operand.base, bits_type(slot.type.bits))
            if slot.type.bits == 32:  # such addresses wrap around
                narrow = body.let(f"add i32 {value}, {operand.offset}") if operand.offset else value
                value = body.let(f"zext i32 {narrow} to i64")
                return body.let(f"add i64 {value}, {window}") if window else value
        case model.Symbol(name):
            value = body.address(name, 0, TYPES["b64"])
        case model.Integer(number):
            value = str(number)
    return body.let(f"add i64 {value}, {operand.offset + window}") if operand.offset or window else value


def checked(body: Body, address: str, space: str, size: int, site: str) -> str:
    """A machine address for `size` bytes; the thread ends with a fault where they are not all there, or misaligned."""
    name = "global" if space == "const" else space
    place = body.let(f"call ptr @at_{name}(ptr %thread, i64 {address}, i64 {size})")
    good, bad = body.name("ok"), body.name("outside")
    body.branch(body.let(f"icmp ne ptr {place}, null"), good, bad)
    body.block(bad)
    body.fault(Fault.OUT_OF_BOUNDS, site, address)
    body.block(good)
    if size > 1:
        aligned, skewed = body.name("aligned"), body.name("skewed")
        low = body.let(f"and i64 {address}, {size - 1}")
        body.branch(body.let(f"icmp eq i64 {low}, 0"), aligned, skewed)
        body.block(skewed)
        body.fault(Fault.MISALIGNED, site, address)
        body.block(aligned)
    return place


def record(body: Body, space: str, address: str, value: str, site: str) -> None:
    """Log an access, unless it is to memory of the thread's own or that nobody writes, or says nothing new."""
    if body.frame.position not in body.frame.logged:
        return
    name = {"generic": "record_outside", "shared": "record_shared"}.get(space, "record")
    body.emit(f"call void @{name}(ptr %thread, i64 {address}, i64 {value}, i32 {site})")


@operation("ld", "ldu")
def load(body: Body, instruction: model.Instruction) -> None:
    form = form_of(instruction)
    destination, source = instruction.operands
    if form.space == "param":
        _load_parameter(body, instruction, form)
        return
    size = form.type.bytes * form.count
    address = address_of(body, source, form.space)
    if form.order != "weak":
        body.pay(SYNCHRONIZING_FUEL, instruction)
    site = body.site(SiteKind.READ, instruction, min(size, 8), form.order, form.scope, form.volatile)
    place = checked(body, address, form.space, size, site)
    for chunk in range(0, size, 8):
        record(body, form.space, _plus(body, address, chunk), "0", site)
    elements = destination.elements if isinstance(destination, model.Vector) else (destination,)
    for number, element in enumerate(elements):
        at = body.let(f"getelementptr i8, ptr {place}, i64 {number * form.type.bytes}") if number else place
        value = body.let(f"load {form.type.llvm}, ptr {at}, align {form.type.bytes}")
        body.write(element, value, form.type)


def _plus(body: Body, address: str, add: int) -> str:
    return body.let(f"add i64 {address}, {add}") if add else address


@operation("st")
def store(body: Body, instruction: model.Instruction) -> None:
    form = form_of(instruction)
    destination, source = instruction.operands
    if form.space == "param":
        _store_parameter(body, destination, source, form)
        return
    size = form.type.bytes * form.count
    address = address_of(body, destination, form.space)
    if form.order != "weak":
        body.pay(SYNCHRONIZING_FUEL, instruction)
    site = body.site(SiteKind.WRITE, instruction, min(size, 8), form.order, form.scope, form.volatile)
    place = checked(body, address, form.space, size, site)
    elements = source.elements if isinstance(source, model.Vector) else (source,)
    values = [body.read(element, form.type) for element in elements]
    for number, value in enumerate(values):
        at = body.let(f"getelementptr i8, ptr {place}, i64 {number * form.type.bytes}") if number else place
        body.emit(f"store {form.type.llvm} {value}, ptr {at}, align {form.type.bytes}")
    for chunk in range(0, size, 8):
        at = body.let(f"getelementptr i8, ptr {place}, i64 {chunk}") if chunk else place
        bits = min(size, 8) * 8
        word = body.let(f"load i{bits}, ptr {at}, align {form.type.bytes}")
        wide = word if bits == 64 else body.let(f"zext i{bits} {word} to i64")
        record(body, form.space, _plus(body, address, chunk), wide, site)


# Parameters


def _parameter_place(body: Body, operand: model.Operand, size: int) -> str:
    if not isinstance(operand, model.Address):
        raise UnsupportedHere("this kind of parameter address")
    if isinstance(operand.base, model.Symbol):
        name = operand.base.name
        found = body.lookup(name)
        if isinstance(found, Buffer):
            if not 0 <= operand.offset <= found.size - size:
                raise UnsupportedHere(f"access outside of parameter {name}")
            return body.let(f"getelementptr i8, ptr {found.place}, i64 {operand.offset}")
        if len(body.frames) == 1 and name in body.parameter_offsets:
            return pointer(body.addresses.parameters + body.parameter_offsets[name] + operand.offset)
    raise UnsupportedHere("parameters by computed address")


def _load_parameter(body: Body, instruction: model.Instruction, form: Form) -> None:
    destination, source = instruction.operands
    elements = destination.elements if isinstance(destination, model.Vector) else (destination,)
    size = form.type.bytes * len(elements)
    if isinstance(source, model.Address) and isinstance(source.base, model.Register):
        # Only the kernel's own have addresses.
        site = body.site(SiteKind.READ, instruction, size)
        place = checked(body, address_of(body, source, "param"), "param", size, site)
    else:
        place = _parameter_place(body, source, size)
    for number, element in enumerate(elements):
        at = body.let(f"getelementptr i8, ptr {place}, i64 {number * form.type.bytes}") if number else place
        body.write(element, body.let(f"load {form.type.llvm}, ptr {at}, align 1"), form.type)


def _store_parameter(body: Body, destination: model.Operand, source: model.Operand, form: Form) -> None:
    elements = source.elements if isinstance(source, model.Vector) else (source,)
    place = _parameter_place(body, destination, form.type.bytes * len(elements))
    for number, element in enumerate(elements):
        at = body.let(f"getelementptr i8, ptr {place}, i64 {number * form.type.bytes}") if number else place
        body.emit(f"store {form.type.llvm} {body.read(element, form.type)}, ptr {at}, align 1")


# Atomics

_FORMS: Final = frozenset({"add", "and", "or", "xor", "min", "max", "exch", "cas", "inc", "dec", "noftz"})
_BITWISE: Final = {"add": "add", "and": "and", "or": "or", "xor": "xor"}


@operation("atom", "red")
def atomic(body: Body, instruction: model.Instruction) -> None:
    """Read, modify and write in one go: nothing else runs between, as threads change only where they suspend. Of a
    vector each element is an access of its own (PTX ISA, "atom": the whole is not one)."""
    form = form_of(instruction, _FORMS)
    name = next((modifier for modifier in instruction.modifiers if modifier in _FORMS), None)
    if name is None:
        raise UnsupportedHere("this atomic")
    operands = list(instruction.operands)
    destination = operands.pop(0) if instruction.opcode == "atom" else None
    where, *sources = operands
    address = address_of(body, where, form.space)
    body.pay(SYNCHRONIZING_FUEL, instruction)
    order: Order = "relaxed" if form.order == "weak" else form.order
    scope: Scope = "gpu" if form.scope == "none" else form.scope
    type_ = form.type
    site = body.site(SiteKind.ATOMIC, instruction, min(type_.bytes, 8), order, scope)
    values = [[_packed_or_read(body, e, type_) for e in _elements(source, form.count)] for source in sources]
    place = checked(body, address, form.space, type_.bytes * form.count, site)
    targets = _elements(destination, form.count) if destination is not None else []
    for number, mine in enumerate(zip(*values, strict=True)):
        offset = number * type_.bytes
        at = body.let(f"getelementptr i8, ptr {place}, i64 {offset}") if number else place
        old = body.let(f"load {type_.llvm}, ptr {at}, align {type_.bytes}")
        new, flags = _modified(body, name, type_, old, list(mine))
        body.emit(f"store {type_.llvm} {new}, ptr {at}, align {type_.bytes}")
        bits = body.fit(new, type_, bits_type(type_.bits))
        what = site if flags is None else body.let(f"or i32 {site}, {flags}")
        for chunk, word in _words(body, bits, type_.bits):
            record(body, form.space, _plus(body, address, offset + chunk), word, what)
        if targets:
            _give(body, targets[number], old, type_)


def _elements(operand: model.Operand, count: int) -> list[model.Operand]:
    """Those of a vector; a vector in braces that is one number is one element."""
    if count == 1:
        return [operand]
    if not isinstance(operand, model.Vector) or len(operand.elements) != count:
        raise UnsupportedHere("an atomic vector that is not in braces")
    return list(operand.elements)


def _words(body: Body, bits: str, width: int) -> list[tuple[int, str]]:
    """A number in parts of 64 bits, each with the bytes before it."""
    if width == 64:
        return [(0, bits)]
    if width < 64:
        return [(0, body.let(f"zext i{width} {bits} to i64"))]
    high = body.let(f"lshr i{width} {bits}, 64")
    return [(0, body.let(f"trunc i{width} {bits} to i64")), (8, body.let(f"trunc i{width} {high} to i64"))]


def _give(body: Body, destination: model.Operand, value: str, type_: Type) -> None:
    if isinstance(destination, model.Vector):
        unpacked(body, destination, value, type_)
    else:
        body.write(destination, value, type_)


def _packed_or_read(body: Body, source: model.Operand, type_: Type) -> str:
    return packed(body, source, type_) if isinstance(source, model.Vector) else body.read(source, type_)


def _modified(body: Body, name: str, type_: Type, old: str, values: list[str]) -> tuple[str, str | None]:
    """The new value, and the record's flags where they depend on what happened."""
    llvm = type_.llvm
    first = values[0]
    match name:
        case "exch":
            return first, None
        case "cas":
            same = body.let(f"icmp eq {llvm} {old}, {first}")
            new = body.let(f"select i1 {same}, {llvm} {values[1]}, {llvm} {old}")
            return new, body.let(f"select i1 {same}, i32 0, i32 {FLAG_NO_WRITE << 24}")
        case "add" if type_.kind == "f":
            return canonical(body, body.let(f"fadd {llvm} {old}, {first}"), type_), None
        case "add" | "min" | "max" if type_.kind == "h":
            return _half_atomic(body, name, type_, old, first), None
        case "min" | "max":
            sign = "s" if type_.signed else "u"
            return body.let(f"call {llvm} @llvm.{sign}{name}.{llvm}({llvm} {old}, {llvm} {first})"), None
        case "inc":
            end = body.let(f"icmp uge {llvm} {old}, {first}")
            return body.let(f"select i1 {end}, {llvm} 0, {llvm} {body.let(f'add {llvm} {old}, 1')}"), None
        case "dec":
            zero = body.let(f"icmp eq {llvm} {old}, 0")
            above = body.let(f"icmp ugt {llvm} {old}, {first}")
            wrap = body.let(f"or i1 {zero}, {above}")
            return body.let(f"select i1 {wrap}, {llvm} {first}, {llvm} {body.let(f'sub {llvm} {old}, 1')}"), None
        case _ if name in _BITWISE:
            return body.let(f"{_BITWISE[name]} {llvm} {old}, {first}"), None
        case _:
            raise UnsupportedHere(f"atomic .{name}.{type_.name}")


def _half_atomic(body: Body, name: str, type_: Type, old: str, other: str) -> str:
    brain = type_.name.startswith("b")
    single = TYPES["f32"]
    result = "0"
    for part in range(2 if type_.bits == 32 else 1):
        cut = [old, other]
        if type_.bits == 32:
            cut = [body.let(f"trunc i32 {body.let(f'lshr i32 {value}, {16 * part}')} to i16") for value in cut]
        a, b = (from_half(body, value, brain, single) for value in cut)
        call = {"add": f"fadd float {a}, {b}"}.get(name, f"call float @llvm.{name}num.f32(float {a}, float {b})")
        half = to_half(body, body.let(call), brain, single)
        if type_.bits == 16:
            return half
        placed = body.let(f"shl i32 {body.let(f'zext i16 {half} to i32')}, {16 * part}")
        result = body.let(f"or i32 {result}, {placed}")
    return result


@operation("prefetch", "prefetchu", "applypriority", "discard")
def no_effect(body: Body, instruction: model.Instruction) -> None:
    """Hints for the caches."""
    if instruction.opcode == "discard":
        raise UnsupportedHere("discard")
