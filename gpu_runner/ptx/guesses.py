"""The first guess of an atomic that the toolkit makes of a compare-and-swap.

What a GPU has no instruction for (``atomicAdd`` of ``__nv_bfloat16`` before sm_90, of ``__half`` before sm_70) NVIDIA's
headers write as a plain read and a loop around ``atomicCAS``, which tries again where the read was wrong. To whoever
calls it that is one atomic access: the read is made a relaxed one, which does not race with atomics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from gpu_runner.ptx import model
from gpu_runner.ptx.mangled import base_name

_HEADER: Final = re.compile(r"(?:cuda_[a-z]+\d+|sm_\d+_atomic_functions)\.hp?p?$")
_PRIVATE: Final = frozenset({"param", "local", "const"})
_ORDERED: Final = frozenset({"volatile", "relaxed", "acquire", "weak"})


def with_relaxed_guesses(module: model.Module) -> model.Module:
    """The module in which these reads are relaxed."""
    headers = {file.index for file in module.files if _HEADER.match(PurePath(file.name).name)}
    if not headers:
        return module
    names = dict(module.strings)
    functions = tuple(
        replace(function, body=tuple(_relaxed(function.body, function.name, headers, names)))
        if function.body is not None
        else function
        for function in module.functions
    )
    return replace(module, functions=functions)


def _relaxed(
    statements: Iterable[model.Statement], function: str, headers: set[int], names: dict[str, str]
) -> Iterable[model.Statement]:
    for statement in statements:
        if isinstance(statement, model.Scope):
            yield replace(statement, body=tuple(_relaxed(statement.body, function, headers, names)))
        elif isinstance(statement, model.Instruction) and _is_guess(statement, function, headers, names):
            yield replace(statement, modifiers=("relaxed", "gpu", *statement.modifiers))
        else:
            yield statement


def _is_guess(instruction: model.Instruction, function: str, headers: set[int], names: dict[str, str]) -> bool:
    location = instruction.location
    if instruction.opcode != "ld" or location is None or location.position.file not in headers:
        return False
    if (_PRIVATE | _ORDERED) & {modifier.split("::")[0] for modifier in instruction.modifiers}:
        return False
    inlined = names.get((location.function or "").split("+")[0], function)
    return base_name(inlined).startswith("atomic")
