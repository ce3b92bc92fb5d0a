"""Which function translates which opcode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gpu_runner.cpu.body import Body
from gpu_runner.ptx import model

Operation = Callable[[Body, model.Instruction], None]

OPERATIONS: Final[dict[str, Operation]] = {}


def operation(*opcodes: str) -> Callable[[Operation], Operation]:
    """Register a translation. It raises `UnsupportedHere` for forms that it does not know."""

    def register(function: Operation) -> Operation:
        for opcode in opcodes:
            OPERATIONS[opcode] = function
        return function

    return register
