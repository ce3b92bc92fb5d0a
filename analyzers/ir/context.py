"""A launch context: everything that is known about the values a kernel runs with.

Produced by ``hostguide`` (from launches in the source), by user input, or as the hardware's limits; consumed by the
conditions of ``races`` and ``barriers``. All facts are boolean expressions over the kernel's symbols (``param:NAME``,
``bdim.x``, ``gdim.x``, ``smem.dynamic``) and over ``host:ID:NAME`` symbols for host values.
"""

from __future__ import annotations

from dataclasses import dataclass

from analyzers.ir.expr import BOOL, Expr, opaque
from analyzers.model import FactNote, LaunchSummary

DISTINCT = "different pointer parameters point to different memory"
"""The assumption under which pointers of unknown origin are told apart."""


_PROMISE = "promise:"


def promise(kind: str, objects: tuple[str, ...]) -> Expr:
    """The condition that stands for what a user says of arrays. ``injective``: different elements of the one array
    hold different values; ``disjoint``: no two of the arrays have a byte in common."""
    return opaque(f"{_PROMISE}{kind}:{','.join(objects)}", BOOL, (), "grid")


def promised(condition: Expr) -> tuple[str, tuple[str, ...]] | None:
    """Kind and objects of a promise; None for a condition that can be evaluated."""
    if condition.op != "opaque" or not condition.value[0].startswith(_PROMISE):
        return None
    _, kind, names = condition.value[0].split(":", 2)
    return kind, tuple(names.split(","))


@dataclass(frozen=True, slots=True)
class Constraint:
    """A fact that holds at the launch, and the note a proof cites when it uses it."""

    condition: Expr
    note: FactNote


@dataclass(frozen=True, slots=True)
class PointerArgument:
    """What the host passes for a pointer parameter: a base allocation and a byte offset into it.

    Two parameters point into one object exactly when their ``allocation`` is equal; None is an allocation of its
    own."""

    allocation: str | None
    offset: Expr | None = None
    """I64 bytes; None: zero."""
    size: Expr | None = None
    """I64 bytes of the allocation, where known."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class LaunchContext:
    """One launch of one kernel instance, or a set of launches with identical facts."""

    summary: LaunchSummary
    bindings: tuple[tuple[Expr, Expr], ...] = ()
    """(kernel symbol, value): ``bdim.x := 256`` (a const), ``param:n := host:3:rows``, ``gdim.x := (host:3:rows +
    255) / 256``. Values have
    the symbol's type. Every dimension symbol of a real launch is bound, unknown ones to a fresh ``host:`` symbol."""
    constraints: tuple[Constraint, ...] = ()
    binding_notes: tuple[tuple[Expr, FactNote], ...] = ()
    """For a bound symbol, what to cite: (``bdim.x``, note with the launch's text)."""
    pointers: tuple[tuple[str, PointerArgument], ...] = ()
    """By pointer parameter name."""
    variables: tuple[tuple[str, str], ...] = ()
    """Variables of the program in device, constant or managed memory that ``pointers`` point into: (name as declared,
    allocation)."""
    stored: tuple[tuple[str, str], ...] = ()
    """Pointers that the host has put into such variables, and into arrays in parameters (``q.p``): (name of the
    variable, allocation). One that points where another or an argument does makes accesses through both meet in ways
    that are not followed."""
    uncertain: str = ""
    """Why the host may never launch with these pointers; then a collision is a possible one at most."""
    assumptions: tuple[str, ...] = ()
    cooperative: bool = False
    """Launched so that grid-wide barriers are legal."""
