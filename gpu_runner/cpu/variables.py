"""Where the variables of a module lie, and the bytes that they begin with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gpu_runner.cpu.body import Layout
from gpu_runner.cpu.layout import CODE_BASE, GLOBAL_BASE, GRANULE
from gpu_runner.cpu.types import TYPES
from gpu_runner.ptx import model
from gpu_runner.ptx.logged import flat

RESERVED: Final = "%reserved_smem"
"""The name of the shared memory that cooperative groups find through a special register."""
RESERVED_SIZE: Final = 1024


def size_of(type_: str) -> int:
    """Bytes of one element. Opaque references (textures, samplers) are 8-byte handles."""
    return TYPES[type_].bytes if type_ in TYPES else 8


def elements(variable: model.Variable) -> int:
    count = int(variable.vector[1:]) if variable.vector else 1
    for size in variable.dimensions:
        count *= size or 0
    return count


def aligned(value: int, align: int) -> int:
    return -(-value // align) * align


def lay_out(module: model.Module, kernel: str) -> tuple[Layout, int]:
    """Addresses of all variables and of the functions that may be called through pointers, and how many bytes of the
    arena the global and constant variables take. Of shared variables only those count that the kernel or a function
    that it calls names.

    Each global variable begins at a granule of its own, so that running over its end is seen.
    """
    addresses: dict[str, int] = {}
    shared: dict[str, int] = {}
    at, top = 0, 0
    dynamic: list[str] = []
    functions, names, pointed_to = reached(module, kernel)
    for name, variable in _variables(module, functions):
        if variable.space == "shared" and ":" not in name and name not in names:
            continue
        size = size_of(variable.type) * elements(variable)
        if variable.space in ("global", "const"):
            addresses[name] = GLOBAL_BASE + at
            at = aligned(at + max(size, 1), GRANULE) + GRANULE
        elif variable.space == "shared":
            if size == 0:
                dynamic.append(name)
                continue
            top = aligned(top, variable.align or size_of(variable.type))
            shared[name] = top
            top += size
    if RESERVED in names:
        top = aligned(top, 128)
        shared[RESERVED] = top
        top += RESERVED_SIZE
    top = aligned(top, 16)
    for name in dynamic:
        shared[name] = top
    for number, name in enumerate(sorted(pointed_to), 1):
        addresses[name] = CODE_BASE + 16 * number
    return Layout(addresses, shared, top, pointed_to), at


def sizes(module: model.Module, kernel: str) -> dict[str, int]:
    """Bytes of the variables that a kernel may use, by the names of `lay_out`; 0 of extern shared memory."""
    functions, _, _ = reached(module, kernel)
    return {name: size_of(variable.type) * elements(variable) for name, variable in _variables(module, functions)}


def reached(module: model.Module, kernel: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The kernel with all functions that it may call; all names that stand in them and in the variables that they name,
    as a table of functions is; and those functions whose names stand somewhere else than in calls."""
    defined = {function.name: function for function in module.functions if function.body is not None}
    variables = {variable.name: variable for variable in module.variables}
    names, pointed_to = {kernel}, set[str]()
    todo = [kernel]
    while todo:
        name = todo.pop()
        called, other = _names(defined[name].body or ()) if name in defined else (set[str](), set[str]())
        if name in variables:
            initial = _values(variables[name].initialiser)
            other |= {value.name for value in initial if isinstance(value, model.Symbol | model.Generic)}
        todo.extend((called | other) - names)
        names |= called | other
        pointed_to |= other
    return frozenset(names & set(defined)), frozenset(names), frozenset(pointed_to & set(defined))


def _names(statements: Iterable[model.Statement]) -> tuple[set[str], set[str]]:
    """What is called, and the other names."""
    called, other = set[str](), set[str]()
    for statement in flat(statements):
        match statement:
            case model.Instruction():
                other.update(_symbols(statement.operands))
            case model.Call():
                called.update(_symbols((statement.target,)))
                other.update(_symbols((*statement.results, *statement.arguments)))
            case model.Targets():
                called.update(statement.names)
            case _:
                pass
    return called, other


def _symbols(operands: Iterable[model.Operand]) -> Iterator[str]:
    for operand in operands:
        match operand:
            case model.Symbol(name) | model.Address(model.Symbol(name)):
                yield name
            case model.Register(name) if name.startswith(RESERVED):
                yield RESERVED
            case model.Vector(inner) | model.TensorAddress(inner):
                yield from _symbols(inner)
            case model.Pair(first, second):
                yield from _symbols((first, second))
            case _:
                pass


def _variables(module: model.Module, functions: frozenset[str]) -> Iterator[tuple[str, model.Variable]]:
    """Variables of the module by name, and those of these functions by ``function:name``."""
    for variable in module.variables:
        yield variable.name, variable
    for function in module.functions:
        for variable in _local(function.body or ()) if function.name in functions else ():
            if variable.space in ("shared", "global", "const"):
                yield f"{function.name}:{variable.name}", variable


def _local(statements: tuple[model.Statement, ...]) -> Iterator[model.Variable]:
    for statement in statements:
        if isinstance(statement, model.Variable):
            yield statement
        elif isinstance(statement, model.Scope):
            yield from _local(statement.body)


def initial_bytes(variable: model.Variable, layout: Layout) -> bytes:
    """What the variable begins with; zero where nothing is given. Raises KeyError for an address that is not known."""
    width = size_of(variable.type)
    data = bytearray(width * elements(variable))
    at = 0
    for value in _values(variable.initialiser):
        data[at : at + width] = _encoded(value, width, layout)
        at += width
    return bytes(data)


def _values(value: model.Value | None) -> Iterator[model.Value]:
    if isinstance(value, model.Braces):
        for inner in value.values:
            yield from _values(inner)
    elif value is not None:
        yield value


def _encoded(value: model.Value, width: int, layout: Layout) -> bytes:
    match value:
        case model.Integer(number):
            bits = number
        case model.Float(bits, held):
            if held == 64 and width == 4:
                import struct

                return struct.pack("<f", struct.unpack("<d", struct.pack("<Q", bits))[0])
        case model.Symbol(name, offset) | model.Generic(name, offset):
            bits = layout.addresses[name] + offset
        case model.Mask(mask, of):
            low = (mask & -mask).bit_length() - 1
            bits = (layout.addresses[of.name] + of.offset & mask) >> low
        case _:
            raise TypeError(type(value).__name__)
    return (bits & (1 << width * 8) - 1).to_bytes(width, "little")
