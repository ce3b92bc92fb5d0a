"""Which instructions of a function are logged: accesses to memory that threads share, fences, and barriers.

Not logged are accesses to parameters, constants and the thread's own memory, also where a generic address is known to
lie there, and accesses that say nothing new (BARRACUDA, section 4.1): reads through an address register that has not
changed since a read of as many bytes through it, in one run of instructions that nothing enters or synchronizes.
`Pruning.SAME_LINE` asks in addition that both stand in one line of the source, so that no race is told of other lines
than without pruning; `Pruning.PAPER` prunes writes as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from gpu_runner.ptx import model

ACCESSES: Final = frozenset({"ld", "ldu", "st", "atom", "red"})
SYNCHRONIZATION: Final = frozenset(
    {"bar", "barrier", "membar", "fence", "cp", "mbarrier", "ldmatrix", "stmatrix", "wmma"}
)
"""With what synchronizes and accesses at once."""
_READS: Final = frozenset({"ld", "ldu"})
_PRIVATE: Final = frozenset({"param", "local", "const"})
ORDERED: Final = frozenset({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"})
_NO_DESTINATION: Final = frozenset({"st", "red", *SYNCHRONIZATION, "bra", "brx", "ret", "exit", "trap"})
_LEAVING: Final = frozenset({"bra", "brx", "ret", "exit", "trap", "brkpt"})
SUSPENDING: Final = frozenset({"shfl", "vote", "match", "redux", "activemask", "elect", "nanosleep", "mma"})
"""Beside `SYNCHRONIZATION`: what makes a thread wait for others, or lets them go first."""


class Pruning(Enum):
    """How much of what says nothing new is left out."""

    NONE = auto()
    SAME_LINE = auto()
    PAPER = auto()


@dataclass(frozen=True, slots=True)
class Logged:
    """By position in the flat text of the function, counted from 1 (`flat`)."""

    positions: frozenset[int]
    instructions: int
    """All instructions and calls."""


def flat(statements: Iterable[model.Statement]) -> Iterator[model.Statement]:
    """Statements in the order of the text, scopes opened."""
    for statement in statements:
        if isinstance(statement, model.Scope):
            yield from flat(statement.body)
        else:
            yield statement


def logged(function: model.Function, pruning: Pruning = Pruning.SAME_LINE) -> Logged:
    """What of a function is logged."""
    private = _private_registers(function)
    found: set[int] = set()
    seen = _Seen()
    count = 0
    for position, statement in enumerate(flat(function.body or ()), 1):
        match statement:
            case model.Instruction():
                count += 1
                shared = statement.opcode in ACCESSES and not _is_private(statement, private)
                pruned = pruning is not Pruning.NONE and seen.covers(statement, pruning)
                if statement.opcode in SYNCHRONIZATION or (shared and not pruned):
                    found.add(position)
                seen.note(statement)
            case model.Call():
                count += 1
                seen.forget()
            case model.Label() | model.Registers():  # a new scope may declare the same names again
                seen.forget()
            case _:
                pass
    return Logged(frozenset(found), count)


def _is_private(instruction: model.Instruction, private: frozenset[str]) -> bool:
    if _PRIVATE & {modifier.split("::")[0] for modifier in instruction.modifiers}:
        return True
    address = _address(instruction)
    return address is not None and isinstance(address.base, model.Register) and address.base.name in private


def _address(instruction: model.Instruction) -> model.Address | None:
    return next((operand for operand in instruction.operands if isinstance(operand, model.Address)), None)


def _destinations(instruction: model.Instruction) -> Iterator[str]:
    """Registers that an instruction may change."""
    if instruction.opcode in _NO_DESTINATION and not (instruction.opcode in SYNCHRONIZATION and instruction.operands):
        return
    yield from _names(instruction.operands[:1])


def _names(operands: Iterable[model.Operand]) -> Iterator[str]:
    for operand in operands:
        match operand:
            case model.Register(name) | model.Symbol(name):
                yield name
            case model.Pair(first, second):
                yield from _names((first, second))
            case model.Vector(elements):
                yield from _names(elements)
            case _:
                pass


def _private_registers(function: model.Function) -> frozenset[str]:
    """Registers that hold the generic address of memory of the thread's own, wherever they are read."""
    definitions: dict[str, list[model.Instruction | None]] = {}
    for statement in flat(function.body or ()):
        if isinstance(statement, model.Instruction):
            for name in _destinations(statement):
                definitions.setdefault(name, []).append(statement)
        elif isinstance(statement, model.Call):
            for name in _names(statement.results):
                definitions.setdefault(name, []).append(None)
    found: set[str] = set()
    grown = True
    while grown:
        grown = False
        for name, writers in definitions.items():
            if name not in found and all(w is not None and _makes_private(w, found) for w in writers):
                found.add(name)
                grown = True
    return frozenset(found)


def _makes_private(instruction: model.Instruction, private: set[str]) -> bool:
    if instruction.opcode == "cvta":
        return "local" in instruction.modifiers and "to" not in instruction.modifiers
    if instruction.opcode not in ("mov", "add"):
        return False
    first, *rest = instruction.operands[1:]
    return (
        isinstance(first, model.Register)
        and first.name in private
        and all(isinstance(operand, model.Integer) for operand in rest)
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """An access that was made for certain."""

    address: model.Address
    space: str
    size: int
    writes: bool
    place: model.Position | None

    def uses(self, registers: set[str]) -> bool:
        return isinstance(self.address.base, model.Register) and self.address.base.name in registers


@dataclass(slots=True)
class _Seen:
    """The accesses of the current run of instructions that stand for later ones."""

    accesses: list[_Known] = field(default_factory=list["_Known"])

    def forget(self) -> None:
        self.accesses.clear()

    def covers(self, instruction: model.Instruction, pruning: Pruning) -> bool:
        address = _address(instruction)
        if address is None or _is_special(instruction):
            return False
        reads = instruction.opcode in _READS
        if not reads and pruning is not Pruning.PAPER:
            return False
        now = _known(address, instruction)
        return any(
            (known.address, known.space) == (now.address, now.space)
            and known.size >= now.size
            and (pruning is Pruning.PAPER or (not known.writes and known.place == now.place is not None))
            and (reads or known.writes)
            for known in self.accesses
        )

    def note(self, instruction: model.Instruction) -> None:
        """Take an instruction in: it may end the run, change a register, or stand for later accesses."""
        opcode = instruction.opcode
        if opcode in SYNCHRONIZATION or opcode in SUSPENDING or (opcode in _LEAVING and instruction.guard is None):
            self.forget()
            return
        if opcode in ACCESSES and _is_special(instruction):
            self.forget()
            return
        changed = set(_destinations(instruction))
        self.accesses = [known for known in self.accesses if not known.uses(changed)]
        address = _address(instruction)
        if opcode in ACCESSES and address is not None and instruction.guard is None:
            known = _known(address, instruction)
            if not known.uses(changed):
                self.accesses.append(known)


def _known(address: model.Address, instruction: model.Instruction) -> _Known:
    space = next((m.split("::")[0] for m in instruction.modifiers if m.split("::")[0] in ("global", "shared")), "")
    place = instruction.location.position if instruction.location is not None else None
    return _Known(address, space, _size(instruction), instruction.opcode == "st", place)


def _is_special(instruction: model.Instruction) -> bool:
    """Atomic, volatile and ordered accesses synchronize, or may."""
    return instruction.opcode in ("atom", "red") or bool(ORDERED & set(instruction.modifiers))


def _size(instruction: model.Instruction) -> int:
    """Bytes of an access; 0 where the type has no width."""
    digits = "".join(c for c in instruction.modifiers[-1].split("x")[0] if c.isdigit())
    count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
    return int(digits) // 8 * count if digits else 0
