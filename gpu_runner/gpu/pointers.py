"""Calls through pointers as comparisons with the functions that one may be of, and direct calls of them.

Instrumented functions take a parameter more than pointers to them know of, and each call has to say by which chain the
callee is reached (`contexts`): so a kernel is given only direct calls before it is instrumented.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_runner.cpu.body import Unsupported, UnsupportedHere
from gpu_runner.cpu.calls import targets_of
from gpu_runner.cpu.variables import reached
from gpu_runner.ptx import model
from gpu_runner.ptx.logged import flat
from gpu_runner.ptx.parse_function import parse_statements

_EQUAL = "%cuda_lsp_other"
_TARGET = "%cuda_lsp_target"


def with_direct_calls(module: model.Module, kernel: str) -> model.Module:
    """The module, in which nothing that the kernel reaches calls through a pointer. Raises `Unsupported`."""
    names, _, pointed_to = reached(module, kernel)
    functions = tuple(
        _rewritten(function, module, pointed_to) if function.name in names and _has_pointers(function) else function
        for function in module.functions
    )
    return replace(module, functions=functions)


def _has_pointers(function: model.Function) -> bool:
    return any(_is_through_pointer(statement) for statement in flat(function.body or ()))


def _is_through_pointer(statement: model.Statement) -> bool:
    return isinstance(statement, model.Call) and isinstance(statement.target, model.Register)


def _rewritten(function: model.Function, module: model.Module, pointed_to: frozenset[str]) -> model.Function:
    within = tuple(flat(function.body or ()))
    tables = {statement.label: statement for statement in within if isinstance(statement, model.Targets)}
    prototypes = {statement.label: statement for statement in within if isinstance(statement, model.Prototype)}
    count = 0

    def block(statements: tuple[model.Statement, ...]) -> tuple[model.Statement, ...]:
        nonlocal count
        found: list[model.Statement] = []
        for statement in statements:
            call = _call_in(statement)
            if call is not None:
                names = [each.name for each in targets_of(call, module, tables, prototypes, pointed_to)]
                found += _compared(statement, call, names, count)
                count += 1
            elif isinstance(statement, model.Scope):
                found.append(model.Scope(block(statement.body)))
            elif _is_through_pointer(statement):
                raise UnsupportedHere("call through a pointer outside of a block of its own")
            else:
                found.append(statement)
        return tuple(found)

    try:
        body = block(function.body or ())
    except UnsupportedHere as error:
        raise Unsupported((str(error),)) from None
    declared = f".reg .pred {_EQUAL}; .reg .b64 {_TARGET};"
    return replace(function, body=(*parse_statements(declared), *body))


def _call_in(statement: model.Statement) -> model.Call | None:
    """The one call through a pointer of a block, or of what is a call with neither arguments nor results."""
    if isinstance(statement, model.Scope):
        calls = [inner for inner in statement.body if isinstance(inner, model.Call)]
        return calls[0] if len(calls) == 1 and _is_through_pointer(calls[0]) else None
    if isinstance(statement, model.Call) and _is_through_pointer(statement):
        return None if statement.arguments or statement.results else statement
    return None


def _compared(statement: model.Statement, call: model.Call, targets: list[str], number: int) -> list[model.Statement]:
    """One comparison for each target, with a block of its own behind it: nothing may come between a call and its
    parameters. A pointer to none of the targets ends in a trap. Labels are the function's own."""
    assert isinstance(call.target, model.Register)
    end = f"$cuda_lsp_called_{number}"
    found: list[model.Statement] = []
    if call.guard is not None:
        found += parse_statements(f"@{'' if call.guard.negated else '!'}{call.guard.register} bra {end};")
    for position, target in enumerate(targets):
        other = f"{end}_not_{position}"
        compare = f"mov.u64 {_TARGET}, {target}; setp.ne.u64 {_EQUAL}, {call.target.name}, {_TARGET};"
        found += _placed(parse_statements(f"{compare} @{_EQUAL} bra {other};"), call)
        direct = replace(call, target=model.Symbol(target), prototype=None, guard=None)
        if isinstance(statement, model.Scope):
            kept = (inner for inner in statement.body if not isinstance(inner, model.Prototype))
            found.append(model.Scope(tuple(direct if inner is call else inner for inner in kept)))
        else:
            found.append(direct)
        found += _placed(parse_statements(f"bra.uni {end}; {other}:"), call)
    found += _placed(parse_statements(f"trap; {end}:"), call)
    return found


def _placed(statements: tuple[model.Statement, ...], call: model.Call) -> list[model.Statement]:
    return [
        replace(each, location=call.location) if isinstance(each, model.Instruction | model.Call) else each
        for each in statements
    ]
