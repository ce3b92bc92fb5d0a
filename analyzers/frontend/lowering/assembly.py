"""Inline assembly: loads, stores, atomics, copies, barriers and fences are recognised instruction by instruction.

Instructions without memory effects leave any value in their outputs; what else touches memory is unsupported. The text
of a statement is not in libclang's tree: it is read from the source, or from the definition of the macro that wrote it.
Syntax and meaning follow the PTX ISA, chapter "Instruction Set".
"""

from __future__ import annotations

import re
from dataclasses import replace

from analyzers.frontend.lowering import asynchronous, class_values, memory
from analyzers.frontend.lowering.assembly_barriers import barrier, map_address, memory_fence, special_register
from analyzers.frontend.lowering.assembly_statement import Statement, ordering_of, scope_of
from analyzers.frontend.lowering.assembly_text import arguments_of, instructions_of, macro_text, parts_of
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.lowering.places import Place
from analyzers.frontend.lowering.synchronisation import (
    lane,
)
from analyzers.ir.expr import (
    BOOL,
    I64,
    PTR,
    TRUE,
    U32,
    U64,
    Expr,
    IntType,
    compare,
    const,
    lnot,
)
from analyzers.ir.kernel import Alignment, Assume, Atomic, Collective, If, Load, ObservationKind, Observe, Order, Store
from analyzers.ir.warp_scans import WARP

_CONSTRAINT = re.compile(r'(?:\[(\w+)\]\s*)?"\s*([=+]?)[^"]*"\s*\(')
_REGISTER = re.compile(
    r"mov\.[us]32\s+(%\w+|%\[\w+\])\s*,\s*%%?(laneid|lanemask_(?:lt|le|gt|ge|eq)|cluster_n?ctarank)$"
)
_WIDTHS = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16, "16x2": 4}
_TYPE = re.compile(r"\.(?:b|u|s|f|bf|e4m|e5m)(8|16x2|16|32|64|128)\b")
_ATOMIC_OPS = frozenset({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"})
_CLOCK = re.compile(r"%%?(?:clock(?:64|_hi)?|globaltimer(?:_lo|_hi)?)\b")
#: Of these, what shows to others, or changes when something happens.
_SHOWS: dict[str, ObservationKind] = {"griddepcontrol": "signal", "nanosleep": "time", "pmevent": "signal",
                                      "setmaxnreg": "signal", "discard": "signal"}  # fmt: skip
#: No effect on memory that the analysis sees, and no value.
_IGNORED = frozenset({"prefetch", "prefetchu", "discard", "applypriority", "griddepcontrol", "nanosleep", "pmevent",
                      "setmaxnreg", "ret", ".reg", "."})  # fmt: skip
#: Compute in registers: no memory effect, and a value that is not followed.
_REGISTERS_ONLY = frozenset({
    "mov", "add", "sub", "mul", "mad", "div", "rem", "abs", "neg", "min", "max", "popc", "clz", "bfind", "fns",
    "brev", "bfe", "bfi", "szext", "bmsk", "dp4a", "dp2a", "addc", "subc", "madc", "mul24", "mad24", "sad", "fma",
    "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "testp", "copysign", "set", "setp", "selp", "slct",
    "and", "or", "xor", "not", "cnot", "lop3", "shf", "shl", "shr", "prmt", "cvt", "cvta", "pack", "unpack",
    "isspacep", "getctarank", "mma", "shfl", "vote", "match", "activemask", "elect", "redux", "nanosleep",
    "prefetch", "prefetchu", "createpolicy", "tex", "tld4", "txq", "suq", "istypep",
})  # fmt: skip
_VIDEO = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset")
#: Registers of other lanes, for which a warp comes together.
_EXCHANGES = frozenset({"shfl", "vote", "match", "redux", "elect"})
#: Effects that are not modelled.
_OPAQUE = frozenset({"mbarrier", "wgmma", "tensormap", "multimem", "sust", "sured", "suld", "bra", "brx", "call",
                     "tcgen05", "clusterlaunchcontrol", "isspacep", "getctarank", "exit"})  # fmt: skip


def lower(ctx: Context, node: Node) -> None:
    """An asm statement."""
    text = node.text
    if not re.match(r"\s*(?:asm|__asm__|__asm)\b", text):
        found = macro_text(node, text)
        if found is None:
            ctx.unsupported("asm", f"assembly written by the macro {text[:40]!r}", node)
            return
        text = found
    template, constraints = parts_of(text)
    operands = [k for k in node.kids if 100 <= k.kind < 200]
    marks = _CONSTRAINT.findall(constraints)[: len(operands)]
    statement = Statement(
        ctx, node, operands, [bool(mark) for _, mark in marks] + [False] * (len(operands) - len(marks)),
        {name: number for number, (name, _) in enumerate(marks) if name},
    )  # fmt: skip
    with ctx.captured() as emitted:
        problem = next((i for i in instructions_of(template) if not _instruction(statement, i)), None)
    if problem is not None:
        ctx.unsupported("asm", problem[:100], node)
    else:
        ctx.out.extend(emitted)
    _leave_any(statement)


def _leave_any(s: Statement) -> None:
    """Outputs that no recognised instruction wrote hold any value."""
    for number, operand in enumerate(s.operands):
        if not s.outputs[number] or number in s.written:
            continue
        place: Place = s.ctx.place(operand)
        if place.type.scalar:
            memory.write(s.ctx, place, s.ctx.havoc(place.type.ir or U64, "asm", s.node), operand)
        elif place.type.leaves() is not None:
            made = {at: s.ctx.havoc(leaf.ir or U64, "asm", s.node) for at, leaf in place.type.leaves() or ()}
            class_values.store_leaves(s.ctx, place, made, operand)


# --- instructions -------------------------------------------------------------------------------------------


def _instruction(s: Statement, text: str) -> bool:
    """Emit one instruction; False when it is not understood."""
    guard = TRUE
    predicated = re.match(r"@(!?)(%?\w+|%\[\w+\])\s+(.*)", text)
    if predicated:
        negated, name, text = predicated.groups()
        known = s.predicates.get(name)
        if known is None:
            known = s.ctx.havoc(BOOL, f"predicate {name}", s.node)
        guard = lnot(known) if negated else known
    head, _, rest = text.partition(" ")
    name = head.split(".")[0] or "."
    if name in _SHOWS or _CLOCK.search(text):
        s.ctx.emit(Observe(_SHOWS.get(name, "time"), s.ctx.site(s.node)))
    if name in _IGNORED or head.endswith(":"):
        return True
    with s.ctx.branch() if guard is not TRUE else s.ctx.captured() as emitted:
        understood = _operation(s, name, head, arguments_of(rest), text)
    if emitted:
        if guard is TRUE:
            s.ctx.out.extend(emitted)
        else:
            s.ctx.emit(If(guard, tuple(emitted), (), s.ctx.site(s.node)))
    return understood


def _operation(s: Statement, name: str, head: str, args: list[str], text: str) -> bool:
    qualifiers = head.split(".")[1:]
    if name in _OPAQUE:
        return name == "wgmma" and qualifiers[:1] in (["fence"], ["commit_group"], ["wait_group"])
    if name in ("ld", "ldu"):
        return _load(s, head, qualifiers, args)
    if name == "st":
        return _store(s, head, qualifiers, args)
    if name in ("atom", "red"):
        return _atomic(s, name, head, qualifiers, args)
    if name == "cp":
        return _copy(s, qualifiers, args)
    if name in ("ldmatrix", "stmatrix"):
        return _matrix(s, name, qualifiers, args)
    if name in ("bar", "barrier"):
        return barrier(s, qualifiers, args)
    if name in ("membar", "fence"):
        return memory_fence(s, qualifiers)
    if name == "trap":
        s.ctx.emit(Assume(const(0, BOOL), "trap", s.ctx.site(s.node)))
        return True
    if name == "setp":
        _predicate(s, qualifiers, args)
        return True
    found = _REGISTER.match(text)
    if found:
        kind = found.group(2)
        value = special_register(s.ctx, kind)
        if value is not None:
            s.set(found.group(1), value)
        return True
    if name == "mapa":
        return map_address(s, args)
    if name in _EXCHANGES and "sync" in qualifiers:
        _exchange(s, name, qualifiers, args)
        return True
    if name == "cvta" and len(args) == 2:
        value = s.value(args[1])
        if value is not None:
            s.set(args[0], value)
    # What only computes in registers leaves its outputs with any value; any other instruction may do anything.
    return name in _REGISTERS_ONLY or name.startswith(_VIDEO)


def _exchange(s: Statement, name: str, qualifiers: list[str], args: list[str]) -> None:
    """An exchange between the lanes that the last operand names, like a vote whose result nobody uses."""
    mask = s.value(args[-1]) if args and not s.is_output(args[-1]) else None
    if mask is None or not isinstance(mask.ty, IntType):
        s.ctx.havoc(U32, f"asm {name}", s.node, tile=WARP)
        return
    operands = (memory.convert_scalar(s.ctx, mask, U32), const(1, BOOL))
    result = s.ctx.temporary(U32, "lane")
    intrinsic = _intrinsic(name, qualifiers)
    site = s.ctx.site(s.node)
    s.ctx.emit(Collective(s.ctx.id(), result.value, U32, "__ballot_sync", operands, site, stands_for=intrinsic))


_INTRINSICS = {
    ("shfl", "idx"): "shfl",
    ("shfl", "bfly"): "shfl_xor",
    ("vote", "all"): "all",
    ("vote", "any"): "any",
    ("vote", "ballot"): "ballot",
}


def _intrinsic(name: str, qualifiers: list[str]) -> str:
    """The intrinsic that an exchange is written for: ``__shfl_xor_sync`` for ``shfl.sync.bfly.b32``."""
    mode = next((q for q in qualifiers if q != "sync"), "")
    stem = "reduce" if name == "redux" else name
    return f"__{_INTRINSICS.get((name, mode), f'{stem}_{mode}')}_sync"


def _predicate(s: Statement, qualifiers: list[str], args: list[str]) -> None:
    operators = {"ne": "ne", "eq": "eq", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
    if len(args) != 3 or not qualifiers or qualifiers[0] not in operators:
        return
    a, b = s.value(args[1]), s.value(args[2])
    if a is None or b is None or not isinstance(a.ty, IntType):
        return
    s.predicates[args[0]] = compare(operators[qualifiers[0]], a, memory.convert_scalar(s.ctx, b, a.ty))


def _width(head: str, qualifiers: list[str]) -> tuple[int, int] | None:
    """Bytes of one element, and the number of elements."""
    found = _TYPE.search(head)
    if found is None:
        return None
    count = next((int(q[1:]) for q in qualifiers if re.fullmatch(r"v[248]", q)), 1)
    return _WIDTHS[found.group(1)], count


def _integer(width: int) -> IntType:
    return IntType(width * 8, signed=False)


def _load(s: Statement, head: str, qualifiers: list[str], args: list[str]) -> bool:
    size = _width(head, qualifiers)
    pointer = s.pointer(args[1]) if len(args) >= 2 else None
    if size is None or pointer is None:
        return False
    width, count = size
    ctx = s.ctx
    ty = _integer(width) if count == 1 and width <= 8 else memory.DATA
    loaded = ctx.temporary(ty)
    strong = ordering_of(qualifiers)
    site = ctx.site(s.node)
    if strong is not None and count == 1:
        order, scope = strong
        ctx.emit(Atomic(ctx.id(), loaded.value, "load", ty, pointer, (), width, scope, order, site))
    else:
        volatile = "volatile" in qualifiers or "cv" in qualifiers or strong is not None
        ctx.emit(Load(ctx.id(), loaded.value, ty, pointer, width * count, site, (), volatile, Alignment(width * count)))
    targets = arguments_of(args[0].strip("{} "))
    for number, target in enumerate(targets):
        part = loaded if count == 1 else memory.pure("lane", _integer(width), loaded, const(number * width, I64))
        s.set(target, part)
    return True


def _store(s: Statement, head: str, qualifiers: list[str], args: list[str]) -> bool:
    if "async" in qualifiers:
        return False
    size = _width(head, qualifiers)
    pointer = s.pointer(args[0]) if len(args) >= 2 else None
    if size is None or pointer is None:
        return False
    width, count = size
    ctx = s.ctx
    given = [s.value(part) for part in arguments_of(args[1].strip("{} "))]
    values = [v if v is not None else ctx.havoc(_integer(min(width, 8)), "asm", s.node) for v in given]
    value = values[0] if count == 1 else memory.pure("pack", memory.DATA, *values)
    strong = ordering_of(qualifiers)
    site = ctx.site(s.node)
    if strong is not None and count == 1:
        order, scope = strong
        ctx.emit(Atomic(ctx.id(), None, "store", value.ty, pointer, (value,), width, scope, order, site))
    else:
        volatile = "volatile" in qualifiers or "wt" in qualifiers or strong is not None
        ctx.emit(Store(ctx.id(), pointer, value, width * count, site, (), volatile, Alignment(width * count)))
    return True


def _atomic(s: Statement, name: str, head: str, qualifiers: list[str], args: list[str]) -> bool:
    op = None if "async" in qualifiers else next((q for q in qualifiers if q in _ATOMIC_OPS), None)
    size = _width(head, qualifiers)
    if name == "atom":
        target, args = (args[0], args[1:]) if args else ("", [])
    else:
        target = ""
    pointer = s.pointer(args[0]) if args else None
    operands = [s.value(a) for a in args[1:]]
    if op is None or size is None or pointer is None or size[1] > 1 or any(o is None for o in operands):
        return False
    signed = f".s{size[0] * 8}" in head
    ty = IntType(min(size[0], 8) * 8, signed)
    given = tuple(memory.convert_scalar(s.ctx, o, ty) for o in operands if o is not None)
    ordering = ordering_of(qualifiers)
    order: Order = ordering[0] if ordering is not None else "relaxed"
    scope = scope_of(qualifiers)
    old = s.ctx.temporary(ty, "old")
    s.ctx.emit(Atomic(s.ctx.id(), old.value, op, ty, pointer, given, size[0], scope, order, s.ctx.site(s.node)))
    if target:
        s.set(target, old)
    return True


def _copy(s: Statement, qualifiers: list[str], args: list[str]) -> bool:
    if qualifiers[:1] != ["async"] or "bulk" in qualifiers or "mbarrier" in qualifiers:
        return False
    if "commit_group" in qualifiers:
        asynchronous.commit(s.ctx, s.node)
        return True
    if "wait_all" in qualifiers:
        asynchronous.wait(s.ctx, s.node, asynchronous.EVERYTHING)
        return True
    if "wait_group" in qualifiers:
        newest = s.value(args[0]) if len(args) == 1 else None
        if newest is None:
            return False
        asynchronous.wait(s.ctx, s.node, newest)
        return True
    to = s.pointer(args[0]) if len(args) >= 3 else None
    source = s.pointer(args[1]) if len(args) >= 3 else None
    size = s.value(args[2]) if len(args) >= 3 else None
    if to is None or source is None or size is None or size.op != "const":
        return False
    ctx = s.ctx
    copied = ctx.temporary(memory.DATA, "copied")
    width, site, alignment = size.value, ctx.site(s.node), Alignment(size.value)
    # As pointers, which an address kept as a number is not.
    to, source = _kept(ctx, to), _kept(ctx, source)
    load = Load(ctx.id(), copied.value, memory.DATA, source, width, site, alignment=alignment)
    store = Store(ctx.id(), to, copied, width, site, alignment=alignment)
    asynchronous.issue(ctx, s.node, to, source, size, (load, store))
    return True


def _kept(ctx: Context, pointer: Expr) -> Expr:
    kept = ctx.temporary(PTR)
    ctx.assign(kept, pointer)
    return kept


def _matrix(s: Statement, name: str, qualifiers: list[str], args: list[str]) -> bool:
    """Lanes 0 to 8n-1 give the addresses of rows of 16 bytes, which go to or come from other lanes."""
    count = next((int(q[1]) for q in qualifiers if q in ("x1", "x2", "x4")), None)
    pointer = s.pointer(args[1 if name == "ldmatrix" else 0]) if len(args) == 2 else None
    if count is None or pointer is None:
        return False
    ctx, site = s.ctx, s.ctx.site(s.node)
    with ctx.branch() as row:
        if name == "ldmatrix":
            loaded = ctx.temporary(memory.DATA)
            made = Load(ctx.id(), loaded.value, memory.DATA, pointer, 16, site, alignment=Alignment(16))
        else:
            data = ctx.havoc(memory.DATA, "asm", s.node)
            made = Store(ctx.id(), pointer, data, 16, site, alignment=Alignment(16))
        ctx.emit(replace(made, asynchronous=True, lanes="columns" if "trans" in qualifiers else "rows"))
    if count == 4:
        ctx.out.extend(row)
    else:
        ctx.emit(If(compare("lt", lane(), const(8 * count, U32)), tuple(row), (), ctx.site(s.node)))
    return True
