"""LLVM IR of the functions that have one translation for all their calls (`outlined`).

Such a function takes the thread, the number of the first of its sites in this call, where its local memory begins, and
the places of its parameters and results. It gives 0 where it has come to its end; else the thread has come to its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from gpu_runner.cpu.body import Body, Buffer, Slot
from gpu_runner.cpu.layout import Fault
from gpu_runner.cpu.sites import Sites
from gpu_runner.ptx import model

RECURSION_STACK: Final = 32 << 10
"""Bytes of local memory of a thread, beside what its variables need, where functions call themselves."""
LEVEL: Final = 16
"""Bytes of it that every level takes at least."""
LOCAL_SIZE: Final = "@local_size"
"""Names the constant with the bytes of local memory of a thread."""
_ENDED, _STOPPED = 1, 2
"""What a function gives: the thread has ended in it; or the time of the run is over."""


@dataclass(slots=True)
class Called:
    """One function."""

    function: model.Function
    sites: Sites
    local_size: int = 0
    text: str = ""
    """Empty while it is being made: a call from then on is one of itself."""
    is_recursive: bool = False


@dataclass(slots=True)
class Functions:
    """Those of a kernel, by name."""

    wanted: frozenset[str]
    functions: dict[str, Called] = field(default_factory=dict[str, Called])

    @property
    def stack(self) -> int:
        """Bytes of local memory for functions that call themselves."""
        return RECURSION_STACK if any(each.is_recursive for each in self.functions.values()) else 0

    @property
    def texts(self) -> list[str]:
        return [each.text for each in self.functions.values()]


def copy(body: Body, source: str, target: str, size: int) -> None:
    body.emit(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {size}, i1 false)")


def take(body: Body, parameters: Sequence[Slot | Buffer]) -> None:
    """Copy the parameters: a function may write them."""
    for number, held in enumerate(parameters):
        _move(body, held, f"%p{number}", held.place)


def give(body: Body, results: Sequence[Slot | Buffer]) -> None:
    """Copy the results to where the caller wants them."""
    for number, held in enumerate(results):
        _move(body, held, held.place, f"%r{number}")


def _move(body: Body, held: Slot | Buffer, source: str, target: str) -> None:
    if isinstance(held, Buffer):
        copy(body, source, target, held.size)
    else:
        body.emit(f"store {held.type.llvm} {body.let(f'load {held.type.llvm}, ptr {source}')}, ptr {target}")


def call_of(body: Body, called: Called, base: str, local_offset: int, places: Sequence[str]) -> None:
    """A call; `base`: its first site, `local_offset`: where local memory is free; `places`: see `text_of`."""
    local = str(local_offset) if body.entered is None else body.let(f"add i64 %local, {local_offset}")
    given = "".join(f", ptr {place}" for place in places)
    ended = body.let(f"call i32 {_symbol(called)}(ptr %thread, i32 {base}, i64 {local}{given})")
    on = body.name("on")
    body.end(f"switch i32 {ended}, label %final [i32 0, label {on}  i32 {_STOPPED}, label %stopped]")
    body.block(on)


def text_of(called: Called, body: Body) -> str:
    """The definition."""
    function = called.function
    places = [f"%p{number}" for number in range(len(function.parameters))]
    places += [f"%r{number}" for number in range(len(function.results))]
    given = "".join(f", ptr noalias {place}" for place in places)
    return "\n".join(
        (
            f"define internal i32 {_symbol(called)}(ptr %thread, i32 %base, i64 %local{given}) {{",
            "entry:",
            *body.allocas,
            *([_stack_check(called)] if called.is_recursive else []),
            *body.lines,
            f"""  ret i32 0
final:
  ret i32 {_ENDED}
stopped:
  ret i32 {_STOPPED}
}}""",
        )
    )


def _stack_check(called: Called) -> str:
    return f"""  %top = add i64 %local, {called.local_size}
  %most = load i64, ptr {LOCAL_SIZE}
  %deep = icmp ugt i64 %top, %most
  br i1 %deep, label %full, label %start
full:
  call void @fault(ptr %thread, i64 0, i32 %base, i32 {int(Fault.STACK)})
  br label %final
start:"""


def _symbol(called: Called) -> str:
    return f'@"fn.{called.function.name}"'
