"""Host expressions as a reader would write them: ``(n + 255) / 256``.

For summaries, hovers and notes only: conversions are left out and symbols appear by the name of the host variable, so
the text is not an exact formula.
"""

from __future__ import annotations

from analyzers.ir.expr import BOOL, Expr

_LEVEL = {
    "mul": 10, "div": 10, "rem": 10, "add": 9, "sub": 9, "shl": 8, "shr": 8, "lt": 7, "le": 7, "eq": 6, "ne": 6,
    "and": 5, "xor": 4, "or": 3, "land": 2, "lor": 1,
}  # fmt: skip
_SIGN = {
    "mul": "*", "div": "/", "rem": "%", "add": "+", "sub": "-", "shl": "<<", "shr": ">>", "lt": "<", "le": "<=",
    "eq": "==", "ne": "!=", "and": "&", "xor": "^", "or": "|", "land": "&&", "lor": "||",
}  # fmt: skip
_MIRRORED = {"lt": ">", "le": ">=", "eq": "==", "ne": "!="}
_LONGEST = 80
LONGEST_NAME = 48
"""Letters of the name of a host value."""


def host_name(symbol: str) -> str:
    """``rows`` of ``host:3:rows``; other symbols as they are."""
    if symbol.startswith("host:"):
        return symbol.split(":", 2)[2]
    return symbol.removeprefix("param:")


def is_of_host(e: Expr) -> bool:
    """Whether it is a value that only the host knows."""
    return e.op == "sym" and str(e.value).startswith("host:")


def written(e: Expr) -> str:
    """The expression in C, cut to a readable length."""
    text = _text(e, 0, [200])
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _bare(e: Expr) -> Expr:
    while e.op == "cast":
        e = e.args[0]
    return e


def _text(e: Expr, level: int, budget: list[int]) -> str:
    budget[0] -= 1
    if budget[0] < 0:
        return "…"
    op = e.op
    if op == "const":
        return str(e.value) if e.ty != BOOL else "true" if e.value else "false"
    if op in ("sym", "var"):
        return host_name(str(e.value))
    if op == "cast":
        return _text(_bare(e), level, budget)
    own = _LEVEL.get(op)
    if own is not None:
        a, b = (_bare(x) for x in e.args)
        sign = _SIGN[op]
        if a.op == "const" and b.op != "const":
            # As one writes it: `n + 1`, `argc > 2`.
            if op in ("add", "mul"):
                a, b = b, a
            elif op in _MIRRORED:
                a, b, sign = b, a, _MIRRORED[op]
        if op == "add" and b.op == "const" and b.value < 0:
            text = f"{_text(a, own, budget)} - {-b.value}"
        else:
            text = f"{_text(a, own, budget)} {sign} {_text(b, own + 1, budget)}"
        return f"({text})" if own < level else text
    if op == "select":
        c, a, b = (_text(x, 1, budget) for x in e.args)
        text = f"{c} ? {a} : {b}"
        return f"({text})" if level > 0 else text
    if op in ("neg", "not", "lnot"):
        return {"neg": "-", "not": "~", "lnot": "!"}[op] + _text(e.args[0], 11, budget)
    name = str(e.value) if op == "call" else op
    return f"{name}({', '.join(_text(a, 0, budget) for a in e.args)})"
