"""What a run is given for the kernel's parameters, as arguments of a launch: `NAME=VALUE` and the parameters' types."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Final, cast

from analyzers.explain import Layout
from gpu_runner.request import Argument, ArrayArgument, Dim3, Element, Fill, Part, RecordArgument, ScalarArgument

_ELEMENTS: Final[Mapping[str, Element]] = {
    "bool": "u8", "char": "i8", "signed char": "i8", "unsigned char": "u8", "int8_t": "i8", "uint8_t": "u8",
    "short": "i16", "unsigned short": "u16", "int16_t": "i16", "uint16_t": "u16", "half": "f16", "__half": "f16",
    "int": "i32", "unsigned int": "u32", "unsigned": "u32", "int32_t": "i32", "uint32_t": "u32", "float": "f32",
    "long": "i64", "unsigned long": "u64", "long long": "i64", "unsigned long long": "u64", "int64_t": "i64",
    "uint64_t": "u64", "size_t": "u64", "double": "f64",
}  # fmt: skip
_VECTOR: Final = re.compile(r"(u?)(char|short|int|long|longlong|float|double)([1-4])$")
_TYPED: Final = re.compile(r"([iuf](?:8|16|32|64))\[(\d+)\](?::(.*))?$", re.DOTALL)
_COUNTED: Final = re.compile(r"(\d+)(?::(.*))?$", re.DOTALL)
_WORDS: Final = {"true": 1, "false": 0}
_SMALLEST: Final = 1024
"""Elements of an array that nothing is said of, at least."""


class ArgumentError(ValueError):
    """What is given does not fit the kernel; a sentence for the user."""


def arguments_for(
    parameters: Sequence[tuple[str, str]],
    given: Sequence[str],
    grid: Dim3,
    block: Dim3,
    records: Sequence[Layout] = (),
) -> tuple[tuple[Argument, ...], list[str]]:
    """One argument per parameter (name, type), and a sentence for each that was made up. `records`: what is in those of
    class type; their parts are given as ``NAME.field=VALUE``. Raises `ArgumentError`."""
    inside = {record.name: record.parts for record in records}
    leaves = [
        leaf
        for name, kind in parameters
        for leaf in ([(part, text) for part, _, text in inside[name]] if name in inside else [(name, kind)])
    ]
    values = _by_name(leaves, given)
    threads = grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2]
    notes: list[str] = []
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


def _one(name: str, kind: str, text: str | None, threads: int, notes: list[str]) -> ArrayArgument | ScalarArgument:
    """An array or a number, as it is given or, with a note, made up for so many threads."""
    if "(*" in kind:
        if text is not None:
            raise ArgumentError(f"{name}={text}: a pointer to a function cannot be given")
        notes.append(f"{name}: a pointer to no function")
        return ScalarArgument(0)
    pointee = _pointee(kind)
    if pointee is not None and pointee.endswith("*"):
        if text is not None and not text.isdecimal():
            raise ArgumentError(f"{name}={text}: pointers to pointers cannot be given, only how many of them there are")
        count = max(threads, _SMALLEST) if text is None else int(text)
        notes.append(f"{name}: {count} pointers to nothing")
        return ArrayArgument("u64", count)
    if pointee is not None:
        element, width = _element(pointee)
        if text is not None:
            return _array(name, text, element, width)
        count = max(threads, _SMALLEST) * width
        fill: Fill = "random" if element.startswith("f") else "zeros"
        notes.append(f"{name}: {count} elements, {fill}")
        return ArrayArgument(element, count, fill)
    plain = " ".join(word for word in kind.split() if word not in ("const", "volatile"))
    if text is not None:
        return _scalar(name, text, plain)
    made_up = _made_up(plain, threads)
    notes.append(f"{name} = {made_up}")
    return _scalar(name, str(made_up), plain)


def _made_up(plain: str, threads: int) -> int:
    """As many as there are threads, where the type holds it."""
    if plain == "bool":
        return 1
    element = _ELEMENTS.get(plain, "i32")
    return min(threads, 2048 if element == "f16" else (1 << int(element[1:]) - 1) - 1)


def _typed(argument: ArrayArgument | ScalarArgument, kind: str) -> ArrayArgument | ScalarArgument:
    """A number inside of a record has to say its type: PTX does not. Of enumerations all are ``int``."""
    if isinstance(argument, ArrayArgument):
        return argument
    plain = " ".join(word for word in kind.split() if word not in ("const", "volatile"))
    if argument.element != "auto":
        return argument
    return ScalarArgument(argument.value, _ELEMENTS.get(plain, "i32"))


def _by_name(parameters: Sequence[tuple[str, str]], given: Sequence[str]) -> dict[str, str]:
    names = [name for name, _ in parameters]
    values: dict[str, str] = {}
    position = 0
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            if position >= len(names):
                raise ArgumentError(f"{text}: the kernel has {len(names)} parameters")
            name, value = names[position], text
        if name not in names:
            raise ArgumentError(f"{text}: the kernel has no parameter {name}; it has {', '.join(names) or 'none'}")
        position = names.index(name) + 1
        values[name] = value
    return values


def _pointee(kind: str) -> str | None:
    """What a pointer or array parameter points to, without qualifiers."""
    text = re.sub(r"\b(?:const|volatile|__restrict__|__restrict|restrict)\b", " ", kind)
    text = " ".join(text.split())
    if "*" not in text and "[" not in text:
        return None
    whole = re.sub(r"\[.*", "*", text).replace(" ", "")
    if whole.endswith("**"):
        return f"{text.partition('*')[0].strip()} *"
    return re.sub(r"[*\[].*", "", text).strip()


def _element(kind: str) -> tuple[Element, int]:
    """The element type and how many of them one value of the type takes; bytes for what is not known."""
    vector = _VECTOR.match(kind)
    if vector is not None:
        unsigned, base, count = vector.groups()
        base = {"longlong": "long long"}.get(base, base)
        return _ELEMENTS[f"unsigned {base}" if unsigned else base], int(count)
    return _ELEMENTS.get(kind, "u8"), 1 if kind in _ELEMENTS else 16


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
    if plain in ("half", "__half"):
        return ScalarArgument(value, "f16")
    if plain in ("nv_bfloat16", "__nv_bfloat16"):
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
