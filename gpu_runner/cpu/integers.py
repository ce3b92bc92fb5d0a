"""Integer arithmetic, logic and bit manipulation (PTX ISA chapters "Integer Arithmetic", "Logic and Shift")."""

from __future__ import annotations

from gpu_runner.cpu.body import Body, UnsupportedHere
from gpu_runner.cpu.floats import is_float, translate_float
from gpu_runner.cpu.registry import operation
from gpu_runner.cpu.types import TYPES, Type
from gpu_runner.ptx import model


def last_type(instruction: model.Instruction) -> Type:
    """The instruction's type: its last modifier."""
    type_ = TYPES.get(instruction.modifiers[-1]) if instruction.modifiers else None
    if type_ is None:
        raise UnsupportedHere(f"type .{instruction.modifiers[-1] if instruction.modifiers else '?'}")
    return type_


def unknown(instruction: model.Instruction, known: frozenset[str]) -> None:
    """Refuse modifiers that the translation would not honour."""
    for modifier in instruction.modifiers[:-1]:
        if modifier not in known:
            raise UnsupportedHere(f"modifier .{modifier}")


@operation("add", "sub", "mul", "mad", "div", "min", "max", "abs", "neg", "fma", "rem")
def arithmetic(body: Body, instruction: model.Instruction) -> None:
    type_ = last_type(instruction)
    if is_float(type_):
        translate_float(body, instruction, type_)
        return
    if "cc" in instruction.modifiers:
        _carry(body, instruction, type_)
        return
    unknown(instruction, frozenset({"lo", "hi", "wide", "sat"}))
    destination, *sources = instruction.operands
    opcode = instruction.opcode
    if opcode in ("mul", "mad"):
        _multiply(body, instruction, type_)
        return
    values = [body.read(source, type_) for source in sources]
    saturate = "sat" in instruction.modifiers
    body.write(destination, _simple(body, opcode, type_, values, saturate), type_)


def _simple(body: Body, opcode: str, type_: Type, values: list[str], saturate: bool) -> str:
    llvm, sign = type_.llvm, "s" if type_.signed else "u"
    match opcode:
        case "add" | "sub" if saturate:
            return body.let(f"call {llvm} @llvm.s{opcode}.sat.{llvm}({llvm} {values[0]}, {llvm} {values[1]})")
        case "add" | "sub":
            return body.let(f"{opcode} {llvm} {values[0]}, {values[1]}")
        case "min" | "max":
            return body.let(f"call {llvm} @llvm.{sign}{opcode}.{llvm}({llvm} {values[0]}, {llvm} {values[1]})")
        case "div" | "rem":
            return _divide(body, opcode, type_, values)
        case "abs":
            return body.let(f"call {llvm} @llvm.abs.{llvm}({llvm} {values[0]}, i1 false)")
        case "neg":
            return body.let(f"sub {llvm} 0, {values[0]}")
        case _:
            raise UnsupportedHere(f"{opcode}.{type_.name}")


def _divide(body: Body, opcode: str, type_: Type, values: list[str]) -> str:
    """Division by zero gives all ones and the dividend as remainder, as GPUs do; it must not stop this process."""
    llvm = type_.llvm
    left, right = values
    zero = body.let(f"icmp eq {llvm} {right}, 0")
    bad = zero
    if type_.signed:
        lowest = body.let(f"icmp eq {llvm} {left}, {1 << type_.bits - 1}")
        minus = body.let(f"icmp eq {llvm} {right}, -1")
        bad = body.let(f"or i1 {zero}, {body.let(f'and i1 {lowest}, {minus}')}")
    safe = body.let(f"select i1 {bad}, {llvm} 1, {llvm} {right}")
    name = f"{'s' if type_.signed else 'u'}{opcode}"
    value = body.let(f"{name} {llvm} {left}, {safe}")
    if opcode == "div":
        return body.let(f"select i1 {zero}, {llvm} -1, {llvm} {value}")
    return body.let(f"select i1 {zero}, {llvm} {left}, {llvm} {value}")


def _multiply(body: Body, instruction: model.Instruction, type_: Type) -> None:
    destination, left, right, *rest = instruction.operands
    a, b = body.read(left, type_), body.read(right, type_)
    how = "sext" if type_.signed else "zext"
    result = type_
    if "lo" in instruction.modifiers:
        value = body.let(f"mul {type_.llvm} {a}, {b}")
    else:
        wide = f"i{type_.bits * 2}"
        x, y = body.let(f"{how} {type_.llvm} {a} to {wide}"), body.let(f"{how} {type_.llvm} {b} to {wide}")
        value = body.let(f"mul {wide} {x}, {y}")
        if "wide" in instruction.modifiers:
            result = TYPES[f"{type_.kind}{type_.bits * 2}"]
        else:
            high = body.let(f"lshr {wide} {value}, {type_.bits}")
            value = body.let(f"trunc {wide} {high} to {type_.llvm}")
    if rest:
        c = body.read(rest[0], result)
        if "sat" in instruction.modifiers:
            value = body.let(
                f"call {result.llvm} @llvm.sadd.sat.{result.llvm}({result.llvm} {value}, {result.llvm} {c})"
            )
        else:
            value = body.let(f"add {result.llvm} {value}, {c}")
    body.write(destination, value, result)


@operation("addc", "subc", "madc")
def with_carry(body: Body, instruction: model.Instruction) -> None:
    _carry(body, instruction, last_type(instruction))


def _carry(body: Body, instruction: model.Instruction, type_: Type) -> None:
    """Extended precision: the condition code is one bit per thread, a borrow for subtraction."""
    if body.carry is None:
        body.carry = body.slot("i1")
    llvm, wide = type_.llvm, f"i{type_.bits + 2}"
    destination, *sources = instruction.operands
    opcode = instruction.opcode
    a, b = body.read(sources[0], type_), body.read(sources[1], type_)
    if opcode.startswith("mad"):
        big, how = f"i{type_.bits * 2}", "sext" if type_.signed else "zext"
        x, y = body.let(f"{how} {llvm} {a} to {big}"), body.let(f"{how} {llvm} {b} to {big}")
        value = body.let(f"mul {big} {x}, {y}")
        if "hi" in instruction.modifiers:
            value = body.let(f"lshr {big} {value}, {type_.bits}")
        a, b = body.let(f"trunc {big} {value} to {llvm}"), body.read(sources[2], type_)
    name = "sub" if opcode.startswith("sub") else "add"
    x, y = body.let(f"zext {llvm} {a} to {wide}"), body.let(f"zext {llvm} {b} to {wide}")
    value = body.let(f"{name} {wide} {x}, {y}")
    if opcode.endswith("c"):
        bit = body.let(f"load i1, ptr {body.carry}")
        value = body.let(f"{name} {wide} {value}, {body.let(f'zext i1 {bit} to {wide}')}")
    if "cc" in instruction.modifiers:
        high = body.let(f"lshr {wide} {value}, {type_.bits}")
        body.emit(f"store i1 {body.let(f'icmp ne {wide} {high}, 0')}, ptr {body.carry}")
    body.write(destination, body.let(f"trunc {wide} {value} to {llvm}"), type_)


@operation("mul24", "mad24")
def multiply24(body: Body, instruction: model.Instruction) -> None:
    type_ = last_type(instruction)
    shift = "ashr" if type_.signed else "lshr"
    destination, *sources = instruction.operands
    parts = [body.let(f"{shift} i32 {body.let(f'shl i32 {body.read(s, type_)}, 8')}, 8") for s in sources[:2]]
    if "lo" in instruction.modifiers:
        value = body.let(f"mul i32 {parts[0]}, {parts[1]}")
    else:
        how = "sext" if type_.signed else "zext"
        wide = [body.let(f"{how} i32 {part} to i64") for part in parts]
        product = body.let(f"mul i64 {wide[0]}, {wide[1]}")
        value = body.let(f"trunc i64 {body.let(f'lshr i64 {product}, 16')} to i32")
    if len(sources) > 2:
        value = body.let(f"add i32 {value}, {body.read(sources[2], type_)}")
    body.write(destination, value, type_)


@operation("and", "or", "xor")
def logic(body: Body, instruction: model.Instruction) -> None:
    type_ = last_type(instruction)
    destination, left, right = instruction.operands
    value = body.let(f"{instruction.opcode} {type_.llvm} {body.read(left, type_)}, {body.read(right, type_)}")
    body.write(destination, value, type_)


@operation("not")
def inversion(body: Body, instruction: model.Instruction) -> None:
    type_ = last_type(instruction)
    destination, source = instruction.operands
    body.write(destination, body.let(f"xor {type_.llvm} {body.read(source, type_)}, -1"), type_)


@operation("cnot")
def logical_not(body: Body, instruction: model.Instruction) -> None:
    type_ = last_type(instruction)
    destination, source = instruction.operands
    zero = body.let(f"icmp eq {type_.llvm} {body.read(source, type_)}, 0")
    body.write(destination, body.let(f"zext i1 {zero} to {type_.llvm}"), type_)


@operation("shl", "shr")
def shift(body: Body, instruction: model.Instruction) -> None:
    """Amounts above the width count as the width."""
    type_ = last_type(instruction)
    destination, source, amount = instruction.operands
    value, by = body.read(source, type_), body.read(amount, "u32")
    arithmetic_shift = instruction.opcode == "shr" and type_.signed
    limit = type_.bits - 1 if arithmetic_shift else type_.bits
    clamped = body.let(f"call i32 @llvm.umin.i32(i32 {by}, i32 {limit})")
    wide = "i64" if type_.bits <= 32 else "i128"
    how = "sext" if arithmetic_shift else "zext"
    x = body.let(f"{how} {type_.llvm} {value} to {wide}")
    name = "shl" if instruction.opcode == "shl" else "ashr" if arithmetic_shift else "lshr"
    moved = body.let(f"{name} {wide} {x}, {body.let(f'zext i32 {clamped} to {wide}')}")
    body.write(destination, body.let(f"trunc {wide} {moved} to {type_.llvm}"), type_)


@operation("shf")
def funnel_shift(body: Body, instruction: model.Instruction) -> None:
    destination, low, high, amount = instruction.operands
    a, b, c = (body.read(operand, "b32") for operand in (low, high, amount))
    if "wrap" in instruction.modifiers:
        by = body.let(f"and i32 {c}, 31")
    else:
        by = body.let(f"call i32 @llvm.umin.i32(i32 {c}, i32 32)")
    x, y, n = (body.let(f"zext i32 {value} to i64") for value in (a, b, by))
    both = body.let(f"or i64 {body.let(f'shl i64 {y}, 32')}, {x}")
    if "l" in instruction.modifiers:
        value = body.let(f"lshr i64 {body.let(f'shl i64 {both}, {n}')}, 32")
    else:
        value = body.let(f"lshr i64 {both}, {n}")
    body.write(destination, body.let(f"trunc i64 {value} to i32"), "b32")


@operation("popc", "clz", "bfind", "brev")
def bits(body: Body, instruction: model.Instruction) -> None:
    type_ = last_type(instruction)
    llvm = type_.llvm
    destination, source = instruction.operands
    value = body.read(source, type_)
    opcode = instruction.opcode
    if opcode == "brev":
        body.write(destination, body.let(f"call {llvm} @llvm.bitreverse.{llvm}({llvm} {value})"), type_)
        return
    if opcode == "popc":
        count = body.let(f"call {llvm} @llvm.ctpop.{llvm}({llvm} {value})")
    else:
        if opcode == "bfind" and type_.signed:  # the most significant bit that differs from the sign
            value = body.let(f"xor {llvm} {value}, {body.let(f'ashr {llvm} {value}, {type_.bits - 1}')}")
        count = body.let(f"call {llvm} @llvm.ctlz.{llvm}({llvm} {value}, i1 false)")
        if opcode == "bfind" and "shiftamt" not in instruction.modifiers:
            count = body.let(f"sub {llvm} {type_.bits - 1}, {count}")
        elif opcode == "bfind":
            none = body.let(f"icmp eq {llvm} {value}, 0")
            count = body.let(f"select i1 {none}, {llvm} -1, {llvm} {count}")
    body.write(destination, body.fit(count, TYPES[f"b{type_.bits}"], TYPES["b32"]), "b32")


@operation("fns")
def find_nth_set(body: Body, instruction: model.Instruction) -> None:
    """The position of the n-th bit that is set from `base` on, upwards, or downwards where n is negative; of bit `base`
    itself where n is 0. All ones where there is none."""
    destination, mask, base, number = instruction.operands
    bits, at, n = (body.read(operand, "b32") for operand in (mask, base, number))
    down = body.let(f"icmp slt i32 {n}, 0")
    inside = body.let(f"icmp ult i32 {at}, 32")
    reversed_ = body.let(f"call i32 @llvm.bitreverse.i32(i32 {bits})")
    low = body.let(f"select i1 {down}, i32 {body.let(f'sub i32 31, {at}')}, i32 {at}")
    low = body.let(f"select i1 {inside}, i32 {low}, i32 0")
    left = body.let(f"select i1 {down}, i32 {reversed_}, i32 {bits}")
    left = body.let(f"select i1 {inside}, i32 {left}, i32 0")
    left = body.let(f"and i32 {left}, {body.let(f'shl i32 -1, {low}')}")
    none = body.let(f"icmp eq i32 {n}, 0")
    alone = body.let(f"and i32 {left}, {body.let(f'shl i32 1, {low}')}")
    left = body.let(f"select i1 {none}, i32 {alone}, i32 {left}")
    count = body.let(f"select i1 {down}, i32 {body.let(f'sub i32 0, {n}')}, i32 {n}")
    for before in range(1, 33):  # the lowest bit goes, as many times as there are bits in front
        rest = body.let(f"and i32 {left}, {body.let(f'sub i32 {left}, 1')}")
        left = body.let(f"select i1 {body.let(f'icmp ugt i32 {count}, {before}')}, i32 {rest}, i32 {left}")
    found = body.let(f"call i32 @llvm.cttz.i32(i32 {left}, i1 false)")
    found = body.let(f"select i1 {down}, i32 {body.let(f'sub i32 31, {found}')}, i32 {found}")
    missing = body.let(f"icmp eq i32 {left}, 0")
    body.write(destination, body.let(f"select i1 {missing}, i32 -1, i32 {found}"), "b32")


@operation("bfe")
def bit_field_extract(body: Body, instruction: model.Instruction) -> None:
    """`length` bits from `position`; a signed field is extended by its top bit, or that of the source."""
    type_ = last_type(instruction)
    destination, source, position, length = instruction.operands
    how, right = ("sext", "ashr") if type_.signed else ("zext", "lshr")
    value = body.let(f"{how} {type_.llvm} {body.read(source, type_)} to i128")
    at, n = _byte(body, position), _byte(body, length)
    at = body.let(f"call i32 @llvm.umin.i32(i32 {at}, i32 {type_.bits})")
    n = body.let(f"call i32 @llvm.umin.i32(i32 {n}, i32 {type_.bits})")
    moved = body.let(f"{right} i128 {value}, {body.let(f'zext i32 {at} to i128')}")
    up = body.let(f"zext i32 {body.let(f'sub i32 128, {n}')} to i128")
    field = body.let(f"{right} i128 {body.let(f'shl i128 {moved}, {up}')}, {up}")
    none = body.let(f"icmp eq i32 {n}, 0")
    cut = body.let(f"trunc i128 {field} to {type_.llvm}")
    body.write(destination, body.let(f"select i1 {none}, {type_.llvm} 0, {type_.llvm} {cut}"), type_)


def _byte(body: Body, operand: model.Operand) -> str:
    """The low eight bits of an operand, in 32."""
    return body.let(f"and i32 {body.read(operand, 'u32')}, 255")


@operation("bfi")
def bit_field_insert(body: Body, instruction: model.Instruction) -> None:
    type_ = last_type(instruction)
    destination, field, into, position, length = instruction.operands
    llvm = type_.llvm
    a, b = (body.let(f"zext {llvm} {body.read(operand, type_)} to i256") for operand in (field, into))
    at, n = (body.let(f"zext i32 {_byte(body, operand)} to i256") for operand in (position, length))
    cut = body.let(f"call i256 @llvm.umin.i256(i256 {n}, i256 {type_.bits})")
    start = body.let(f"call i256 @llvm.umin.i256(i256 {at}, i256 {type_.bits})")
    ones = body.let(f"sub i256 {body.let(f'shl i256 1, {cut}')}, 1")
    mask = body.let(f"shl i256 {ones}, {start}")
    kept = body.let(f"and i256 {b}, {body.let(f'xor i256 {mask}, -1')}")
    put = body.let(f"and i256 {body.let(f'shl i256 {a}, {start}')}, {mask}")
    body.write(destination, body.let(f"trunc i256 {body.let(f'or i256 {kept}, {put}')} to {llvm}"), type_)


@operation("bmsk")
def bit_mask(body: Body, instruction: model.Instruction) -> None:
    destination, position, length = instruction.operands
    at, n = body.read(position, "u32"), body.read(length, "u32")
    if "wrap" in instruction.modifiers:
        at, n = body.let(f"and i32 {at}, 31"), body.let(f"and i32 {n}, 31")
    at = body.let(f"zext i32 {body.let(f'call i32 @llvm.umin.i32(i32 {at}, i32 32)')} to i64")
    n = body.let(f"zext i32 {body.let(f'call i32 @llvm.umin.i32(i32 {n}, i32 32)')} to i64")
    ones = body.let(f"sub i64 {body.let(f'shl i64 1, {n}')}, 1")
    body.write(destination, body.let(f"trunc i64 {body.let(f'shl i64 {ones}, {at}')} to i32"), "b32")


@operation("lop3")
def lookup_logic(body: Body, instruction: model.Instruction) -> None:
    if "BoolOp" in instruction.modifiers or len(instruction.operands) != 5:
        raise UnsupportedHere("lop3 with a predicate")
    destination, *sources, table = instruction.operands
    if not isinstance(table, model.Integer):
        raise UnsupportedHere("lop3 with a table in a register")
    a, b, c = (body.read(source, "b32") for source in sources)
    inverse = {value: body.let(f"xor i32 {value}, -1") for value in (a, b, c)}
    result = "0"
    for row in range(8):
        if table.value >> row & 1:
            x, y, z = (value if row >> bit & 1 else inverse[value] for value, bit in ((a, 2), (b, 1), (c, 0)))
            both = body.let(f"and i32 {x}, {y}")
            result = body.let(f"or i32 {result}, {body.let(f'and i32 {both}, {z}')}")
    body.write(destination, result, "b32")


@operation("prmt")
def permute(body: Body, instruction: model.Instruction) -> None:
    if instruction.modifiers != ("b32",):
        raise UnsupportedHere("prmt with a mode")
    destination, low, high, selector = instruction.operands
    x = body.let(f"zext i32 {body.read(low, 'b32')} to i64")
    y = body.let(f"zext i32 {body.read(high, 'b32')} to i64")
    both = body.let(f"or i64 {body.let(f'shl i64 {y}, 32')}, {x}")
    select = body.let(f"zext i32 {body.read(selector, 'b32')} to i64")
    result = "0"
    for byte in range(4):
        control = body.let(f"lshr i64 {select}, {4 * byte}")
        at = body.let(f"shl i64 {body.let(f'and i64 {control}, 7')}, 3")
        value = body.let(f"trunc i64 {body.let(f'lshr i64 {both}, {at}')} to i8")
        sign = body.let(f"icmp ne i64 {body.let(f'and i64 {control}, 8')}, 0")
        spread = body.let(f"select i1 {sign}, i8 {body.let(f'ashr i8 {value}, 7')}, i8 {value}")
        placed = body.let(f"shl i32 {body.let(f'zext i8 {spread} to i32')}, {8 * byte}")
        result = body.let(f"or i32 {result}, {placed}")
    body.write(destination, result, "b32")


@operation("sad")
def sum_of_differences(body: Body, instruction: model.Instruction) -> None:
    type_ = last_type(instruction)
    llvm = type_.llvm
    destination, *sources = instruction.operands
    a, b, c = (body.read(source, type_) for source in sources)
    less = body.let(f"icmp {'s' if type_.signed else 'u'}lt {llvm} {a}, {b}")
    forth, back = body.let(f"sub {llvm} {b}, {a}"), body.let(f"sub {llvm} {a}, {b}")
    difference = body.let(f"select i1 {less}, {llvm} {forth}, {llvm} {back}")
    body.write(destination, body.let(f"add {llvm} {c}, {difference}"), type_)


@operation("dp4a")
def dot_product(body: Body, instruction: model.Instruction) -> None:
    left, right = instruction.modifiers[-2:]
    destination, *sources = instruction.operands
    a, b, c = (body.read(source, "b32") for source in sources)
    total = c
    for byte in range(4):
        parts: list[str] = []
        for value, sign in ((a, left), (b, right)):
            cut = body.let(f"trunc i32 {body.let(f'lshr i32 {value}, {8 * byte}')} to i8")
            parts.append(body.let(f"{'sext' if sign == 's32' else 'zext'} i8 {cut} to i32"))
        total = body.let(f"add i32 {total}, {body.let(f'mul i32 {parts[0]}, {parts[1]}')}")
    body.write(destination, total, "b32")
