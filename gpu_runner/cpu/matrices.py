"""Rows of matrices between shared memory and the registers of a warp (PTX ISA, "ldmatrix", "stmatrix").

Lane 8 m + r gives the address of row r of matrix m, 16 bytes, and counts as the one who accesses it. Register m of
lane l holds elements 2 (l % 4) and the next of row l / 4, with ``.trans`` of column l / 4. Lanes learn addresses by
shuffles.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_runner.cpu.body import Body, UnsupportedHere
from gpu_runner.cpu.layout import Collective, SiteKind
from gpu_runner.cpu.memory import address_of, checked
from gpu_runner.cpu.registry import operation
from gpu_runner.cpu.synchronization import collective
from gpu_runner.ptx import model

_ROW = 16


@operation("ldmatrix")
def load_matrices(body: Body, instruction: model.Instruction) -> None:
    destination, where = instruction.operands
    count, transposed = _form(instruction)
    registers = destination.elements if isinstance(destination, model.Vector) else (destination,)
    address, site = _own_row(body, instruction, where, count, SiteKind.READ)
    _record_row(body, address, site, count, writes=False)
    for matrix, register in zip(range(count), registers, strict=True):
        value = "0"
        for place, size, shift in _places(body, instruction, address, matrix, transposed):
            part = body.let(f"load i{size}, ptr {place}, align 2")
            wide = part if size == 32 else body.let(f"zext i{size} {part} to i32")
            value = body.let(f"or i32 {value}, {body.let(f'shl i32 {wide}, {shift}')}")
        body.write(register, value, "b32")


@operation("stmatrix")
def store_matrices(body: Body, instruction: model.Instruction) -> None:
    where, source = instruction.operands
    count, transposed = _form(instruction)
    registers = source.elements if isinstance(source, model.Vector) else (source,)
    values = [body.read(register, "b32") for register in registers]
    address, site = _own_row(body, instruction, where, count, SiteKind.WRITE)
    for matrix, value in zip(range(count), values, strict=True):
        for place, size, shift in _places(body, instruction, address, matrix, transposed):
            part = body.let(f"lshr i32 {value}, {shift}")
            narrow = part if size == 32 else body.let(f"trunc i32 {part} to i{size}")
            body.emit(f"store i{size} {narrow}, ptr {place}, align 2")
    collective(body, instruction, Collective.VOTE_ANY, None, "0")  # the rows are whole behind this
    _record_row(body, address, site, count, writes=True)


def _form(instruction: model.Instruction) -> tuple[int, bool]:
    """The number of matrices, and whether they are transposed."""
    modifiers = instruction.modifiers
    spaces = {"shared", "shared::cta"}
    known = {"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "b16", *spaces}
    if not set(modifiers) <= known or "m8n8" not in modifiers or not spaces & set(modifiers):
        raise UnsupportedHere("instruction")
    return next(int(modifier[1:]) for modifier in modifiers if modifier in ("x1", "x2", "x4")), "trans" in modifiers


def _own_row(
    body: Body, instruction: model.Instruction, where: model.Operand, count: int, kind: SiteKind
) -> tuple[str, str]:
    """The generic address that this lane gives, checked where it is that of a row; and the site."""
    site = body.site(kind, instruction, 8)
    address = address_of(body, where, "shared")
    gives, after = body.name("gives"), body.name("after")
    body.branch(_gives(body, count), gives, after)
    body.block(gives)
    checked(body, address, "shared", _ROW, site)
    body.block(after)
    return address, site


def _gives(body: Body, count: int) -> str:
    return body.let(f"icmp ult i32 {body.load_thread('lane')}, {8 * count}")


def _record_row(body: Body, address: str, site: str, count: int, *, writes: bool) -> None:
    gives, after = body.name("logs"), body.name("after")
    body.branch(_gives(body, count), gives, after)
    body.block(gives)
    for at in (0, 8):
        where = body.let(f"add i64 {address}, {at}")
        value = "0"
        if writes:
            place = body.let(f"call ptr @at_shared(ptr %thread, i64 {where}, i64 8)")
            value = body.let(f"load i64, ptr {place}, align 8")
        body.emit(f"call void @record(ptr %thread, i64 {where}, i64 {value}, i32 {site})")
    body.block(after)


def _places(
    body: Body, instruction: model.Instruction, address: str, matrix: int, transposed: bool
) -> Iterator[tuple[str, int, int]]:
    """Machine address, bits, and place in the register of what a lane has of a matrix."""
    lane = body.load_thread("lane")
    row, pair = body.let(f"lshr i32 {lane}, 2"), body.let(f"and i32 {lane}, 3")
    if not transposed:
        yield _place(body, instruction, address, matrix, row, body.let(f"shl i32 {pair}, 2")), 32, 0
        return
    first = body.let(f"shl i32 {pair}, 1")
    for half in (0, 1):
        source = body.let(f"add i32 {first}, {half}")
        yield _place(body, instruction, address, matrix, source, body.let(f"shl i32 {row}, 1")), 16, 16 * half


def _place(body: Body, instruction: model.Instruction, address: str, matrix: int, row: str, column: str) -> str:
    """The machine address of a byte of a row; of nobody's memory where the lane that gives it has ended."""
    giver = body.let(f"add i32 {row}, {8 * matrix}")
    body.store_thread("b", body.let(f"zext i32 {giver} to i64"), "i64")
    body.store_thread("c", "31", "i64")
    collective(body, instruction, Collective.SHFL_IDX, None, address)
    begin = body.load_thread("result", "i64")
    at = body.let(f"add i64 {begin}, {body.let(f'zext i32 {column} to i64')}")
    place = body.let(f"call ptr @at_shared(ptr %thread, i64 {at}, i64 2)")
    nowhere = body.slot("i64", 8)
    return body.let(f"select i1 {body.let(f'icmp eq ptr {place}, null')}, ptr {nowhere}, ptr {place}")
