"""C expressions as text and meaning side by side, with C's promotions: what generated kernels are made of."""

from __future__ import annotations

from dataclasses import dataclass

from analyzers.ir import expr as e
from analyzers.reference.builder import V

C_NAMES: dict[e.IntType, str] = {
    e.I32: "int", e.U32: "unsigned", e.I16: "short", e.U8: "unsigned char", e.I64: "long long",
    e.U64: "unsigned long long", e.U16: "unsigned short", e.I8: "signed char",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Term:
    """A C expression: its text, its meaning, and whether memory contents can change its value."""

    text: str
    expr: e.Expr
    data: bool = False

    @property
    def ty(self) -> e.IntType:
        assert isinstance(self.expr.ty, e.IntType)
        return self.expr.ty

    @property
    def value(self) -> V:
        return V(self.expr)


def promoted(t: Term) -> e.Expr:
    return e.cast(t.expr, e.I32) if t.ty.width < 32 else t.expr


def common(a: e.Expr, b: e.Expr) -> e.IntType:
    """The type of C's usual arithmetic conversions of promoted operands."""
    x, y = a.ty, b.ty
    assert isinstance(x, e.IntType)
    assert isinstance(y, e.IntType)
    if x.signed == y.signed:
        return x if x.width >= y.width else y
    unsigned, signed = (y, x) if x.signed else (x, y)
    return unsigned if unsigned.width >= signed.width else signed


_SYMBOL = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^", "shl": "<<",
    "shr": ">>", "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=",
}  # fmt: skip


def arithmetic(op: str, a: Term, b: Term) -> Term:
    text, data = f"({a.text} {_SYMBOL[op]} {b.text})", a.data or b.data
    x, y = promoted(a), promoted(b)
    if op in ("shl", "shr"):
        return Term(text, e.binary(op, x, y), data)
    ty = common(x, y)
    return Term(text, e.binary(op, e.cast(x, ty), e.cast(y, ty)), data)


def comparison(op: str, a: Term, b: Term) -> Term:
    x, y = promoted(a), promoted(b)
    ty = common(x, y)
    return Term(f"({a.text} {_SYMBOL[op]} {b.text})", e.compare(op, e.cast(x, ty), e.cast(y, ty)), a.data or b.data)


def literal(value: int, ty: e.IntType = e.I32) -> Term:
    suffix = {e.I32: "", e.U32: "u", e.I64: "ll", e.U64: "ull"}[ty]
    return Term(f"{value}{suffix}", e.const(value, ty))


def converted(t: Term, ty: e.IntType) -> Term:
    return Term(f"({C_NAMES[ty]}){t.text}", e.cast(t.expr, ty), t.data)
