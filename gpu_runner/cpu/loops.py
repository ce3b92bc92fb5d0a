"""Loops in which a thread may be waiting for another one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gpu_runner.ptx import model
from gpu_runner.ptx.logged import flat

_READS_MEMORY: Final = frozenset({"ld", "ldu", "atom", "mbarrier"})


def waiting_loops(statements: Iterable[model.Statement], labels: dict[str, int]) -> frozenset[tuple[str, int]]:
    """(label, position) of the jumps back over a read of memory or a call."""
    found: set[tuple[str, int]] = set()
    reads: list[int] = []
    tables: dict[str, tuple[str, ...]] = {}
    for number, statement in enumerate(flat(statements), 1):
        if isinstance(statement, model.Call):
            reads.append(number)
        elif isinstance(statement, model.Targets):
            tables[statement.label] = statement.names
        elif isinstance(statement, model.Instruction):
            if statement.opcode in _READS_MEMORY and not {"param", "local", "const"} & set(statement.modifiers):
                reads.append(number)
            names: tuple[str, ...] = ()
            if statement.opcode in ("bra", "brx"):
                names = tuple(operand.name for operand in statement.operands if isinstance(operand, model.Symbol))
                names = tuple(target for name in names for target in tables.get(name, (name,)))
            for name in names:
                target = labels.get(name, number + 1)
                if target <= number and any(target < read < number for read in reads):
                    found.add((name, number))
    return frozenset(found)
