"""Asynchronous copies and split barriers in shared memory (PTX ISA, "cp.async", "mbarrier").

A copy is performed where it is issued, and recorded as made by an agent of the thread's own: its accesses come after
what the thread did before the copy, and before what it does behind the wait for the copy's group, and nothing else
orders them.

A split barrier is a word of shared memory, whose contents PTX leaves open. Here: 20 bits of the threads expected in a
phase, 20 bits of those that have yet to come, and the number of the phase above. An arrival is a read-modify-write that
releases, a wait that has come to an end is a read that acquires, both for the block where nothing else is said.
"""

from __future__ import annotations

from typing import Final

from gpu_runner.cpu.body import Body, UnsupportedHere
from gpu_runner.cpu.layout import SiteKind
from gpu_runner.cpu.memory import SYNCHRONIZING_FUEL, address_of, checked
from gpu_runner.cpu.registry import operation
from gpu_runner.cpu.sites import Order, Scope
from gpu_runner.ptx import model

_COPY_SIZES: Final = (4, 8, 16)
_FIELD: Final = 20
_MASK: Final = (1 << _FIELD) - 1
_PHASE: Final = 2 * _FIELD


@operation("cp")
def copy(body: Body, instruction: model.Instruction) -> None:
    modifiers = list(instruction.modifiers)
    if modifiers[:1] != ["async"] or "bulk" in modifiers or "reduce" in modifiers:
        raise UnsupportedHere("instruction")
    if modifiers[1:] == ["commit_group"]:
        _log(body, SiteKind.ASYNC_COMMIT)
    elif modifiers[1:] == ["wait_all"]:
        _log(body, SiteKind.ASYNC_COMMIT)
        _log(body, SiteKind.ASYNC_WAIT, value="0")
    elif modifiers[1:] == ["wait_group"]:
        (left,) = instruction.operands
        _log(body, SiteKind.ASYNC_WAIT, value=body.let(f"zext i32 {body.read(left, 'u32')} to i64"))
    elif modifiers[1:3] == ["mbarrier", "arrive"]:
        _arrive_behind_copies(body, instruction)
    elif modifiers[1] in ("ca", "cg"):
        _copy(body, instruction)
    else:
        raise UnsupportedHere("instruction")


def _log(body: Body, kind: SiteKind, address: str = "0", value: str = "0") -> None:
    body.uses_agents = True
    body.emit(f"call void @record(ptr %thread, i64 {address}, i64 {value}, i32 {int(kind)})")


def parts_of_copy(
    instruction: model.Instruction,
) -> tuple[model.Operand, model.Operand, int, model.Operand | None]:
    """Where to, where from, how many bytes, and what says how many of them are taken where it need not be all. Raises
    `UnsupportedHere`."""
    to, source, size, *rest = instruction.operands
    if not isinstance(size, model.Integer) or size.value not in _COPY_SIZES:
        raise UnsupportedHere("copy of this size")
    if "L2::cache_hint" in instruction.modifiers:
        rest = rest[:-1]
    return to, source, size.value, rest[0] if rest and rest[0] != size else None


def _copy(body: Body, instruction: model.Instruction) -> None:
    """``cp.async.ca.shared.global [to], [from], size{, taken}``: what is not taken of the source is zero."""
    to, source, size, part = parts_of_copy(instruction)
    taken: str | None = None
    if isinstance(part, model.Register) and _is_predicate(body, part):
        taken = body.let(f"select i1 {body.read(part, 'pred')}, i64 0, i64 {size}")
    elif part is not None:
        taken = body.let(f"zext i32 {body.read(part, 'u32')} to i64")
    target, origin = address_of(body, to, "shared"), address_of(body, source, "global")
    write = body.site(SiteKind.WRITE, instruction, min(size, 8))
    place = checked(body, target, "shared", size, write)
    _log(body, SiteKind.ASYNC_ISSUE)
    piece = min(size, 8) if taken is None else 4
    read = body.site(SiteKind.READ, instruction, piece)
    values: list[str] = []
    for at in range(0, size, piece):
        values.append(_taken(body, origin, at, piece, read, taken))
    for at, value in zip(range(0, size, piece), values, strict=True):
        part = body.let(f"getelementptr i8, ptr {place}, i64 {at}")
        body.emit(f"store i{8 * piece} {value}, ptr {part}, align 4")
    for at in range(0, size, min(size, 8)):
        part = body.let(f"getelementptr i8, ptr {place}, i64 {at}")
        bits = 8 * min(size, 8)
        word = body.let(f"load i{bits}, ptr {part}, align 4")
        wide = word if bits == 64 else body.let(f"zext i{bits} {word} to i64")
        where = body.let(f"add i64 {target}, {at}")
        body.emit(f"call void @record_agent(ptr %thread, i64 {where}, i64 {wide}, i32 {write})")


def _is_predicate(body: Body, register: model.Register) -> bool:
    return body.lookup(register.name) is not None and body.register(register.name).type.kind == "p"


def _taken(body: Body, origin: str, at: int, size: int, site: str, taken: str | None) -> str:
    """`size` bytes of the source, or zero where it is not taken so far."""
    kind = f"i{8 * size}"
    address = body.let(f"add i64 {origin}, {at}")
    if taken is None:
        return _read(body, address, size, site)
    slot = body.slot(kind)
    body.emit(f"store {kind} 0, ptr {slot}")
    then, after = body.name("taken"), body.name("after")
    body.branch(body.let(f"icmp uge i64 {taken}, {at + size}"), then, after)
    body.block(then)
    body.emit(f"store {kind} {_read(body, address, size, site)}, ptr {slot}")
    body.block(after)
    return body.let(f"load {kind}, ptr {slot}")


def _read(body: Body, address: str, size: int, site: str) -> str:
    place = checked(body, address, "global", size, site)
    body.emit(f"call void @record_agent(ptr %thread, i64 {address}, i64 0, i32 {site})")
    return body.let(f"load i{8 * size}, ptr {place}, align 4")


# Split barriers


@operation("mbarrier")
def split_barrier(body: Body, instruction: model.Instruction) -> None:
    name = instruction.modifiers[0]
    if instruction.modifiers[-1] != "b64" or any("cluster" in m for m in instruction.modifiers):
        raise UnsupportedHere("this split barrier")
    if name == "init":
        _initialise(body, instruction)
    elif name in ("arrive", "arrive_drop") and "expect_tx" not in instruction.modifiers:
        _arrive(body, instruction)
    elif name in ("test_wait", "try_wait"):
        _test(body, instruction)
    elif name == "inval":
        pass
    elif name == "pending_count":
        destination, token = instruction.operands
        shifted = body.let(f"lshr i64 {body.read(token, 'b64')}, {_FIELD}")
        left = body.let(f"and i64 {shifted}, {_MASK}")
        body.write(destination, body.let(f"trunc i64 {left} to i32"), "b32")
    else:
        raise UnsupportedHere("instruction")


def _space(instruction: model.Instruction) -> str:
    return "shared" if any(m.split("::")[0] == "shared" for m in instruction.modifiers) else "generic"


def _initialise(body: Body, instruction: model.Instruction) -> None:
    where, count = instruction.operands
    address = address_of(body, where, _space(instruction))
    site = body.site(SiteKind.WRITE, instruction, 8)
    place = checked(body, address, _space(instruction), 8, site)
    expected = body.let(f"zext i32 {body.read(count, 'u32')} to i64")
    state = body.let(f"mul i64 {expected}, {(1 << _FIELD) + 1}")
    body.emit(f"store i64 {state}, ptr {place}, align 8")
    body.emit(f"call void @record(ptr %thread, i64 {address}, i64 {state}, i32 {site})")


def _arrive(body: Body, instruction: model.Instruction) -> None:
    modifiers = instruction.modifiers
    destination, where, *rest = instruction.operands
    order: Order = "relaxed" if "relaxed" in modifiers else "release"
    address = address_of(body, where, _space(instruction))
    body.pay(SYNCHRONIZING_FUEL, instruction)
    site = body.site(SiteKind.ATOMIC, instruction, 8, order, "cta")
    place = checked(body, address, _space(instruction), 8, site)
    count = body.let(f"zext i32 {body.read(rest[0], 'u32')} to i64") if rest else "1"
    old = body.let(f"load i64, ptr {place}, align 8")
    new = _arrived(body, old, count, modifiers[0] == "arrive_drop")
    body.emit(f"store i64 {new}, ptr {place}, align 8")
    body.emit(f"call void @record(ptr %thread, i64 {address}, i64 {new}, i32 {site})")
    body.write(destination, old, "b64")


def _arrived(body: Body, old: str, count: str, drops: bool) -> str:
    """The state after so many arrivals; the last of a phase begins the next."""
    less = body.let(f"sub i64 {old}, {body.let(f'shl i64 {count}, {_FIELD}')}")
    if drops:
        less = body.let(f"sub i64 {less}, {count}")
    left = body.let(f"and i64 {body.let(f'lshr i64 {less}, {_FIELD}')}, {_MASK}")
    expected = body.let(f"and i64 {less}, {_MASK}")
    begun = body.let(f"add i64 {less}, {body.let(f'shl i64 {expected}, {_FIELD}')}")
    begun = body.let(f"add i64 {begun}, {1 << _PHASE}")
    return body.let(f"select i1 {body.let(f'icmp eq i64 {left}, 0')}, i64 {begun}, i64 {less}")


def _test(body: Body, instruction: model.Instruction) -> None:
    """True where the phase of a token, or the one of a parity, is over; only then something is acquired."""
    modifiers = instruction.modifiers
    destination, where, which, *_ = instruction.operands
    address = address_of(body, where, _space(instruction))
    body.pay(SYNCHRONIZING_FUEL, instruction)
    scope: Scope = "cta"
    relaxed = body.site(SiteKind.READ, instruction, 8, "relaxed", scope)
    order: Order = "relaxed" if "relaxed" in modifiers else "acquire"
    acquiring = body.site(SiteKind.READ, instruction, 8, order, scope)
    place = checked(body, address, _space(instruction), 8, relaxed)
    phase = body.let(f"lshr i64 {body.let(f'load i64, ptr {place}, align 8')}, {_PHASE}")
    if "parity" in modifiers:
        wanted = body.let(f"zext i32 {body.read(which, 'u32')} to i64")
        phase = body.let(f"and i64 {phase}, 1")
    else:
        wanted = body.let(f"lshr i64 {body.read(which, 'b64')}, {_PHASE}")
    over = body.let(f"icmp ne i64 {phase}, {wanted}")
    site = body.let(f"select i1 {over}, i32 {acquiring}, i32 {relaxed}")
    body.emit(f"call void @record(ptr %thread, i64 {address}, i64 0, i32 {site})")
    body.write(destination, over, "pred")


def _arrive_behind_copies(body: Body, instruction: model.Instruction) -> None:
    """The barrier is told of the copies so far: with ``.noinc`` that is one of the arrivals that it expects."""
    (where,) = instruction.operands
    address = address_of(body, where, _space(instruction))
    body.pay(SYNCHRONIZING_FUEL, instruction)
    site = body.site(SiteKind.ATOMIC, instruction, 8, "release", "cta")
    place = checked(body, address, _space(instruction), 8, site)
    old = body.let(f"load i64, ptr {place}, align 8")
    new = _arrived(body, old, "1", drops=False) if "noinc" in instruction.modifiers else old
    body.emit(f"store i64 {new}, ptr {place}, align 8")
    _log(body, SiteKind.ASYNC_ARRIVE, address)
