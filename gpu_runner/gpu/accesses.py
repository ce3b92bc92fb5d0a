"""Loads, stores and atomics, with the logging around them.

A plain access is logged in front of it. An atomic or volatile one is performed and logged under a lock, with a ticket
of the lock: so both the tickets and the records of one queue have the order in which the accesses to an address were
performed, and waiting for a ticket of another queue never ends in a circle.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_runner.cpu.body import UnsupportedHere
from gpu_runner.cpu.layout import SiteKind
from gpu_runner.cpu.memory import Form as Access
from gpu_runner.cpu.memory import form_of
from gpu_runner.cpu.sites import Order, Scope
from gpu_runner.gpu.layout import LOCK_SHIFT, What
from gpu_runner.gpu.operands import ADDRESS, VALUE, address_text, value_text, wide_text
from gpu_runner.gpu.writer import TICKET, Writer, log, log_unless_failed, log_where_shared
from gpu_runner.ptx import model
from gpu_runner.ptx.render import statement_text

_OPERATIONS = frozenset({"add", "and", "or", "xor", "min", "max", "exch", "cas", "inc", "dec", "noftz"})
_PIECE = 8


def load(writer: Writer, instruction: model.Instruction) -> str:
    form = form_of(instruction)
    _, source = instruction.operands
    size = form.type.bytes * form.count
    site = writer.site(
        What.ACCESS, SiteKind.READ, instruction, min(size, _PIECE), form.order, form.scope, form.volatile
    )
    begin = f"{_address(writer, source, form)} {site} {writer.where(form.space, size)}"
    itself = statement_text(replace(instruction, guard=None, location=None))
    pieces = max(1, size // _PIECE)
    _check_size(size, form)
    if form.order == "weak":
        return f"{begin} {log_where_shared(form.space, log(chunks=pieces))} {itself}"
    logged = log_where_shared("generic", log(ticket=TICKET, chunks=pieces))
    return f"{begin} {writer.locked(itself, logged)}"


def store(writer: Writer, instruction: model.Instruction) -> str:
    form = form_of(instruction)
    destination, source = instruction.operands
    if form.type.bits > 64:
        raise UnsupportedHere(f"type .{form.type.name}")
    size = form.type.bytes * form.count
    _check_size(size, form)
    site = writer.site(
        What.ACCESS, SiteKind.WRITE, instruction, min(size, _PIECE), form.order, form.scope, form.volatile
    )
    begin = f"{_address(writer, destination, form)} {site} {writer.where(form.space, size)}"
    itself = statement_text(replace(instruction, guard=None, location=None))
    elements = list(source.elements if isinstance(source, model.Vector) else (source,))
    each = max(1, _PIECE // form.type.bytes)
    ticket = None if form.order == "weak" else TICKET
    logs: list[str] = []
    for at in range(0, len(elements), each):
        logs.append(value_text(writer.registers, elements[at : at + each], form.type))
        more = ticket is not None and at + each < len(elements)
        logs.append(log_where_shared("generic" if ticket else form.space, log(value=VALUE, ticket=ticket, more=more)))
        if at + each < len(elements):
            step = f"setp.ne.u64 %cuda_lsp_p, {ADDRESS}, 0; @%cuda_lsp_p add.s64 {ADDRESS}, {ADDRESS}, {_PIECE};"
            logs.append(step if form.space == "generic" or ticket else f"add.s64 {ADDRESS}, {ADDRESS}, {_PIECE};")
    if ticket is None:
        return f"{begin} {' '.join(logs)} {itself}"
    return f"{begin} {writer.locked(itself, ' '.join(logs))}"


def _check_size(size: int, form: Access) -> None:
    if form.order != "weak" and size > 1 << LOCK_SHIFT:
        raise UnsupportedHere(f"a volatile access to {size} bytes")


def atomic(writer: Writer, instruction: model.Instruction) -> str:
    form = form_of(instruction, _OPERATIONS)
    name = next((modifier for modifier in instruction.modifiers if modifier in _OPERATIONS), None)
    if name is None or form.count != 1 or form.type.bits > 64:
        raise UnsupportedHere("this atomic")
    order: Order = "relaxed" if form.order == "weak" else form.order
    scope: Scope = "gpu" if form.scope == "none" else form.scope
    where = instruction.operands[1 if instruction.opcode == "atom" else 0]
    site = writer.site(What.ACCESS, SiteKind.ATOMIC, instruction, form.type.bytes, order, scope)
    begin = f"{_address(writer, where, form)} {site} {writer.where(form.space, form.type.bytes)}"
    instruction = replace(instruction, guard=None, location=None)
    if name != "cas":
        performed = statement_text(instruction)
        return f"{begin} {writer.locked(performed, log_where_shared('generic', log(ticket=TICKET)))}"
    return begin + _compare_and_swap(writer, instruction, form)


def _compare_and_swap(writer: Writer, instruction: model.Instruction, form: Access) -> str:
    """The result goes through a register of ours, since it may be that of an operand."""
    bits = form.type.bits
    destination, where, compared, swapped = instruction.operands
    result = {16: "%cuda_lsp_h", 32: "%cuda_lsp_w", 64: VALUE}[bits]
    failed, copy = "%cuda_lsp_f", f"%cuda_lsp_c{bits}"
    inner = replace(instruction, operands=(model.Register(result), where, compared, swapped))
    performed = f"mov.b{bits} {copy}, {_text(compared)}; {statement_text(inner)}"
    logged = f"setp.ne.b{bits} {failed}, {result}, {copy}; {log_unless_failed(failed)}"
    text = writer.locked(performed, logged)
    if destination != model.Symbol("_"):
        text += f" mov.b{bits} {_text(destination)}, {result};"
    return text


def _text(operand: model.Operand) -> str:
    match operand:
        case model.Register(name) | model.Symbol(name):
            return name
        case model.Integer(value):
            return str(value)
        case _:
            raise UnsupportedHere("operands of this compare-and-swap")


def _address(writer: Writer, operand: model.Operand, form: Access) -> str:
    base = operand.base if isinstance(operand, model.Address) else None
    if form.space == "generic" and isinstance(base, model.Symbol) and writer.registers.type_of(base.name) is None:
        raise UnsupportedHere("the generic address of a variable by its name")
    return address_text(writer.registers, operand)


def fence(writer: Writer, instruction: model.Instruction) -> str:
    modifiers = instruction.modifiers
    scopes: dict[str, Scope] = {"cta": "cta", "gl": "gpu", "sys": "sys", "cluster": "cluster", "gpu": "gpu"}
    named: list[Scope] = [scopes[modifier] for modifier in modifiers if modifier in scopes]
    if len(named) != 1 or not set(modifiers) <= {*scopes, "sc", "acq_rel", "acquire", "release"}:
        raise UnsupportedHere("this fence")
    order: Order = "sc" if instruction.opcode == "membar" or "sc" in modifiers else "acq_rel"
    for name in ("acquire", "release"):
        order = name if name in modifiers else order
    site = writer.site(What.FENCE, SiteKind.FENCE, instruction, 0, order, named[0])
    return f"{site} {log('0')} {statement_text(replace(instruction, guard=None, location=None))}"


def barrier(writer: Writer, instruction: model.Instruction) -> str:
    """Logged in front of it: the last one who logs has everything of the others in front of his record."""
    modifiers = [modifier for modifier in instruction.modifiers if modifier not in ("cta", "aligned")]
    itself = statement_text(replace(instruction, guard=None, location=None))
    if modifiers[:1] == ["warp"]:
        site = writer.site(What.WARP_SYNC, SiteKind.NONE, instruction)
        mask = wide_text(writer.registers, instruction.operands[0], ADDRESS)
        return f"{site} {mask} {log()} {itself}"
    if "cluster" in modifiers:
        raise UnsupportedHere("barriers of a cluster")
    operands = list(instruction.operands)
    if "red" in modifiers:
        operands = operands[1:-1]
    elif not {"sync", "arrive"} & set(modifiers):
        raise UnsupportedHere("this barrier")
    what = What.BARRIER_ARRIVE if "arrive" in modifiers else What.BARRIER
    count = wide_text(writer.registers, operands[1], VALUE) if len(operands) > 1 else f"mov.u64 {VALUE}, 0;"
    site = writer.site(what, SiteKind.NONE, instruction)
    return f"{site} {wide_text(writer.registers, operands[0], ADDRESS)} {count} {log(value=VALUE)} {itself}"
