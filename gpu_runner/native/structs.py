"""Structures in memory: declared as classes, laid out as C does, filled from NumPy.

    class Node(Struct):
        time: u32
        next: u32

    class State(Struct):
        used: i64
        nodes: Array[Node]

In compiled functions ``state.nodes[3].time`` is a load or a store; integers are 64 bits wide in between. In Python,
`dtype_of(State)` is the NumPy type, and an `Array` field holds the machine address of the first element.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

u8 = Annotated[int, "u8"]
u16 = Annotated[int, "u16"]
u32 = Annotated[int, "u32"]
i32 = Annotated[int, "i32"]
u64 = Annotated[int, "u64"]
i64 = Annotated[int, "i64"]

SCALARS: dict[str, np.dtype[Any]] = {
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "i32": np.dtype(np.int32),
    "u64": np.dtype(np.uint64),
    "i64": np.dtype(np.int64),
}


class Struct:
    """Base of structures; only their annotations matter."""


class Array(Generic[T]):
    """A field that points to elements. The methods are for type checkers: no instance ever exists."""

    def __getitem__(self, index: int) -> T:
        raise NotImplementedError

    def __setitem__(self, index: int, value: T) -> None:
        raise NotImplementedError


@cache
def fields_of(struct: type[Struct]) -> Mapping[str, Any]:
    """Names and types of the fields: a scalar's name, or the element of an array in a tuple (scalar name or class)."""
    return {name: _field(hint) for name, hint in typing.get_type_hints(struct, include_extras=True).items()}


def _field(hint: Any) -> Any:
    if typing.get_origin(hint) is Array:
        return (_element(typing.get_args(hint)[0]),)
    return _element(hint)


def _element(hint: Any) -> Any:
    metadata = getattr(hint, "__metadata__", None)
    return metadata[0] if metadata else hint


@cache
def dtype_of(struct: type[Struct]) -> np.dtype[Any]:
    """The structure as NumPy sees it."""
    columns = [
        (name, SCALARS["u64"] if isinstance(field, tuple) else SCALARS[field])
        for name, field in fields_of(struct).items()
    ]
    return np.dtype(columns, align=True)


def _any(value: Any) -> Any:
    return value


def field_offset(structure: np.dtype[Any], name: str) -> int:
    """Byte offset of a field."""
    return int(_any(structure).fields[name][1])


def allocate(struct: type[Struct], count: int = 1) -> NDArray[np.void]:
    """So many structures, all zero."""
    return np.zeros(count, dtype_of(struct))
