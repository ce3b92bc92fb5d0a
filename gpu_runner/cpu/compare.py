"""Comparison, selection, moves and conversion (PTX ISA "Comparison and Selection", "Data Movement and Conversion")."""

from __future__ import annotations

from typing import Final

from gpu_runner.cpu.body import Body, UnsupportedHere
from gpu_runner.cpu.floats import canonical, flushed, from_half, saturated, to_half
from gpu_runner.cpu.integers import last_type
from gpu_runner.cpu.layout import GLOBAL_BASE, LOCAL_BASE, PARAM_BASE, SHARED_BASE
from gpu_runner.cpu.registry import operation
from gpu_runner.cpu.types import TYPES, Type, bits_type
from gpu_runner.cpu.variables import elements, size_of
from gpu_runner.ptx import model

_INTEGER: Final = {name: name for name in ("eq", "ne", "lt", "le", "gt", "ge")} | {
    "lo": "ult",
    "ls": "ule",
    "hi": "ugt",
    "hs": "uge",
}
_FLOAT: Final = {name: f"o{name}" for name in ("eq", "lt", "le", "gt", "ge")} | {
    "ne": "one",
    "equ": "ueq",
    "neu": "une",
    "ltu": "ult",
    "leu": "ule",
    "gtu": "ugt",
    "geu": "uge",
    "num": "ord",
    "nan": "uno",
}
_BOOLEAN: Final = frozenset({"and", "or", "xor"})


def compared(body: Body, instruction: model.Instruction, type_: Type, left: str, right: str, relation: str) -> str:
    if type_.kind in "fh":
        if relation not in _FLOAT:
            raise UnsupportedHere(f"comparison .{relation}")
        llvm = type_.llvm
        if type_.kind == "h":
            brain = type_.name.startswith("b")
            left, right = (from_half(body, value, brain, TYPES["f32"]) for value in (left, right))
            llvm = "float"
        else:
            left, right = (flushed(body, instruction, value, type_) for value in (left, right))
        return body.let(f"fcmp {_FLOAT[relation]} {llvm} {left}, {right}")
    if relation not in _INTEGER:
        raise UnsupportedHere(f"comparison .{relation}")
    name = _INTEGER[relation]
    if name in ("lt", "le", "gt", "ge"):
        name = f"{'s' if type_.signed else 'u'}{name}"
    return body.let(f"icmp {name} {type_.llvm} {left}, {right}")


@operation("setp", "set")
def set_predicate(body: Body, instruction: model.Instruction) -> None:
    *modifiers, name = instruction.modifiers
    type_ = TYPES.get(name)
    if type_ is None or (type_.bits == 32 and type_.kind == "h"):
        raise UnsupportedHere(f"type .{name}")
    relation = modifiers[0]
    destination, left, right, *rest = instruction.operands
    value = compared(body, instruction, type_, body.read(left, type_), body.read(right, type_), relation)
    opposite = value
    boolean = next((modifier for modifier in modifiers if modifier in _BOOLEAN), None)
    second = destination.second if isinstance(destination, model.Pair) else None
    if second is not None:
        opposite = body.let(f"xor i1 {value}, true")
    if boolean is not None:
        with_ = body.read(rest[0], "pred")
        value = body.let(f"{boolean} i1 {value}, {with_}")
        opposite = body.let(f"{boolean} i1 {opposite}, {with_}")
    if instruction.opcode == "set":
        result = TYPES[next(modifier for modifier in modifiers if modifier in TYPES)]
        if result.kind == "f":
            body.write(destination, body.let(f"uitofp i1 {value} to float"), result)
        else:
            body.write(destination, body.let(f"sext i1 {value} to {result.llvm}"), result)
        return
    body.write(destination.first if isinstance(destination, model.Pair) else destination, value, "pred")
    if second is not None:
        body.write(second, opposite, "pred")


@operation("selp")
def select(body: Body, instruction: model.Instruction) -> None:
    type_ = last_type(instruction)
    destination, left, right, predicate = instruction.operands
    a, b, p = body.read(left, type_), body.read(right, type_), body.read(predicate, "pred")
    body.write(destination, body.let(f"select i1 {p}, {type_.llvm} {a}, {type_.llvm} {b}"), type_)


@operation("slct")
def select_by_sign(body: Body, instruction: model.Instruction) -> None:
    *modifiers, by = instruction.modifiers
    type_ = TYPES[modifiers[-1]]
    destination, left, right, sign = instruction.operands
    a, b = body.read(left, type_), body.read(right, type_)
    test = "fcmp oge float {}, 0.0" if by == "f32" else "icmp sge i32 {}, 0"
    p = body.let(test.format(body.read(sign, by)))
    body.write(destination, body.let(f"select i1 {p}, {type_.llvm} {a}, {type_.llvm} {b}"), type_)


@operation("mov")
def move(body: Body, instruction: model.Instruction) -> None:
    destination, source = instruction.operands
    type_ = last_type(instruction)
    if isinstance(source, model.Vector):
        body.write(destination, packed(body, source, type_), type_)
    elif isinstance(destination, model.Vector):
        unpacked(body, destination, body.read(source, type_), type_)
    else:
        body.write(destination, body.read(source, type_), type_)


def packed(body: Body, source: model.Vector, type_: Type) -> str:
    part = bits_type(type_.bits // len(source.elements))
    whole = "0"
    for number, element in enumerate(source.elements):
        wide = body.let(f"zext {part.llvm} {body.read(element, part)} to i{type_.bits}")
        whole = body.let(f"or i{type_.bits} {whole}, {body.let(f'shl i{type_.bits} {wide}, {number * part.bits}')}")
    return body.fit(whole, bits_type(type_.bits), type_)


def unpacked(body: Body, destination: model.Vector, value: str, type_: Type) -> None:
    part = bits_type(type_.bits // len(destination.elements))
    whole = body.fit(value, type_, bits_type(type_.bits))
    for number, element in enumerate(destination.elements):
        moved = body.let(f"lshr i{type_.bits} {whole}, {number * part.bits}")
        body.write(element, body.let(f"trunc i{type_.bits} {moved} to {part.llvm}"), part)


@operation("cvt")
def convert(body: Body, instruction: model.Instruction) -> None:
    *modifiers, to_name, from_name = instruction.modifiers
    if (modifiers and modifiers[-1] == "pack") or to_name not in TYPES or from_name not in TYPES:
        raise UnsupportedHere("cvt of these types")
    to, source = TYPES[to_name], TYPES[from_name]
    for modifier in modifiers:
        if modifier not in {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "relu"}:
            raise UnsupportedHere(f"cvt.{modifier}")
    destination, *operands = instruction.operands
    if to.bits == 32 and to.kind == "h":
        if source.name != "f32" or len(operands) != 2 or not {"rn", "ftz", "relu"} >= set(modifiers):
            raise UnsupportedHere("cvt of these types")
        halves: list[str] = []
        for operand in reversed(operands):
            value = body.read(operand, source)
            if "relu" in modifiers:
                value = body.let(f"call float @llvm.maxnum.f32(float {value}, float 0.0)")
            half = to_half(body, value, to.name.startswith("b"), source)
            halves.append(body.let(f"zext i16 {half} to i32"))
        body.write(destination, body.let(f"or i32 {halves[0]}, {body.let(f'shl i32 {halves[1]}, 16')}"), to)
        return
    value = body.read(operands[0], source)
    body.write(destination, _converted(body, instruction, value, source, to), to)


def _converted(body: Body, instruction: model.Instruction, value: str, source: Type, to: Type) -> str:
    if source.kind in "fh":
        if source.kind == "h":
            value = from_half(body, value, source.name.startswith("b"), TYPES["f32"])
            source = TYPES["f32"]
        value = flushed(body, instruction, value, source)
        rounded = next((modifier for modifier in instruction.modifiers if modifier in _ROUND), None)
        if rounded is not None and (to.kind not in "fh" or to.bits == source.bits):
            value = body.let(f"call {source.llvm} @llvm.{_ROUND[rounded]}.f{source.bits}({source.llvm} {value})")
        if to.kind in "fh":
            return _float_to_float(body, instruction, value, source, to)
        name = f"llvm.fpto{'s' if to.signed else 'u'}i.sat.i{to.bits}.f{source.bits}"
        result = body.let(f"call i{to.bits} @{name}({source.llvm} {value})")
        if source.bits < 64 and to.bits < 64:
            return result  # 0 where it is no number
        unordered = body.let(f"fcmp uno {source.llvm} {value}, {value}")
        return body.let(f"select i1 {unordered}, i{to.bits} {-1 << to.bits - 1}, i{to.bits} {result}")
    if to.kind in "fh":
        return _integer_to_float(body, instruction, value, source, to)
    return _integer_to_integer(body, value, source, to, "sat" in instruction.modifiers)


_ROUND: Final = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


def _float_to_float(body: Body, instruction: model.Instruction, value: str, source: Type, to: Type) -> str:
    mode = next((modifier for modifier in instruction.modifiers if modifier in ("rz", "rm", "rp")), None)
    if to.kind == "h":
        if mode is not None:
            raise UnsupportedHere(f"cvt.{mode}.{to.name}")
        value = saturated(body, instruction, value, source)
        if "relu" in instruction.modifiers:
            value = body.let(
                f"call {source.llvm} @llvm.maxnum.f{source.bits}({source.llvm} {value}, {source.llvm} 0.0)"
            )
        return to_half(body, value, to.name.startswith("b"), source)
    if to.bits < source.bits:
        if mode is not None:
            number = ("rz", "rm", "rp").index(mode)
            value = body.let(f"call float @round_directed(double {value}, double 0.0, i32 {number})")
        else:
            value = body.let(f"fptrunc double {value} to float")
    elif to.bits > source.bits:
        value = body.let(f"fpext float {value} to double")
    return canonical(body, saturated(body, instruction, flushed(body, instruction, value, to), to), to)


def _integer_to_float(body: Body, instruction: model.Instruction, value: str, source: Type, to: Type) -> str:
    mode = next((modifier for modifier in instruction.modifiers if modifier in ("rz", "rm", "rp")), None)
    name = "sitofp" if source.signed else "uitofp"
    if mode is not None:
        if to.name != "f32" or source.bits > 32:
            raise UnsupportedHere(f"cvt.{mode}.{to.name}.{source.name}")
        wide = body.let(f"{name} {source.llvm} {value} to double")
        number = ("rz", "rm", "rp").index(mode)
        return body.let(f"call float @round_directed(double {wide}, double 0.0, i32 {number})")
    if to.kind == "h":
        if source.bits > 32:
            raise UnsupportedHere(f"cvt.{to.name}.{source.name}")
        wide = body.let(f"{name} {source.llvm} {value} to double")
        return to_half(body, wide, to.name.startswith("b"), TYPES["f64"])
    return body.let(f"{name} {source.llvm} {value} to {to.llvm}")


def _integer_to_integer(body: Body, value: str, source: Type, to: Type, saturate: bool) -> str:
    if saturate:
        wide, how = "i128", "sext" if source.signed else "zext"
        value = body.let(f"{how} {source.llvm} {value} to {wide}")
        low = -(1 << to.bits - 1) if to.signed else 0
        high = (1 << to.bits - 1) - 1 if to.signed else (1 << to.bits) - 1
        value = body.let(f"call {wide} @llvm.smax.{wide}({wide} {value}, {wide} {low})")
        value = body.let(f"call {wide} @llvm.smin.{wide}({wide} {value}, {wide} {high})")
        return body.let(f"trunc {wide} {value} to {to.llvm}")
    if to.bits > source.bits:
        return body.let(f"{'sext' if source.signed else 'zext'} {source.llvm} {value} to {to.llvm}")
    return value if to.bits == source.bits else body.let(f"trunc {source.llvm} {value} to {to.llvm}")


_WINDOWS: Final = {"shared": SHARED_BASE, "local": LOCAL_BASE, "param": PARAM_BASE, "global": 0, "const": 0}


def window_of(modifiers: tuple[str, ...]) -> int | None:
    """Where the state space named among the modifiers lies among the generic addresses."""
    for modifier in modifiers:
        base = modifier.split("::")[0]
        if base in _WINDOWS:
            return _WINDOWS[base]
    return None


@operation("cvta")
def convert_address(body: Body, instruction: model.Instruction) -> None:
    window = window_of(instruction.modifiers)
    if window is None:
        raise UnsupportedHere("cvta of this space")
    destination, source = instruction.operands
    value = body.read(source, "u64")
    name = "sub" if "to" in instruction.modifiers else "add"
    body.write(destination, body.let(f"{name} i64 {value}, {window}"), "u64")


@operation("isspacep")
def is_in_space(body: Body, instruction: model.Instruction) -> None:
    space = instruction.modifiers[0].split("::")[0]
    destination, source = instruction.operands
    value = body.read(source, "u64")
    if space == "global":
        test = body.let(f"icmp uge i64 {value}, {GLOBAL_BASE}")
    elif space in ("shared", "local", "param"):
        test = body.let(f"icmp eq i64 {body.let(f'lshr i64 {value}, 32')}, {_WINDOWS[space] >> 32}")
    elif space == "const":
        test = _in_constants(body, value)
    else:
        raise UnsupportedHere(f"isspacep.{space}")
    body.write(destination, test, "pred")


def _in_constants(body: Body, value: str) -> str:
    """Constants lie among global variables."""
    test = "false"
    for variable in body.module.variables:
        if variable.space == "const" and variable.name in body.layout.addresses:
            size = max(1, size_of(variable.type) * elements(variable))
            offset = body.let(f"sub i64 {value}, {body.layout.addresses[variable.name]}")
            test = body.let(f"or i1 {test}, {body.let(f'icmp ult i64 {offset}, {size}')}")
    return test
