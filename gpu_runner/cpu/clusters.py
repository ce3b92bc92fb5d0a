"""Thread block clusters: addresses of shared memory of other blocks, and the barrier of a cluster (PTX ISA, "mapa",
"getctarank", "barrier.cluster").

To the detector an arrival is a write that releases, and the end of a wait a read that acquires, at an address behind
all memory; there are two, for phases with even and odd numbers.
"""

from __future__ import annotations

from typing import Final

from gpu_runner.cpu.body import Body, UnsupportedHere
from gpu_runner.cpu.layout import CLUSTER_BARRIER, CLUSTER_SHIFT, BarrierOp, SiteKind, Status
from gpu_runner.cpu.registry import operation
from gpu_runner.ptx import model

_RANK: Final = 0xFF << CLUSTER_SHIFT


@operation("mapa")
def map_address(body: Body, instruction: model.Instruction) -> None:
    """The address that is to another block what `source` is to its own."""
    destination, source, rank = instruction.operands
    bits = 64 if instruction.modifiers[-1] == "u64" else 32
    if set(instruction.modifiers[:-1]) - {"shared::cluster"}:
        raise UnsupportedHere("mapa of this space")
    address = body.read(source, f"b{bits}")
    above = body.let(f"add i32 {body.read(rank, 'u32')}, 1")
    if bits == 64:
        above = body.let(f"zext i32 {above} to i64")
    low = body.let(f"and i{bits} {address}, {(1 << bits) - 1 & ~_RANK}")
    body.write(
        destination, body.let(f"or i{bits} {low}, {body.let(f'shl i{bits} {above}, {CLUSTER_SHIFT}')}"), f"b{bits}"
    )


@operation("getctarank")
def rank_of_address(body: Body, instruction: model.Instruction) -> None:
    destination, source = instruction.operands
    bits = 64 if instruction.modifiers[-1] == "u64" else 32
    address = body.read(source, f"b{bits}")
    low = address if bits == 32 else body.let(f"trunc i64 {address} to i32")
    above = body.let(f"and i32 {body.let(f'lshr i32 {low}, {CLUSTER_SHIFT}')}, 255")
    is_own = body.let(f"icmp eq i32 {above}, 0")
    other = body.let(f"sub i32 {above}, 1")
    body.write(destination, body.let(f"select i1 {is_own}, i32 {body.load_thread('cluster_rank')}, i32 {other}"), "u32")


def barrier(body: Body, instruction: model.Instruction) -> None:
    """``barrier.cluster.arrive{.release|.relaxed}``, ``barrier.cluster.wait{.acquire}``."""
    modifiers = [modifier for modifier in instruction.modifiers if modifier not in ("cluster", "aligned")]
    arrives = modifiers[:1] == ["arrive"]
    if modifiers[:1] not in (["arrive"], ["wait"]) or set(modifiers[1:]) - {"release", "relaxed", "acquire"}:
        raise UnsupportedHere("this barrier of a cluster")
    count = body.load_thread("cluster_arrivals")
    phase = count if arrives else body.let(f"sub i32 {count}, 1")
    odd = body.let(f"zext i32 {body.let(f'and i32 {phase}, 1')} to i64")
    place = body.let(f"shl i64 {odd}, 3")
    address = body.let(f"add i64 {body.load_thread('cluster_key', 'i64')}, {place}")
    if arrives:
        if "relaxed" not in modifiers:
            site = body.site(SiteKind.ATOMIC, instruction, 8, "release", "cluster")
            body.emit(f"call void @record(ptr %thread, i64 {address}, i64 0, i32 {site})")
        body.store_thread("cluster_arrivals", body.let(f"add i32 {count}, 1"))
    body.store_thread("a", str(CLUSTER_BARRIER), "i64")
    body.store_thread("op", str(int(BarrierOp.CLUSTER_ARRIVE if arrives else BarrierOp.CLUSTER_WAIT)))
    body.wait(Status.BARRIER, body.site(SiteKind.NONE, instruction))
    if not arrives:
        site = body.site(SiteKind.READ, instruction, 8, "acquire", "cluster")
        body.emit(f"call void @record(ptr %thread, i64 {address}, i64 0, i32 {site})")
