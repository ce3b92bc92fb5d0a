"""`model.Module` → PTX text that `parse` reads back to an equal module, and that ptxas takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpu_runner.ptx import model


def render(module: model.Module) -> str:
    """The module as text. ``.debug_str`` is printed as it was read; other sections were not kept."""
    return "\n".join(_module(module)) + "\n"


def statement_text(statement: model.Instruction | model.Call) -> str:
    """One instruction, with its semicolon and without its place."""
    return f"{_guard(statement.guard)}{_operation(statement)};"


def _module(module: model.Module) -> Iterator[str]:
    yield f".version {module.version}"
    yield f".target {', '.join(module.target)}"
    yield f".address_size {module.address_size}"
    for pragma in module.pragmas:
        yield _pragma(pragma)
    # A function is declared before it is used, and an initialiser may use one.
    first = next((at for at, function in enumerate(module.functions) if function.body is not None), None)
    for function in module.functions[:first]:
        yield f"{_head(function)};"
    for variable in module.variables:
        yield f"{_variable(variable)};"
    for new, old in module.aliases:
        yield f".alias {new}, {old};"
    for function in module.functions[len(module.functions) if first is None else first :]:
        if function.body is None:
            yield f"{_head(function)};"
            continue
        yield _head(function)
        yield "{"
        yield from _body(function.body, _Printed())
        yield "}"
    for file in module.files:
        yield f'.file {file.index} "{file.name}"'
    if module.strings:
        yield ".section .debug_str"
        yield "{"
        for label, text in module.strings:
            yield f"{label}:"
            yield f".b8 {','.join(str(code) for code in (*text.encode(), 0))}"
        yield "}"


class _Printed:
    """The ``.loc`` printed last."""

    location: model.Location | None = None


def _head(function: model.Function) -> str:
    words = [*(f".{word}" for word in function.linkage), f".{function.kind}"]
    if function.results:
        words.append(_parameters(function.results))
    words.append(function.name)
    if function.parameters or function.kind == "func":
        words.append(_parameters(function.parameters))
    for name, numbers in function.directives:
        words.append(f".{name} {', '.join(map(str, numbers))}".rstrip())
    return " ".join(words)


def _parameters(parameters: Iterable[model.Variable]) -> str:
    return f"({', '.join(_variable(parameter) for parameter in parameters)})"


def _variable(variable: model.Variable) -> str:
    words = [*(f".{word}" for word in variable.linkage), f".{variable.space}"]
    pointer = variable.attributes[:1] == ("ptr",)
    if variable.attributes and not pointer:
        words.extend(f".attribute({text})" for text in variable.attributes)
    if variable.align is not None:
        words.append(f".align {variable.align}")
    if variable.vector is not None:
        words.append(f".{variable.vector}")
    words.append(f".{variable.type}")
    if pointer:
        words.extend(f".{text}" for text in variable.attributes)
    sizes = "".join("[]" if size is None else f"[{size}]" for size in variable.dimensions)
    words.append(f"{variable.name}{sizes}")
    if variable.initialiser is not None:
        words.append(f"= {_value(variable.initialiser)}")
    return " ".join(words)


def _value(value: model.Value) -> str:
    match value:
        case model.Braces():
            return f"{{{', '.join(_value(item) for item in value.values)}}}"
        case model.Generic():
            return f"generic({value.name}){_offset(value.offset)}"
        case model.Mask():
            return f"0x{value.mask:X}({_value(value.of)})"
        case _:
            return _operand(value)


def _offset(offset: int) -> str:
    return f"+{offset}" if offset else ""


def _body(statements: Iterable[model.Statement], printed: _Printed) -> Iterator[str]:
    for statement in statements:
        match statement:
            case model.Instruction() | model.Call():
                location = statement.location
                if location is not None and location != printed.location:
                    yield _location(location)
                    printed.location = location
                yield statement_text(statement)
            case model.Label():
                yield f"{statement.name}:"
            case model.Registers():
                names = ", ".join(name if count is None else f"{name}<{count}>" for name, count in statement.names)
                vector = f".{statement.vector} " if statement.vector else ""
                yield f".reg {vector}.{statement.type} {names};"
            case model.Variable():
                yield f"{_variable(statement)};"
            case model.Targets():
                yield f"{statement.label}: .{statement.kind} {', '.join(statement.names)};"
            case model.Prototype():
                results = f"{_parameters(statement.results)} " if statement.results else ""
                attributes = "".join(f" .{text}" for text in statement.attributes)
                parameters = _parameters(statement.parameters)
                yield f"{statement.label}: .callprototype {results}_ {parameters}{attributes};"
            case model.Pragma():
                yield _pragma(statement)
            case model.Scope():
                yield "{"
                yield from _body(statement.body, printed)
                yield "}"


def _pragma(pragma: model.Pragma) -> str:
    return ".pragma " + ", ".join(f'"{text}"' for text in pragma.texts) + ";"


def _location(location: model.Location) -> str:
    text = f".loc {_position(location.position)}"
    if location.function is not None:
        text += f", function_name {location.function}"
    if location.inlined_at is not None:
        text += f", inlined_at {_position(location.inlined_at)}"
    return text


def _position(position: model.Position) -> str:
    return f"{position.file} {position.line} {position.column}"


def _guard(guard: model.Guard | None) -> str:
    return "" if guard is None else f"@{'!' if guard.negated else ''}{guard.register} "


def _operation(statement: model.Instruction | model.Call) -> str:
    if isinstance(statement, model.Call):
        parts = [f"({_operands(statement.results)})"] if statement.results else []
        parts.append(_operand(statement.target))
        if statement.arguments or statement.prototype is None:
            parts.append(f"({_operands(statement.arguments)})")
        if statement.prototype is not None:
            parts.append(statement.prototype)
        return f"{'.'.join(('call', *statement.modifiers))} {', '.join(parts)}"
    name = ".".join((statement.opcode, *statement.modifiers))
    return f"{name} {_operands(statement.operands)}".rstrip()


def _operands(operands: Iterable[model.Operand]) -> str:
    return ", ".join(_operand(operand) for operand in operands)


def _operand(operand: model.Operand) -> str:
    match operand:
        case model.Register():
            return operand.name
        case model.Integer():
            return str(operand.value)
        case model.Float():
            return f"0f{operand.bits:08X}" if operand.width == 32 else f"0d{operand.bits:016X}"
        case model.Symbol():
            return f"{operand.name}{_offset(operand.offset)}"
        case model.Address():
            return f"[{_inside(operand)}]"
        case model.Vector():
            return f"{{{_operands(operand.elements)}}}"
        case model.Pair():
            return f"{_operand(operand.first)}|{_operand(operand.second)}"
        case model.Negated():
            return f"!{operand.operand.name}"
        case model.TensorAddress():
            inside = (_inside(part) if isinstance(part, model.Address) else _operand(part) for part in operand.parts)
            return f"[{', '.join(inside)}]"


def _inside(address: model.Address) -> str:
    return f"{_operand(address.base)}{_offset(address.offset)}"
