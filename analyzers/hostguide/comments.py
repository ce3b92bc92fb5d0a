"""What users say about launches: ``// cuda-lsp: launch …``, ``// cuda-lsp: assume …`` and the ``--launch`` option.

Takes text, gives :class:`UserLaunch` values and boolean expressions over a kernel's parameters. Comments belong to the
kernel that is defined right below them or around them. What is malformed is listed, or raised as ValueError, with a
message for the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from analyzers.frontend.directives import ABOUT_FINDINGS, Directive, directives
from analyzers.hostguide.assumptions import parse_assumption
from analyzers.hostguide.contexts import context_of_user_launch
from analyzers.ir.context import Constraint, LaunchContext
from analyzers.ir.expr import TRUE
from analyzers.ir.kernel import Kernel
from analyzers.model import Dim3, FactNote, Skipped, SourceSpan, UserLaunch

__all__ = [
    "CommentDirective",
    "comment_directives",
    "directives_for",
    "parse_assumption",
    "parse_launch",
    "user_contexts",
    "with_assumptions",
]

_ITEM = re.compile(r"[\s,]*([A-Za-z_][\w.]*)\s*=\s*(\([^()]*\)|[^\s,()]+)")
_DIMENSIONS = {"grid": "grid", "griddim": "grid", "block": "block", "blockdim": "block"}
_SHARED = frozenset({"shared", "smem", "dynamic_shared"})
_LIMITS = {"grid": (2**31 - 1, 65535, 65535), "block": (1024, 1024, 64)}


@dataclass(frozen=True, slots=True)
class CommentDirective:
    """One ``cuda-lsp:`` comment. ``lines``: first and last line of the declaration that follows it."""

    kind: Literal["launch", "assume", "run"]
    text: str
    span: SourceSpan
    lines: tuple[int, int]
    launch: UserLaunch | None = None


def comment_directives(text: str, path: str) -> tuple[tuple[CommentDirective, ...], tuple[Skipped, ...]]:
    """All directives of a file in order that say something of its kernels, and what could not be understood."""
    found: list[CommentDirective] = []
    skipped: list[Skipped] = []
    for directive in directives(text, path):
        read = _read(directive)
        if isinstance(read, str):
            written = f"cuda-lsp: {directive.word} {directive.text}".strip()
            skipped.append(Skipped(f"{written}: {read}", directive.span))
        elif read is not None:
            found.append(read)
    return tuple(found), tuple(skipped)


def _read(directive: Directive) -> CommentDirective | str | None:
    """What a directive says of kernels, or what is wrong with it; None where it is about something else."""
    word, rest, span, lines = directive.word, directive.text, directive.span, directive.lines
    if word == "assume":
        return CommentDirective("assume", rest, span, lines) if rest else "nothing is assumed"
    if word == "run":
        # Inputs of an execution: no fact about launches.
        return CommentDirective("run", rest, span, lines)
    if word == "launch":
        try:
            return CommentDirective("launch", rest, span, lines, parse_launch(rest))
        except ValueError as error:
            return str(error)
    return None if word in ABOUT_FINDINGS else "expected 'launch', 'assume', 'run' or 'ignore' after 'cuda-lsp:'"


def directives_for(kernel: Kernel, found: Iterable[CommentDirective]) -> tuple[CommentDirective, ...]:
    """Those above the kernel's definition or inside of it."""
    extent = kernel.extent
    return tuple(
        d
        for d in found
        if d.span.path == extent.path
        and (
            extent.start_offset <= d.span.start_offset < extent.end_offset
            or (d.span.start_offset < extent.start_offset and d.lines[0] <= kernel.span.start_line <= d.lines[1])
        )
    )


def parse_launch(text: str) -> UserLaunch:
    """``grid=(4,4),block=(16,16),n=64``; items are separated by commas or blanks. Raises ValueError."""
    dims: dict[str, Dim3] = {}
    values: dict[str, int] = {}
    shared: int | None = None
    position = 0
    while text[position:].strip(" \t,"):
        item = _ITEM.match(text, position)
        if item is None:
            rest = text[position:].strip(" \t,")
            raise ValueError(f"expected name=value at '{rest}', as in grid=(4,4),block=(16,16),n=64")
        position = item.end()
        name, value = item.group(1), item.group(2)
        which = _DIMENSIONS.get(name.lower())
        if which is not None:
            if which in dims:
                raise ValueError(f"{which} is given twice")
            dims[which] = _dimensions(which, value)
        elif name in _SHARED:
            shared = _number(name, value)
            if shared < 0:
                raise ValueError(f"{name}={value}: a number of bytes cannot be negative")
        elif name in values:
            raise ValueError(f"{name} is given twice")
        else:
            values[name] = _number(name, value)
    if not dims and not values and shared is None:
        raise ValueError("the launch is empty; give at least one of grid, block, shared or a parameter")
    return UserLaunch(dims.get("grid"), dims.get("block"), tuple(values.items()), shared)


def _dimensions(which: str, value: str) -> Dim3:
    parts = [p.strip() for p in value.strip("()").split(",")]
    if value.startswith("(") and parts and parts[-1] == "":
        parts.pop()
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"{which}={value}: give one, two or three numbers")
    numbers = [_number(which, p) for p in parts]
    numbers += [1] * (3 - len(numbers))
    for axis, number, limit in zip("xyz", numbers, _LIMITS[which], strict=True):
        if not 1 <= number <= limit:
            raise ValueError(f"{which}={value}: {axis} must lie between 1 and {limit}")
    x, y, z = numbers
    if which == "block" and x * y * z > 1024:
        raise ValueError(f"{which}={value}: a block has at most 1024 threads, this one {x * y * z}")
    return x, y, z


def _number(name: str, text: str) -> int:
    if text in ("true", "false"):
        return int(text == "true")
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError(f"{name}: '{text}' is no integer") from None


def user_contexts(
    kernel: Kernel, written: Iterable[CommentDirective]
) -> tuple[tuple[LaunchContext, ...], tuple[Skipped, ...]]:
    """A context for each ``launch`` comment of the kernel."""
    found: list[LaunchContext] = []
    skipped: list[Skipped] = []
    for directive in directives_for(kernel, written):
        if directive.launch is None:
            continue
        try:
            found.append(context_of_user_launch(directive.launch, kernel, directive.span))
        except ValueError as error:
            skipped.append(Skipped(f"cuda-lsp: launch {directive.text}: {error}", directive.span))
    return tuple(found), tuple(skipped)


def with_assumptions(
    context: LaunchContext, kernel: Kernel, written: Iterable[CommentDirective]
) -> tuple[LaunchContext, tuple[Skipped, ...]]:
    """The context with the kernel's ``assume`` comments added as facts."""
    added: list[Constraint] = []
    skipped: list[Skipped] = []
    for directive in directives_for(kernel, written):
        if directive.kind != "assume":
            continue
        try:
            condition = parse_assumption(directive.text, kernel)
        except ValueError as error:
            skipped.append(Skipped(f"cuda-lsp: assume {directive.text}: {error}", directive.span))
            continue
        if condition is not TRUE:
            added.append(Constraint(condition, FactNote(f"assume {directive.text}", directive.span, "user")))
    if added:
        context = replace(context, constraints=(*context.constraints, *added))
    return context, tuple(skipped)
