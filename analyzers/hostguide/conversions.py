"""C's arithmetic, comparisons and conversions on the values of host expressions.

Takes and gives values; what has no meaning here becomes a value of its own that nothing is known of.
"""

from __future__ import annotations

from analyzers.hostguide.hosttypes import (
    OTHER,
    HostType,
    PointerTo,
    promoted,
    usual,
)
from analyzers.hostguide.makers import Makers
from analyzers.hostguide.places import pointee_size
from analyzers.hostguide.roundings import float_to_int
from analyzers.hostguide.tree import Node
from analyzers.hostguide.values import (
    Address,
    Choice,
    Closure,
    FunctionValue,
    Null,
    Pointer,
    Unknown,
    Value,
)
from analyzers.ir import expr as ex
from analyzers.ir.expr import BOOL, FALSE, TRUE, Expr, FloatType, IntType


class Conversions(Makers):
    """Computes with values, whatever expressions they come from."""

    def to_int(self, value: Value, ty: IntType, name: str) -> Expr:
        if isinstance(value, Expr):
            if isinstance(value.ty, IntType):
                return ex.cast(value, ty)
            return float_to_int(self, value, ty)
        if ty == BOOL:
            return self.truth(value)
        if isinstance(value, Null):
            return ex.const(0, ty)
        if isinstance(value, Choice):
            first, second = self.to_int(value.first, ty, name), self.to_int(value.second, ty, name)
            joined = self.combine(value.guard, first, second, name)
            assert isinstance(joined, Expr)
            return joined
        return self.symbol(value.name if isinstance(value, Unknown) else name, ty)

    def truth(self, value: Value) -> Expr:
        if isinstance(value, Expr):
            if isinstance(value.ty, IntType):
                return ex.cast(value, BOOL)
            return self.symbol("condition", BOOL)
        if isinstance(value, Null):
            return FALSE
        if isinstance(value, (Address, FunctionValue, Closure)):
            return TRUE
        if isinstance(value, Choice):
            return ex.select(value.guard, self.truth(value.first), self.truth(value.second))
        if isinstance(value, (Pointer, Unknown)) and (isinstance(value, Pointer) or isinstance(value.ty, IntType)):
            found = self.derive(value.id, ("nonzero",), value.name, BOOL)
            assert isinstance(found, Expr)
            return found
        return self.symbol("condition", BOOL)

    def compared(self, operator: str, left: Value, right: Value) -> Expr:
        if isinstance(left, Expr) and isinstance(right, Expr):
            if isinstance(left.ty, IntType) and isinstance(right.ty, IntType):
                ty = usual(left.ty, right.ty)
                return ex.compare(operator, ex.cast(left, ty), ex.cast(right, ty))
        elif operator in ("eq", "ne"):
            for one, other in ((left, right), (right, left)):
                if isinstance(one, Null) and not isinstance(other, Expr):
                    same = self.truth(other)
                    return same if operator == "ne" else ex.lnot(same)
            if isinstance(left, (Pointer, Address, Choice)) and isinstance(right, (Pointer, Address, Choice)):
                equal = TRUE if left == right else self.symbol("comparison", BOOL)
                if equal is not TRUE:
                    self.comparisons[equal] = (left, right)
                return equal if operator == "eq" else ex.lnot(equal)
        return self.symbol("comparison", BOOL)

    def arithmetic(self, operator: str, left: Value, right: Value, ty: HostType, node: Node) -> Value:
        if isinstance(left, Expr) and isinstance(right, Expr):
            if isinstance(left.ty, IntType) and isinstance(right.ty, IntType):
                if operator in ("shl", "shr"):
                    common = promoted(left.ty)
                    right = ex.cast(right, common)
                else:
                    common = usual(left.ty, right.ty)
                    right = ex.cast(right, common)
                return self.bounded(ex.binary(operator, ex.cast(left, common), right), "value")
            if left.ty == right.ty and self.size(left) + self.size(right) < 40:
                return ex.make(operator, left.ty, (left, right))
            return self.fresh("value", ty)
        if operator in ("add", "sub"):
            if isinstance(right, Expr):
                return self._moved(left, right, 1 if operator == "add" else -1, pointee_size(node.arg(0).ty))
            if isinstance(left, Expr) and operator == "add":
                return self._moved(right, left, 1, pointee_size(node.arg(1).ty))
        return self.fresh("value", ty)

    def converted(self, value: Value, ty: HostType) -> Value:
        if isinstance(ty, IntType):
            if isinstance(value, (Pointer, Address)) and ty != BOOL:
                number = self.symbol("address", ty)
                self.addresses[number] = frozenset(self.pointers_in(value))
                return number
            return self.to_int(value, ty, "value")
        if isinstance(ty, FloatType):
            if isinstance(value, Expr):
                return ex.cast(value, ty)
            return self.fresh("value", ty)
        if isinstance(ty, PointerTo) and isinstance(value, Expr):
            if value.op == "const" and value.value == 0:
                return Null()
            return self.related("pointer", value)
        if ty is OTHER and isinstance(value, Expr):
            return self.fresh("value", ty)  # a type that clang did not find: what the value becomes is not known
        return value
