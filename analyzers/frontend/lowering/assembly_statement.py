"""An assembly statement being lowered: its operands, and the orders and scopes that qualifiers name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from analyzers.frontend.lowering import memory
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.nodes import Node
from analyzers.ir.expr import I64, PTR, U64, Expr, const, ptradd
from analyzers.ir.kernel import Order, Scope

_OPERAND = re.compile(r"%(?:(\d+)|\[(\w+)\])")
_SCOPES: dict[str, Scope] = {"cta": "block", "gpu": "grid", "gl": "grid", "sys": "system", "cluster": "cluster"}
ORDERS: dict[str, Order] = {
    "relaxed": "relaxed", "acquire": "acquire", "release": "release", "acq_rel": "acq_rel", "sc": "seq_cst",
}  # fmt: skip


@dataclass(slots=True)
class Statement:
    """An asm statement being lowered."""

    ctx: Context
    node: Node
    operands: list[Node]
    outputs: list[bool]
    names: dict[str, int]
    values: dict[int, Expr] = field(default_factory=dict[int, Expr])
    predicates: dict[str, Expr] = field(default_factory=dict[str, Expr])
    written: set[int] = field(default_factory=set[int])

    def number(self, text: str) -> int | None:
        """The operand that ``%0`` or ``%[name]`` stands for."""
        found = _OPERAND.search(text)
        if found is None:
            return None
        number = int(found.group(1)) if found.group(1) else self.names.get(found.group(2), -1)
        return number if 0 <= number < len(self.operands) else None

    def is_output(self, text: str) -> bool:
        """Whether another instruction of the statement may have written an operand."""
        number = self.number(text)
        return number is not None and self.outputs[number]

    def value(self, text: str) -> Expr | None:
        """An operand or an immediate."""
        text = text.strip()
        number = self.number(text)
        if number is None:
            try:
                return const(int(text, 0), I64)
            except ValueError:
                return None
        found = self.values.get(number)
        if found is None:
            found = self.values[number] = self.ctx.held(self.ctx.scalar(self.operands[number]))
        return found

    def pointer(self, text: str) -> Expr | None:
        """What ``[%1+16]`` points to."""
        base, _, offset = text.strip().strip("[]").partition("+")
        value = self.value(base)
        if value is None:
            return None
        pointer = memory.convert_scalar(self.ctx, value, PTR)
        if not offset.strip():
            return pointer
        by = self.value(offset)
        return ptradd(pointer, memory.convert_scalar(self.ctx, by, I64)) if by is not None else None

    def set(self, text: str, value: Expr) -> None:
        """Write an output operand; a register declared inside the text is nobody's business."""
        number = self.number(text)
        if number is None or not self.outputs[number]:
            return
        self.written.add(number)
        place = self.ctx.place(self.operands[number])
        if place.type.scalar:
            memory.write(self.ctx, place, memory.convert_scalar(self.ctx, value, place.type.ir or U64), self.node)


def ordering_of(qualifiers: list[str]) -> tuple[Order, Scope] | None:
    """Order and scope of a strong access, None for a weak one."""
    for qualifier in qualifiers:
        if qualifier in ORDERS:
            return ORDERS[qualifier], scope_of(qualifiers)
    return None


def scope_of(qualifiers: list[str]) -> Scope:
    for qualifier in qualifiers:
        if qualifier in _SCOPES:
            return _SCOPES[qualifier]
    return "grid"
