"""C conditions from text: over a kernel's parameters in ``assume`` comments, over host variables in lost assertions.

``parse_assumption("n % 32 == 0 && blockDim.x <= 256", kernel)`` gives a BOOL expression with C's conversions, or raises
ValueError with a message for the user.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from analyzers.hostguide.hosttypes import promoted, usual
from analyzers.ir import expr as ex
from analyzers.ir.context import promise
from analyzers.ir.expr import BDIM, BOOL, GDIM, I32, I64, U32, U64, Expr, FloatType, IntType
from analyzers.ir.kernel import Kernel

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)(?P<suffix>[uUlL]*)(?![\w.])|(?P<name>[A-Za-z_]\w*(?:(?:\.|->)\w+)*)"
    r"|(?P<sign>&&|\|\||==|!=|<=|>=|<<|>>|[-+*/%<>!~&|^()?:,]))"
)
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_OPERATORS = {
    "|": "or", "^": "xor", "&": "and", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
    "<<": "shl", ">>": "shr", "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem",
}  # fmt: skip
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_DEEPEST = 64
_PROMISE = re.compile(r"(injective|disjoint)\s*\(([\w\s.,]*)\)")


def parse_assumption(text: str, kernel: Kernel) -> Expr:
    """The condition as BOOL over ``param:NAME``, ``blockDim`` and ``gridDim``. Raises ValueError."""
    told = _PROMISE.fullmatch(text.strip())
    if told is not None:
        return _promise(told[1], [name.strip() for name in told[2].split(",")], kernel)
    names: dict[str, Expr] = {"warpSize": ex.const(32)}
    for title, symbols in (("blockDim", BDIM), ("gridDim", GDIM)):
        for axis, symbol in zip("xyz", symbols, strict=True):
            names[f"{title}.{axis}"] = symbol
    for parameter in kernel.parameters:
        if isinstance(parameter.ty, IntType):
            names[parameter.name] = ex.sym(f"param:{parameter.name}", parameter.ty)

    def meaning(name: str) -> Expr:
        found = names.get(name)
        if found is None:
            raise ValueError(_unknown(name, kernel))
        return found

    return parse_condition(text, meaning)


def _promise(kind: str, names: list[str], kernel: Kernel) -> Expr:
    """`injective(idx)`: its elements differ from each other; `disjoint(a, b)`: no byte is in both."""
    if len(names) != 1 if kind == "injective" else len(set(names)) < 2:
        wanted = "one array" if kind == "injective" else "two arrays or more"
        raise ValueError(f"'{kind}' takes {wanted}")
    objects: list[str] = []
    for name in names:
        found = next((p.object for p in kernel.parameters if p.name == name and p.object is not None), None)
        if found is None:
            known = ", ".join(p.name for p in kernel.parameters if p.object is not None) or "none"
            raise ValueError(f"'{name}' is no pointer parameter of {kernel.base_name} (it has: {known})")
        objects.append(found)
    return promise(kind, tuple(objects))


def parse_condition(text: str, meaning: Callable[[str], Expr]) -> Expr:
    """A C condition as BOOL; ``meaning`` gives the value of a name such as ``n`` or ``p.n``. Raises ValueError."""
    return _Parser(text, meaning).whole()


def _unknown(name: str, kernel: Kernel) -> str:
    if name.partition(".")[0] in ("threadIdx", "blockIdx"):
        return f"'{name}' differs from thread to thread: an assumption is about the whole launch"
    for parameter in kernel.parameters:
        if parameter.name == name:
            kind = "a floating-point number" if isinstance(parameter.ty, FloatType) else "a pointer"
            return f"'{name}' is {kind}: only integers can be compared here"
    known = ", ".join(p.name for p in kernel.parameters if isinstance(p.ty, IntType)) or "none"
    return f"'{name}' is no integer parameter of {kernel.base_name} (it has: {known})"


class _Parser:
    def __init__(self, text: str, meaning: Callable[[str], Expr]) -> None:
        self.tokens = _tokens(text)
        self.at = 0
        self.depth = 0
        self.meaning = meaning

    def whole(self) -> Expr:
        if not self.tokens:
            raise ValueError("nothing is assumed")
        found = self.choice()
        if self.at < len(self.tokens):
            raise ValueError(f"unexpected '{self.tokens[self.at]}'")
        return ex.cast(found, BOOL)

    def next_is(self, *signs: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at] in signs

    def take(self) -> str:
        if self.at >= len(self.tokens):
            raise ValueError("the expression ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, sign: str) -> None:
        if not self.next_is(sign):
            found = f"'{self.tokens[self.at]}'" if self.at < len(self.tokens) else "the end"
            raise ValueError(f"expected '{sign}', found {found}")
        self.at += 1

    def choice(self) -> Expr:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError("the expression is nested too deeply")
        condition = self.level(0)
        if self.next_is("?"):
            self.at += 1
            first = self.choice()
            self.expect(":")
            second = self.choice()
            first, second = _balanced(first, second)
            condition = ex.select(ex.cast(condition, BOOL), first, second)
        self.depth -= 1
        return condition

    def level(self, n: int) -> Expr:
        if n == len(_LEVELS):
            return self.prefix()
        left = self.level(n + 1)
        while self.next_is(*_LEVELS[n]):
            sign = self.take()
            left = _applied(sign, left, self.level(n + 1))
        return left

    def prefix(self) -> Expr:
        if self.next_is("-", "+", "~", "!"):
            self.depth += 1
            if self.depth > _DEEPEST:
                raise ValueError("the expression is nested too deeply")
            sign = self.take()
            inner = self.prefix()
            self.depth -= 1
            if sign == "!":
                return ex.lnot(ex.cast(inner, BOOL))
            assert isinstance(inner.ty, IntType)
            inner = ex.cast(inner, promoted(inner.ty))
            return ex.neg(inner) if sign == "-" else ex.bitnot(inner) if sign == "~" else inner
        return self.primary()

    def primary(self) -> Expr:
        token = self.take()
        if token == "(":
            inner = self.choice()
            self.expect(")")
            return inner
        if token[0].isdigit():
            return _literal(token)
        if token in ("min", "max") and self.next_is("("):
            self.at += 1
            first = self.choice()
            self.expect(",")
            second = self.choice()
            self.expect(")")
            return ex.binary(token, *_balanced(first, second))
        if not (token[0].isalpha() or token[0] == "_"):
            raise ValueError(f"unexpected '{token}'")
        if token in ("true", "false"):
            return ex.TRUE if token == "true" else ex.FALSE
        if self.next_is("("):
            raise ValueError(f"'{token}' cannot be called here")
        return self.meaning(token)


def _tokens(text: str) -> list[str]:
    out: list[str] = []
    at = 0
    text = text.rstrip().removesuffix(";").rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"cannot read '{text[at:].strip()}'")
        out.append(match.group().strip())
        at = match.end()
    return out


def _literal(token: str) -> Expr:
    digits = token.rstrip("uUlL")
    suffix = token[len(digits) :].lower()
    value = int(digits, 8) if len(digits) > 1 and digits[0] == "0" and digits.isdigit() else int(digits, 0)
    candidates = (U32, U64) if "u" in suffix else (I32, I64) if digits.isdigit() and digits[0] != "0" else (
        I32, U32, I64, U64
    )  # fmt: skip
    for ty in candidates:
        if value <= ty.high and not ("l" in suffix and ty.width < 64):
            return ex.const(value, ty)
    raise ValueError(f"{token} is too large")


def _balanced(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    assert isinstance(a.ty, IntType)
    assert isinstance(b.ty, IntType)
    ty = usual(a.ty, b.ty)
    return ex.cast(a, ty), ex.cast(b, ty)


def _applied(sign: str, a: Expr, b: Expr) -> Expr:
    if sign == "&&":
        return ex.land(ex.cast(a, BOOL), ex.cast(b, BOOL))
    if sign == "||":
        return ex.lor(ex.cast(a, BOOL), ex.cast(b, BOOL))
    operator = _OPERATORS[sign]
    if operator in ("shl", "shr"):
        assert isinstance(a.ty, IntType)
        common = promoted(a.ty)
        return ex.binary(operator, ex.cast(a, common), ex.cast(b, common))
    a, b = _balanced(a, b)
    if operator in _COMPARISONS:
        return ex.compare(operator, a, b)
    if operator in ("div", "rem") and b.op == "const" and b.value == 0:
        raise ValueError("division by zero")
    return ex.binary(operator, a, b)
