"""Functions of PTX: heads, statements, instructions, operands and ``.loc``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpu_runner.ptx import model
from gpu_runner.ptx.parse_variable import STATE_SPACES, parse_parameters, parse_variable
from gpu_runner.ptx.stream import Stream

_TABLES: Final = frozenset({".branchtargets", ".calltargets"})


@dataclass(slots=True)
class _Where:
    """The ``.loc`` that holds for the next instruction."""

    location: model.Location | None = None


def parse_function(stream: Stream, linkage: tuple[str, ...]) -> model.Function:
    """A function or entry, from its ``.func`` or ``.entry`` to its brace or semicolon."""
    kind = stream.next()[1:]
    directives = _directives(stream)
    results = parse_parameters(stream) if stream.peek() == "(" else ()
    name = stream.next()
    parameters = parse_parameters(stream) if stream.peek() == "(" else ()
    directives += _directives(stream)
    if stream.accept(";"):
        return model.Function(kind, name, results, parameters, None, linkage, directives)
    stream.expect("{")
    body = _statements(stream, _Where())
    return model.Function(kind, name, results, parameters, body, linkage, directives)


def parse_statements(text: str) -> tuple[model.Statement, ...]:
    """What stands in a function, without its braces."""
    return _statements(Stream(text + "}"), _Where())


def _directives(stream: Stream) -> tuple[tuple[str, tuple[int, ...]], ...]:
    found: list[tuple[str, tuple[int, ...]]] = []
    while stream.kind() == "dot":
        name = stream.next()[1:]
        if name == "pragma":
            raise stream.error("a pragma stands in the body")
        numbers: list[int] = []
        while stream.kind() == "number":
            numbers.append(stream.integer())
            stream.accept(",")
        found.append((name, tuple(numbers)))
    return tuple(found)


def _statements(stream: Stream, where: _Where) -> tuple[model.Statement, ...]:
    """Everything up to the closing brace, which is taken."""
    found: list[model.Statement] = []
    while not stream.accept("}"):
        token = stream.peek()
        if token == "{":
            stream.next()
            found.append(model.Scope(_statements(stream, where)))
        elif token == ".loc":
            where.location = _location(stream)
        elif token == ".reg":
            found.append(_registers(stream))
        elif token in STATE_SPACES:
            found.extend(parse_variable(stream, ()))
        elif token == ".pragma":
            found.append(stream.pragma())
        elif stream.kind() == "word" and stream.peek(1) == ":":
            found.append(_labelled(stream))
        elif token == "@" or stream.kind() == "word":
            found.append(_instruction(stream, where.location))
        else:
            raise stream.error("expected a statement")
    return tuple(found)


def _location(stream: Stream) -> model.Location:
    stream.expect(".loc")
    position = _position(stream)
    function: str | None = None
    inlined: model.Position | None = None
    while stream.accept(","):
        match stream.next():
            case "function_name":
                function = stream.next()
                offset = stream.offset()
                function += f"+{offset}" if offset else ""
            case "inlined_at":
                inlined = _position(stream)
            case other:
                raise stream.error(f"unknown attribute {other!r} of .loc")
    return model.Location(position, function, inlined)


def _position(stream: Stream) -> model.Position:
    return model.Position(stream.integer(), stream.integer(), stream.integer())


def _registers(stream: Stream) -> model.Registers:
    stream.expect(".reg")
    vector: str | None = None
    type_ = stream.next()[1:]
    if type_ in ("v2", "v4", "v8"):
        vector, type_ = type_, stream.next()[1:]
    names: list[tuple[str, int | None]] = []
    while not names or stream.accept(","):
        name = stream.next()
        count: int | None = None
        if stream.accept("<"):
            count = stream.integer()
            stream.expect(">")
        names.append((name, count))
    stream.expect(";")
    return model.Registers(type_, tuple(names), vector)


def _labelled(stream: Stream) -> model.Statement:
    """A label, and the table or prototype behind it."""
    label = stream.next()
    stream.expect(":")
    directive = stream.peek()
    if directive in _TABLES:
        stream.next()
        names = stream.separated()
        stream.expect(";")
        return model.Targets(directive[1:], label, tuple(names))
    if directive == ".callprototype":
        stream.next()
        results = parse_parameters(stream) if stream.peek() == "(" else ()
        stream.expect("_")
        parameters = parse_parameters(stream) if stream.peek() == "(" else ()
        attributes: list[str] = []
        while stream.kind() == "dot":
            attributes.append(stream.next()[1:])
        stream.expect(";")
        return model.Prototype(label, results, parameters, tuple(attributes))
    return model.Label(label)


def _instruction(stream: Stream, location: model.Location | None) -> model.Instruction | model.Call:
    guard: model.Guard | None = None
    if stream.accept("@"):
        negated = stream.accept("!")
        guard = model.Guard(stream.next(), negated)
    opcode, *modifiers = _mnemonic(stream.next())
    if opcode == "call":
        return _call(stream, tuple(modifiers), guard, location)
    operands: list[model.Operand] = []
    if stream.peek() != ";":
        operands.append(_operand(stream))
        while stream.accept(","):
            operands.append(_operand(stream))
    stream.expect(";")
    return model.Instruction(opcode, tuple(modifiers), tuple(operands), guard, location)


def _mnemonic(word: str) -> list[str]:
    return word.split(".")


def _call(
    stream: Stream, modifiers: tuple[str, ...], guard: model.Guard | None, location: model.Location | None
) -> model.Call:
    results: tuple[model.Operand, ...] = ()
    if stream.peek() == "(":
        results = _list(stream)
        stream.expect(",")
    name = stream.next()
    target = model.Register(name) if name.startswith("%") else model.Symbol(name)
    arguments: tuple[model.Operand, ...] = ()
    prototype: str | None = None
    if stream.accept(","):
        if stream.peek() == "(":
            arguments = _list(stream)
            if stream.accept(","):
                prototype = stream.next()
        else:
            prototype = stream.next()
    stream.expect(";")
    return model.Call(target, results, arguments, modifiers, prototype, guard, location)


def _list(stream: Stream) -> tuple[model.Operand, ...]:
    stream.expect("(")
    found: list[model.Operand] = []
    while not stream.accept(")"):
        if found:
            stream.expect(",")
        found.append(_operand(stream))
    return tuple(found)


def _operand(stream: Stream) -> model.Operand:
    first = _single(stream)
    if stream.accept("|"):
        return model.Pair(first, _single(stream))
    return first


def _single(stream: Stream) -> model.Operand:
    token = stream.peek()
    if token == "[":
        return _memory(stream)
    if token == "{":
        stream.next()
        elements: list[model.Operand] = []
        while not stream.accept("}"):
            if elements:
                stream.expect(",")
            elements.append(_operand(stream))
        return model.Vector(tuple(elements))
    if token == "!":
        stream.next()
        return model.Negated(model.Register(stream.next()))
    if stream.kind() == "word":
        name = stream.next()
        if name.startswith("%") or "." in name:
            return model.Register(name)
        return model.Symbol(name, stream.offset())
    return stream.number()


def _memory(stream: Stream) -> model.Operand:
    stream.expect("[")
    base = _address(stream)
    if stream.accept("]"):
        return base
    parts: list[model.Operand] = [base]
    while stream.accept(","):
        parts.append(_address(stream) if stream.kind() == "word" else _operand(stream))
    stream.expect("]")
    return model.TensorAddress(tuple(parts))


def _address(stream: Stream) -> model.Address:
    if stream.kind() == "word":
        name = stream.next()
        base = model.Register(name) if name.startswith("%") else model.Symbol(name)
        return model.Address(base, stream.offset())
    return model.Address(model.Integer(stream.integer()), stream.offset())
