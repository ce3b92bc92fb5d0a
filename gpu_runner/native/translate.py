"""Python functions → LLVM IR.

What is understood: parameters annotated with ``int`` or a `Struct`; assignments, ``if``, ``while``, ``for … in
range``, ``break``, ``continue``, ``return``; integer arithmetic (64 bits, ``//`` and ``%`` as C's, ``>>``
arithmetic), comparisons, ``and``, ``or``, ``not``, conditional expressions; elements of arrays and fields of
structures; constants of the module; calls of functions given to the same `ir_of`, of `min`, `max`, `logical_shift`,
`address_of`, `prefetch`, and of machine addresses (`call`). Everything else is refused when it is compiled, which
happens in every test."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from gpu_runner.native.structs import SCALARS, Struct, dtype_of, field_offset, fields_of

F = TypeVar("F", bound=Callable[..., Any])

_REGISTERED: Final[dict[Callable[..., Any], str]] = {}


class NotCompilable(Exception):
    """The function uses what the subset does not have."""


def native(function: F) -> F:
    """Mark a function for compilation; it is never run by Python."""
    _REGISTERED[function] = f"{function.__module__}.{function.__qualname__}"
    return function


def logical_shift(value: int, by: int) -> int:
    """Shift right, filling with zeros."""
    raise NotImplementedError


def address_of(struct: Struct) -> int:
    """Machine address of a structure."""
    raise NotImplementedError


def prefetch(struct: Struct) -> None:
    """Have the processor fetch the first bytes of a structure; any address will do, also where no memory is."""
    raise NotImplementedError


def call(address: int, *arguments: int) -> int:
    """Call a machine address with 64-bit integers, for one."""
    raise NotImplementedError


_OPERATORS: Final[dict[type[ast.operator], str]] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "sdiv",
    ast.Mod: "srem",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "ashr",
}
_COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "slt",
    ast.LtE: "sle",
    ast.Gt: "sgt",
    ast.GtE: "sge",
}


def ir_of(exported: Sequence[Callable[..., Any]]) -> str:
    """IR of the functions and of all that they call. Exported ones have their plain names and take ``i64`` and
    ``ptr``."""
    done: dict[Callable[..., Any], str] = {}
    waiting = list(exported)
    while waiting:
        function = waiting.pop()
        if function in done:
            continue
        compiled = _Function(function, function in exported)
        done[function] = compiled.text()
        waiting.extend(compiled.called)
    return "\n".join(done.values())


@dataclass(slots=True)
class _Value:
    """An SSA value. `struct` None: an i64; else a pointer to that structure."""

    name: str
    struct: type[Struct] | None = None


@dataclass(slots=True)
class _Place:
    """Memory: a pointer, and the scalar or structure there."""

    name: str
    element: Any


def _llvm(struct: type[Struct] | None) -> str:
    return "i64" if struct is None else "ptr"


class _Function:
    def __init__(self, function: Callable[..., Any], exported: bool) -> None:
        if function not in _REGISTERED:
            raise NotCompilable(f"{function.__qualname__} is not marked as native")
        self.function = function
        self.scope: dict[str, Any] = function.__globals__
        source = textwrap.dedent(inspect.getsource(function))
        (definition,) = ast.parse(source).body
        assert isinstance(definition, ast.FunctionDef)
        self.definition = definition
        self.exported = exported
        self.called: list[Callable[..., Any]] = []
        self.lines: list[str] = []
        self.allocas: list[str] = []
        self.variables: dict[str, tuple[str, type[Struct] | None]] = {}
        self.loops: list[tuple[str, str]] = []
        self.open = True
        self.count = 0

    def fail(self, node: ast.AST, what: str) -> NotCompilable:
        line = getattr(node, "lineno", 0)
        return NotCompilable(f"{self.function.__qualname__}, line {line}: {what} ({ast.dump(node)[:80]})")

    def text(self) -> str:
        parameters: list[str] = []
        for argument in self.definition.args.args:
            struct = self._annotated(argument)
            parameters.append(f"{_llvm(struct)} %{argument.arg}")
            place = self._variable(argument.arg, struct)
            self.emit(f"store {_llvm(struct)} %{argument.arg}, ptr {place}")
        self._statements(self.definition.body)
        if self.open:
            self.end("ret i64 0")
        name = self.function.__name__ if self.exported else _REGISTERED[self.function]
        head = f'define {"" if self.exported else "internal "}i64 @"{name}"({", ".join(parameters)}) {{'
        return "\n".join([head, "entry:", *self.allocas, *self.lines, "}"])

    def _annotated(self, argument: ast.arg) -> type[Struct] | None:
        if isinstance(argument.annotation, ast.Name):
            if argument.annotation.id in ("int", "bool"):
                return None
            found = self.scope.get(argument.annotation.id)
            if isinstance(found, type) and issubclass(found, Struct):
                return found
        raise self.fail(argument, "parameters are int or structures")

    # Text

    def name(self, what: str = "v") -> str:
        self.count += 1
        return f"%.{what}{self.count}"

    def emit(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def let(self, text: str) -> str:
        value = self.name()
        self.emit(f"{value} = {text}")
        return value

    def block(self, label: str) -> None:
        if self.open:
            self.emit(f"br label {label}")
        self.lines.append(f"{label[1:]}:")
        self.open = True

    def end(self, text: str) -> None:
        self.emit(text)
        self.open = False

    def _variable(self, name: str, struct: type[Struct] | None) -> str:
        place = self.name("x")
        self.allocas.append(f"  {place} = alloca {_llvm(struct)}")
        self.variables[name] = place, struct
        return place

    # Statements

    def _statements(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if not self.open:  # behind a return, break or continue
                self.block(self.name("dead"))
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=[target], value=value):
                self._assign(target, self._value(value))
            case ast.AugAssign(target=target, op=op, value=value):
                left = self._value(target)
                self._assign(target, self._binary(op, left, self._value(value), statement))
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=value):
                self._value(value)
            case ast.Return(value=None):
                self.end("ret i64 0")
            case ast.Return(value=value) if value is not None:
                self.end(f"ret i64 {self._integer(value)}")
            case ast.If(test=test, body=body, orelse=orelse):
                self._if(test, body, orelse)
            case ast.While(test=test, body=body, orelse=[]):
                self._while(test, body)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=args), body=body):
                self._for(name, args, body)
            case ast.Break():
                self.end(f"br label {self.loops[-1][1]}")
            case ast.Continue():
                self.end(f"br label {self.loops[-1][0]}")
            case _:
                raise self.fail(statement, "statement")

    def _assign(self, target: ast.expr, value: _Value) -> None:
        if isinstance(target, ast.Name):
            if target.id not in self.variables:
                self._variable(target.id, value.struct)
            place, struct = self.variables[target.id]
            if struct is not value.struct:
                raise self.fail(target, "a variable has one type")
            self.emit(f"store {_llvm(struct)} {value.name}, ptr {place}")
            return
        place_ = self._place(target)
        if not isinstance(place_.element, str) or value.struct is not None:
            raise self.fail(target, "only numbers are stored")
        bits = SCALARS[place_.element].itemsize * 8
        stored = value.name if bits == 64 else self.let(f"trunc i64 {value.name} to i{bits}")
        self.emit(f"store i{bits} {stored}, ptr {place_.name}")

    def _if(self, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
        then, other, after = self.name("then"), self.name("else"), self.name("after")
        self.end(f"br i1 {self._condition(test)}, label {then}, label {other}")
        for label, part in ((then, body), (other, orelse)):
            self.block(label)
            self._statements(part)
            if self.open:
                self.end(f"br label {after}")
        self.block(after)

    def _while(self, test: ast.expr, body: Sequence[ast.stmt]) -> None:
        again, inside, after = self.name("again"), self.name("body"), self.name("after")
        self.block(again)
        self.end(f"br i1 {self._condition(test)}, label {inside}, label {after}")
        self.loops.append((again, after))
        self.block(inside)
        self._statements(body)
        if self.open:
            self.end(f"br label {again}")
        self.loops.pop()
        self.block(after)

    def _for(self, name: str, arguments: Sequence[ast.expr], body: Sequence[ast.stmt]) -> None:
        """``range`` with a step of one; its end is taken once. The variable keeps its last value."""
        if len(arguments) > 2:
            raise self.fail(arguments[2], "range has no step")
        start = "0" if len(arguments) == 1 else self._integer(arguments[0])
        stop = self._integer(arguments[-1])
        counter = self.name("x")
        self.allocas.append(f"  {counter} = alloca i64")
        self.emit(f"store i64 {start}, ptr {counter}")
        head, inside, step, after = (self.name(what) for what in ("head", "body", "step", "after"))
        self.block(head)
        value = self.let(f"load i64, ptr {counter}")
        self.end(f"br i1 {self.let(f'icmp slt i64 {value}, {stop}')}, label {inside}, label {after}")
        self.loops.append((step, after))
        self.block(inside)
        self._assign(ast.Name(name), _Value(value))
        self._statements(body)
        self.block(step)
        following = self.let(f"add i64 {self.let(f'load i64, ptr {counter}')}, 1")
        self.emit(f"store i64 {following}, ptr {counter}")
        self.end(f"br label {head}")
        self.loops.pop()
        self.block(after)

    # Expressions

    def _integer(self, node: ast.expr) -> str:
        value = self._value(node)
        if value.struct is not None:
            raise self.fail(node, "a number is wanted")
        return value.name

    def _condition(self, node: ast.expr) -> str:
        """As i1, with short circuits."""
        match node:
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                result = ""
                a = self._integer(left)
                for op, right in zip(ops, comparators, strict=True):
                    b = self._integer(right)
                    if type(op) not in _COMPARISONS:
                        raise self.fail(node, "comparison")
                    value = self.let(f"icmp {_COMPARISONS[type(op)]} i64 {a}, {b}")
                    result = self.let(f"and i1 {result}, {value}") if result else value
                    a = b
                return result
            case ast.BoolOp(op=op, values=values):
                return self._short_circuit(isinstance(op, ast.And), values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.let(f"xor i1 {self._condition(operand)}, true")
            case _:
                return self.let(f"icmp ne i64 {self._integer(node)}, 0")

    def _short_circuit(self, is_and: bool, values: Sequence[ast.expr]) -> str:
        place = self.name("x")
        self.allocas.append(f"  {place} = alloca i1")
        after = self.name("after")
        for number, value in enumerate(values):
            result = self._condition(value)
            self.emit(f"store i1 {result}, ptr {place}")
            if number + 1 < len(values):
                on = self.name("on")
                first, second = (on, after) if is_and else (after, on)
                self.end(f"br i1 {result}, label {first}, label {second}")
                self.block(on)
        self.block(after)
        return self.let(f"load i1, ptr {place}")

    def _value(self, node: ast.expr) -> _Value:
        match node:
            case ast.Constant(value=bool() | int() as number):
                return _Value(str(int(number)))
            case ast.Name(id=name):
                return self._named(node, name)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, self._value(left), self._value(right), node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return _Value(self.let(f"sub i64 0, {self._integer(operand)}"))
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return _Value(self.let(f"xor i64 {self._integer(operand)}, -1"))
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return _Value(self.let(f"zext i1 {self._condition(node)} to i64"))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._conditional(test, body, orelse)
            case ast.Call(func=ast.Name(id=name), args=args):
                return self._call(node, name, args)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name), args=args):
                return self._call_function(node, getattr(self.scope[module], name), args)
            case ast.Attribute() | ast.Subscript():
                return self._load(node)
            case _:
                raise self.fail(node, "expression")

    def _named(self, node: ast.expr, name: str) -> _Value:
        if name in self.variables:
            place, struct = self.variables[name]
            return _Value(self.let(f"load {_llvm(struct)}, ptr {place}"), struct)
        found = self.scope.get(name)
        if isinstance(found, int):
            return _Value(str(int(found)))
        raise self.fail(node, "unknown name")

    def _binary(self, op: ast.operator, left: _Value, right: _Value, node: ast.AST) -> _Value:
        if type(op) not in _OPERATORS or left.struct is not None or right.struct is not None:
            raise self.fail(node, "operator")
        return _Value(self.let(f"{_OPERATORS[type(op)]} i64 {left.name}, {right.name}"))

    def _conditional(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> _Value:
        place = self.name("x")
        self.allocas.append(f"  {place} = alloca i64")
        then, other, after = self.name("then"), self.name("else"), self.name("after")
        self.end(f"br i1 {self._condition(test)}, label {then}, label {other}")
        for label, part in ((then, body), (other, orelse)):
            self.block(label)
            self.emit(f"store i64 {self._integer(part)}, ptr {place}")
            self.end(f"br label {after}")
        self.block(after)
        return _Value(self.let(f"load i64, ptr {place}"))

    def _call(self, node: ast.expr, name: str, arguments: Sequence[ast.expr]) -> _Value:
        match name:
            case "min" | "max":
                value = self._integer(arguments[0])
                for argument in arguments[1:]:
                    value = self.let(f"call i64 @llvm.s{name}.i64(i64 {value}, i64 {self._integer(argument)})")
                return _Value(value)
            case "logical_shift":
                value, by = (self._integer(argument) for argument in arguments)
                return _Value(self.let(f"lshr i64 {value}, {by}"))
            case "address_of":
                return _Value(self.let(f"ptrtoint ptr {self._value(arguments[0]).name} to i64"))
            case "prefetch":
                place = self._value(arguments[0]).name
                self.emit(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 3, i32 1)")
                return _Value("0")
            case "call":
                target, *values = (self._integer(argument) for argument in arguments)
                pointer = self.let(f"inttoptr i64 {target} to ptr")
                return _Value(self.let(f"call i64 {pointer}({', '.join(f'i64 {value}' for value in values)})"))
            case _:
                return self._call_function(node, self.scope.get(name), arguments)

    def _call_function(self, node: ast.expr, function: Any, arguments: Sequence[ast.expr]) -> _Value:
        if function not in _REGISTERED:
            raise self.fail(node, "unknown function")
        self.called.append(function)
        values = [self._value(argument) for argument in arguments]
        text = ", ".join(f"{_llvm(value.struct)} {value.name}" for value in values)
        return _Value(self.let(f'call i64 @"{_REGISTERED[function]}"({text})'))

    # Memory

    def _load(self, node: ast.expr) -> _Value:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in self.variables:
            found = getattr(self.scope.get(node.value.id), node.attr, None)  # a constant of a module or enumeration
            if isinstance(found, int):
                return _Value(str(int(found)))
            raise self.fail(node, "unknown name")
        place = self._place(node)
        if not isinstance(place.element, str):
            return _Value(place.name, place.element)
        kind = SCALARS[place.element]
        bits = kind.itemsize * 8
        value = self.let(f"load i{bits}, ptr {place.name}")
        if bits == 64:
            return _Value(value)
        return _Value(self.let(f"{'sext' if kind.kind == 'i' else 'zext'} i{bits} {value} to i64"))

    def _place(self, node: ast.expr) -> _Place:
        match node:
            case ast.Attribute(value=value, attr=name):
                base = self._value(value)
                if base.struct is None:
                    raise self.fail(node, "a field of a number")
                field = fields_of(base.struct)[name]
                offset = _offset(base.struct, name)
                place = self.let(f"getelementptr i8, ptr {base.name}, i64 {offset}")
                if isinstance(field, tuple):
                    raise self.fail(node, "an array as a value")
                return _Place(place, field)
            case ast.Subscript(value=ast.Attribute(value=value, attr=name), slice=index):
                base = self._value(value)
                if base.struct is None:
                    raise self.fail(node, "a field of a number")
                field = fields_of(base.struct)[name]
                if isinstance(field, str) or not isinstance(field, tuple):
                    raise self.fail(node, "not an array")
                element = _element(base.struct, name)
                pointer = self.let(f"getelementptr i8, ptr {base.name}, i64 {_offset(base.struct, name)}")
                first = self.let(f"load ptr, ptr {pointer}")
                size = SCALARS[element].itemsize if element in SCALARS else dtype_of(element).itemsize
                at = self.let(f"mul i64 {self._integer(index)}, {size}")
                return _Place(self.let(f"getelementptr i8, ptr {first}, i64 {at}"), element)
            case _:
                raise self.fail(node, "place")


def _element(struct: type[Struct], name: str) -> Any:
    """What an array field points to."""
    return fields_of(struct)[name][0]


def _offset(struct: type[Struct], name: str) -> int:
    return field_offset(dtype_of(struct), name)
