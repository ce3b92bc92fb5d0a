"""PTX text that brings an operand of the user's into a register of the logging code, by the types of the registers."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import Final

from gpu_runner.cpu.body import UnsupportedHere
from gpu_runner.cpu.types import TYPES, Type
from gpu_runner.ptx import model

ADDRESS: Final = "%cuda_lsp_a"
VALUE: Final = "%cuda_lsp_v"
PART: Final = "%cuda_lsp_x"
WORD: Final = "%cuda_lsp_w"
HALF: Final = "%cuda_lsp_h"

_NUMBERED: Final = re.compile(r"(.*?)(\d+)$")


@dataclass(slots=True)
class Registers:
    """The types of the registers that can be seen, scope in scope."""

    scopes: list[dict[str, tuple[str, int | None]]] = field(
        default_factory=lambda: [dict[str, tuple[str, int | None]]()]
    )

    def declare(self, declaration: model.Registers) -> None:
        for name, count in declaration.names:
            self.scopes[-1][name] = declaration.type, count

    def type_of(self, name: str) -> Type | None:
        """None for what is no register."""
        numbered = _NUMBERED.fullmatch(name)
        for scope in reversed(self.scopes):
            found = scope.get(name)
            if found is not None and found[1] is None:
                return TYPES.get(found[0])
            found = scope.get(numbered[1]) if numbered else None
            if numbered and found is not None and found[1] is not None and int(numbered[2]) < found[1]:
                return TYPES.get(found[0])
        return None


def address_text(registers: Registers, operand: model.Operand) -> str:
    """The address of a memory operand into `ADDRESS`, within its state space."""
    if not isinstance(operand, model.Address):
        raise UnsupportedHere("this kind of address")
    match operand.base:
        case model.Integer(number):
            return f"mov.u64 {ADDRESS}, {number + operand.offset};"
        case model.Register(name) | model.Symbol(name):
            type_ = registers.type_of(name)
            offset = 0 if isinstance(operand.base, model.Register) else operand.base.offset
    if type_ is None and isinstance(operand.base, model.Register):
        raise UnsupportedHere(f"special register {name}")
    if type_ is not None and type_.bits == 32:
        text = f"cvt.u64.u32 {ADDRESS}, {name};"
    else:
        text = f"mov.b64 {ADDRESS}, {name};"
    offset += operand.offset
    return text + (f" add.s64 {ADDRESS}, {ADDRESS}, {offset};" if offset else "")


def value_text(registers: Registers, operands: list[model.Operand], type_: Type) -> str:
    """Up to 8 bytes of a store's operands into `VALUE`, the first lowest."""
    first, *rest = operands
    text = [_bits_text(registers, first, type_, VALUE)]
    if rest:
        text.append(f"and.b64 {VALUE}, {VALUE}, {(1 << type_.bits) - 1};")
    for number, operand in enumerate(rest, 1):
        text.append(_bits_text(registers, operand, type_, PART))
        text.append(f"and.b64 {PART}, {PART}, {(1 << type_.bits) - 1};")
        text.append(f"shl.b64 {PART}, {PART}, {type_.bits * number}; or.b64 {VALUE}, {VALUE}, {PART};")
    return " ".join(text)


def _bits_text(registers: Registers, operand: model.Operand, type_: Type, into: str) -> str:
    match operand:
        case model.Integer(value):
            return f"mov.u64 {into}, {value & (1 << type_.bits) - 1};"
        case model.Float(bits, width):
            if width == 64 and type_.bits == 32:
                (bits,) = struct.unpack("<I", struct.pack("<f", struct.unpack("<d", struct.pack("<Q", bits))[0]))
            return f"mov.u64 {into}, {bits};"
        case model.Register(name) | model.Symbol(name):
            held = registers.type_of(name)
            match held.bits if held is not None and held.kind != "p" else 0:
                case 64:
                    return f"mov.b64 {into}, {name};"
                case 32:
                    return f"mov.b32 {WORD}, {name}; cvt.u64.u32 {into}, {WORD};"
                case 16:
                    return f"mov.b16 {HALF}, {name}; cvt.u64.u16 {into}, {HALF};"
                case 8:
                    return f"cvt.u64.u8 {into}, {name};"
                case _:
                    pass
        case _:
            pass
    raise UnsupportedHere("a stored value of this kind")


def wide_text(registers: Registers, operand: model.Operand, into: str) -> str:
    """A 32-bit operand as 64 bits."""
    match operand:
        case model.Integer(value):
            return f"mov.u64 {into}, {value & 0xFFFFFFFF};"
        case model.Register(name) | model.Symbol(name) if registers.type_of(name) is not None:
            return f"mov.b32 {WORD}, {name}; cvt.u64.u32 {into}, {WORD};"
        case _:
            raise UnsupportedHere("this operand")
