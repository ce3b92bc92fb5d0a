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
            if isinstance(statement, model.Scope):
                found.append(model.Scope(block(statement.body)))
            elif isinstance(statement, model.Call) and _is_through_pointer(statement):
                targets = targets_of(statement, module, tables, prototypes, pointed_to)
                found += _compared(statement, [target.name for target in targets], count)
                count += 1
            else:
                found.append(statement)
        return tuple(found)

    try:
        body = block(function.body or ())
    except UnsupportedHere as error:
        raise Unsupported((str(error),)) from None
    declared = f".reg .pred {_EQUAL}; .reg .b64 {_TARGET};"
    return replace(function, body=(*parse_statements(declared), *body))


def _compared(call: model.Call, targets: list[str], number: int) -> list[model.Statement]:
    """One comparison for each target; a pointer to none of them ends in a trap. Labels are the function's own."""
    assert isinstance(call.target, model.Register)
    end = f"$cuda_lsp_called_{number}"
    found: list[model.Statement] = []
    if call.guard is not None:
        found += parse_statements(f"@{'' if call.guard.negated else '!'}{call.guard.register} bra {end};")
    for position, target in enumerate(targets):
        other = f"{end}_not_{position}"
        compare = f"mov.u64 {_TARGET}, {target}; setp.ne.u64 {_EQUAL}, {call.target.name}, {_TARGET};"
        found += parse_statements(f"{compare} @{_EQUAL} bra {other};")
        found.append(replace(call, target=model.Symbol(target), prototype=None, guard=None))
        found += parse_statements(f"bra.uni {end}; {other}:")
    found += parse_statements(f"trap; {end}:")
    return [
        replace(each, location=call.location) if isinstance(each, model.Instruction | model.Call) else each
        for each in found
    ]
