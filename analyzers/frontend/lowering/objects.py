"""Variables: what a declaration makes, how it is initialised, and those that exist once per kernel or device."""

from __future__ import annotations

from analyzers.frontend.lowering import memory
from analyzers.frontend.lowering.context import Context, is_stable, zero
from analyzers.frontend.lowering.expressions import constant, held_place, is_lvalue
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import REFERENCES, Kinds, Node, initializer, stripped
from analyzers.frontend.lowering.places import (
    Closure,
    FunctionPlace,
    MemPlace,
    Place,
    RecordValue,
    SplitPlace,
    TablePlace,
    ValuePlace,
    VarPlace,
)
from analyzers.ir.expr import BDIM, BID, GDIM, I32, I64, TID, U64, Expr, addr, cast, const
from analyzers.ir.kernel import MemObject

_COORDINATES = {"threadIdx": TID, "blockIdx": BID, "blockDim": BDIM, "gridDim": GDIM}
_FUNCTION_CURSORS = frozenset({Kinds.FUNCTION, Kinds.METHOD, Kinds.CONSTRUCTOR, Kinds.CONVERSION})
_STATIC = 3  # CX_SC_Static
_EXTERN = 2  # CX_SC_Extern


# --- variables that live longer than a call -----------------------------------------------------------------


def unbound_variable(ctx: Context, variable: Node, use: Node) -> Place:
    """The place of a variable that no declaration statement of the current calls has made."""
    known = ctx.globals.get(variable.key)
    if known is not None:
        return known
    return _unbound(ctx, variable, use)


def _unbound(ctx: Context, variable: Node, use: Node) -> Place:
    name = variable.name
    coordinates = _COORDINATES.get(name)
    if coordinates is not None and variable.cursor.semantic_parent.kind.is_translation_unit():
        place: Place = _coordinates(ctx, variable, coordinates)
        ctx.globals[variable.key] = place
        return place
    if name == "warpSize" and variable.type.scalar:
        return ValuePlace(const(32, I32), variable.type)
    kinds = {k.kind for k in variable.kids}
    if variable.kind == Kinds.UNEXPOSED_DECL:
        return _template_variable(ctx, variable, kinds, use)
    if Kinds.SHARED_ATTR in kinds:
        return declare_shared(ctx, variable)
    local = variable.cursor.semantic_parent
    inside = local is not None and local._kind_id in _FUNCTION_CURSORS
    if inside and variable.cursor.storage_class.value != _STATIC and not _is_constant(variable):
        # libclang leaves out the initialiser statement of a switch: the declaration comes to light at its use.
        declare_local(ctx, variable)
        found = ctx.frame.lookup(variable.key)
        if found is not None:
            return found
    place = _static(ctx, variable, kinds, use)
    ctx.globals[variable.key] = place
    return place


def _template_variable(ctx: Context, variable: Node, kinds: set[int], use: Node) -> Place:
    """An instance of a variable template: libclang gives it no kind of its own, the use has its type."""
    ctype = use.type
    if ctype.scalar and ctype.const:
        found = constant(use.evaluated(), ctype.ir or I32)
        if found is not None:
            return ValuePlace(found, ctype)
    text = variable.text
    constant_memory = Kinds.CONSTANT_ATTR in kinds or "__constant__" in text
    name = ctx.object(variable.name or "variable", "constant" if constant_memory else "global", ctype,
                      read_only=constant_memory or ctype.const, span=variable.span)  # fmt: skip
    place = MemPlace(addr(name), ctype)
    ctx.globals[variable.key] = place
    return place


def _coordinates(ctx: Context, variable: Node, values: tuple[Expr, ...]) -> Place:
    ctype = variable.type
    leaves = ctype.leaves() if ctype.shape == "record" else None
    if not leaves or len(leaves) != 3:
        return RecordValue({0: values[0], 4: values[1], 8: values[2]}, ctype)
    return RecordValue({at: cast(v, leaf.ir or U64) for (at, leaf), v in zip(leaves, values, strict=True)}, ctype)


def _is_constant(variable: Node) -> bool:
    ctype = variable.type
    while ctype.shape == "array" and not ctype.const:
        ctype = ctype.element
    return ctype.const


def _static(ctx: Context, variable: Node, kinds: set[int], use: Node) -> Place:
    ctype = variable.type
    if _is_constant(variable):
        found = _constant_place(ctx, variable)
        if found is not None:
            return found
    if ctype.shape == "reference":
        init = initializer(variable)
        if init is not None:
            return ctx.place(init)
    space = "global" if Kinds.DEVICE_ATTR in kinds or not _is_constant(variable) else "constant"
    if Kinds.CONSTANT_ATTR in kinds:
        space = "constant"
    read_only = space == "constant" or _is_constant(variable)
    name = ctx.object(variable.name or "variable", space, ctype, read_only=read_only, span=variable.span)
    return MemPlace(addr(name), ctype)


def _constant_place(ctx: Context, variable: Node) -> Place | None:
    """The place of a constant whose value the source gives."""
    ctype = variable.type
    if ctype.scalar and ctype.ir is not None:
        found = constant(variable.evaluated(), ctype.ir)
        if found is None:
            init = initializer(variable)
            found = constant(init.evaluated(), ctype.ir) if init is not None else None
        if found is not None:
            return ValuePlace(found, ctype)
        return _initialised_constant(ctx, variable)
    if ctype.shape == "array":
        init = initializer(variable)
        inner, extents = ctype.flat()
        total = 1
        for extent in extents:
            total *= extent
        if init is None or not inner.scalar or not 0 < total <= 4096:
            return None
        values: list[Expr] = []
        if not _constants(stripped(init), ctype, values):
            return None
        values.extend([zero(inner.ir or U64)] * (total - len(values)))
        name = ctx.object(variable.name, "constant", ctype, read_only=True, span=variable.span)
        return TablePlace(tuple(values), const(0, I64), ctype, addr(name))
    if ctype.shape == "record":
        return _initialised_constant(ctx, variable)
    return None


def _initialised_constant(ctx: Context, variable: Node) -> Place | None:
    """A namespace-scope constant of class type or with a computed initialiser, evaluated where it is used."""
    init = initializer(variable)
    if init is None:
        return None
    value = ctx.value(init)
    if isinstance(value, Expr):
        return ValuePlace(memory.convert_scalar(ctx, value, variable.type.ir or U64), variable.type)
    return value


def _constants(init: Node, ctype: CType, out: list[Expr]) -> bool:
    """Append the values of a constant initialiser of an array in row-major order."""
    inner = ctype.element
    if init.kind != Kinds.INIT_LIST:
        return False
    start = len(out)
    width = 1
    for extent in inner.flat()[1]:
        width *= extent
    for kid in init.kids:
        bare = stripped(kid)
        if inner.shape == "array" and bare.kind == Kinds.INIT_LIST:
            before = len(out)
            if not _constants(bare, inner, out):
                return False
            out.extend([zero(inner.flat()[0].ir or U64)] * (width - (len(out) - before)))
        else:
            found = constant(kid.evaluated(), inner.flat()[0].ir or U64)
            if found is None:
                return False
            out.append(found)
    return len(out) - start <= width * (ctype.count or 0)


def declare_shared(ctx: Context, variable: Node) -> Place:
    """A ``__shared__`` variable: one object per kernel, however often its function is inlined."""
    known = ctx.globals.get(variable.key)
    if known is not None:
        return known
    ctype = variable.type
    if (ctype.shape == "array" and ctype.count is None) or variable.cursor.storage_class.value == _EXTERN:
        place = MemPlace(addr(_dynamic_object(ctx, variable)), ctype)
    else:
        name = ctx.object(variable.name or "shared", "shared", ctype, span=variable.span)
        place = MemPlace(addr(name), ctype)
    ctx.globals[variable.key] = place
    return place


def _dynamic_object(ctx: Context, variable: Node) -> str:
    for known in ctx.objects.values():
        if known.kind == "dynamic":
            return known.name
    inner, _ = variable.type.flat()
    name = ctx.name(variable.name)
    ctx.objects[name] = MemObject(
        name, "shared", "dynamic", None, max(inner.size, 1), (), variable.name, span=variable.span
    )
    return name


# --- declaration statements ---------------------------------------------------------------------------------


def declare(ctx: Context, variable: Node) -> None:
    """A variable declaration inside a function."""
    kinds = {k.kind for k in variable.kids} if variable.kids else set[int]()
    if Kinds.SHARED_ATTR in kinds:
        declare_shared(ctx, variable)
        return
    if variable.cursor.storage_class.value in (_STATIC, _EXTERN):
        return  # found by `unbound_variable` where it is used
    declare_local(ctx, variable)


def declare_local(ctx: Context, variable: Node) -> None:
    ctype = variable.type
    init = initializer(variable)
    frame = ctx.frame
    if ctype.shape == "reference":
        frame.bindings[variable.key] = bound_reference(ctx, ctype, init, variable)
        return
    if ctype.shape == "record" and ctype.record.has_destructor():
        ctx.unsupported("destructor", f"{ctype.spelling} has a destructor with effects", variable)
    if ctype.shape == "array" and ctype.count is None:
        ctx.unsupported("variable-length-array", variable.text[:60], variable)
    if init is None:
        frame.bindings[variable.key] = memory.storage(ctx, ctype, variable.name or "v", variable.key, variable)
        return
    if ctype.scalar:
        _declare_scalar(ctx, variable, init)
        return
    if ctype.shape == "array" and _is_constant(variable) and variable.key not in ctx.forced:
        table = _constant_place(ctx, variable)
        if table is not None:
            frame.bindings[variable.key] = table
            return
    bare = elided(stripped(init))
    if ctype.shape == "record" and bare.kind != Kinds.INIT_LIST:
        from analyzers.frontend.lowering import calls

        if not calls.is_construction(bare) or calls.copies_temporary(bare):
            value = ctx.value(init)
            adopted = _adopted(ctx, value, variable)
            if adopted is not None:
                frame.bindings[variable.key] = adopted
                return
            target = memory.storage(ctx, ctype, variable.name or "v", variable.key, variable)
            if isinstance(value, Expr):
                value = memory.as_place(ctx, value, init)
            if value is not None:
                memory.copy(ctx, target, value, variable, init)
            frame.bindings[variable.key] = target
            return
    target = memory.storage(ctx, ctype, variable.name or "v", variable.key, variable)
    frame.bindings[variable.key] = target
    initialise(ctx, target, init, variable)


def elided(node: Node) -> Node:
    """The construction inside a copy that C++17 leaves out."""
    while (
        node.kind == Kinds.CALL
        and len(node.kids) == 1
        and node.reference is None
        and node.type.shape == node.kids[0].type.shape == "record"
    ):
        node = stripped(node.kids[0])
    return node


def _adopted(ctx: Context, value: object, variable: Node) -> Place | None:
    """A function object or group is the variable; so is a class value just made by a call."""
    if isinstance(value, (Closure, FunctionPlace)):
        return value
    if isinstance(value, SplitPlace) and value.key is None and not value.offset and variable.key not in ctx.forced:
        return SplitPlace(value.names, variable.type, variable.key)
    return None


def _declare_scalar(ctx: Context, variable: Node, init: Node) -> None:
    ctype = variable.type
    frame = ctx.frame
    raw = ctx.value(init)
    if isinstance(raw, (FunctionPlace, Closure)):
        frame.bindings[variable.key] = raw
        return
    value = raw if isinstance(raw, Expr) else zero(ctype.ir or U64) if raw is None else memory.scalar_of(ctx, raw, init)
    value = memory.convert_scalar(ctx, value, ctype.ir or value.ty)
    kept = value.op == "const" or (_is_address(value) and is_stable(value))
    if (
        kept
        and (ctype.const or variable.key not in frame.written)
        and not ctype.volatile
        and not ctx.needs_storage(variable.key)
    ):
        frame.bindings[variable.key] = ValuePlace(value, ctype, variable.key)
        return
    target = memory.storage(ctx, ctype, variable.name or "v", variable.key, variable)
    frame.bindings[variable.key] = target
    memory.write(ctx, target, value, variable)


def declare_bindings(ctx: Context, node: Node) -> None:
    """A structured binding of an array or of a class's data members."""
    names = [k for k in node.kids if k.kind == Kinds.UNEXPOSED_DECL]
    given = [k for k in node.kids if 100 <= k.kind < 200]
    if not names or not given:
        return
    init = given[-1]
    ctype = node.type
    if ctype.shape == "reference":
        whole = bound_reference(ctx, ctype, init, node)
    else:
        whole = memory.storage(ctx, ctype, "binding", node.key, node)
        initialise(ctx, whole, init, node)
    parts = _binding_parts(ctx, whole, node)
    if len(parts) != len(names):
        ctx.unsupported("statement", f"structured binding {node.text[:60]!r}", node)
    for name, part in zip(names, parts, strict=False):
        ctx.frame.bindings[name.key] = part


def _binding_parts(ctx: Context, whole: Place, node: Node) -> list[Place]:
    ctype = whole.type
    if ctype.shape == "array":
        return [memory.element(ctx, whole, const(i, I64), node) for i in range(ctype.count or 0)]
    if ctype.shape != "record":
        return []
    record = ctype.record
    if not record.fields and len(record.bases) == 1:
        return _binding_parts(ctx, memory.base_part(ctx, whole, record.bases[0][0], node), node)
    if len(record.fields) == 1 and record.fields[0].type.shape == "array":  # std::array
        return _binding_parts(ctx, memory.member(ctx, whole, record.fields[0], node), node)
    return [memory.member(ctx, whole, field, node) for field in record.fields]


def _is_address(value: Expr) -> bool:
    """Whether an integer is an address in disguise: kept as it is, so that the pointer can be found again."""
    while value.op in ("cast", "add") and value.args:
        value = value.args[0]
    return value.op == "call" and value.value == "ptrtoint"


def bound_reference(ctx: Context, ctype: CType, init: Node | None, at: Node) -> Place:
    """What a reference variable or parameter stands for."""
    target = ctype.element
    if init is None:
        return memory.as_place(ctx, ctx.unknown_value(target, "unbound reference", at), at)
    place = held_place(ctx, ctx.place(init))
    if isinstance(place, ValuePlace) and place.key is None:
        if is_stable(place.value) and target.const:
            return place
        kept = memory.storage(ctx, target, at.name or "temporary", at.key, at)
        memory.write(ctx, kept, memory.convert_scalar(ctx, place.value, target.ir or place.value.ty), at)
        return kept
    if isinstance(place, RecordValue) and place.key is None and not target.const:
        kept = memory.storage(ctx, target, at.name or "temporary", at.key, at)
        memory.copy(ctx, kept, place, at)
        return kept
    if target.const and target.scalar and not is_lvalue(init) and isinstance(place, VarPlace):
        return place
    return place


# --- initialisation -----------------------------------------------------------------------------------------


def initialise(ctx: Context, target: Place, init: Node, at: Node) -> None:
    """Initialise storage from an initialiser expression or list. `at` is what findings point to."""
    bare = init
    while (
        bare.kind in (Kinds.UNEXPOSED, Kinds.PAREN) and len(bare.kids) == 1 and bare.type.shape in ("record", "array")
    ):
        bare = bare.kids[0]
    bare = elided(bare)
    ctype = target.type
    if bare.kind == Kinds.INIT_LIST:
        _from_list(ctx, target, bare, at)
        return
    if ctype.scalar:
        value = memory.convert_scalar(ctx, ctx.scalar(init), ctype.ir or U64)
        memory.write(ctx, target, value, at)
        return
    if ctype.shape == "record":
        from analyzers.frontend.lowering import calls

        if calls.is_construction(bare):
            calls.construct(ctx, target, bare)
            return
    elif ctype.shape == "array":
        _initialise_array(ctx, target, bare, at)
        return
    value = ctx.value(init)
    if isinstance(value, Expr):
        value = memory.as_place(ctx, value, init)
    if value is not None:
        memory.copy(ctx, target, value, at, init)


def _initialise_array(ctx: Context, target: Place, init: Node, at: Node) -> None:
    from analyzers.frontend.lowering import calls

    ctype = target.type
    if init.kind == Kinds.CALL and calls.is_construction(init):
        inner, extents = ctype.flat()
        if inner.shape != "record" or calls.trivial_construction(init):
            return
        total = 1
        for extent in extents:
            total *= extent
        if total > 64:
            ctx.unsupported("constructor", f"an array of {total} constructed objects", at)
            return
        for number in range(total):
            calls.construct(ctx, memory.part_at(ctx, target, number * inner.size, inner), init)
        return
    if init.kind == Kinds.STRING:
        text = init.evaluated()
        if isinstance(text, str) and isinstance(target, MemPlace):
            memory.zeroed(ctx, target, at)
        return
    value = ctx.value(init)
    if value is not None and not isinstance(value, Expr):
        memory.copy(ctx, target, value, at, init)


class _Clauses:
    """The initialiser clauses of a braced list, taken one by one."""

    def __init__(self, clauses: list[Node]) -> None:
        self._clauses = clauses
        self._next = 0

    def peek(self) -> Node | None:
        return self._clauses[self._next] if self._next < len(self._clauses) else None

    def take(self) -> Node:
        self._next += 1
        return self._clauses[self._next - 1]


def _from_list(ctx: Context, target: Place, init: Node, at: Node) -> None:
    ctype = target.type
    clauses = [k for k in init.kids if k.kind not in REFERENCES]
    if ctype.scalar:
        value = ctx.scalar(clauses[0]) if clauses else zero(ctype.ir or U64)
        memory.write(ctx, target, memory.convert_scalar(ctx, value, ctype.ir or U64), at)
        return
    if len(clauses) == 1 and ctype.shape == "record" and clauses[0].type.shape == "record":
        only = stripped(clauses[0])
        if only.kind != Kinds.INIT_LIST and clauses[0].type.spelling.removeprefix(
            "const "
        ) == ctype.spelling.removeprefix("const "):
            initialise(ctx, target, clauses[0], at)
            return
    if any(_is_designated(k) for k in clauses):
        _designated(ctx, target, clauses, at)
        return
    if not clauses:
        memory.zeroed(ctx, target, at)
        return
    if len(clauses) < _slots(ctype) and _slots(ctype) > memory.COPY_LIMIT:
        memory.zeroed(ctx, target, at)
    _fill(ctx, target, _Clauses(clauses), at)


def _slots(ctype: CType) -> int:
    if ctype.shape == "array":
        return ctype.count or 0
    return len(ctype.record.fields) + len(ctype.record.bases) if ctype.shape == "record" else 1


def _is_designated(clause: Node) -> bool:
    return clause.kind == Kinds.UNEXPOSED and any(k.kind == Kinds.MEMBER_REF for k in clause.kids)


def _designated(ctx: Context, target: Place, clauses: list[Node], at: Node) -> None:
    memory.zeroed(ctx, target, at)
    for clause in clauses:
        names = [k for k in clause.kids if k.kind == Kinds.MEMBER_REF]
        given = [k for k in clause.kids if k.kind != Kinds.MEMBER_REF and k.kind not in REFERENCES]
        place = target
        for name in names:
            field = place.type.record.find(name.reference.key if name.reference else 0, name.name)
            if field is None:
                ctx.unsupported("expression", f"designator {clause.text[:40]}", clause)
                return
            place = memory.member(ctx, place, field, at)
        if given:
            initialise(ctx, place, given[-1], at)


def _fill(ctx: Context, target: Place, clauses: _Clauses, at: Node) -> None:
    """Give the clauses to the members or elements in order, with braces left out where C allows it."""
    for part in _members(ctx, target, at):
        clause = clauses.peek()
        if clause is None:
            if _slots(target.type) > memory.COPY_LIMIT:
                return
            memory.zeroed(ctx, part, at)
            continue
        bare = stripped(clause)
        inner = part.type
        if inner.shape in ("array", "record") and bare.kind != Kinds.INIT_LIST and bare.kind != Kinds.STRING:
            same = clause.type.shape == "record" and inner.shape == "record"
            if not same:
                _fill(ctx, part, clauses, at)
                continue
        clauses.take()
        if inner.shape == "reference":
            pointer = memory.address(ctx, ctx.place(clause), clause)
            memory.write(ctx, part, pointer, at)
            continue
        initialise(ctx, part, clause, at)


def _members(ctx: Context, target: Place, at: Node) -> list[Place]:
    ctype = target.type
    if ctype.shape == "array":
        inner = ctype.element
        size = max(inner.size, 1)
        return [memory.part_at(ctx, target, i * size, inner) for i in range(min(ctype.count or 0, 4096))]
    if ctype.shape != "record":
        return [target]
    record = ctype.record
    parts = [memory.part_at(ctx, target, offset, base) for base, offset in record.bases]
    for field in record.fields[:1] if record.union else record.fields:
        if field.bits is not None:
            parts.append(memory.member(ctx, target, field, at))
        else:
            parts.append(memory.part_at(ctx, target, field.offset, field.type))
    return parts
