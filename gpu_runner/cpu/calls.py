"""Calls through pointers: which functions one may be of.

PTX says of such a call its prototype, or a list of functions. With a prototype the functions in question are those
that the kernel reaches, whose names stand somewhere else than in calls (in a ``mov``, in a table of a class), and whose
parameters and results have the prototype's sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpu_runner.cpu.body import Body, UnsupportedHere
from gpu_runner.cpu.variables import elements, size_of
from gpu_runner.ptx import model


def callable_by(call: model.Call, body: Body) -> list[model.Function]:
    """The functions that a call may be of, by name. Raises `UnsupportedHere`."""
    return targets_of(call, body.module, body.frame.tables, body.frame.prototypes, body.layout.pointed_to)


def targets_of(
    call: model.Call,
    module: model.Module,
    tables: Mapping[str, model.Targets],
    prototypes: Mapping[str, model.Prototype],
    pointed_to: frozenset[str],
) -> list[model.Function]:
    """`tables`, `prototypes`: of the function that the call stands in, by label; `pointed_to`: see
    `variables.reached`. Raises `UnsupportedHere`."""
    label = call.prototype or ""
    if label in tables:
        names = frozenset(tables[label].names)
        wanted = None
    elif label in prototypes:
        names = pointed_to
        wanted = _sizes(prototypes[label].results), _sizes(prototypes[label].parameters)
    else:
        raise UnsupportedHere("call through a pointer of which neither kind nor targets are known")
    found = [function for name in sorted(names) if (function := module.definition(name)) is not None]
    return [f for f in found if wanted in (None, (_sizes(f.results), _sizes(f.parameters)))]


def _sizes(variables: Iterable[model.Variable]) -> tuple[int, ...]:
    return tuple(size_of(variable.type) * (elements(variable) or 1) for variable in variables)
