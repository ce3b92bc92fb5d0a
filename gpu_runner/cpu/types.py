"""PTX fundamental types and the LLVM types that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Type:
    """`kind`: u, s, b (bits), f (float), h (half or bfloat, held as bits), p (predicate)."""

    name: str
    bits: int
    kind: str
    llvm: str

    @property
    def bytes(self) -> int:
        return max(1, self.bits // 8)

    @property
    def signed(self) -> bool:
        return self.kind == "s"


def _types() -> dict[str, Type]:
    found = {"pred": Type("pred", 1, "p", "i1")}
    for bits in (8, 16, 32, 64, 128):
        for kind in "bus":
            found[f"{kind}{bits}"] = Type(f"{kind}{bits}", bits, kind, f"i{bits}")
    for name, bits in (("f16", 16), ("bf16", 16), ("f16x2", 32), ("bf16x2", 32)):
        found[name] = Type(name, bits, "h", f"i{bits}")
    found["f32"] = Type("f32", 32, "f", "float")
    found["f64"] = Type("f64", 64, "f", "double")
    return found


TYPES: Final = _types()


def bits_type(bits: int) -> Type:
    """The untyped bits of that width; 1 is a predicate."""
    return TYPES["pred"] if bits == 1 else TYPES[f"b{bits}"]
