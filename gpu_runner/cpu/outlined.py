"""Which functions of a kernel are translated once, as functions, and not into the place of each call.

Only the coroutine itself can suspend, so that a function which may wait for other threads has to be in the place of the
call. Any other one can be called. That is done where the kernel with a copy for each call would be large (libraries of
small matrices write functions whose copies are a hundred times their text), and for functions that call themselves, of
which there is no end of copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpu_runner.cpu.loops import waiting_loops
from gpu_runner.ptx import model
from gpu_runner.ptx.logged import ORDERED, SUSPENDING, SYNCHRONIZATION, flat

LARGE: Final = 3000
"""Instructions of a kernel with all its copies, from which on functions are called."""
_SMALL: Final = 12
"""Fewer instructions than these are rather copied."""
_WAITING: Final = SUSPENDING | SYNCHRONIZATION - {"fence", "membar"}
"""Instructions that suspend the thread, always."""
_GIVING_WAY: Final = frozenset({"atom", "red"})
"""Those that suspend it now and then, so that others come on."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Of a function with all that it calls."""

    size: int
    """Instructions, with a copy of each function for each call."""
    waits: bool
    """It may suspend the thread until another one has done something."""
    gives_way: bool
    """It may suspend the thread for a while: where there is an atomic, or a loop that reads memory."""


def called(module: model.Module, kernel: str, large: int = LARGE) -> frozenset[str]:
    """The names of the functions to translate once. Those that call themselves through others are in it never."""
    found = _Functions(module)
    whole = found.known(kernel)
    wanted = {name for name in found.recursive if not found.all[name].waits}
    if whole.size >= large:
        wanted |= {
            name
            for name, known in found.all.items()
            if not known.waits and not known.gives_way and known.size >= _SMALL and name not in found.tangled
        }
    return frozenset(wanted - {kernel})


class _Functions:
    def __init__(self, module: model.Module) -> None:
        self._module = module
        self.all: dict[str, _Known] = {}
        self.recursive: set[str] = set()
        """Functions that call themselves directly."""
        self.tangled: set[str] = set()
        """Functions that call themselves through others."""
        self._under_way: list[str] = []

    def known(self, name: str) -> _Known:
        if name in self.all:
            return self.all[name]
        function = self._module.definition(name)
        assert function is not None
        statements = list(flat(function.body or ()))
        labels = {s.name: number for number, s in enumerate(statements, 1) if isinstance(s, model.Label)}
        size, waits, gives_way = 0, False, bool(waiting_loops(statements, labels))
        self._under_way.append(name)
        for statement in statements:
            if isinstance(statement, model.Instruction):
                size += 1
                waits |= statement.opcode in _WAITING
                gives_way |= statement.opcode in _GIVING_WAY or bool(ORDERED & set(statement.modifiers))
            elif isinstance(statement, model.Call):
                inner = self._of_call(statement, name)
                size += 1 + inner.size
                waits |= inner.waits
                gives_way |= inner.gives_way
        self._under_way.pop()
        self.all[name] = _Known(size, waits, gives_way)
        return self.all[name]

    def _of_call(self, call: model.Call, caller: str) -> _Known:
        if not isinstance(call.target, model.Symbol):
            return _Known(0, waits=True, gives_way=True)  # of whatever it may be
        name = call.target.name
        if self._module.definition(name) is None:
            return _Known(0, waits=False, gives_way=False)
        if name == caller:
            self.recursive.add(name)
            return _Known(0, waits=False, gives_way=False)
        if name in self._under_way:
            self.tangled.update(self._under_way[self._under_way.index(name) :])
            return _Known(0, waits=True, gives_way=True)
        return self.known(name)
