"""What pointers point to: resolved exactly for the symbolic pass, and flow-insensitively for whole kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Final

from analyzers.ir import expr as E
from analyzers.ir import kernel as K
from analyzers.ir.clusters import in_block, is_in_block, own_object
from analyzers.ir.expr import I64, Expr
from analyzers.ir.surfaces import SURFACES, is_surface


def pointer_targets(p: Expr) -> list[tuple[Expr, Expr, Expr]]:
    """(condition, root, I64 byte offset) for everything a variable-free pointer may point to; root is ``addr``,
    ``null``, opaque, or one of these ``in_block``."""
    zero = E.const(0, I64)
    if p.op == "ptradd":
        return [(c, r, E.add(o, p.args[1])) for c, r, o in pointer_targets(p.args[0])]
    if p.op == "select":
        c = p.args[0]
        then = [(E.land(c, g), r, o) for g, r, o in pointer_targets(p.args[1])]
        other = [(E.land(E.lnot(c), g), r, o) for g, r, o in pointer_targets(p.args[2])]
        return _join_roots(then + other)
    if p.op == "cast" and p.args[0].ty == E.PTR:
        return pointer_targets(p.args[0])
    if is_in_block(p):
        return [(c, in_block(own_object(r), p.args[1]), o) for c, r, o in pointer_targets(p.args[0])]
    return [(E.TRUE, p, zero)]


def address_number(p: Expr) -> Expr | None:
    """The U64 number of a variable-free pointer's address: ``ptrtoint`` of what it points into plus the offset, so that
    differences and bits of addresses into one object can be told. None where some object is not known.

    An object has one number for all threads: blocks and threads each see their own at the same address."""
    number: Expr | None = None
    for condition, root, offset in reversed(pointer_targets(p)):
        if own_object(root).op not in ("addr", "null"):
            return None
        base = E.const(0, E.U64) if root.op == "null" else E.call("ptrtoint", E.U64, root)
        at = E.add(base, E.cast(offset, E.U64))
        number = at if number is None else E.select(condition, at, number)
    return number


def _join_roots(found: list[tuple[Expr, Expr, Expr]]) -> list[tuple[Expr, Expr, Expr]]:
    merged: dict[int, tuple[Expr, Expr, Expr]] = {}
    for c, r, o in found:
        if r.key in merged:
            c0, _, o0 = merged[r.key]
            merged[r.key] = (E.lor(c0, c), r, E.select(c0, o0, o))
        else:
            merged[r.key] = (c, r, o)
    return list(merged.values())


def points_to(kernel: K.Kernel) -> dict[str, frozenset[str]]:
    """Flow-insensitive: the objects each pointer variable may point into, and each integer variable that is an address
    as ``folding.pointer_of_integer`` reads one. ``*`` is an object found in memory, ``?`` anything."""
    found: dict[str, set[str]] = {}
    body = K.statements(kernel.body)
    for s in body:
        if isinstance(s, K.Load) and s.ty == E.PTR:
            found.setdefault(s.var, set()).add("*")
            space = {o.name: o.space for o in kernel.objects}
            roots = {n.value for n in E.walk((s.pointer,)) if n.op in ("addr", "var") and n.ty == E.PTR}
            if any(space.get(r, "local") == "local" for r in roots):
                found[s.var] |= {o.name for o in kernel.objects}
        elif isinstance(s, (K.Havoc, K.Collective)) and s.ty == E.PTR:
            found.setdefault(s.var, set()).add("?")
    _follow(body, found)
    # An integer that some statement makes an address, and another something else.
    mixed = {
        s.var
        for s in body
        if isinstance(s, (K.Assign, K.Load, K.Atomic, K.Havoc, K.Collective))
        and s.var in found
        and isinstance(s.value.ty if isinstance(s, K.Assign) else s.ty, E.IntType)
        and not (isinstance(s, K.Assign) and (s.value.op == "const" or _addressed(s.value, found, False) is not None))
    }
    if mixed:
        for name in mixed:
            found[name].add("?")
        _follow(body, found)
    return {n: frozenset(v) for n, v in found.items()}


def _follow(body: Iterable[K.Stmt], found: dict[str, set[str]]) -> None:
    changed = True
    while changed:
        changed = False
        for s in body:
            new: frozenset[str] | None = None
            if isinstance(s, K.Assign) and s.value.ty == E.PTR:
                new = pointed_objects(s.value, found, unknown=False)
            elif isinstance(s, K.Assign) and isinstance(s.value.ty, E.IntType):
                new = _addressed(s.value, found, False)
            elif isinstance(s, K.Load) and s.linked:
                new = pointed_objects(s.pointer, found, unknown=False)
            if new and isinstance(s, (K.Assign, K.Load)) and new - found.get(s.var, set()):
                found.setdefault(s.var, set()).update(new)
                changed = True


def _addressed(e: Expr, known: Mapping[str, Set[str]], unknown: bool) -> frozenset[str] | None:
    """The objects that an integer may be an address in, None where it is not seen to be an address."""
    if e.op == "call" and e.value == "ptrtoint":
        return pointed_objects(e.args[0], known, unknown)
    if e.op == "var":
        return frozenset(known[e.value]) if e.value in known else None
    if e.op in ("cast", "narrow", "and"):
        return _addressed(e.args[0], known, unknown) if isinstance(e.args[0].ty, E.IntType) else None
    if e.op not in ("add", "sub", "select"):
        return None
    one, two = (_addressed(a, known, unknown) for a in e.args[-2:])
    if e.op == "select":
        return frozenset({*(one or {"?"}), *(two or {"?"})}) if one or two else None
    if one is not None and two is not None:
        return None if e.op == "sub" else one | two
    return one if e.op == "sub" or one is not None else two


def pointed_objects(p: Expr, known: Mapping[str, Set[str]], unknown: bool = True) -> frozenset[str]:
    """Objects a program pointer expression may point into; a variable nothing is known of adds ``?`` if
    ``unknown``."""
    found = _pointing.get(p.key)
    if found is None:
        if len(_pointing) >= _MAX_POINTING:
            _pointing.clear()
        found = _pointing[p.key] = _pointing_below(p)
    objects, variables, addresses = found
    if not variables and not addresses:
        return objects
    out = set(objects)
    for name in variables:
        out |= known.get(name, {"?"} if unknown else set[str]())
    for address in addresses:
        out |= _addressed(address, known, unknown) or {"?"}
    return frozenset(out)


_Pointing = tuple[frozenset[str], tuple[str, ...], tuple[Expr, ...]]
"""What a pointer is made of: objects, pointer variables, and integers that are made pointers."""
_MAX_POINTING: Final = 50_000
_pointing: dict[int, _Pointing] = {}
"""By key: each pointer is asked about in several ways, and instances have most of them in common."""


def _pointing_below(p: Expr) -> _Pointing:
    objects: set[str] = set()
    variables: list[str] = []
    addresses: list[Expr] = []
    for node in E.walk((p,)):
        if node.ty == E.PTR:
            if node.op == "addr":
                objects.add(node.value)
            elif node.op == "var":
                variables.append(node.value)
            elif is_surface(node):
                objects.add(SURFACES)
            elif node.op in ("cast", "call") and node.args[0].ty != E.PTR:
                addresses.append(node.args[0])
    return frozenset(objects), tuple(variables), tuple(addresses)


def written_objects(kernel: K.Kernel, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Names of objects some statement may write."""
    names: set[str] = set()
    for s in K.statements(kernel.body):
        if isinstance(s, K.Store) or (isinstance(s, K.Atomic) and s.op != "load"):
            names |= pointed_objects(s.pointer, known)
    if "?" in names:
        names |= {o.name for o in kernel.objects if not o.read_only}
    return frozenset(names)


POINTER = 8
"""Bytes of a pointer in device code."""


def rewritten_objects(kernel: K.Kernel, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Objects in which the kernel may change a pointer: ``*`` stands for all that are found in memory.

    A store of a scalar that is narrower than a pointer changes none, bytes apart: an object that is written as a number
    and read as a pointer has no meaning in C++. What is in shared memory the kernel has put there, in whatever way."""
    names: set[str] = set()
    shared = {o.name for o in kernel.objects if o.space == "shared"}
    for s in K.statements(kernel.body):
        if isinstance(s, K.Store) or (isinstance(s, K.Atomic) and s.op != "load"):
            whole = s.width >= POINTER or (isinstance(s, K.Store) and s.value.ty in (E.U8, E.I8))
            touched = pointed_objects(s.pointer, known)
            names |= touched if whole else touched & {*shared, "?"}
    if "?" in names:
        names |= {"*", *(o.name for o in kernel.objects if not o.read_only)}
    return frozenset(names)
