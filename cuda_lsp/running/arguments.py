"""What a run is given for the kernel's parameters, as arguments of a launch: `NAME=VALUE` and the parameters' types."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Final, cast

from analyzers.ir.kernel import Layout
from cuda_lsp.running.tensors import ArgumentError, with_tensors
from gpu_runner.request import (
    Argument,
    ArrayArgument,
    Dim3,
    Element,
    Fill,
    Part,
    PointersArgument,
    RecordArgument,
    ScalarArgument,
)
from gpu_runner.shown import MOST_ELEMENTS, MOST_POINTERS, elements

_ELEMENTS: Final[Mapping[str, Element]] = {
    "bool": "u8", "char": "i8", "signed char": "i8", "unsigned char": "u8", "int8_t": "i8", "uint8_t": "u8",
    "short": "i16", "unsigned short": "u16", "int16_t": "i16", "uint16_t": "u16", "half": "f16", "__half": "f16",
    "int": "i32", "unsigned int": "u32", "unsigned": "u32", "int32_t": "i32", "uint32_t": "u32", "float": "f32",
    "long": "i64", "unsigned long": "u64", "long long": "i64", "unsigned long long": "u64", "int64_t": "i64",
    "uint64_t": "u64", "size_t": "u64", "double": "f64", "nv_bfloat16": "bf16", "__nv_bfloat16": "bf16",
    "at::Half": "f16", "c10::Half": "f16", "at::BFloat16": "bf16", "c10::BFloat16": "bf16",
}  # fmt: skip
_VECTOR: Final = re.compile(r"(u?)(char|short|int|long|longlong|float|double)([1-4])$")
_PAIRS: Final[Mapping[str, Element]] = {
    "half2": "f16", "__half2": "f16", "nv_bfloat162": "bf16", "__nv_bfloat162": "bf16",
}  # fmt: skip
_TYPED: Final = re.compile(r"(bf16|[iuf](?:8|16|32|64))\[(\d+)\](?::(.*))?$", re.DOTALL)
_FUNCTION: Final = re.compile(r"\(\s*(?:\w+::)*\*[^()]*\)\s*\(")
"""In the type of a pointer to a function: ``float (*)(int)``, ``void (S::*)()``."""
_ARRAY: Final = re.compile(r"\s*(?:\(\s*\*\s*\))?\s*(?:\[[^\[\]]*\])+$")
"""Behind the type of the elements, in that of an array or of a pointer to one."""
_COUNTED: Final = re.compile(r"(\d+)(?::(.*))?$", re.DOTALL)
_WORDS: Final = {"true": 1, "false": 0}
_SMALLEST: Final = 1024
"""Elements of an array that nothing is said of, at least."""
_FEWEST_POINTERS: Final = 64
"""Of an array of pointers that nothing is said of."""
_FEWEST_BEHIND: Final = 16
_MOST_BEHIND: Final = 1 << 18
"""Elements behind a pointer of such an array, and behind all of them."""


def arguments_for(
    parameters: Sequence[tuple[str, str]],
    given: Sequence[str],
    grid: Dim3,
    block: Dim3,
    records: Sequence[Layout] = (),
) -> tuple[tuple[Argument, ...], list[str]]:
    """One argument per parameter (name, type), and a sentence for each that was made up. `records`: what is in those of
    class type; their parts are given as ``NAME.field=VALUE``, tensors as ``NAME=4x128:random``. Raises
    `ArgumentError`."""
    inside = {record.name: record.parts for record in records}
    leaves = [
        leaf
        for name, kind in parameters
        for leaf in ([(part, text) for part, _, text in inside[name]] if name in inside else [(name, kind)])
    ]
    given, notes = with_tensors(given, inside)
    values = _by_name(leaves, given)
    threads = grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2]
    found: list[Argument] = []
    for name, kind in parameters:
        if name in inside:
            parts = [
                Part(part, offset, _typed(_one(part, text, values.get(part), threads, notes), text))
                for part, offset, text in inside[name]
            ]
            found.append(RecordArgument(tuple(parts)))
        else:
            found.append(_one(name, kind, values.get(name), threads, notes))
    return tuple(found), notes


def _one(
    name: str, kind: str, text: str | None, threads: int, notes: list[str]
) -> ArrayArgument | PointersArgument | ScalarArgument:
    """Arrays or a number, as they are given or, with a note, made up for so many threads."""
    if _FUNCTION.search(kind):
        if text is not None:
            raise ArgumentError(f"{name}={text}: a pointer to a function cannot be given")
        notes.append(f"{name}: a pointer to no function")
        return ScalarArgument(0)
    pointee = _pointee(kind)
    if pointee is not None and _pointee(pointee) is not None:
        pointers, said = _pointers(name, pointee, text, threads)
        if text is None:
            notes.append(f"{name}: {said}")
        return pointers
    if pointee is not None:
        element, width = _element(pointee)
        if text is not None:
            return _array(name, text, element, width)
        array = _made_up_array(element, max(threads, _SMALLEST) * width)
        notes.append(f"{name}: {_said(array)}")
        return array
    plain = " ".join(word for word in kind.split() if word not in ("const", "volatile"))
    if text is not None:
        return _scalar(name, text, plain)
    made_up = _made_up(plain, threads)
    notes.append(f"{name} = {made_up}")
    return _scalar(name, str(made_up), plain)


def _made_up_array(element: Element, count: int) -> ArrayArgument:
    return ArrayArgument(element, count, "random" if "f" in element else "zeros")


def _said(array: ArrayArgument) -> str:
    return f"{array.count} elements, {array.fill}"


def _pointers(name: str, pointee: str, text: str | None, threads: int) -> tuple[PointersArgument, str]:
    """An array for each of so many pointers, and how all that is to be called: ``COUNT`` of them or ``COUNT:ARRAY``,
    where the array is given as any other."""
    counted, colon, rest = (text or "").partition(":")
    if text is not None and (not counted.isdecimal() or not 1 <= int(counted) <= MOST_POINTERS):
        raise ArgumentError(
            f"{name}={text}: expected how many pointers, and what each leads to, as in 16:1024:iota; at most "
            f"{MOST_POINTERS}"
        )
    count = min(max(threads, _FEWEST_POINTERS), MOST_POINTERS) if text is None else int(counted)
    further = _pointee(pointee)
    assert further is not None
    if _pointee(further) is not None:
        target, said = _pointers(name, further, rest if colon else None, 0)
    else:
        element, width = _element(further)
        fitting = max(_FEWEST_BEHIND, min(_SMALLEST, _MOST_BEHIND // count))
        target = _array(name, rest, element, width) if colon else _made_up_array(element, fitting * width)
        said = _said(target)
    made = PointersArgument(count, target)
    if elements(made) > MOST_ELEMENTS:
        raise ArgumentError(f"{name}: {elements(made)} elements in all: at most {MOST_ELEMENTS} are possible")
    return made, f"{count} pointers to {said}"


def _made_up(plain: str, threads: int) -> int:
    """As many as there are threads, where the type holds it."""
    if plain == "bool":
        return 1
    element = _ELEMENTS.get(plain, "i32")
    return min(threads, {"f16": 2048, "bf16": 256}.get(element) or (1 << int(element[1:]) - 1) - 1)


def _typed(
    argument: ArrayArgument | PointersArgument | ScalarArgument, kind: str
) -> ArrayArgument | PointersArgument | ScalarArgument:
    """A number inside of a record has to say its type: PTX does not. Of enumerations all are ``int``."""
    if not isinstance(argument, ScalarArgument):
        return argument
    plain = " ".join(word for word in kind.split() if word not in ("const", "volatile"))
    if argument.element != "auto":
        return argument
    return ScalarArgument(argument.value, _ELEMENTS.get(plain, "i32"))


def named(
    parameters: Sequence[tuple[str, str]], given: Sequence[str], records: Sequence[Layout] = ()
) -> tuple[str, ...]:
    """What is given, with the names of those that are given by their place alone. Raises `ArgumentError`."""
    inside = {record.name: record.parts for record in records}
    leaves = [
        part for name, _ in parameters for part in ([p for p, _, _ in inside[name]] if name in inside else [name])
    ]
    found: list[str] = []
    position = 0
    for text in given:
        name, equals, _ = text.partition("=")
        if not equals:
            if position >= len(leaves):
                raise ArgumentError(f"{text}: the kernel has {len(leaves)} parameter{'s' * (len(leaves) != 1)}")
            name, text = leaves[position], f"{leaves[position]}={text}"
        found.append(text)
        own = [at for at, leaf in enumerate(leaves) if leaf == name or leaf.startswith(f"{name}.")]
        position = own[-1] + 1 if own else position
    return tuple(found)


def _by_name(parameters: Sequence[tuple[str, str]], given: Sequence[str]) -> dict[str, str]:
    names = [name for name, _ in parameters]
    values: dict[str, str] = {}
    position = 0
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            if position >= len(names):
                raise ArgumentError(f"{text}: the kernel has {len(names)} parameter{'s' * (len(names) != 1)}")
            name, value = names[position], text
        if name not in names:
            raise ArgumentError(f"{text}: the kernel has no parameter {name}; it has {', '.join(names) or 'none'}")
        position = names.index(name) + 1
        values[name] = value
    return values


def _pointee(kind: str) -> str | None:
    """What a pointer or array parameter points to, without qualifiers: of an array of arrays, and of a pointer to one,
    the elements."""
    text = re.sub(r"\b(?:const|volatile|__restrict__|__restrict|restrict)\b", " ", kind)
    text = " ".join(text.split())
    array = _ARRAY.search(text)
    if array is not None:
        return text[: array.start()].strip()
    return text[:-1].strip() if text.endswith("*") else None


def _element(kind: str) -> tuple[Element, int]:
    """The element type and how many of them one value of the type takes; bytes for what is not known."""
    if kind in _PAIRS:
        return _PAIRS[kind], 2
    vector = _VECTOR.match(kind)
    if vector is not None:
        unsigned, base, count = vector.groups()
        base = {"longlong": "long long"}.get(base, base)
        return _ELEMENTS[f"unsigned {base}" if unsigned else base], int(count)
    return _ELEMENTS.get(kind, "b8"), 1 if kind in _ELEMENTS else 16


def _array(name: str, text: str, element: Element, width: int) -> ArrayArgument:
    typed = _TYPED.match(text)
    if typed is not None:
        element, width = cast("Element", typed[1]), 1
        count, rest = int(typed[2]), typed[3]
    elif (counted := _COUNTED.match(text)) is not None:
        count, rest = int(counted[1]), counted[2]
    else:
        values = _numbers(name, text)
        return ArrayArgument(element, len(values), "values", values)
    if rest in (None, "zeros"):
        return ArrayArgument(element, count * width)
    if rest in ("iota", "random"):
        return ArrayArgument(element, count * width, cast("Fill", rest))
    return ArrayArgument(element, count * width, "values", _numbers(name, rest))


def _numbers(name: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(_number(part) for part in text.split(","))
    except ValueError:
        raise ArgumentError(
            f"{name}={text}: expected a number of elements, as in 1024, 1024:iota, 1024:random or 1024:7, "
            "or the elements themselves, as in 1,2,3"
        ) from None


def _scalar(name: str, text: str, plain: str) -> ScalarArgument:
    """A number of a type without qualifiers. Raises `ArgumentError` where it does not fit."""
    try:
        value = _WORDS[text] if plain == "bool" and text in _WORDS else _number(text)
    except ValueError:
        raise ArgumentError(f"{name}={text}: expected a number") from None
    if _ELEMENTS.get(plain) == "f16":
        return ScalarArgument(value, "f16")
    if _ELEMENTS.get(plain) == "bf16":
        return ScalarArgument(struct.unpack("<I", struct.pack("<f", value))[0] >> 16, "u16")
    if plain == "bool":
        return ScalarArgument(int(value != 0))
    element = _ELEMENTS.get(plain, "f64")
    if not element.startswith("f"):
        bits = int(element[1:])
        if value != value or value in (math.inf, -math.inf) or not -(1 << bits - 1) <= value < 1 << bits:
            raise ArgumentError(f"{name}={text}: this does not fit in {plain}")
        if value != int(value):
            raise ArgumentError(f"{name}={text}: expected an integer, as {name} is of type {plain}")
    return ScalarArgument(value)


def _number(text: str) -> float:
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


def dimensions(text: str, what: str) -> Dim3:
    """``256``, ``16,16`` or ``(16, 16, 1)``. Raises `ArgumentError`."""
    parts = text.strip().strip("()").split(",")
    try:
        numbers = [int(part) for part in parts]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3 or any(number < 1 for number in numbers):
        raise ArgumentError(f"{what} {text}: expected one to three positive numbers, as in 4 or 16,16")
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z
