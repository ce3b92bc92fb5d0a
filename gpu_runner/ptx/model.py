"""A PTX module as frozen data (PTX ISA 9.x, the part that nvcc and NVRTC emit).

Names keep their sigils (``%r1``, ``$L__BB0_2``). Modifiers keep their order and lose their leading dot:
``ld.global.f32`` is opcode ``ld`` with modifiers ``("global", "f32")``. Numbers are held as bit patterns or
integers, never as Python floats, so that printing loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a source file: index of its ``.file`` directive, 1-based line and column (0: none given)."""

    file: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Location:
    """What a ``.loc`` directive says of the instructions behind it."""

    position: Position
    function: str | None = None
    """Label in ``.debug_str`` of the inlined function's name, where the code is inlined."""
    inlined_at: Position | None = None
    """The place of the call that was inlined."""


@dataclass(frozen=True, slots=True)
class Register:
    """A register, special registers and vector elements (``%tid.x``) included."""

    name: str


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer constant. PTX constants are 64 bits wide; a value above 2^63 was written unsigned."""

    value: int


@dataclass(frozen=True, slots=True)
class Float:
    """A floating-point constant by its bits: 32 of them (``0f``) or 64 (``0d`` and decimal notation)."""

    bits: int
    width: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, function, parameter or label, with a byte offset. ``_`` is the bit bucket."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Generic:
    """The generic address of a variable, in an initialiser: ``generic(name)+offset``."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Mask:
    """Eight bits of an address, in an initialiser: ``0xFF00(symbol)``."""

    mask: int
    of: Symbol | Generic


@dataclass(frozen=True, slots=True)
class Address:
    """A memory operand ``[base+offset]``; the base of an absolute address is an Integer."""

    base: Register | Symbol | Integer
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Vector:
    """``{a, b, …}``."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """``d|p``: two destinations of one instruction."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Negated:
    """``!p``."""

    operand: Register


@dataclass(frozen=True, slots=True)
class TensorAddress:
    """``[address, {coordinates…}, …]`` of tensor and texture instructions."""

    parts: tuple[Operand, ...]


Operand = Register | Integer | Float | Symbol | Address | Vector | Pair | Negated | TensorAddress


@dataclass(frozen=True, slots=True)
class Guard:
    """``@p`` or ``@!p``."""

    register: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction other than a call."""

    opcode: str
    modifiers: tuple[str, ...] = ()
    operands: tuple[Operand, ...] = ()
    guard: Guard | None = None
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """``call (results), target, (arguments), prototype;``"""

    target: Register | Symbol
    results: tuple[Operand, ...] = ()
    arguments: tuple[Operand, ...] = ()
    modifiers: tuple[str, ...] = ()
    prototype: str | None = None
    """Label of a ``.callprototype`` or ``.calltargets``, or a table, where the target is a register."""
    guard: Guard | None = None
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """A branch target."""

    name: str


@dataclass(frozen=True, slots=True)
class Registers:
    """``.reg .type names``. A parametrised name ``%r<5>`` declares ``%r0`` to ``%r4``: (``%r``, 5)."""

    type: str
    names: tuple[tuple[str, int | None], ...]
    vector: str | None = None


@dataclass(frozen=True, slots=True)
class Braces:
    """``{ value, … }`` in an initialiser."""

    values: tuple[Value, ...]


Value = Integer | Float | Symbol | Generic | Mask | Braces


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a state space, or a parameter."""

    space: str
    """``global``, ``shared``, ``const``, ``local``, ``param``, ``tex``, …"""
    type: str
    name: str
    dimensions: tuple[int | None, ...] = ()
    """Array sizes, outermost first; None where the brackets are empty."""
    align: int | None = None
    vector: str | None = None
    initialiser: Value | None = None
    linkage: tuple[str, ...] = ()
    """``extern``, ``visible``, ``weak``, ``common``, in the order written."""
    attributes: tuple[str, ...] = ()
    """What ``.attribute(…)`` holds and, of a parameter, what ``.ptr`` says of the pointer's target."""


@dataclass(frozen=True, slots=True)
class Targets:
    """``label: .branchtargets …;`` or ``.calltargets``: a table of labels or functions."""

    kind: str
    label: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prototype:
    """``label: .callprototype (…) _ (…);``"""

    label: str
    results: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    attributes: tuple[str, ...] = ()
    """``noreturn`` and the like."""


@dataclass(frozen=True, slots=True)
class Pragma:
    """``.pragma "text", …;``"""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """``{ … }`` inside a function: names declared in it end with it."""

    body: tuple[Statement, ...]


Statement = Instruction | Call | Label | Registers | Variable | Targets | Prototype | Pragma | Scope


@dataclass(frozen=True, slots=True)
class Function:
    """A ``.func`` or ``.entry``; without a body it is a declaration."""

    kind: str
    """``func`` or ``entry``."""
    name: str
    results: tuple[Variable, ...] = ()
    parameters: tuple[Variable, ...] = ()
    body: tuple[Statement, ...] | None = None
    linkage: tuple[str, ...] = ()
    directives: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Tuning and attributes: ``("maxntid", (256, 1, 1))``, ``("noreturn", ())``."""


@dataclass(frozen=True, slots=True)
class File:
    """``.file index "name"``."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class Module:
    """A whole PTX text."""

    version: str
    target: tuple[str, ...]
    address_size: int
    files: tuple[File, ...] = ()
    variables: tuple[Variable, ...] = ()
    functions: tuple[Function, ...] = ()
    """In order of the text; a function may be declared, and declared again, before it is defined."""
    strings: tuple[tuple[str, str], ...] = ()
    """(label, text) of the section ``.debug_str``, which names inlined functions. Other sections are not kept."""
    pragmas: tuple[Pragma, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    """``.alias new, old;``"""

    def definition(self, name: str) -> Function | None:
        """The function of that name that has a body."""
        for function in self.functions:
            if function.name == name and function.body is not None:
                return function
        return None
