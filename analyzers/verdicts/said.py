"""What the host says of a kernel's scalar parameters at a launch, in the parameter's name: ``n = rows``, ``n >= 1``.

Takes a launch context, gives the facts that proofs about it may use: what is passed, and the conditions that hold for
the very value that is passed. A condition that has no short form is told as the host wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from analyzers.ir import expr as E
from analyzers.ir.context import LaunchContext
from analyzers.ir.expr import Expr
from analyzers.model import FactNote, ParameterFact

_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<="}
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">="}
_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%"}
_MAXIMAL_LENGTH = 60


def said(context: LaunchContext) -> tuple[ParameterFact, ...]:
    """The facts, parameter by parameter."""
    passed = {
        str(symbol.value).removeprefix("param:"): (symbol, value)
        for symbol, value in context.bindings
        if symbol.op == "sym" and str(symbol.value).startswith("param:")
    }
    # Of a host variable that is passed twice either parameter may be named.
    names = {value: name for name, (_, value) in reversed(passed.items()) if value.op == "sym"}
    names |= {symbol: name for name, (symbol, _) in passed.items()}
    notes = dict(context.binding_notes)
    found: dict[ParameterFact, None] = {}
    for name, (symbol, value) in passed.items():
        others = {symbol: each for symbol, each in names.items() if each != name}
        relation = _relation(name, value, notes.get(symbol), others)
        for fact in (*relation, *_conditions(name, symbol, value, names, context)):
            found[fact] = None
    return tuple(found)


def _relation(name: str, value: Expr, note: FactNote | None, others: Mapping[Expr, str]) -> Iterator[ParameterFact]:
    """What is passed: as the host writes it, or what a variable of the same name has been computed as. Nothing where
    that is unknown. `others`: the names of what other parameters are given."""
    span = note.span if note is not None else None
    left, _, right = note.text.partition(" = ") if note is not None and note.kind == "relation" else ("", "", "")
    if left == name and right not in ("", name) and len(right) <= _MAXIMAL_LENGTH:
        yield ParameterFact(name, f"{name} = {right}", span)
    elif value.op == "const":
        yield ParameterFact(name, f"{name} = {value.value}", span)
    elif value.op != "sym" and (text := _term(value, others)) is not None and len(text) <= _MAXIMAL_LENGTH:
        yield ParameterFact(name, f"{name} = {text}", span)


def _conditions(
    name: str, symbol: Expr, value: Expr, names: Mapping[Expr, str], context: LaunchContext
) -> Iterator[ParameterFact]:
    own = {**names, symbol: name, value: name} if value.op == "sym" else {**names, symbol: name}
    for constraint in context.constraints:
        mentioned = E.symbols(constraint.condition)
        if symbol not in mentioned and (value.op != "sym" or value not in mentioned):
            continue
        note = constraint.note
        text = _text(constraint.condition, own)
        if text is None or len(text) > _MAXIMAL_LENGTH:
            text = note.text if len(note.text) <= _MAXIMAL_LENGTH else None
        if text is not None:
            yield ParameterFact(name, text, note.span)


def _text(condition: Expr, names: Mapping[Expr, str]) -> str | None:
    """A condition as source text; None where it has no short form."""
    if condition.op == "land":
        parts = [_text(part, names) for part in condition.args]
        return " && ".join(part for part in parts if part is not None) if None not in parts else None
    sign = _COMPARISONS.get(condition.op)
    if sign is None or not isinstance(condition.args[0].ty, E.IntType):
        return None
    left, right = condition.args
    if left.op == "const":
        left, right, sign = right, left, _TURNED[sign]
    one, two = _term(left, names), _term(right, names)
    return f"{one} {sign} {two}" if one is not None and two is not None else None


def _term(e: Expr, names: Mapping[Expr, str], *, inner: bool = False) -> str | None:
    if e.op == "const":
        return str(e.value)
    if e.op == "sym":
        known = names.get(e)
        # A host value by the name it has there.
        return known or (str(e.value).split(":", 2)[-1] if str(e.value).startswith("host:") else None)
    sign = _ARITHMETIC.get(e.op)
    if sign is None or len(e.args) != 2:
        return None
    left, right = (_term(argument, names, inner=True) for argument in e.args)
    if left is None or right is None:
        return None
    text = f"{left} {sign} {right}"
    return f"({text})" if inner else text
