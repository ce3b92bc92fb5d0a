"""Pointer parameters that a function only looks through: like references, they leave no address behind.

Takes the tree of a function, answers for a parameter. An address that is copied, stored, returned, compared with others
or captured is somebody's from then on; one behind ``*p``, ``p->member`` and ``p[i]``, or asked whether it is null, is
not.
"""

from __future__ import annotations

from analyzers.hostguide.tree import Declaration, HostFunction, Node

_OPAQUE = frozenset({"lambda", "unknown", "lost"})
"""What may hold code that is not in the tree."""


def is_borrowed(function: HostFunction, parameter: Declaration) -> bool:
    """Whether every mention of the pointer ``parameter`` in the body goes to what it points to."""
    stack = [function.body, *(value for _, _, value in function.initialisers)]
    while stack:
        node = stack.pop()
        if node.op in _OPAQUE:
            return False
        for position, inner in enumerate(node.args):
            if inner is None:
                continue
            if inner.op == "ref" and inner.value is parameter:
                if not _looks_through(node, position):
                    return False
            else:
                stack.append(inner)
    return True


def is_only_called(function: HostFunction, parameter: Declaration) -> bool:
    """Whether every mention of the function ``parameter`` in the body calls it, and none is lost at a label, where
    nothing is known of variables."""
    stack: list[Node] = [function.body, *(value for _, _, value in function.initialisers)]
    while stack:
        node = stack.pop()
        if node.op in _OPAQUE or node.op in ("label", "goto") or (node.op == "ref" and node.value is parameter):
            return False
        parts = node.args
        if node.op == "call" and parts and _unconverted(parts[0], parameter):
            parts = parts[1:]
        stack += [a for a in parts if a is not None]
    return True


def _unconverted(callee: Node | None, parameter: Declaration) -> bool:
    while callee is not None and callee.op in ("cast", "deref"):
        callee = callee.args[0]
    return callee is not None and callee.op == "ref" and callee.value is parameter


def _looks_through(node: Node, position: int) -> bool:
    if node.op in ("deref", "member"):
        return True
    if node.op == "index":
        return position == 0
    if node.op == "unary":
        return node.value == "!"
    if node.op in ("if", "while"):
        return position == 0
    if node.op == "binary" and node.value in ("==", "!="):
        other = node.args[1 - position]
        while other is not None and other.op == "cast":
            other = other.args[0]
        return other is not None and other.op == "null"
    return False
