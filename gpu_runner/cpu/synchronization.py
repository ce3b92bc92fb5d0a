"""Barriers, warp collectives and fences: the thread says what it waits for and suspends."""

from __future__ import annotations

from typing import Final

from gpu_runner.cpu import clusters
from gpu_runner.cpu.body import Body, UnsupportedHere
from gpu_runner.cpu.layout import BarrierOp, Collective, SiteKind, Status
from gpu_runner.cpu.registry import operation
from gpu_runner.cpu.sites import Order, Scope
from gpu_runner.cpu.types import TYPES
from gpu_runner.ptx import model


@operation("bar", "barrier")
def barrier(body: Body, instruction: model.Instruction) -> None:
    modifiers = [modifier for modifier in instruction.modifiers if modifier not in ("cta", "aligned")]
    if modifiers[:1] == ["warp"]:
        collective(body, instruction, Collective.SYNC, instruction.operands[0], "0")
        return
    if "cluster" in modifiers:
        clusters.barrier(body, instruction)
        return
    operands = list(instruction.operands)
    destination = operands.pop(0) if "red" in modifiers else None
    op = BarrierOp.SYNC
    predicate = "0"
    if "arrive" in modifiers:
        op = BarrierOp.ARRIVE
    elif "red" in modifiers:
        op = next(BarrierOp[name.upper()] for name in ("popc", "and", "or") if name in modifiers)
        predicate = body.let(f"zext i1 {body.read(operands.pop(), 'pred')} to i64")
    elif "sync" not in modifiers:
        raise UnsupportedHere("this barrier")
    site = body.site(SiteKind.NONE, instruction)
    body.store_thread("a", body.let(f"zext i32 {body.read(operands[0], 'u32')} to i64"), "i64")
    count = body.let(f"zext i32 {body.read(operands[1], 'u32')} to i64") if len(operands) > 1 else "0"
    body.store_thread("b", count, "i64")
    body.store_thread("c", predicate, "i64")
    body.store_thread("op", str(int(op)))
    body.wait(Status.BARRIER, site)
    if destination is not None:
        result = body.load_thread("result", "i64")
        if op is BarrierOp.POPC:
            body.write(destination, body.let(f"trunc i64 {result} to i32"), "u32")
        else:
            body.write(destination, body.let(f"icmp ne i64 {result}, 0"), "pred")


def collective(
    body: Body, instruction: model.Instruction, op: Collective, mask: model.Operand | None, value: str
) -> None:
    """Meet the lanes of `mask` (None: whoever is here); `result` and `predicate` of the thread are set then."""
    site = body.site(SiteKind.NONE, instruction)
    body.store_thread("a", value, "i64")
    body.store_thread("mask", "-1" if mask is None else body.read(mask, "b32"))
    body.store_thread("op", str(int(op)))
    body.wait(Status.COLLECTIVE, site)


def _wide(body: Body, operand: model.Operand, type_: str = "b32") -> str:
    value = body.read(operand, type_)
    bits = TYPES[type_].bits
    return value if bits == 64 else body.let(f"zext i{bits} {value} to i64")


_SHUFFLES: Final = {
    "up": Collective.SHFL_UP,
    "down": Collective.SHFL_DOWN,
    "bfly": Collective.SHFL_BFLY,
    "idx": Collective.SHFL_IDX,
}


@operation("shfl")
def shuffle(body: Body, instruction: model.Instruction) -> None:
    if instruction.modifiers[0] != "sync":
        raise UnsupportedHere("shfl without .sync")
    destination, value, lane, clamp, mask = instruction.operands
    body.store_thread("b", _wide(body, lane), "i64")
    body.store_thread("c", _wide(body, clamp), "i64")
    collective(body, instruction, _SHUFFLES[instruction.modifiers[1]], mask, _wide(body, value))
    first = destination.first if isinstance(destination, model.Pair) else destination
    body.write(first, body.let(f"trunc i64 {body.load_thread('result', 'i64')} to i32"), "b32")
    if isinstance(destination, model.Pair):
        body.write(destination.second, body.let(f"icmp ne i32 {body.load_thread('predicate')}, 0"), "pred")


@operation("vote")
def vote(body: Body, instruction: model.Instruction) -> None:
    if instruction.modifiers[0] != "sync":
        raise UnsupportedHere("vote without .sync")
    destination, predicate, mask = instruction.operands
    name = instruction.modifiers[1]
    value = body.let(f"zext i1 {body.read(predicate, 'pred')} to i64")
    collective(body, instruction, Collective[f"VOTE_{name.upper()}"], mask, value)
    result = body.let(f"trunc i64 {body.load_thread('result', 'i64')} to i32")
    if name == "ballot":
        body.write(destination, result, "b32")
    else:
        body.write(destination, body.let(f"icmp ne i32 {result}, 0"), "pred")


@operation("match")
def match_lanes(body: Body, instruction: model.Instruction) -> None:
    name, type_ = instruction.modifiers[0], instruction.modifiers[-1]
    destination, value, mask = instruction.operands
    op = Collective.MATCH_ALL if name == "all" else Collective.MATCH_ANY
    collective(body, instruction, op, mask, _wide(body, value, type_))
    first = destination.first if isinstance(destination, model.Pair) else destination
    body.write(first, body.let(f"trunc i64 {body.load_thread('result', 'i64')} to i32"), "b32")
    if isinstance(destination, model.Pair):
        body.write(destination.second, body.let(f"icmp ne i32 {body.load_thread('predicate')}, 0"), "pred")


@operation("redux")
def warp_reduction(body: Body, instruction: model.Instruction) -> None:
    _, name, *rest = instruction.modifiers
    if len(rest) != 1 or rest[0] not in ("b32", "u32", "s32"):
        raise UnsupportedHere("redux of this type")
    suffix = f"_{rest[0][0].upper()}" if name in ("min", "max") else ""
    destination, value, mask = instruction.operands
    collective(body, instruction, Collective[f"REDUX_{name.upper()}{suffix}"], mask, _wide(body, value))
    body.write(destination, body.let(f"trunc i64 {body.load_thread('result', 'i64')} to i32"), "b32")


@operation("activemask")
def active_mask(body: Body, instruction: model.Instruction) -> None:
    """The lanes that are at this instruction when nobody else of the warp can go on."""
    collective(body, instruction, Collective.ACTIVE_MASK, None, "0")
    body.write(instruction.operands[0], body.let(f"trunc i64 {body.load_thread('result', 'i64')} to i32"), "b32")


@operation("elect")
def elect(body: Body, instruction: model.Instruction) -> None:
    destination, mask = instruction.operands
    collective(body, instruction, Collective.ELECT, mask, "0")
    if isinstance(destination, model.Pair):
        value = body.let(f"trunc i64 {body.load_thread('result', 'i64')} to i32")
        body.write(destination.first, value, "b32")
        body.write(destination.second, body.let(f"icmp ne i32 {body.load_thread('predicate')}, 0"), "pred")


@operation("membar", "fence")
def fence(body: Body, instruction: model.Instruction) -> None:
    modifiers = instruction.modifiers
    scopes: dict[str, Scope] = {"cta": "cta", "gl": "gpu", "sys": "sys", "cluster": "cluster", "gpu": "gpu"}
    named: list[Scope] = [scopes[modifier] for modifier in modifiers if modifier in scopes]
    known = {*scopes, "sc", "acq_rel", "acquire", "release"}
    if len(named) != 1 or not set(modifiers) <= known:
        raise UnsupportedHere("this fence")
    order: Order = "sc" if instruction.opcode == "membar" or "sc" in modifiers else "acq_rel"
    if "acquire" in modifiers:
        order = "acquire"
    elif "release" in modifiers:
        order = "release"
    site = body.site(SiteKind.FENCE, instruction, 0, order, named[0])
    body.emit(f"call void @record(ptr %thread, i64 0, i64 0, i32 {site})")


@operation("nanosleep")
def sleep(body: Body, instruction: model.Instruction) -> None:
    """Give way."""
    body.pay(1 << 30, instruction)


@operation("griddepcontrol", "setmaxnreg")
def hint(body: Body, instruction: model.Instruction) -> None:
    """Of no effect within one launch."""
