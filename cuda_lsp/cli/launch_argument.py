"""A launch as the user writes it on the command line: `grid=(4,4),block=(16,16),shared=1024,n=64`.

The same notation stands in `// cuda-lsp: launch` comments. Missing dimensions of a triple are 1; a missing grid or
block is not known; `shared` is the dynamic shared memory in bytes; every other name is a scalar parameter of the
kernel.
"""

from __future__ import annotations

import re

from analyzers.model import Dim3, UserLaunch

_ITEM = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=\s*(\([^()]*\)|[^,()\s]+)\s*(?:,|\s|$)\s*")
_LARGEST = (1 << 64) - 1


def parse(text: str) -> UserLaunch:
    """The launch that a text describes; raises `ValueError` with a sentence about what is wrong."""
    dimensions: dict[str, Dim3] = {}
    values: dict[str, int] = {}
    shared: int | None = None
    position = 0
    while position < len(text.rstrip()):
        match = _ITEM.match(text, position)
        if match is None:
            raise ValueError(
                f"cannot read {text[position:]!r}; expected name=value, as in grid=(4,4),block=(16,16),n=64"
            )
        name, written = match[1], match[2]
        if name in values or name in dimensions or (name == "shared" and shared is not None):
            raise ValueError(f"{name} is given twice")
        if name in ("grid", "block"):
            dimensions[name] = _dimensions(name, written)
        elif name == "shared":
            shared = _integer(name, written)
            if shared < 0:
                raise ValueError("shared is a number of bytes and cannot be negative")
        else:
            values[name] = _integer(name, written)
        position = match.end()
    if not dimensions and not values and shared is None:
        raise ValueError("an empty launch")
    return UserLaunch(dimensions.get("grid"), dimensions.get("block"), tuple(values.items()), shared)


def _dimensions(name: str, written: str) -> Dim3:
    parts = [part.strip() for part in written.strip("()").split(",")]
    numbers = [_integer(name, part) for part in parts]
    if len(numbers) > 3 or any(number < 1 for number in numbers):
        raise ValueError(f"{name}={written} is not one to three positive numbers")
    x, y, z = [*numbers, 1, 1][:3]
    if name == "block" and x * y * z > 1024:
        raise ValueError(f"block={written} has {x * y * z} threads; the most is 1024")
    return x, y, z


def _integer(name: str, written: str) -> int:
    try:
        number = int(written, 0)
    except ValueError:
        raise ValueError(f"{name}={written} is not a whole number") from None
    if abs(number) > _LARGEST:
        raise ValueError(f"{name}={written} does not fit in 64 bits")
    return number
