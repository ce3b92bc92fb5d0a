"""Variables and parameters of PTX: state space, alignment, type, sizes and initialiser."""

from __future__ import annotations

from typing import Final

from gpu_runner.ptx import model
from gpu_runner.ptx.stream import Stream

STATE_SPACES: Final = frozenset({".global", ".shared", ".const", ".local", ".param", ".tex"})


def parse_variable(stream: Stream, linkage: tuple[str, ...]) -> list[model.Variable]:
    """One declaration with its semicolon; it may declare several names."""
    space, type_, align, vector, attributes = _head(stream)
    found = [_declarator(stream, space, type_, align, vector, attributes, linkage)]
    while stream.accept(","):
        found.append(_declarator(stream, space, type_, align, vector, attributes, linkage))
    stream.expect(";")
    return found


def parse_parameters(stream: Stream) -> tuple[model.Variable, ...]:
    """``( .param … , … )``; registers may be parameters of functions too."""
    found: list[model.Variable] = []
    stream.expect("(")
    while not stream.accept(")"):
        if found:
            stream.expect(",")
        space, type_, align, vector, attributes = _head(stream)
        found.append(_declarator(stream, space, type_, align, vector, attributes, ()))
    return tuple(found)


def _head(stream: Stream) -> tuple[str, str, int | None, str | None, tuple[str, ...]]:
    """Space, type, alignment, vector and attributes, in any order that ptxas takes."""
    space = stream.next()
    if space not in STATE_SPACES and space != ".reg":
        raise stream.error(f"{space!r} is no state space")
    align: int | None = None
    vector: str | None = None
    type_: str | None = None
    attributes: list[str] = []
    while stream.kind() == "dot":
        word = stream.next()[1:]
        if word == "align":
            value = stream.integer()
            if attributes and attributes[0] == "ptr":
                attributes.append(f"align {value}")
            else:
                align = value
        elif word in ("v2", "v4", "v8"):
            vector = word
        elif word == "attribute":
            attributes.append(_attribute(stream))
        elif word == "ptr" or attributes[:1] == ["ptr"]:
            attributes.append(word)
        else:
            type_ = word
    if type_ is None:
        raise stream.error("expected a type")
    return space[1:], type_, align, vector, tuple(attributes)


def _attribute(stream: Stream) -> str:
    """The text in the parentheses of ``.attribute(.managed)`` or ``.attribute(.unified(1, 2))``."""
    stream.expect("(")
    text, depth = "", 1
    while depth:
        token = stream.next()
        depth += (token == "(") - (token == ")")
        text += token if depth else ""
    return text


def _declarator(
    stream: Stream,
    space: str,
    type_: str,
    align: int | None,
    vector: str | None,
    attributes: tuple[str, ...],
    linkage: tuple[str, ...],
) -> model.Variable:
    if stream.kind() != "word":
        raise stream.error("expected a name")
    name = stream.next()
    dimensions: list[int | None] = []
    while stream.accept("["):
        dimensions.append(None if stream.peek() == "]" else stream.integer())
        stream.expect("]")
    initialiser = _value(stream) if stream.accept("=") else None
    return model.Variable(space, type_, name, tuple(dimensions), align, vector, initialiser, linkage, attributes)


def _value(stream: Stream) -> model.Value:
    if stream.accept("{"):
        values: list[model.Value] = []
        while not stream.accept("}"):
            if values:
                stream.expect(",")
            values.append(_value(stream))
        return model.Braces(tuple(values))
    if stream.kind() == "word":
        return _address(stream)
    number = stream.number()
    if isinstance(number, model.Integer) and stream.accept("("):
        masked = model.Mask(number.value, _address(stream))
        stream.expect(")")
        return masked
    return number


def _address(stream: Stream) -> model.Symbol | model.Generic:
    name = stream.next()
    if name == "generic":
        stream.expect("(")
        name = stream.next()
        stream.expect(")")
        return model.Generic(name, stream.offset())
    return model.Symbol(name, stream.offset())
