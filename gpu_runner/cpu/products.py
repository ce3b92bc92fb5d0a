"""Products of matrices whose parts the lanes of a warp hold (PTX ISA, "mma.sync", "wmma").

Each lane writes what it has of both factors, as doubles, into memory of its warp; when all have come, each computes its
part of the result. Products of the supported types are exact in double precision, sums nearly so; the result is rounded
once. There are two such memories, taken in turns: who writes into one again has met all others since they read it.

PTX says which lane has which element for ``mma``, and leaves it open for ``wmma``. There a lane has neighbours in the
order of memory, and counts as the one who accesses them; where a fragment has room for more elements than there are,
they are repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gpu_runner.cpu.body import Body, UnsupportedHere
from gpu_runner.cpu.floats import canonical
from gpu_runner.cpu.layout import PRODUCT_CELLS, Collective, SiteKind
from gpu_runner.cpu.memory import address_of, checked
from gpu_runner.cpu.registry import operation
from gpu_runner.cpu.synchronization import collective
from gpu_runner.cpu.types import TYPES
from gpu_runner.ptx import model

_SHAPE: Final = re.compile(r"m(\d+)n(\d+)k(\d+)$")
_BITS: Final = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "f64": 64}
"""Of the elements of factors."""
_RESULT_BITS: Final = {"f16": 16, "f32": 32, "s32": 32, "f64": 64}
_FACTORS: Final = {"s32": {"s8", "u8"}, "f64": {"f64"}, "f32": {"f16", "bf16", "tf32", "e4m3", "e5m2"}}
_WMMA_SHAPES: Final = {"m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8", "m8n8k4"}


@dataclass(frozen=True, slots=True)
class _Product:
    """What the modifiers of a product say."""

    m: int
    n: int
    k: int
    result: str
    """Type of the elements of the result, and of what is added."""
    a: str
    b: str
    saturates: bool


def _product(shape: str, types: Sequence[str], saturates: bool) -> _Product:
    m, n, k = _numbers(shape)
    if len(types) == 2:
        types = (types[0], "f16", "f16", types[1])
    if len(types) != 4 or types[0] not in _RESULT_BITS or types[3] not in _RESULT_BITS:
        raise UnsupportedHere("product of these types")
    result, a, b, _ = types
    factors = _FACTORS["f32" if result == "f16" else result]
    if a not in factors or b not in factors or _BITS[a] != _BITS[b] or m * k > PRODUCT_CELLS or n * k > PRODUCT_CELLS:
        raise UnsupportedHere("product of these types")
    return _Product(m, n, k, result, a, b, saturates)


def _numbers(shape: str) -> tuple[int, int, int]:
    found = _SHAPE.match(shape)
    if found is None:
        raise UnsupportedHere("instruction")
    return int(found[1]), int(found[2]), int(found[3])


@operation("mma")
def product(body: Body, instruction: model.Instruction) -> None:
    """``mma.sync.aligned.SHAPE.row.col{.satfinite}.D.A.B.C d, a, b, c``."""
    modifiers = [modifier for modifier in instruction.modifiers if modifier != "satfinite"]
    if modifiers[:2] != ["sync", "aligned"] or modifiers[3:5] != ["row", "col"] or len(modifiers) != 9:
        raise UnsupportedHere("instruction")
    form = _product(modifiers[2], modifiers[5:], "satfinite" in instruction.modifiers)
    if modifiers[8] != form.result and {modifiers[8], form.result} != {"f16", "f32"}:
        raise UnsupportedHere("product of these types")
    destination, first, second, addend = instruction.operands
    width = max(1, 32 // _BITS[form.a])
    a, b = _registers(first), _registers(second)
    halves = form.m // 8
    fits = form.m in (8, 16) and form.n == 8 and form.k % (4 * width) == 0
    if not fits or 32 * width * len(a) != form.m * form.k or 32 * width * len(b) != form.n * form.k:
        raise UnsupportedHere("product of this shape")
    group, place = _group(body)
    side = _side(body)
    along = body.let(f"mul i32 {place}, {width}")
    for number, register in enumerate(a):
        row = body.let(f"add i32 {group}, {8 * (number % halves)}")
        at = _at(body, row, form.k, body.let(f"add i32 {along}, {number // halves * 4 * width}"))
        _put(body, side, form.a, at, 1, register)
    for number, register in enumerate(b):
        at = _at(body, body.let(f"add i32 {along}, {number * 4 * width}"), form.n, group)
        _put(body, side, form.b, body.let(f"add i32 {at}, {PRODUCT_CELLS}"), form.n, register)
    column = body.let(f"shl i32 {place}, 1")
    cells = [
        (body.let(f"add i32 {group}, {8 * half}"), body.let(f"add i32 {column}, {odd}"))
        for half in range(halves)
        for odd in (0, 1)
    ]
    _finish(body, instruction, form, side, cells, (destination, addend, modifiers[8]))


def _group(body: Body) -> tuple[str, str]:
    """The group of four lanes, and the place in it."""
    lane = body.load_thread("lane")
    return body.let(f"lshr i32 {lane}, 2"), body.let(f"and i32 {lane}, 3")


def _registers(operand: model.Operand) -> tuple[model.Operand, ...]:
    return operand.elements if isinstance(operand, model.Vector) else (operand,)


def _side(body: Body) -> str:
    """Where the warp writes the factors of this product."""
    body.uses_products = True
    count = body.load_thread("products")
    half = body.let(f"zext i32 {body.let(f'and i32 {count}, 1')} to i64")
    begin = body.let(f"inttoptr i64 {body.load_thread('workspace', 'i64')} to ptr")
    return body.let(f"getelementptr i8, ptr {begin}, i64 {body.let(f'mul i64 {half}, {16 * PRODUCT_CELLS}')}")


def _at(body: Body, row: str, columns: int, column: str) -> str:
    return body.let(f"add i32 {body.let(f'mul i32 {row}, {columns}')}, {column}")


def _put(body: Body, side: str, type_: str, at: str, step: int, register: model.Operand) -> None:
    bits = 64 if type_ == "f64" else 32
    value = body.read(register, f"b{bits}")
    body.emit(f"call void @factor_{type_}(ptr {side}, i32 {at}, i32 {step}, i{bits} {value})")


def _finish(
    body: Body,
    instruction: model.Instruction,
    form: _Product,
    side: str,
    cells: Sequence[tuple[str, str]],
    operands: tuple[model.Operand, model.Operand, str],
) -> None:
    """Meet the others and compute the elements of the result in `cells`. `operands`: the destination, what is added,
    and the type of its elements."""
    collective(body, instruction, Collective.PRODUCT, None, "0")
    destination, addend, added = operands
    values: list[str] = []
    for (row, column), extra in zip(cells, _elements(body, addend, added, len(cells)), strict=True):
        dot = body.let(f"call double @dot(ptr {side}, i32 {row}, i32 {column}, i32 {form.n}, i32 {form.k})")
        values.append(body.let(f"fadd double {dot}, {extra}"))
    body.store_thread("products", body.let(f"add i32 {body.load_thread('products')}, 1"))
    _write(body, destination, form, values)


def _elements(body: Body, operand: model.Operand, type_: str, count: int) -> Iterator[str]:
    """The elements of a fragment, as doubles."""
    registers = _registers(operand)
    if len(registers) * 32 != count * min(32, _RESULT_BITS[type_]) and type_ != "f64":
        raise UnsupportedHere("product of this shape")
    for register in registers:
        match type_:
            case "f64":
                yield body.read(register, "f64")
            case "f32":
                yield body.let(f"fpext float {body.read(register, 'f32')} to double")
            case "s32":
                yield body.let(f"sitofp i32 {body.read(register, 'b32')} to double")
            case _:
                word = body.read(register, "b32")
                for shift in (0, 16):
                    half = body.let(f"trunc i32 {body.let(f'lshr i32 {word}, {shift}')} to i16")
                    yield body.let(f"call double @decoded_f16(i16 {half})")


def _write(body: Body, destination: model.Operand, form: _Product, values: Sequence[str]) -> None:
    registers = _registers(destination)
    match form.result:
        case "f64":
            for register, value in zip(registers, values, strict=True):
                body.write(register, value, "f64")
        case "f32":
            for register, value in zip(registers, values, strict=True):
                narrow = body.let(f"fptrunc double {value} to float")
                body.write(register, canonical(body, narrow, TYPES["f32"]), "f32")
        case "s32":
            for register, value in zip(registers, values, strict=True):
                body.write(
                    register, body.let(f"call i32 @{'clamped' if form.saturates else 'wrapped'}(double {value})"), "b32"
                )
        case _:
            halves = [body.let(f"call i32 @half_of(double {value})") for value in values]
            for number, register in enumerate(registers):
                high = body.let(f"shl i32 {halves[2 * number + 1]}, 16")
                body.write(register, body.let(f"or i32 {halves[2 * number]}, {high}"), "b32")


# Fragments of wmma


@dataclass(frozen=True, slots=True)
class _Fragment:
    """One of the matrices of a ``wmma`` product: `rows` of `columns`, in memory by rows or by columns."""

    rows: int
    columns: int
    bits: int
    by_rows: bool
    is_factor: bool

    @property
    def each(self) -> int:
        """Different elements of a lane."""
        return self.rows * self.columns // 32

    @property
    def inner(self) -> int:
        """Elements that a lane has next to each other are in one of these: a row, or a column of a factor by columns.
        What is added is held by rows, as the result may be stored otherwise than that was loaded."""
        return self.columns if self.by_rows or not self.is_factor else self.rows


def _fragment(matrix: str, shape: str, layout: str, type_: str) -> _Fragment:
    m, n, k = _numbers(shape)
    is_factor = matrix in ("a", "b")
    bits = (_BITS if is_factor else _RESULT_BITS).get(type_)
    sizes = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}.get(matrix)
    if bits is None or sizes is None or shape not in _WMMA_SHAPES or layout not in ("row", "col"):
        raise UnsupportedHere("fragment of this kind")
    return _Fragment(*sizes, bits, layout == "row", is_factor)


@operation("wmma")
def fragments(body: Body, instruction: model.Instruction) -> None:
    name, *rest = instruction.modifiers
    if name == "mma":
        _fragments_product(body, instruction, rest)
        return
    matrix, *rest = rest
    if name not in ("load", "store") or rest[:2] != ["sync", "aligned"] or len(rest) not in (5, 6):
        raise UnsupportedHere("instruction")
    layout, shape, *spaces, type_ = rest[2:]
    space = spaces[0].split("::")[0] if spaces else "generic"
    if space not in ("shared", "global", "generic") or spaces == ["shared::cluster"]:
        raise UnsupportedHere("fragment in this memory")
    fragment = _fragment(matrix, shape, layout, type_)
    if name == "load":
        destination, where, *stride = instruction.operands
        collective(body, instruction, Collective.PRODUCT, None, "0")
        held = _load(body, instruction, fragment, space, where, stride)
        for number, register in enumerate(_registers(destination)):
            bits = max(32, fragment.bits)
            at = number * bits // 8 % (fragment.each * fragment.bits // 8)
            place = body.let(f"getelementptr i8, ptr {held}, i64 {at}")
            body.write(register, body.let(f"load i{bits}, ptr {place}, align 4"), f"b{bits}")
    else:
        where, source, *stride = instruction.operands
        collective(body, instruction, Collective.PRODUCT, None, "0")
        held = body.slot(f"[{fragment.each * fragment.bits // 8} x i8]", 8)
        bits = max(32, fragment.bits)
        for number, register in enumerate(_registers(source)):
            place = body.let(f"getelementptr i8, ptr {held}, i64 {number * bits // 8}")
            body.emit(f"store i{bits} {body.read(register, f'b{bits}')}, ptr {place}, align 4")
        _store(body, instruction, fragment, space, where, stride, held)


def _pieces(
    body: Body, fragment: _Fragment, begin: str, stride: Sequence[model.Operand]
) -> Iterator[tuple[str, int, int]]:
    """Address, bytes, and place among the elements that a lane has, of each access to memory."""
    size = fragment.bits // 8
    outer, within = _first(body, fragment)
    step = body.read(stride[0], "u32") if stride else str(fragment.columns if fragment.by_rows else fragment.rows)
    if fragment.by_rows or fragment.is_factor:
        cell = body.let(f"add i32 {body.let(f'mul i32 {outer}, {step}')}, {within}")
        piece = min(8, fragment.each * size)
        for at in range(0, fragment.each * size, piece):
            yield _address(body, begin, cell, size, at), piece, at
        return
    for number in range(fragment.each):
        column = body.let(f"add i32 {within}, {number}")
        cell = body.let(f"add i32 {body.let(f'mul i32 {column}, {step}')}, {outer}")
        yield _address(body, begin, cell, size, 0), size, number * size


def _first(body: Body, fragment: _Fragment) -> tuple[str, str]:
    """Row (or column) and place in it of the first element of the lane."""
    first = body.let(f"mul i32 {body.load_thread('lane')}, {fragment.each}")
    return body.let(f"udiv i32 {first}, {fragment.inner}"), body.let(f"urem i32 {first}, {fragment.inner}")


def _address(body: Body, begin: str, cell: str, size: int, at: int) -> str:
    offset = body.let(f"mul i64 {body.let(f'zext i32 {cell} to i64')}, {size}")
    return body.let(f"add i64 {begin}, {body.let(f'add i64 {offset}, {at}')}")


def _load(
    body: Body,
    instruction: model.Instruction,
    fragment: _Fragment,
    space: str,
    where: model.Operand,
    stride: Sequence[model.Operand],
) -> str:
    """Machine address of a copy of the elements of the lane."""
    held = body.slot(f"[{fragment.each * fragment.bits // 8} x i8]", 8)
    begin = address_of(body, where, space)
    for address, size, at in _pieces(body, fragment, begin, stride):
        site = body.site(SiteKind.READ, instruction, size)
        place = checked(body, address, space, size, site)
        target = body.let(f"getelementptr i8, ptr {held}, i64 {at}")
        value = body.let(f"load i{8 * size}, ptr {place}, align {size}")
        body.emit(f"store i{8 * size} {value}, ptr {target}, align {min(size, 4)}")
        body.emit(f"call void @record_outside(ptr %thread, i64 {address}, i64 0, i32 {site})")
    return held


def _store(
    body: Body,
    instruction: model.Instruction,
    fragment: _Fragment,
    space: str,
    where: model.Operand,
    stride: Sequence[model.Operand],
    held: str,
) -> None:
    begin = address_of(body, where, space)
    for address, size, at in _pieces(body, fragment, begin, stride):
        site = body.site(SiteKind.WRITE, instruction, size)
        place = checked(body, address, space, size, site)
        source = body.let(f"getelementptr i8, ptr {held}, i64 {at}")
        value = body.let(f"load i{8 * size}, ptr {source}, align {min(size, 4)}")
        body.emit(f"store i{8 * size} {value}, ptr {place}, align {size}")
        wide = value if size == 8 else body.let(f"zext i{8 * size} {value} to i64")
        body.emit(f"call void @record_outside(ptr %thread, i64 {address}, i64 {wide}, i32 {site})")


def _fragments_product(body: Body, instruction: model.Instruction, modifiers: Sequence[str]) -> None:
    """``wmma.mma.sync.aligned.ALAYOUT.BLAYOUT.SHAPE.D{.A.B}.C{.satfinite} d, a, b, c``."""
    words = [word for word in modifiers if word not in ("satfinite", "rn")]
    if words[:2] != ["sync", "aligned"] or len(words) not in (7, 9):
        raise UnsupportedHere("instruction")
    first_layout, second_layout, shape, *types = words[2:]
    form = _product(shape, types, "satfinite" in modifiers)
    a, b = _fragment("a", shape, first_layout, form.a), _fragment("b", shape, second_layout, form.b)
    result = _fragment("d", shape, "row", form.result)
    destination, first, second, addend = instruction.operands
    side = _side(body)
    _put_fragment(body, side, form.a, a, first, 0)
    _put_fragment(body, side, form.b, b, second, PRODUCT_CELLS)
    row, column = _first(body, result)
    cells = [(row, body.let(f"add i32 {column}, {number}")) for number in range(result.each)]
    _finish(body, instruction, form, side, cells, (destination, addend, types[-1]))


def _put_fragment(body: Body, side: str, type_: str, fragment: _Fragment, operand: model.Operand, begin: int) -> None:
    width = max(1, 32 // fragment.bits)
    outer, within = _first(body, fragment)
    for number, register in enumerate(_registers(operand)[: fragment.each // width]):
        along = body.let(f"add i32 {within}, {number * width}")
        row, column = (outer, along) if fragment.by_rows else (along, outer)
        at = body.let(f"add i32 {_at(body, row, fragment.columns, column)}, {begin}")
        _put(body, side, type_, at, 1 if fragment.by_rows else fragment.columns, register)


# What the text calls

_DECODED: Final = {
    "f16": (16, """  %h = bitcast i16 %x to half
  %f = fpext half %h to float
  %d = fpext float %f to double
"""),
    "bf16": (16, """  %w = zext i16 %x to i32
  %s = shl i32 %w, 16
  %f = bitcast i32 %s to float
  %d = fpext float %f to double
"""),
    "tf32": (32, """  %w = and i32 %x, -8192
  %f = bitcast i32 %w to float
  %d = fpext float %f to double
"""),
    "s8": (8, "  %d = sitofp i8 %x to double\n"),
    "u8": (8, "  %d = uitofp i8 %x to double\n"),
    "e5m2": (8, """  %w = zext i8 %x to i16
  %s = shl i16 %w, 8
  %h = bitcast i16 %s to half
  %f = fpext half %h to float
  %d = fpext float %f to double
"""),
    "e4m3": (8, """  %w = zext i8 %x to i16
  %m = and i16 %w, 127
  %n = shl i16 %m, 7
  %sb = and i16 %w, 128
  %ss = shl i16 %sb, 8
  %s = or i16 %n, %ss
  %h = bitcast i16 %s to half
  %f = fpext half %h to float
  %e = fpext float %f to double
  %v = fmul double %e, 256.0
  %nan = icmp eq i16 %m, 127
  %d = select i1 %nan, double 0x7FF8000000000000, double %v
"""),
    "f64": (64, "  %d = bitcast i64 %x to double\n"),
}  # fmt: skip
"""Bits of an element, and how it becomes a double."""


def _decoders() -> Iterator[str]:
    for type_, (bits, text) in _DECODED.items():
        yield f"define internal double @decoded_{type_}(i{bits} %x) {{\n{text}  ret double %d\n}}"
        wide = max(32, bits)
        lines = [f"define internal void @factor_{type_}(ptr %side, i32 %at, i32 %step, i{wide} %word) {{"]
        for number in range(wide // bits):
            lines.append(f"  %m{number} = lshr i{wide} %word, {number * bits}")
            part = f"%m{number}"
            if bits < wide:
                lines.append(f"  %x{number} = trunc i{wide} {part} to i{bits}")
                part = f"%x{number}"
            lines += [
                f"  %d{number} = call double @decoded_{type_}(i{bits} {part})",
                f"  %s{number} = mul i32 %step, {number}",
                f"  %i{number} = add i32 %at, %s{number}",
                f"  %p{number} = getelementptr double, ptr %side, i32 %i{number}",
                f"  store double %d{number}, ptr %p{number}",
            ]
        yield "\n".join([*lines, "  ret void\n}"])


PRODUCTS: Final = (
    "\n".join(_decoders())
    + f"""
define internal double @dot(ptr %side, i32 %row, i32 %column, i32 %n, i32 %k) noinline {{
entry:
  %begin = mul i32 %row, %k
  %second = getelementptr double, ptr %side, i32 {PRODUCT_CELLS}
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%next, %loop]
  %sum = phi double [0.0, %entry], [%more, %loop]
  %ia = add i32 %begin, %i
  %pa = getelementptr double, ptr %side, i32 %ia
  %a = load double, ptr %pa
  %rb = mul i32 %i, %n
  %ib = add i32 %rb, %column
  %pb = getelementptr double, ptr %second, i32 %ib
  %b = load double, ptr %pb
  %product = fmul double %a, %b
  %more = fadd double %sum, %product
  %next = add i32 %i, 1
  %on = icmp ult i32 %next, %k
  br i1 %on, label %loop, label %done
done:
  ret double %more
}}
define internal i32 @wrapped(double %x) {{
  %w = fptosi double %x to i64
  %n = trunc i64 %w to i32
  ret i32 %n
}}
define internal i32 @clamped(double %x) {{
  %w = fptosi double %x to i64
  %low = call i64 @llvm.smax.i64(i64 %w, i64 -2147483648)
  %both = call i64 @llvm.smin.i64(i64 %low, i64 2147483647)
  %n = trunc i64 %both to i32
  ret i32 %n
}}
define internal i32 @half_of(double %x) {{
  %f = call float @round_to_odd(double %x)
  %b = call i16 @to_half(float %f)
  %w = zext i16 %b to i32
  ret i32 %w
}}
"""
)
