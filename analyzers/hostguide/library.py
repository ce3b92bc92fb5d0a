"""What known library functions do to host values: the CUDA runtime, the C and C++ libraries, ATen.

Only functions declared by the bundled headers are looked up here, so a user's function of the same name keeps its own
meaning. Each entry takes the machine, the call and its argument nodes, and gives the result, or None to be treated as
an unknown but harmless call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from analyzers.hostguide.facts import factors_positive, factors_small
from analyzers.hostguide.hosttypes import OTHER, ArrayOf, HostType, PointerTo, RecordType, usual
from analyzers.hostguide.memory import alternatives
from analyzers.hostguide.source import extent
from analyzers.hostguide.tree import Node
from analyzers.hostguide.values import Address, Choice, Closure, NoteSource, Null, Pointer, Record, Unknown, Value
from analyzers.ir import expr as ex
from analyzers.ir.expr import F32, F64, I64, U64, Expr, FloatType, IntType
from analyzers.ir.warp_scans import WARP

if TYPE_CHECKING:
    from analyzers.hostguide.calls import Caller

VECTOR_TYPES = frozenset(
    {"dim3", *(f"{u}{t}{n}" for u in ("", "u") for t in ("int", "char", "short", "long", "longlong") for n in "1234")}
)
PURE_METHODS = frozenset(
    {
        "size", "numel", "dim", "ndimension", "stride", "data_ptr", "const_data_ptr", "mutable_data_ptr", "sizes",
        "strides", "is_cuda", "is_contiguous", "scalar_type", "dtype", "device", "options", "defined", "element_size",
        "itemsize", "nbytes", "has_value", "value", "data", "capacity", "length", "empty", "c_str", "get", "type",
        "is_cpu", "storage_offset", "max_size", "index", "operator bool", "operator*", "operator->", "count",
        "get_device", "nelement", "sparse_dim", "layout",
    }
)  # fmt: skip
"""Results depend on nothing but the object and the arguments."""
CONTAINER_ACCESS = frozenset({"operator[]", "at", "begin", "end", "front", "back", "rbegin", "rend", "data", "cbegin"})
"""Give access to elements; the object keeps its size."""
_NOT_NEGATIVE = frozenset({"size", "numel", "dim", "ndimension", "element_size", "itemsize", "nbytes", "nelement"})
_TENSOR_SHAPES = frozenset({"empty", "zeros", "ones", "full", "rand", "randn"})
_TENSOR_LIKE = frozenset({"empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like"})
_LARGEST_ALLOCATION = 1 << 47
LARGEST_PITCH = (1 << 31) - 1
"""``cudaDeviceProp::memPitch`` of every device."""
_PITCH_UNIT = 32
"""Rows stay aligned for coalesced access; the smallest such unit is the 32 bytes of a sector."""
_ATTRIBUTE_WARP_SIZE = 10
"""``cudaDevAttrWarpSize``."""
_SHAPE_LISTS = frozenset({"IntArrayRef", "ArrayRef", "initializer_list", "SymIntArrayRef", "vector", "array"})


def known_method(m: Caller, node: Node, held: Value, name: str, arguments: tuple[Value, ...]) -> Value | None:
    """A property of a library object: the same as long as the object is."""
    if isinstance(held, Choice):
        first = known_method(m, node, held.first, name, arguments)
        second = known_method(m, node, held.second, name, arguments)
        return None if first is None or second is None else m.combine(held.guard, first, second, name)
    if not isinstance(held, (Unknown, Record)):
        return None
    identity = held.id if isinstance(held, Unknown) else held.base.id
    if isinstance(held, Record) and name == "size" and not arguments and isinstance(node.ty, IntType):
        count = _array_size(node.arg(0))
        return ex.const(len(held.parts) if count is None else count, node.ty)
    keys: list[object] = []
    for a in arguments:
        if not isinstance(a, (Expr, Unknown, Pointer)):
            return None
        keys.append(a)
    if isinstance(held.ty if isinstance(held, Unknown) else held.base.ty, RecordType):
        if name in _NOT_NEGATIVE or name in ("stride", "sizes", "strides"):
            identity = m.resembles.get(identity, identity)
        keys.append(m.shapes)
    shared = "data_ptr" if name.endswith("data_ptr") or name == "data" else name
    key = ("method", shared, *keys)
    ty: HostType = U64 if shared == "size" and not arguments and node.ty == U64 else node.ty
    if shared == "data_ptr":
        ty = OTHER
    found = m.derived(identity, key, ty)
    if found is None:
        path, start, end = extent(node.cursor)
        shown = m.builder.sources.slice(path, start, end)
        found = Pointer(m.number(shown), shown) if shared == "data_ptr" else m.fresh(shown, ty)
        m.define(identity, key, ty, found)
    if name in _NOT_NEGATIVE and isinstance(found, Expr) and isinstance(found.ty, IntType) and found.ty.signed:
        m.learn(ex.compare("le", ex.const(0, found.ty), found), NoteSource("allocation", node.cursor))
    return found


def _array_size(base: Node) -> int | None:
    """The number of elements of a ``std::array``, None for any other object."""
    ty = base.ty.target if isinstance(base.ty, PointerTo) else base.ty
    if not isinstance(ty, RecordType) or ty.head != "array":
        return None
    canonical = base.cursor.type.get_canonical()
    if isinstance(base.ty, PointerTo):
        canonical = canonical.get_pointee().get_canonical()
    return next((f.type.get_canonical().element_count for f in canonical.get_fields()), 0)


def construct_known(m: Caller, node: Node, values: list[Value]) -> Value | None:
    """An object of a library class from its constructor's arguments."""
    ty = node.ty
    head = ty.head if isinstance(ty, RecordType) else ""
    if head == "function" and len(values) == 1 and isinstance(values[0], Closure):
        return values[0]
    if head in _SHAPE_LISTS and len(values) == 1 and isinstance(values[0], Record):
        return values[0]
    if head in ("optional", "unique_ptr", "shared_ptr") and len(values) == 1 and isinstance(values[0], (Null, Pointer)):
        return values[0] if isinstance(values[0], Pointer) else None
    if head == "pair" and len(values) == 2:
        fields = {f.spelling: m.builder.types.of(f.type) for f in node.cursor.type.get_canonical().get_fields()}
        parts: dict[str | int, Value] = {
            name: m.converted(value, fields[name])
            for name, value in zip(("first", "second"), values, strict=True)
            if isinstance(fields.get(name), IntType)
        }
        return Record(parts, Unknown(m.number("pair"), "pair", ty))
    if head == "vector" and values and isinstance(values[0], Expr) and isinstance(values[0].ty, IntType):
        count = values[0]
        note = NoteSource("allocation", node.cursor)
        _sized(m, count, note)
        made = Unknown(m.number("vector"), "vector", ty)
        m.define(made.id, ("method", "size", m.shapes), U64, ex.cast(count, U64))
        return made
    return None


def _sized(m: Caller, count: Expr, note: NoteSource) -> None:
    """A container was made with this many elements: converted to size_t, a negative number would have been refused."""
    inner = count.args[0] if count.op == "cast" else count
    if not isinstance(inner.ty, IntType) or not isinstance(count.ty, IntType):
        return
    if inner.ty.signed and count.ty.width >= inner.ty.width:
        m.learn(ex.compare("le", ex.const(0, inner.ty), inner), note)


def allocated(m: Caller, node: Node, place: Address | None, size: Expr, name: str) -> None:
    """``*place`` is a new device allocation of ``size`` bytes (I64 after a cast), which succeeded and is not empty."""
    note = NoteSource("allocation", node.cursor)
    wide = ex.cast(size, U64)
    m.learn(
        ex.land(ex.compare("le", ex.const(1, U64), wide), ex.compare("le", wide, ex.const(_LARGEST_ALLOCATION, U64))),
        note,
    )
    for fact in (*factors_positive(wide), *factors_small(wide)):
        m.learn(fact, note)
    shown = place.variable.name if place is not None else name
    made = Pointer(m.number(shown), shown, size=ex.cast(size, I64))
    m.allocations.add(made.id)
    m.write(place, made)


def device_property(node: Node) -> Expr | None:
    """A member of ``cudaDeviceProp`` that is the same for every device."""
    if node.value != "warpSize" or not isinstance(node.ty, IntType):
        return None
    ty = node.arg(0).ty
    ty = ty.target if isinstance(ty, PointerTo) else ty
    return ex.const(WARP, node.ty) if isinstance(ty, RecordType) and ty.head == "cudaDeviceProp" else None


# --- functions


def _device_attribute(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    """``cudaDeviceGetAttribute(&size, cudaDevAttrWarpSize, device)``."""
    attribute = m.integer(arguments[1], I64) if len(arguments) == 3 else None
    if attribute is not ex.const(_ATTRIBUTE_WARP_SIZE, I64):
        return None
    m.write(_pointer_place(m, arguments[0]), ex.const(WARP, ex.I32))
    return m.fresh("status", node.ty)


def _pointer_place(m: Caller, argument: Node) -> Address | None:
    """The variable whose address is the argument, casts taken off."""
    node = argument
    while node.op == "cast":
        node = node.arg(0)
    if node.op == "addr":
        return m.place(node.arg(0))
    value = m.evaluate(node)
    return value if isinstance(value, Address) else None


def _malloc_device(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    if len(arguments) < 2:
        return None
    size = m.integer(arguments[1], U64)
    allocated(m, node, _pointer_place(m, arguments[0]), size, "allocation")
    return m.fresh("status", node.ty)


def _malloc_pitch(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    if len(arguments) != 4:
        return None
    width, height = m.integer(arguments[2], U64), m.integer(arguments[3], U64)
    pitch = _pitch(m, node, width, height)
    m.write(_pointer_place(m, arguments[1]), pitch)
    allocated(m, node, _pointer_place(m, arguments[0]), ex.mul(pitch, height), "allocation")
    return m.fresh("status", node.ty)


def _pitch(m: Caller, node: Node, width: Expr, height: Expr) -> Expr:
    """The bytes from row to row that the runtime chose: at least the width, a multiple of what rows are aligned to,
    and at most what a device copes with."""
    pitch = m.symbol("pitch", U64)
    note = NoteSource("allocation", node.cursor)
    for fact in (*factors_positive(width), *factors_positive(height)):
        m.learn(fact, note)
    m.learn(ex.compare("le", width, pitch), note)
    m.learn(ex.compare("le", pitch, ex.const(LARGEST_PITCH, U64)), note)
    m.learn(ex.compare("eq", ex.binary("rem", pitch, ex.const(_PITCH_UNIT, U64)), ex.const(0, U64)), note)
    return pitch


def _malloc_3d(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    if len(arguments) != 2:
        return None
    extent_ = m.evaluate(arguments[1])
    width, height, depth = (m.to_int(m.part(extent_, f, U64, f), U64, f) for f in ("width", "height", "depth"))
    pitch = _pitch(m, node, width, height)
    for fact in factors_positive(depth):
        m.learn(fact, NoteSource("allocation", node.cursor))
    place = _pointer_place(m, arguments[0])
    size = ex.cast(ex.mul(pitch, ex.mul(height, depth)), I64)
    made = Pointer(m.number("allocation"), place.variable.name if place is not None else "allocation", size=size)
    m.allocations.add(made.id)
    parts: dict[str | int, Value] = {"ptr": made, "pitch": pitch, "xsize": width, "ysize": height}
    m.write(place, Record(parts, Unknown(m.number("pitched"), "pitched", OTHER)))
    return m.fresh("status", node.ty)


def _symbol(m: Caller, argument: Node) -> Address | None:
    """The variable that a symbol argument names."""
    node = argument
    while node.op in ("cast", "addr"):
        node = node.arg(0)
    return m.place(node) if node.op in ("ref", "member", "index") and not node.effects else None


def _symbol_address(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    if len(arguments) != 2:
        return None
    symbol = _symbol(m, arguments[1])
    target = _pointer_place(m, arguments[0])
    if symbol is None or target is None:
        return None
    m.write(target, symbol)
    return m.fresh("status", node.ty)


def _to_symbol(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    """A copy to a variable on the device; what was there before is gone."""
    if len(arguments) < 3:
        return None
    symbol = _symbol(m, arguments[0])
    if symbol is None:
        return None
    source = m.evaluate(arguments[1])
    rest = [m.evaluate(a) for a in arguments[2:]]
    variable = symbol.variable
    held: Value | None = None
    if not symbol.path and isinstance(source, Address) and (len(rest) == 1 or rest[1] is ex.const(0, U64)):
        whole = Address(source.variable, source.path[:-1] if source.path[-1:] == (0,) else source.path)
        ty = whole.variable.ty if not whole.path else OTHER
        if ty == variable.ty or (isinstance(ty, PointerTo) and isinstance(variable.ty, PointerTo)):
            held = m.read(whole, variable.ty)
    m.state.store[variable] = held if held is not None else m.fresh(variable.name, variable.ty)
    return m.fresh("status", node.ty)


def _raw_pointer(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    value = m.evaluate(arguments[0]) if len(arguments) == 1 else None
    if isinstance(value, Unknown):
        return m.derive(value.id, ("raw",), value.name, node.ty)
    return value if isinstance(value, (Pointer, Address)) else None


def _record(*names: str) -> Callable[[Caller, Node, tuple[Node, ...]], Value | None]:
    """A function that makes a structure of its arguments."""

    def rule(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
        if len(arguments) != len(names):
            return None
        parts: dict[str | int, Value] = {n: m.evaluate(a) for n, a in zip(names, arguments, strict=True)}
        return Record(parts, Unknown(m.number("made"), "made", node.ty))

    return rule


def _malloc_host(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    if not arguments:
        return None
    size = m.integer(arguments[0], U64)
    if len(arguments) == 2:
        size = ex.mul(size, m.integer(arguments[1], U64))
    for fact in factors_small(size):
        m.learn(fact, NoteSource("allocation", node.cursor))
    made = Pointer(m.number("malloc"), "malloc", size=ex.cast(size, I64))
    m.allocations.add(made.id)
    return made


def _extreme(operator: str) -> Callable[[Caller, Node, tuple[Node, ...]], Value | None]:
    def rule(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
        if len(arguments) == 1:
            listed = m.evaluate(arguments[0])
            values = list(listed.parts.values()) if isinstance(listed, Record) else []
        elif len(arguments) == 2:
            values = [m.evaluate(a) for a in arguments]
        else:
            return None
        ints = [v for v in values if isinstance(v, Expr) and isinstance(v.ty, IntType)]
        if not values or len(ints) != len(values):
            return m.fresh(operator, node.ty)
        result = ints[0]
        for other in ints[1:]:
            assert isinstance(result.ty, IntType)
            assert isinstance(other.ty, IntType)
            ty = result.ty if result.ty == other.ty else usual(result.ty, other.ty)
            result = ex.binary(operator, ex.cast(result, ty), ex.cast(other, ty))
        return m.bounded(m.to_int(result, node.ty, operator) if isinstance(node.ty, IntType) else result, operator)

    return rule


def _rounding(name: str) -> Callable[[Caller, Node, tuple[Node, ...]], Value | None]:
    def rule(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
        if len(arguments) != 1:
            return None
        value = m.evaluate(arguments[0])
        if isinstance(value, Expr) and isinstance(value.ty, IntType):
            return ex.cast(value, F64)
        if isinstance(value, Expr) and isinstance(value.ty, FloatType) and value.ty in (F32, F64):
            return ex.call(name, value.ty, value)
        return m.fresh(name, node.ty)

    return rule


def _first(m: Caller, _node: Node, arguments: tuple[Node, ...]) -> Value | None:
    if not arguments:
        return None
    value = m.evaluate(arguments[0])
    for other in arguments[1:]:
        m.evaluate(other)
    return value


def _move(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    """``std::move``: an object that is moved from holds anything afterwards."""
    if len(arguments) != 1:
        return None
    value = m.evaluate(arguments[0])
    if isinstance(node.ty, RecordType):
        place = m.place(arguments[0]) if not arguments[0].effects else None
        if place is not None:
            m.forget(place, arguments[0].ty)
    return value


def _assume(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    if len(arguments) == 1:
        m.learn(m.condition(arguments[0]), NoteSource("assert", node.cursor))
    return Unknown(0, "void", OTHER)


def _checked(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    """``assert``, ``TORCH_CHECK`` and their like: what they test holds where execution goes on."""
    if arguments:
        cited = m.statement.cursor if m.statement is not None else node.cursor
        m.learn(m.condition(arguments[0]), NoteSource("assert", cited))
    return Unknown(0, "void", OTHER)


def _pure(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    """A function of its arguments and nothing else: equal calls give equal results."""
    values = [m.evaluate(a) for a in arguments]
    if not all(isinstance(v, (Expr, Unknown, Pointer)) for v in values):
        return m.fresh("value", node.ty)
    name = node.value.spelling
    return m.derive(name, tuple(values), name, node.ty)


def _swap(m: Caller, _node: Node, arguments: tuple[Node, ...]) -> Value | None:
    if len(arguments) != 2:
        return None
    first, second = (m.place(a) for a in arguments)
    if first is None or second is None:
        m.forget_outside()
        for place, argument in zip((first, second), arguments, strict=True):
            if place is not None:
                m.forget(place, argument.ty)
        return Unknown(0, "void", OTHER)
    a, b = m.read(first, arguments[0].ty), m.read(second, arguments[1].ty)
    m.write(first, b)
    m.write(second, a)
    return Unknown(0, "void", OTHER)


def _absolute(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    value = m.evaluate(arguments[0]) if len(arguments) == 1 else None
    if isinstance(value, Expr) and isinstance(value.ty, IntType) and isinstance(node.ty, IntType):
        value = ex.cast(value, node.ty)
        return ex.select(ex.compare("lt", value, ex.const(0, node.ty)), ex.neg(value), value)
    return m.fresh("abs", node.ty)


def _ceil_div(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    if len(arguments) != 2 or not isinstance(node.ty, IntType):
        return None
    a, b = (m.integer(x, node.ty) for x in arguments)
    return m.bounded(ex.binary("div", ex.sub(ex.add(a, b), ex.const(1, node.ty)), b), "ceil_div")


def _shaped(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    """``at::empty({n, m}, …)``: the sizes are what was asked for, and none was negative."""
    if not isinstance(node.ty, RecordType) or node.ty.head != "Tensor" or not arguments:
        return None
    shape = m.evaluate(arguments[0])
    for other in arguments[1:]:
        m.evaluate(other)
    made = Unknown(m.number("tensor"), "tensor", node.ty)
    if isinstance(shape, Record):
        note = NoteSource("allocation", node.cursor)
        for index, value in shape.parts.items():
            if isinstance(index, int) and isinstance(value, Expr) and isinstance(value.ty, IntType):
                _sized(m, ex.cast(value, I64), note)
                m.define(made.id, ("method", "size", ex.const(index, I64), m.shapes), I64, ex.cast(value, I64))
        _whole_shape(m, made, shape)
    return made


def _whole_shape(m: Caller, made: Unknown, shape: Record) -> None:
    """Where all sizes stand in one list or array: how many there are, the sizes counted from the end, and the number of
    elements, which torch refuses to let overflow."""
    base = shape.base
    rank = base.ty.count if isinstance(base.ty, ArrayOf) else None
    sizes = [shape.parts.get(index) for index in range(rank or 0)]
    known = [ex.cast(s, I64) for s in sizes if isinstance(s, Expr) and isinstance(s.ty, IntType)]
    if rank is None or len(known) != rank:
        return
    elements: Expr = ex.const(1, I64)
    for index, size in enumerate(known):
        m.define(made.id, ("method", "size", ex.const(index - rank, I64), m.shapes), I64, size)
        elements = ex.mul(elements, size)
    for name in ("dim", "ndimension"):
        m.define(made.id, ("method", name, m.shapes), I64, ex.const(rank, I64))
    m.define(made.id, ("method", "numel", m.shapes), I64, m.bounded(elements, "numel"))


def _like(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    """``at::empty_like(x)`` has the sizes of ``x`` that were asked for already."""
    if not isinstance(node.ty, RecordType) or node.ty.head != "Tensor" or not arguments:
        return None
    source = m.evaluate(arguments[0])
    for other in arguments[1:]:
        m.evaluate(other)
    made = Unknown(m.number("tensor"), "tensor", node.ty)
    if isinstance(source, Unknown):
        m.resembles[made.id] = m.resembles.get(source.id, source.id)
    return made


def _synchronise(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
    """Asynchronous copies to host variables have arrived."""
    for a in arguments:
        m.evaluate(a)
    m.arrived()
    m.forget_escaped()
    return m.fresh("status", node.ty)


_DEVICE = -1
"""Instead of the number of an argument: always device memory."""


def _filled(kind: int | None, later: bool) -> Callable[[Caller, Node, tuple[Node, ...]], Value | None]:
    """A function that fills the memory behind its first argument; ``kind``: which argument tells whether that is the
    host's. Copies that are not ``later`` wait for the device."""

    def rule(m: Caller, node: Node, arguments: tuple[Node, ...]) -> Value | None:
        if not arguments:
            return None
        target = m.evaluate(arguments[0])
        rest = [m.evaluate(a) for a in arguments[1:]]
        if kind is not None and not later:
            m.arrived()
            m.forget_escaped()
        direction = rest[kind - 1] if kind is not None and 0 < kind <= len(rest) else None
        on_device = kind == _DEVICE or (
            isinstance(direction, Expr) and direction.op == "const" and direction.value in (1, 3)
        )
        for _, leaf in alternatives(target):
            m.forget_behind(leaf, later)
            if isinstance(leaf, Address):
                if later:
                    m.escape((leaf.variable,))
                # As what is assigned through a pointer: others may point there as well.
                if not on_device and leaf.variable.outside:
                    m.forget_outside(leaf.variable, scalar=True)
            elif not on_device and not (isinstance(leaf, Pointer) and leaf.id in m.allocations):
                m.forget_outside(scalar=True)
        return target if isinstance(node.ty, PointerTo) else m.fresh("status", node.ty)

    return rule


LIBRARY: dict[str, Callable[[Caller, Node, tuple[Node, ...]], Value | None]] = {
    **dict.fromkeys(
        (
            "cudaMalloc",
            "cudaMallocManaged",
            "cudaMallocAsync",
            "cudaMallocHost",
            "cudaHostAlloc",
            "cudaMallocFromPoolAsync",
        ),
        _malloc_device,
    ),
    "cudaMallocPitch": _malloc_pitch,
    "cudaMalloc3D": _malloc_3d,
    "cudaDeviceGetAttribute": _device_attribute,
    "cudaGetSymbolAddress": _symbol_address,
    **dict.fromkeys(("cudaMemcpyToSymbol", "cudaMemcpyToSymbolAsync"), _to_symbol),
    "raw_pointer_cast": _raw_pointer,
    **{f"make_{vector}": _record(*"xyzw"[: int(vector[-1])]) for vector in VECTOR_TYPES - {"dim3"}},
    "make_cudaExtent": _record("width", "height", "depth"),
    "make_cudaPitchedPtr": _record("ptr", "pitch", "xsize", "ysize"),
    "malloc": _malloc_host,
    "calloc": _malloc_host,
    "min": _extreme("min"),
    "max": _extreme("max"),
    **{f: _rounding("ceil") for f in ("ceil", "ceilf", "ceill")},
    **{f: _rounding("floor") for f in ("floor", "floorf", "floorl")},
    **dict.fromkeys(("forward", "__builtin_expect", "as_const"), _first),
    "move": _move,
    "__builtin_assume": _assume,
    "__cuda_lsp_assert": _checked,
    "__cuda_lsp_check": _checked,
    "__cuda_lsp_is_type": _pure,
    "swap": _swap,
    **dict.fromkeys(("abs", "labs", "llabs"), _absolute),
    **dict.fromkeys(("ceil_div", "ATenCeilDiv", "divup"), _ceil_div),
    **dict.fromkeys(_TENSOR_SHAPES, _shaped),
    **dict.fromkeys(_TENSOR_LIKE, _like),
    **dict.fromkeys(
        ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaStreamQuery", "cudaEventQuery",
         "cudaThreadSynchronize"),
        _synchronise,
    ),
    **dict.fromkeys(("cudaMemcpy",), _filled(3, False)),
    **dict.fromkeys(("cudaMemcpyAsync",), _filled(3, True)),
    "cudaMemcpy2D": _filled(6, False),
    "cudaMemcpy2DAsync": _filled(6, True),
    "cudaMemcpyFromSymbol": _filled(4, False),
    "cudaMemcpyFromSymbolAsync": _filled(4, True),
    **dict.fromkeys(("memcpy", "memmove", "memset", "strcpy", "strncpy", "fread"), _filled(None, False)),
    **dict.fromkeys(
        ("cudaMemset", "cudaMemsetAsync", "cudaMemset2D", "cudaMemset2DAsync", "cudaMemcpyPeer", "cudaMemcpyPeerAsync"),
        _filled(_DEVICE, True),
    ),
}  # fmt: skip
