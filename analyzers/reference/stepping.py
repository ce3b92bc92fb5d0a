"""Stepping through a program: which operation comes next, for whoever executes or traces it.

Operations become closures over a context that carries a frame (a thread of the interpreter, a walk of the replay), made
when an operation is first reached. A closure gives the next operation, None for the following one, `LEAVE` to wait or
end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from analyzers.ir import kernel as k
from analyzers.reference.evaluate import Evaluator, Frame
from analyzers.reference.program import Branch, Halt, Join, Jump, LoopNext, LoopStart, Place, Program

LEAVE = -1


class Framed(Protocol):
    """What every context has."""

    @property
    def frame(self) -> Frame: ...


C = TypeVar("C", bound=Framed)


class Stepper(ABC, Generic[C]):
    """The operations of a program as closures; subclasses say what those with an effect do."""

    def __init__(self, program: Program, evaluator: Evaluator) -> None:
        self.program = program
        self.evaluator = evaluator
        self.code: list[Callable[[C], int | None] | None] = [None] * len(program.operations)

    def execute(self, context: C, pc: int, most: int) -> tuple[int, int, bool]:
        """Execute up to ``most`` operations from ``pc``: (the next one, how many were executed, whether it goes on)."""
        code = self.code
        for count in range(most):
            step = code[pc]
            if step is None:
                step = code[pc] = self.compile(pc)
            following = step(context)
            if following is None:
                pc += 1
            elif following >= 0:
                pc = following
            else:
                return pc + 1, count + 1, False
        return pc, most, True

    def place(self, context: C, pc: int) -> Place:
        """An operation and the iterations it is reached in."""
        return Place(pc, tuple([context.frame[key] for _, key in self.program.loops[pc]]))

    def compile(self, pc: int) -> Callable[[C], int | None]:
        operation = self.program.operations[pc]
        match operation:
            case Branch():
                return self.branch(pc, operation)
            case Jump(target=target):
                return lambda c: target
            case LoopStart(counter=counter):
                return _starting(counter)
            case LoopNext(counter=counter, target=target):
                return _counting(counter, target)
            case Join(region=region):
                return self.join(region)
            case k.Fence():
                return self.fence(operation)
            case Halt():
                return self.halt(pc)
            case k.Assign():
                return self.assign(operation)
            case k.Load():
                return self.load(pc, operation)
            case k.Store():
                return self.store(pc, operation)
            case k.Atomic():
                return self.atomic(pc, operation)
            case k.Barrier():
                return self.barrier(pc, operation)
            case k.Collective():
                return self.collective(pc, operation)
            case k.Observe():
                return _nothing
            case k.Havoc():
                return self.havoc(operation)
            case k.Assume():
                return self.assume(pc, operation)
            case k.Unsupported():
                return self.unsupported(operation)

    @abstractmethod
    def branch(self, pc: int, s: Branch) -> Callable[[C], int | None]: ...

    @abstractmethod
    def join(self, region: int) -> Callable[[C], int | None]: ...

    @abstractmethod
    def halt(self, pc: int) -> Callable[[C], int | None]: ...

    @abstractmethod
    def assign(self, s: k.Assign) -> Callable[[C], int | None]: ...

    @abstractmethod
    def load(self, pc: int, s: k.Load) -> Callable[[C], int | None]: ...

    @abstractmethod
    def store(self, pc: int, s: k.Store) -> Callable[[C], int | None]: ...

    @abstractmethod
    def atomic(self, pc: int, s: k.Atomic) -> Callable[[C], int | None]: ...

    @abstractmethod
    def barrier(self, pc: int, s: k.Barrier) -> Callable[[C], int | None]: ...

    @abstractmethod
    def fence(self, s: k.Fence) -> Callable[[C], int | None]: ...

    @abstractmethod
    def collective(self, pc: int, s: k.Collective) -> Callable[[C], int | None]: ...

    @abstractmethod
    def havoc(self, s: k.Havoc) -> Callable[[C], int | None]: ...

    @abstractmethod
    def assume(self, pc: int, s: k.Assume) -> Callable[[C], int | None]: ...

    @abstractmethod
    def unsupported(self, s: k.Unsupported) -> Callable[[C], int | None]: ...


def _nothing(_: Framed) -> None:
    """What shows without touching memory changes nothing here."""


def _starting(counter: str) -> Callable[[Framed], None]:
    def start(c: Framed) -> None:
        c.frame[counter] = 0

    return start


def _counting(counter: str, target: int) -> Callable[[Framed], int]:
    def count(c: Framed) -> int:
        c.frame[counter] += 1
        return target

    return count
