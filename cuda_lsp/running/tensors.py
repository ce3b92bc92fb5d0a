"""Tensors that kernels take as PyTorch's accessors: given by their shape, which sizes, strides and data follow from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

Parts = Sequence[tuple[str, int, str]]
"""(name, offset, type) of what is in a parameter of class type."""
_SIZE: Final = re.compile(r"(.+)\.sizes_\[(\d+)\]$")
_SHAPE: Final = re.compile(r"(\d+(?:x\d+)*)(:.*)?$", re.DOTALL)
_MADE_UP: Final = {1: 1024, 2: 64}
"""The extent of each dimension of a tensor that nothing is said of, by their number; of more, 16."""


class ArgumentError(ValueError):
    """What is given does not fit the kernel; a sentence for the user."""


def with_tensors(given: Sequence[str], inside: Mapping[str, Parts]) -> tuple[list[str], list[str]]:
    """The arguments with ``NAME=4x128:random`` put as the parts of the accessor, and sentences about those of which
    nothing is said. `inside`: of the parameters of class type. Raises `ArgumentError`."""
    found = list(given)
    notes: list[str] = []
    for name, parts in inside.items():
        names = [part for part, _, _ in parts]
        rank = sum(match is not None and match[1] == name for match in map(_SIZE.match, names))
        if not rank or f"{name}.data_" not in names:
            continue
        own = next((text for text in found if text.partition("=")[0] == name), None)
        if own is not None:
            found.remove(own)
            found += _parts(name, names, *_read(own, rank))
        elif not any(text.startswith(f"{name}.") for text in found):
            shape = [_MADE_UP.get(rank, 16)] * rank
            notes.append(f"{name}: {'x'.join(map(str, shape))} elements, zeros")
            found += _parts(name, names, shape, "")
    return found, notes


def _read(text: str, rank: int) -> tuple[list[int], str]:
    match = _SHAPE.match(text.partition("=")[2])
    shape = [int(extent) for extent in match[1].split("x")] if match is not None else []
    if match is None or len(shape) != rank:
        example = "x".join(["4", "128", "3", "8", "2", "5"][:rank])
        raise ArgumentError(f"{text}: expected the shape of a tensor of {rank} dimensions, as in {example}:random")
    return shape, match[2] or ""


def _parts(name: str, names: Sequence[str], shape: Sequence[int], fill: str) -> list[str]:
    """The data, the sizes and the strides of a contiguous tensor."""
    parts = [f"{name}.data_={max(1, prod(shape))}{fill}"]
    for axis, extent in enumerate(shape):
        parts.append(f"{name}.sizes_[{axis}]={extent}")
        stride = prod(shape[axis + 1 :])
        own = re.compile(rf"{re.escape(name)}\.\w*strides_?\[{axis}\]$")
        parts += [f"{each}={stride}" for each in names if own.match(each)]
    return parts
