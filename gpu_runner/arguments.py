"""The arguments that a request describes, as bytes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from gpu_runner.cpu.launch import Array, LaunchError, Record, Scalar, Shared
from gpu_runner.ptx import model
from gpu_runner.request import (
    ArrayArgument,
    PointersArgument,
    RecordArgument,
    Request,
    ScalarArgument,
    SharedArgument,
)

_DTYPES: Final = {
    "b8": np.uint8, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "f16": np.float16,
    "i32": np.int32, "u32": np.uint32, "f32": np.float32, "i64": np.int64, "u64": np.uint64, "f64": np.float64,
}  # fmt: skip
_UPPER: Final = "bf16"
"""Numbers that are kept as the upper halves of others: NumPy has none of the kind."""
_SCALARS: Final = {"f32": "f32", "f64": "f64", "f16": "f16"}


def arguments_of(request: Request, module: model.Module, entry: str) -> tuple[Array | Scalar | Record | Shared, ...]:
    """Raises `LaunchError` where they do not fit the parameters."""
    function = module.definition(entry)
    assert function is not None
    if len(function.parameters) != len(request.arguments):
        raise LaunchError(f"{len(request.arguments)} arguments for {len(function.parameters)} parameters")
    found: list[Array | Scalar | Record | Shared] = []
    for argument, parameter in zip(request.arguments, function.parameters, strict=True):
        if isinstance(argument, RecordArgument):
            found.append(Record(tuple((part.offset, _argument(part.argument, "b64")) for part in argument.parts)))
        elif isinstance(argument, SharedArgument):
            found.append(Shared(argument.of, argument.offset))
        else:
            found.append(_argument(argument, parameter.type))
    return tuple(found)


def _argument(argument: ArrayArgument | PointersArgument | ScalarArgument, parameter: str) -> Array | Scalar:
    """An argument for a parameter of a PTX type."""
    if isinstance(argument, PointersArgument):
        target = _argument(argument.target, parameter)
        assert isinstance(target, Array)
        return Array(bytes(8 * argument.count), (target,) * argument.count)
    if isinstance(argument, ArrayArgument):
        return Array(_contents(argument))
    element = argument.element
    if element == "auto":
        element = _SCALARS.get(parameter) or f"{'u' if argument.value >= 0 else 'i'}{parameter[1:]}"
    if element not in _DTYPES:
        raise LaunchError(f"a number for a parameter of type .{parameter}")
    return Scalar(_scalar(argument, element))


def _scalar(argument: ScalarArgument, element: str) -> bytes:
    return _cell(argument.value, np.dtype(_DTYPES[element])).tobytes()


def _cell(value: float, dtype: np.dtype[Any]) -> NDArray[Any]:
    """One number in a type; integers that do not fit wrap around."""
    if dtype.kind == "f":
        return np.array(value, dtype)
    bits = int(value) & (1 << 8 * dtype.itemsize) - 1
    return np.frombuffer(bits.to_bytes(dtype.itemsize, "little"), dtype)[0]


def _contents(argument: ArrayArgument) -> bytes:
    is_upper = argument.element == _UPPER
    dtype: np.dtype[Any] = np.dtype(_DTYPES[{"auto": "i32", _UPPER: "f32"}.get(argument.element, argument.element)])
    contents = _filled(argument, dtype)
    for index, value in argument.settings:
        if 0 <= index < argument.count:
            contents[index] = _cell(value, dtype)
    return _upper(contents).tobytes() if is_upper else contents.tobytes()


def _upper(numbers: NDArray[Any]) -> NDArray[np.uint16]:
    words = np.frombuffer(numbers.astype(np.float32).tobytes(), np.uint32)
    return (words >> np.uint32(16)).astype(np.uint16)


def _filled(argument: ArrayArgument, dtype: np.dtype[Any]) -> NDArray[Any]:
    match argument.fill:
        case "iota":
            return np.arange(argument.count).astype(dtype)
        case "random":
            generator = default_rng(0)
            if dtype.kind == "f":
                return generator.standard_normal(argument.count).astype(dtype)
            return generator.integers(0, max(1, min(argument.count, 127)), argument.count).astype(dtype)
        case "values" if argument.values:
            return np.resize(np.array([_cell(value, dtype) for value in argument.values]), argument.count)
        case _:
            return np.zeros(argument.count, dtype)
