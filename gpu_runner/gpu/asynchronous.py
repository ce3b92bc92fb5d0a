"""Asynchronous copies and split barriers, with the logging around them, as `cpu.asynchronous` has them.

The accesses of a copy are logged where it is issued, as made by an agent of the thread's own. What happens to a split
barrier, whose contents the hardware keeps to itself, is logged under the lock of its address, like an atomic access; a
wait becomes a test, so that nobody sleeps who holds the lock.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gpu_runner.cpu.asynchronous import parts_of_copy
from gpu_runner.cpu.body import UnsupportedHere
from gpu_runner.cpu.layout import SiteKind
from gpu_runner.cpu.sites import Order
from gpu_runner.gpu.layout import What
from gpu_runner.gpu.operands import ADDRESS, VALUE, WORD, address_text, wide_text
from gpu_runner.gpu.writer import CONTEXT, IS, SITE, TICKET, Writer, log, log_where_shared
from gpu_runner.ptx import model
from gpu_runner.ptx.render import statement_text

_BARRIER_BYTES: Final = 8


def copy(writer: Writer, instruction: model.Instruction) -> str:
    """``cp.async`` and what waits for it."""
    modifiers = list(instruction.modifiers)
    if modifiers[:1] != ["async"] or "bulk" in modifiers or "reduce" in modifiers:
        raise UnsupportedHere("instruction")
    writer.plan.uses_agents = True
    itself = _itself(instruction)
    commit = writer.event(SiteKind.ASYNC_COMMIT)
    if modifiers[1:] == ["commit_group"]:
        return f"{commit} {itself}"
    if modifiers[1:] == ["wait_all"]:
        return f"{itself} {commit} {writer.event(SiteKind.ASYNC_WAIT, value='0')}"
    if modifiers[1:] == ["wait_group"]:
        left = wide_text(writer.registers, instruction.operands[0], VALUE)
        return f"{itself} {left} {writer.event(SiteKind.ASYNC_WAIT, value=VALUE)}"
    if modifiers[1:3] == ["mbarrier", "arrive"]:
        # In front of it: the hardware arrives when the copies are done, and whoever sees that is logged behind.
        site = writer.site(What.ACCESS, SiteKind.ATOMIC, instruction, _BARRIER_BYTES, "release", "cta")
        where = _place(writer, instruction, instruction.operands[0], site)
        return f"{where} {writer.event(SiteKind.ASYNC_ARRIVE, ADDRESS)} {itself}"
    if modifiers[1:2] in (["ca"], ["cg"]):
        return f"{_pieces(writer, instruction)} {itself}"
    raise UnsupportedHere("instruction")


def _itself(instruction: model.Instruction) -> str:
    return statement_text(replace(instruction, guard=None, location=None))


def _pieces(writer: Writer, instruction: model.Instruction) -> str:
    """The accesses of a copy, piece by piece: what is not taken of the source is not read, and zero is written."""
    to, source, size, taken = parts_of_copy(instruction)
    piece = min(size, 8) if taken is None else 4
    read = writer.site(What.AGENT_ACCESS, SiteKind.READ, instruction, piece)
    write = writer.site(What.AGENT_ACCESS, SiteKind.WRITE, instruction, piece)
    text = [writer.event(SiteKind.ASYNC_ISSUE)]
    for at in range(0, size, piece):
        none = writer.label("not_taken")
        if taken is not None:
            text.append(f"mov.u64 {VALUE}, 0; {_not_taken(writer, taken, at + piece)} @{IS} bra {none};")
        text.append(f"{_moved(writer, source, at)} {read} {writer.where('global', piece)} {log()}")
        if piece == 8:
            text.append(f"ld.global.b64 {VALUE}, [{ADDRESS}];")
        else:
            text.append(f"ld.global.b32 {WORD}, [{ADDRESS}]; cvt.u64.u32 {VALUE}, {WORD};")
        if taken is not None:
            text.append(f"{none}:")
        text.append(f"{_moved(writer, to, at)} {write} {writer.where('shared', piece)} {log(value=VALUE)}")
    return " ".join(text)


def _not_taken(writer: Writer, taken: model.Operand, end: int) -> str:
    """Whether less than `end` bytes of the source are taken, in `IS`. A predicate says that none are."""
    if isinstance(taken, model.Integer):
        return f"setp.lt.u32 {IS}, {taken.value}, {end};"
    if isinstance(taken, model.Register | model.Symbol):
        held = writer.registers.type_of(taken.name)
        if held is not None and held.kind == "p":
            return f"mov.pred {IS}, {taken.name};"
        if held is not None and held.bits == 32:
            return f"setp.lt.u32 {IS}, {taken.name}, {end};"
    raise UnsupportedHere("copy of this part")


def _moved(writer: Writer, operand: model.Operand, offset: int) -> str:
    more = f" add.s64 {ADDRESS}, {ADDRESS}, {offset};" if offset else ""
    return address_text(writer.registers, operand) + more


def _place(writer: Writer, instruction: model.Instruction, operand: model.Operand, site: str) -> str:
    """The address of a split barrier in `ADDRESS`, as records have it."""
    is_shared = any(modifier.split("::")[0] == "shared" for modifier in instruction.modifiers)
    space = "shared" if is_shared else "generic"
    return f"{address_text(writer.registers, operand)} {site} {writer.where(space, _BARRIER_BYTES)}"


def split_barrier(writer: Writer, instruction: model.Instruction) -> str:
    """``mbarrier``: an arrival is a read-modify-write that releases, a wait that has ended is a read that acquires."""
    name, modifiers = instruction.modifiers[0], instruction.modifiers
    if modifiers[-1] != "b64" or any("cluster" in modifier for modifier in modifiers):
        raise UnsupportedHere("this split barrier")
    if name in ("inval", "pending_count"):
        return _itself(instruction)
    if name == "init":
        where, count = instruction.operands
        site = writer.site(What.ACCESS, SiteKind.WRITE, instruction, _BARRIER_BYTES)
        value = wide_text(writer.registers, count, VALUE)
        logged = log_where_shared("generic", log(value=VALUE))
        return f"{_place(writer, instruction, where, site)} {value} {logged} {_itself(instruction)}"
    if name in ("arrive", "arrive_drop") and "expect_tx" not in modifiers:
        order: Order = "relaxed" if "relaxed" in modifiers else "release"
        site = writer.site(What.ACCESS, SiteKind.ATOMIC, instruction, _BARRIER_BYTES, order, "cta")
        where = _place(writer, instruction, instruction.operands[1], site)
        return where + writer.locked(_itself(instruction), log_where_shared("generic", log(ticket=TICKET)))
    if name in ("test_wait", "try_wait"):
        return _test(writer, instruction)
    raise UnsupportedHere("instruction")


def _test(writer: Writer, instruction: model.Instruction) -> str:
    """Only where the phase is over something is acquired. The result goes through a predicate of ours."""
    modifiers = ("test_wait", *instruction.modifiers[1:])
    destination, where, which, *_ = instruction.operands
    if not isinstance(destination, model.Register | model.Symbol):
        raise UnsupportedHere("this split barrier")
    order: Order = "relaxed" if "relaxed" in modifiers else "acquire"
    relaxed = writer.site(What.ACCESS, SiteKind.READ, instruction, _BARRIER_BYTES, "relaxed", "cta")
    acquiring = writer.site(What.ACCESS, SiteKind.READ, instruction, _BARRIER_BYTES, order, "cta")
    over = "%cuda_lsp_f"
    test = replace(instruction, modifiers=modifiers, operands=(model.Register(over), where, which))
    assert acquiring.startswith(f"add.u32 {SITE}, {CONTEXT}")
    logged = f"{relaxed} @{over} {acquiring} {log_where_shared('generic', log(ticket=TICKET))}"
    text = _place(writer, instruction, where, relaxed) + writer.locked(_itself(test), logged)
    return f"{text} mov.pred {destination.name}, {over};"


def load_rows(writer: Writer, instruction: model.Instruction) -> str:
    """``ldmatrix``: each of the first 8, 16 or 32 lanes names a row of 16 bytes, which counts as read by it."""
    counts = {"x1": 8, "x2": 16, "x4": 32}
    lanes = next((counts[modifier] for modifier in instruction.modifiers if modifier in counts), None)
    is_shared = any(modifier.split("::")[0] == "shared" for modifier in instruction.modifiers)
    if lanes is None or "m8n8" not in instruction.modifiers or "b16" not in instruction.modifiers:
        raise UnsupportedHere("instruction")
    space = "shared" if is_shared else "generic"
    after = writer.label("no_row")
    site = writer.site(What.ACCESS, SiteKind.READ, instruction, 8)
    address = address_text(writer.registers, instruction.operands[1])
    return f"""mov.u32 {WORD}, %laneid; setp.ge.u32 {IS}, {WORD}, {lanes}; @{IS} bra {after};
        {address} {site} {writer.where(space, 16)} {log_where_shared(space, log(chunks=2))} {after}:
        {_itself(instruction)}"""
