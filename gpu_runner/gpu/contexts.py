"""The chains of calls that lead to each function of a kernel, numbered so that a call adds a constant.

A function with n chains has the numbers 0 to n - 1. The chains through one call are a range of the callee's numbers, as
many as the caller has; so the callee's number is the caller's plus the start of the range, and one register carries it
(precise calling context encoding, Sumner and others, 2010). With that, records tell sites by chain of calls, as those
of the CPU executor do, although the functions are not copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from gpu_runner.cpu.body import Unsupported
from gpu_runner.cpu.external import EXTERNAL
from gpu_runner.ptx import model
from gpu_runner.ptx.logged import flat

_MOST: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Chain:
    """Call sites and calling functions, innermost first."""

    calls: tuple[model.Location | None, ...] = ()
    callers: tuple[str, ...] = ()


@dataclass(slots=True)
class Contexts:
    """Of one kernel."""

    functions: tuple[model.Function, ...]
    """The kernel and what it calls, callers first."""
    chains: dict[str, list[Chain]] = field(default_factory=dict[str, list[Chain]])
    starts: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    """Of the call at a position of a function (`flat`, from 1 on): where its range of the callee's numbers begins."""


def contexts_of(module: model.Module, kernel: model.Function) -> Contexts:
    """Raises `Unsupported` for recursion, calls through pointers and functions defined elsewhere."""
    order = _callers_first(module, kernel)
    found = Contexts(order, {function.name: [] for function in order})
    found.chains[kernel.name].append(Chain())
    for function in order:
        for position, call in calls_of(function):
            assert isinstance(call.target, model.Symbol)
            name = call.target.name
            if name not in found.chains:
                continue
            into = found.chains[name]
            found.starts[function.name, position] = len(into)
            for chain in found.chains[function.name]:
                into.append(Chain((call.location, *chain.calls), (function.name, *chain.callers)))
            if len(into) > _MOST:
                raise Unsupported(("the kernel with everything that it calls is too large",))
    return found


def calls_of(function: model.Function) -> Iterator[tuple[int, model.Call]]:
    for position, statement in enumerate(flat(function.body or ()), 1):
        if isinstance(statement, model.Call):
            yield position, statement


def _callers_first(module: model.Module, kernel: model.Function) -> tuple[model.Function, ...]:
    finished: dict[str, model.Function] = {}
    reasons: dict[str, None] = {}

    def visit(function: model.Function, above: tuple[str, ...]) -> None:
        for _, call in calls_of(function):
            if not isinstance(call.target, model.Symbol):
                reasons["call through a pointer"] = None
                continue
            name = call.target.name
            callee = module.definition(name)
            if name in above or name == function.name:
                reasons[f"recursion through {name}"] = None
            elif callee is not None and name not in finished:
                visit(callee, (*above, function.name))
            elif callee is None and name not in EXTERNAL:
                reasons[f"call of {name}, which is defined elsewhere"] = None
        finished[function.name] = function

    visit(kernel, ())
    if reasons:
        raise Unsupported(tuple(reasons))
    return tuple(reversed(finished.values()))
