"""Floating-point arithmetic (PTX ISA chapters "Floating Point", "Half Precision").

Results are those of IEEE arithmetic in round-to-nearest; the approximate functions are computed in double precision and
rounded, which is within the error that PTX documents for them. Directed rounding is done for single precision.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gpu_runner.cpu.body import Body, UnsupportedHere
from gpu_runner.cpu.registry import operation
from gpu_runner.cpu.types import TYPES, Type
from gpu_runner.ptx import model

_DIRECTED: Final = {"rz": 0, "rm": 1, "rp": 2}
_KNOWN: Final = frozenset({"rn", "rz", "rm", "rp", "ftz", "sat", "approx", "full", "NaN", "relu", "noftz"})
_BINARY: Final = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


def is_float(type_: Type) -> bool:
    return type_.kind in "fh"


def translate_float(body: Body, instruction: model.Instruction, type_: Type) -> None:
    """``add``, ``sub``, ``mul``, ``div``, ``fma``, ``mad``, ``min``, ``max``, ``abs``, ``neg`` of all float types."""
    for modifier in instruction.modifiers[:-1]:
        if modifier not in _KNOWN:
            raise UnsupportedHere(f"modifier .{modifier}")
    destination, *sources = instruction.operands
    opcode = instruction.opcode
    if type_.kind == "h":
        _half(body, instruction, type_)
        return
    if opcode in ("abs", "neg"):
        body.write(destination, _sign(body, opcode, type_, body.read(sources[0], type_), instruction), type_)
        return
    values = [flushed(body, instruction, body.read(source, type_), type_) for source in sources]
    directed = next((modifier for modifier in instruction.modifiers if modifier in _DIRECTED), None)
    if directed is not None:
        value = _directed(body, opcode, type_, values, directed)
    else:
        value = _nearest(body, opcode, type_, values, "NaN" in instruction.modifiers)
    value = flushed(body, instruction, value, type_)
    body.write(destination, canonical(body, saturated(body, instruction, value, type_), type_), type_)


def _nearest(body: Body, opcode: str, type_: Type, values: list[str], keep_nan: bool) -> str:
    llvm = type_.llvm
    suffix = f"f{type_.bits}"
    match opcode:
        case "add" | "sub" | "mul" | "div":
            return body.let(f"{_BINARY[opcode]} {llvm} {values[0]}, {values[1]}")
        case "fma" | "mad":
            a, b, c = values
            return body.let(f"call {llvm} @llvm.fma.{suffix}({llvm} {a}, {llvm} {b}, {llvm} {c})")
        case "min" | "max":
            value = values[0]
            name = ("minimum" if opcode == "min" else "maximum") if keep_nan else f"{opcode}num"
            for other in values[1:]:
                value = body.let(f"call {llvm} @llvm.{name}.{suffix}({llvm} {value}, {llvm} {other})")
            return value
        case _:
            raise UnsupportedHere(f"{opcode}.{type_.name}")


def _directed(body: Body, opcode: str, type_: Type, values: list[str], mode: str) -> str:
    """Single precision: the exact result as an unevaluated sum of two doubles, then rounded."""
    if type_.bits != 32:
        raise UnsupportedHere(f"{opcode}.{mode}.{type_.name}")
    wide = [body.let(f"fpext float {value} to double") for value in values]
    match opcode:
        case "add" | "sub":
            left, right = wide[0], wide[1]
            if opcode == "sub":
                right = body.let(f"fneg double {right}")
        case "mul":
            left, right = body.let(f"fmul double {wide[0]}, {wide[1]}"), "0.0"
        case "fma" | "mad":
            left, right = body.let(f"fmul double {wide[0]}, {wide[1]}"), wide[2]
        case "div":
            quotient = body.let(f"fdiv double {wide[0]}, {wide[1]}")
            back = body.let(f"fneg double {quotient}")
            left = quotient
            rest = f"call double @llvm.fma.f64(double {back}, double {wide[1]}, double {wide[0]})"
            right = body.let(f"fdiv double {body.let(rest)}, {wide[1]}")
            finite = body.let(f"fcmp ord double {right}, 0.0")
            right = body.let(f"select i1 {finite}, double {right}, double 0.0")
        case _:
            raise UnsupportedHere(f"{opcode}.{mode}.{type_.name}")
    return body.let(f"call float @round_directed(double {left}, double {right}, i32 {_DIRECTED[mode]})")


DIRECTED: Final = """
define internal float @round_directed(double %a, double %b, i32 %mode) {
  ; a + b exactly: s + e (Knuth's two-sum; a, b and e are finite where s is)
  %s = fadd double %a, %b
  %bb = fsub double %s, %a
  %t1 = fsub double %s, %bb
  %t2 = fsub double %a, %t1
  %t3 = fsub double %b, %bb
  %e = fadd double %t2, %t3
  %r = fptrunc double %s to float
  %w = fpext float %r to double
  %d0 = fsub double %w, %s
  %d = fsub double %d0, %e
  %finite = fcmp one double %w, 0x7FF0000000000000
  %over = fcmp ogt double %d, 0.0
  %under = fcmp olt double %d, 0.0
  %negative = fcmp olt double %s, 0.0
  %zdown = xor i1 %negative, true
  %is_rz = icmp eq i32 %mode, 0
  %is_rm = icmp eq i32 %mode, 1
  %is_rp = icmp eq i32 %mode, 2
  %z1 = and i1 %is_rz, %zdown
  %downward = or i1 %is_rm, %z1
  %z2 = and i1 %is_rz, %negative
  %upward = or i1 %is_rp, %z2
  %step_down = and i1 %downward, %over
  %step_up = and i1 %upward, %under
  %step = or i1 %step_down, %step_up
  br i1 %step, label %move, label %keep
move:
  %bits = bitcast float %r to i32
  %sign = icmp slt i32 %bits, 0
  %zero = fcmp oeq float %r, 0.0
  %toward = xor i1 %step_down, %sign
  %minus = sub i32 %bits, 1
  %plus = add i32 %bits, 1
  %moved = select i1 %toward, i32 %minus, i32 %plus
  %tiny = select i1 %step_down, i32 -2147483647, i32 1
  %out = select i1 %zero, i32 %tiny, i32 %moved
  %f = bitcast i32 %out to float
  ret float %f
keep:
  ret float %r
}
"""


def flushed(body: Body, instruction: model.Instruction, value: str, type_: Type) -> str:
    """With ``.ftz`` subnormal single-precision numbers are zero."""
    if "ftz" not in instruction.modifiers or type_.bits != 32 or type_.kind != "f":
        return value
    bits = body.let(f"bitcast float {value} to i32")
    exponent = body.let(f"and i32 {bits}, 2139095040")
    zero = body.let(f"bitcast i32 {body.let(f'and i32 {bits}, -2147483648')} to float")
    return body.let(f"select i1 {body.let(f'icmp eq i32 {exponent}, 0')}, float {zero}, float {value}")


def canonical(body: Body, value: str, type_: Type) -> str:
    """A result as it is written. The only NaN that single-precision arithmetic makes, whatever went in, is 0x7fffffff;
    that of double precision is the processor's."""
    if type_.llvm != "float":
        return value
    is_nan = body.let(f"fcmp uno float {value}, 0.0")
    return body.let(f"select i1 {is_nan}, float bitcast (i32 2147483647 to float), float {value}")


def canonical_result(body: Body, value: str, type_: Type) -> str:
    """The same for functions, in integers: LLVM knows which arguments of some have none, and takes any NaN for another
    one there."""
    if type_.llvm != "float":
        return value
    bits = body.let(f"bitcast float {value} to i32")
    is_nan = body.let(f"icmp ugt i32 {body.let(f'and i32 {bits}, 2147483647')}, 2139095040")
    return body.let(f"bitcast i32 {body.let(f'select i1 {is_nan}, i32 2147483647, i32 {bits}')} to float")


def saturated(body: Body, instruction: model.Instruction, value: str, type_: Type) -> str:
    """With ``.sat`` results are clamped to [0, 1], and NaN is 0."""
    if "sat" not in instruction.modifiers:
        return value
    llvm = type_.llvm
    low = body.let(f"call {llvm} @llvm.maxnum.f{type_.bits}({llvm} {value}, {llvm} 0.0)")
    return body.let(f"call {llvm} @llvm.minnum.f{type_.bits}({llvm} {low}, {llvm} 1.0)")


def _sign(body: Body, opcode: str, type_: Type, value: str, instruction: model.Instruction) -> str:
    llvm = type_.llvm
    value = flushed(body, instruction, value, type_)
    if opcode == "neg":
        return body.let(f"fneg {llvm} {value}")
    return body.let(f"call {llvm} @llvm.fabs.f{type_.bits}({llvm} {value})")


def _half(body: Body, instruction: model.Instruction, type_: Type) -> None:
    """16-bit floats are computed in single precision and rounded once, which is exact for one operation; ``fma`` in
    double. A pair is two of them."""
    destination, *sources = instruction.operands
    count = 2 if type_.bits == 32 else 1
    brain = type_.name.startswith("b")
    packed = [body.read(source, type_) for source in sources]
    results: list[str] = []
    for part in range(count):
        halves = [_part(body, value, part, count) for value in packed]
        opcode = instruction.opcode
        if opcode in ("abs", "neg"):
            mask = "and i16 {}, 32767" if opcode == "abs" else "xor i16 {}, -32768"
            results.append(body.let(mask.format(halves[0])))
            continue
        wide = TYPES["f64"] if opcode in ("fma", "mad") else TYPES["f32"]
        values = [from_half(body, half, brain, wide) for half in halves]
        value = _nearest(body, opcode, wide, values, "NaN" in instruction.modifiers)
        value = saturated(body, instruction, value, wide)
        if "relu" in instruction.modifiers:
            value = body.let(f"call {wide.llvm} @llvm.maxnum.f{wide.bits}({wide.llvm} {value}, {wide.llvm} 0.0)")
        results.append(to_half(body, value, brain, wide))
    body.write(destination, _joined(body, results), type_)


def _part(body: Body, value: str, part: int, count: int) -> str:
    if count == 1:
        return value
    moved = body.let(f"lshr i32 {value}, 16") if part else value
    return body.let(f"trunc i32 {moved} to i16")


def _joined(body: Body, halves: list[str]) -> str:
    if len(halves) == 1:
        return halves[0]
    low, high = (body.let(f"zext i16 {half} to i32") for half in halves)
    return body.let(f"or i32 {low}, {body.let(f'shl i32 {high}, 16')}")


def from_half(body: Body, bits: str, brain: bool, wide: Type) -> str:
    """16 bits as a single or double."""
    if brain:
        word = body.let(f"shl i32 {body.let(f'zext i16 {bits} to i32')}, 16")
        value = body.let(f"bitcast i32 {word} to float")
        return value if wide.bits == 32 else body.let(f"fpext float {value} to double")
    half = body.let(f"bitcast i16 {bits} to half")
    value = body.let(f"fpext half {half} to float")
    return value if wide.bits == 32 else body.let(f"fpext float {value} to double")


def to_half(body: Body, value: str, brain: bool, wide: Type) -> str:
    """Round a single or double to 16 bits. From double by way of single rounded to odd, so that it rounds once."""
    if wide.bits == 64:
        value = body.let(f"call float @round_to_odd(double {value})")
    return body.let(f"call i16 @to_{'bfloat' if brain else 'half'}(float {value})")


FUNCTIONS: Final = "\n".join(f"declare double @{name}(double)" for name in ("sin", "cos", "exp2", "log2", "tanh"))
"""Of the C library."""

HALVES: Final = """
define internal float @round_to_odd(double %x) {
  %r = fptrunc double %x to float
  %w = fpext float %r to double
  %exact = fcmp ueq double %w, %x
  br i1 %exact, label %done, label %fix
fix:
  %bits = bitcast float %r to i32
  %ax = call double @llvm.fabs.f64(double %x)
  %aw = call double @llvm.fabs.f64(double %w)
  %over = fcmp ogt double %aw, %ax
  %less = sub i32 %bits, 1
  %cut = select i1 %over, i32 %less, i32 %bits
  %odd = or i32 %cut, 1
  %f = bitcast i32 %odd to float
  ret float %f
done:
  ret float %r
}
define internal i16 @to_half(float %x) {
  %nan = fcmp uno float %x, 0.0
  %half = fptrunc float %x to half
  %bits = bitcast half %half to i16
  %out = select i1 %nan, i16 32767, i16 %bits
  ret i16 %out
}
define internal i16 @to_bfloat(float %x) {
  %bits = bitcast float %x to i32
  %nan = fcmp uno float %x, %x
  %high = lshr i32 %bits, 16
  %lsb = and i32 %high, 1
  %bias = add i32 %lsb, 32767
  %sum = add i32 %bits, %bias
  %rounded = lshr i32 %sum, 16
  %pick = select i1 %nan, i32 32767, i32 %rounded
  %out = trunc i32 %pick to i16
  ret i16 %out
}
"""


@operation("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh")
def functions(body: Body, instruction: model.Instruction) -> None:
    if instruction.modifiers[-1] == "ftz":  # which stands behind the type in some headers
        *others, type_name, ftz = instruction.modifiers
        instruction = replace(instruction, modifiers=(*others, ftz, type_name))
    type_ = TYPES.get(instruction.modifiers[-1])
    if type_ is None or type_.kind not in "fh" or (type_.bits == 32 and type_.kind == "h"):
        raise UnsupportedHere(f"type .{instruction.modifiers[-1]}")
    if any(mode in instruction.modifiers for mode in _DIRECTED) and instruction.opcode not in ("rcp", "sqrt"):
        raise UnsupportedHere("directed rounding")
    destination, source = instruction.operands
    if type_.kind == "h":
        brain = type_.name.startswith("b")
        value = body.read(source, type_)
        x = from_half(body, value, brain, TYPES["f64"])
        body.write(destination, to_half(body, _function(body, instruction.opcode, x), brain, TYPES["f64"]), type_)
        return
    value = flushed(body, instruction, body.read(source, type_), type_)
    mode = next((modifier for modifier in instruction.modifiers if modifier in _DIRECTED), None)
    x = value if type_.bits == 64 else body.let(f"fpext float {value} to double")
    if mode is not None:
        if type_.bits == 64:
            raise UnsupportedHere(f"{instruction.opcode}.{mode}.f64")
        result = _directed_function(body, instruction.opcode, x, mode)
    else:
        result = _function(body, instruction.opcode, x)
        if type_.bits == 32:
            result = body.let(f"fptrunc double {result} to float")
    body.write(destination, canonical_result(body, flushed(body, instruction, result, type_), type_), type_)


def _directed_function(body: Body, opcode: str, x: str, mode: str) -> str:
    """Reciprocal and root with what the double-precision result leaves."""
    value = _function(body, opcode, x)
    back = body.let(f"fneg double {value}")
    if opcode == "rcp":
        rest = body.let(f"call double @llvm.fma.f64(double {back}, double {x}, double 1.0)")
        left = body.let(f"fdiv double {rest}, {x}")
    else:
        rest = body.let(f"call double @llvm.fma.f64(double {back}, double {value}, double {x})")
        left = body.let(f"fdiv double {rest}, {body.let(f'fmul double 2.0, {value}')}")
    finite = body.let(f"fcmp ord double {left}, 0.0")
    left = body.let(f"select i1 {finite}, double {left}, double 0.0")
    return body.let(f"call float @round_directed(double {value}, double {left}, i32 {_DIRECTED[mode]})")


def _function(body: Body, opcode: str, x: str) -> str:
    match opcode:
        case "rcp":
            return body.let(f"fdiv double 1.0, {x}")
        case "sqrt":
            return body.let(f"call double @llvm.sqrt.f64(double {x})")
        case "rsqrt":
            return body.let(f"fdiv double 1.0, {body.let(f'call double @llvm.sqrt.f64(double {x})')}")
        case "tanh":
            return body.let(f"call double @tanh(double {x})")
        case _:
            name = {"sin": "sin", "cos": "cos", "lg2": "log2", "ex2": "exp2"}[opcode]
            return body.let(f"call double @{name}(double {x})")


@operation("copysign")
def copy_sign(body: Body, instruction: model.Instruction) -> None:
    type_ = TYPES[instruction.modifiers[-1]]
    destination, sign, magnitude = instruction.operands
    a, b = body.read(sign, type_), body.read(magnitude, type_)
    llvm = type_.llvm
    value = body.let(f"call {llvm} @llvm.copysign.f{type_.bits}({llvm} {b}, {llvm} {a})")
    body.write(destination, value, type_)


@operation("testp")
def test_property(body: Body, instruction: model.Instruction) -> None:
    what, type_ = instruction.modifiers[0], TYPES[instruction.modifiers[-1]]
    classes = {
        "finite": 0x1F8,
        "infinite": 0x204,
        "number": 0x3FC,
        "notanumber": 0x3,
        "normal": 0x108,
        "subnormal": 0x90,
    }
    if what not in classes:
        raise UnsupportedHere(f"testp.{what}")
    destination, source = instruction.operands
    value = body.read(source, type_)
    name = f"llvm.is.fpclass.f{type_.bits}"
    body.write(destination, body.let(f"call i1 @{name}({type_.llvm} {value}, i32 {classes[what]})"), "pred")
