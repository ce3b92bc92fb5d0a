"""The state of lowering one kernel: the statements so far, names, frames of inlined calls, and dispatch by cursor kind.

Expressions, statements and calls are lowered by functions of the neighbouring modules, which register themselves here
for the cursor kinds they understand. Whether a local needs an address shows only when it is taken: the declaration is
then noted in `forced` and the kernel is lowered once more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from analyzers.frontend.lowering.barriers_in_memory import Barriers
from analyzers.frontend.lowering.invocation import Facts
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import Kinds, Node, NodeTable
from analyzers.frontend.lowering.places import Closure, Place, Value
from analyzers.frontend.parse import models_library
from analyzers.ir.expr import I32, NULL, PTR, Expr, IntType, Type, const, fconst, make, var, walk
from analyzers.ir.kernel import (
    Assign,
    Block,
    Havoc,
    If,
    Loop,
    MemObject,
    Parameter,
    Pipeline,
    Recast,
    Site,
    Space,
    Stmt,
    Unsupported,
)
from analyzers.model import SourceSpan

#: A kernel that becomes larger than this many statements when its calls are inlined is given up.
STATEMENT_LIMIT = 120_000
INLINE_DEPTH = 60

_LINE_ENDS: Final = re.compile(r"[ \t]*(?:\\?\r?\n[ \t]*)+")


class TooLarge(Exception):
    """The kernel with everything inlined exceeds `STATEMENT_LIMIT`."""


@dataclass(slots=True)
class Frame:
    """One activation: the kernel itself, an inlined function or a lambda's body."""

    name: str
    bindings: dict[int, Place] = field(default_factory=dict[int, "Place"])
    this: Place | None = None
    closure: Closure | None = None
    body: Node | None = None
    """The body being lowered, where it is one of a function."""
    facts: Facts | None = None
    """The function whose body this is; None in a lambda's captures and default initialisers."""
    written: frozenset[int] = frozenset()
    """Variables that the body assigns to by name; see `invocation.written_variables`."""
    label: str = ""
    """The Block that a `return` leaves; unique once `jumped`."""
    jumped: bool = False
    """A return stands where it may not be reached: the body is a Block, the value goes through `result`."""
    result: Place | None = None
    direct: Value = None
    """The value of a return that is reached always, when none came before it."""
    conditional: int = 0
    """How many branches and loops of this body enclose the statement being lowered."""
    around: int = 0
    """How many loops are around the call."""
    done: bool = False
    """Control does not get past the statements so far."""
    exits: list[tuple[str, str | None, str]] = field(default_factory=list[tuple[str, "str | None", str]])
    """Enclosing loops and switches: (label for break, label for continue, kind of the break)."""
    gotos: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Labels in reach: name to (exit|continue, label of the Block or Loop)."""

    def lookup(self, key: int) -> Place | None:
        frame = self
        while True:
            found = frame.bindings.get(key)
            if found is not None:
                return found
            closure = frame.closure
            if closure is None:
                return None
            found = closure.captures.get(key)
            if found is not None:
                return found
            frame = closure.frame
        return None

    def enclosing_this(self) -> Place | None:
        frame = self
        while True:
            if frame.this is not None:
                return frame.this
            closure = frame.closure
            if closure is None:
                return None
            if closure.this is not None:
                return closure.this
            frame = closure.frame
        return None


@dataclass(frozen=True, slots=True)
class Copy:
    """An asynchronous copy in the program: what it reads and writes."""

    to: Expr
    source: Expr
    size: Expr
    site: Site
    barrier: str | None = None
    """The barrier in memory whose phase completes with the copy; waits for groups of copies do not wait for it."""
    several: bool = False
    """Stands for several copies, as many as its statements make; then `to`, `source` and `size` say nothing."""


class Context:
    """Everything the lowering of one kernel reads and writes."""

    def __init__(self, table: NodeTable, forced: set[object]) -> None:
        self.table = table
        self.forced = forced
        self.new_forced: set[object] = set()
        self.out: list[Stmt] = []
        self._around: list[list[Stmt]] = []
        """The lists that the statements of `out` will become part of."""
        self.prologue: list[Stmt] = []
        """Statements of the kernel's entry: copies of parameters that are written."""
        self.objects: dict[str, MemObject] = {}
        self.globals: dict[int, Place] = {}
        """Variables with one instance for the kernel: shared, constant, device and static ones."""
        self.recasts: dict[tuple[Expr, Recast], str | None] = {}
        """Pointers to memory that is taken for elements of a class with gaps: the object, None where it does not
        show."""
        self.parameters: list[Parameter] = []
        self.parameter_objects: dict[str, str] = {}
        """What pointers in by-value parameters point to, and the memory of those that need some, by parameter."""
        self.parameter_keys: dict[str, set[object]] = {}
        """The declarations that memory of by-value parameters is read through, by object: that of the parameter, and
        of those of device functions that it was handed on to."""
        self.frame = Frame("kernel")
        self.calls: tuple[SourceSpan, ...] = ()
        self.active: list[int] = []
        """Definitions being inlined, outermost first."""
        self.functions: dict[SourceSpan, str] = {}
        """The functions whose bodies were taken in, by extent: overloads have one name."""
        self.assumptions: dict[str, None] = {}
        self.numbers: list[tuple[int, int, int | None]] = []
        """Numbered barriers so far: first number, how many numbers (0: one for each group), threads of a group."""
        self.meetings: dict[int, int] = {}
        """Numbers of barriers where threads only arrive at some places -> threads of the group that meets there."""
        self.cluster: tuple[int, int, int] | None = None
        """Blocks per cluster along each axis, where the kernel says so."""
        self.barriers = Barriers()
        """Barriers in memory that were set up."""
        self.pipelines: dict[str, Pipeline] = {}
        """Pipelines of the block that were made, by the place of their state."""
        self.copies: dict[str, Copy] = {}
        """Asynchronous copies, by the label of the block that makes them."""
        self.asynchronous = False
        """Whether there are marks of asynchronous copies, commits or waits among the statements."""
        self.reached: set[int] = set()
        """Definitions inlined so far, by declaration."""
        self.closures: dict[int, list[Closure]] = {}
        """Lambdas evaluated so far, by the declaration of their class."""
        self.discarded: Node | None = None
        """The expression whose value is not used: it stands as a statement."""
        self.statement: Node | None = None
        """The expression statement being lowered."""
        self.override: Node | None = None
        """The user's call that leads into code of the bundled headers: what is shown for everything there."""
        self._names: dict[str, int] = {}
        self._lives: list[list[str]] = [[]]
        """Of the kernel and each loop around, from the outermost: the variables that came to life in it."""
        self._birthplace = -1
        self._next_id = 0
        self._emitted = 0

    # --- names, ids, places in the source ---

    def name(self, hint: str) -> str:
        """A name not used before in this kernel, made from `hint`."""
        count = self._names.get(hint)
        if count is None:
            self._names[hint] = 1
            return hint
        while True:
            count += 1
            made = f"{hint}${count}"
            if made not in self._names:
                self._names[hint] = count
                self._names[made] = 1
                return made

    def born(self, hint: str) -> str:
        """The name of a variable that comes to life here, or in front of the body that `of_call` names."""
        made = self.name(hint)
        self._lives[self._birthplace].append(made)
        return made

    @contextmanager
    def lives(self) -> Generator[list[str]]:
        """The variables that come to life inside are in the list given when it is left."""
        own: list[str] = []
        self._lives.append(own)
        try:
            yield own
        finally:
            self._lives.pop()
            self._lives[-1] += own

    @contextmanager
    def of_call(self, frame: Frame) -> Generator[None]:
        """What comes to life inside does so where the function of `frame` is called, whatever loops of its body are
        around here."""
        saved, self._birthplace = self._birthplace, frame.around
        try:
            yield
        finally:
            self._birthplace = saved

    @property
    def loops_around(self) -> int:
        """How many loops enclose the statement being lowered, those of the callers included."""
        return len(self._lives) - 1

    def temporary(self, ty: Type, hint: str = "") -> Expr:
        """A fresh variable that is assigned in one place only."""
        return var(self.born(f"%{hint}"), ty)

    def id(self) -> int:
        self._next_id += 1
        return self._next_id

    def site(self, node: Node, text: str | None = None) -> Site:
        modelled = self.override is not None and models_library(node.span.path)
        if self.override is not None:
            node, text = self.override, None
        text = node.text if text is None else text
        # Texts are shown within sentences.
        return Site(node.span, _LINE_ENDS.sub(" ", text) if "\n" in text else text, self.calls, modelled)

    # --- statements ---

    def emit(self, statement: Stmt) -> None:
        self._emitted += 1
        if self._emitted > STATEMENT_LIMIT:
            raise TooLarge
        self.out.append(statement)

    @contextmanager
    def captured(self) -> Generator[list[Stmt]]:
        """Statements emitted inside go to the list given instead."""
        saved, inner = self.out, []
        self.out = inner
        self._around.append(saved)
        try:
            yield inner
        finally:
            self.out = self._around.pop()

    @contextmanager
    def branch(self) -> Generator[list[Stmt]]:
        """Statements emitted inside may not be executed, or several times."""
        frame = self.frame
        frame.conditional += 1
        try:
            with self.captured() as inner:
                yield inner
        finally:
            frame.conditional -= 1

    def assign(self, target: Expr, value: Expr) -> None:
        self.emit(Assign(target.value, value))

    def held(self, value: Expr, hint: str = "") -> Expr:
        """`value` as it is now, immune to later assignments to the variables in it."""
        if is_stable(value):
            return value
        kept = self.temporary(value.ty, hint)
        self.assign(kept, value)
        return kept

    def assigned(self, name: str) -> Expr | None:
        """What the last assignment to a variable gave it, as the program is written; there may be others."""
        for body in (self.out, *reversed(self._around)):
            for s in reversed(body):
                if isinstance(s, Assign) and s.var == name:
                    return s.value
        return None

    def havoc(self, ty: Type, reason: str, node: Node, tile: int | None = None) -> Expr:
        unknown = self.temporary(ty, "any")
        self.emit(Havoc(unknown.value, ty, reason, self.site(node), tile))
        return unknown

    def unsupported(self, kind: str, text: str, node: Node) -> None:
        self.emit(Unsupported(kind, text, self.site(node)))

    def unsupported_value(self, kind: str, text: str, node: Node) -> Value:
        """Report code that is not understood, and give any value of its type."""
        self.unsupported(kind, text, node)
        return self.unknown_value(node.type, text, node)

    def unknown_value(self, ctype: CType, reason: str, node: Node) -> Value:
        if ctype.shape == "reference":
            ctype = ctype.element
        if ctype.ir is not None:
            return self.havoc(ctype.ir, reason, node)
        if ctype.shape == "record":
            return UNKNOWN_RECORD[0](self, ctype, reason, node)
        return None

    # --- objects ---

    def object(
        self,
        hint: str,
        space: Space,
        ctype: CType,
        kind: str = "declared",
        *,
        read_only: bool = False,
        span: SourceSpan | None = None,
    ) -> str:
        name = self.name(hint)
        inner, extents = ctype.flat()
        if 0 in extents:
            extents = ()
        size = ctype.size if kind == "declared" and ctype.size > 0 else None
        self.objects[name] = MemObject(
            name, space, kind, size, max(inner.size, 1), extents, hint, read_only, span,  # pyright: ignore[reportArgumentType]
            gaps=inner.gaps() if kind == "declared" else (),
        )  # fmt: skip
        return name

    def force(self, key: object) -> None:
        """The declaration `key` needs memory: its address is taken, or it is a parameter that is written."""
        if key not in self.forced:
            self.new_forced.add(key)

    def needs_storage(self, key: object) -> bool:
        """Whether a declaration that could be a mere value was found to be written, or its address taken."""
        return key in self.forced or ("written", key) in self.forced

    # --- dispatch ---

    def value(self, node: Node) -> Value:
        """The value of an expression: its loads and side effects are emitted, in C's order."""
        return VALUES.get(node.kind, _no_value)(self, node)

    def scalar(self, node: Node) -> Expr:
        """The value of an expression of scalar type."""
        value = self.value(node)
        if isinstance(value, Expr):
            return value
        ctype = node.type
        ty = ctype.ir or I32
        if value is not None:
            return SCALAR_OF[0](self, value, node)
        return zero(ty) if ctype.shape == "void" else self.havoc(ty, "a value of another kind", node)

    def place(self, node: Node) -> Place:
        """The object an lvalue names; a value without storage for other expressions."""
        return PLACES.get(node.kind, _no_place)(self, node)

    def lower_all(self, nodes: list[Node]) -> None:
        """Emit the statements of a block; see `statements` for labels among them."""
        BLOCK_OF[0](self, nodes)

    def lower(self, node: Node) -> None:
        """Emit a statement."""
        if not self.frame.done:
            STATEMENTS.get(node.kind, STATEMENTS[0])(self, node)


ValueRule = Callable[[Context, Node], Value]
PlaceRule = Callable[[Context, Node], Place]
StatementRule = Callable[[Context, Node], None]

VALUES: dict[int, ValueRule] = {}
PLACES: dict[int, PlaceRule] = {}
STATEMENTS: dict[int, StatementRule] = {}
BLOCK_OF: list[Callable[[Context, list[Node]], None]] = []
UNKNOWN_RECORD: list[Callable[[Context, CType, str, Node], Place]] = []
SCALAR_OF: list[Callable[[Context, Place, Node], Expr]] = []
ADDRESS_OF: list[Callable[[Context, Place, Node], Expr]] = []
VARIABLE_OF: list[Callable[[Context, Node, Node], Place]] = []
CONSTRUCT: list[Callable[[Context, Place, Node], None]] = []
AS_PLACE: list[Callable[[Context, Value, Node], Place]] = []


def values(*kinds: int) -> Callable[[ValueRule], ValueRule]:
    """Register a rule for the value of expressions of these cursor kinds."""

    def register(rule: ValueRule) -> ValueRule:
        for kind in kinds:
            VALUES[kind] = rule
        return rule

    return register


def places(*kinds: int) -> Callable[[PlaceRule], PlaceRule]:
    """Register a rule for lvalues of these cursor kinds."""

    def register(rule: PlaceRule) -> PlaceRule:
        for kind in kinds:
            PLACES[kind] = rule
        return rule

    return register


def statements(*kinds: int) -> Callable[[StatementRule], StatementRule]:
    """Register a rule for statements of these cursor kinds; 0 is everything else."""

    def register(rule: StatementRule) -> StatementRule:
        for kind in kinds:
            STATEMENTS[kind] = rule
        return rule

    return register


def _no_value(ctx: Context, node: Node) -> Value:
    return ctx.unsupported_value("expression", f"cannot read {_described(node)}", node)


def _no_place(ctx: Context, node: Node) -> Place:
    return AS_PLACE[0](ctx, ctx.value(node), node)


def _described(node: Node) -> str:
    kind = "declaration" if node.kind < Kinds.UNEXPOSED else node.cursor.kind.name.lower().replace("_", " ")
    return f"{kind} {node.text[:60]!r}"


# --- small questions about expressions and statements ---

_stable: dict[int, bool] = {}


def is_stable(e: Expr) -> bool:
    """Whether no later assignment can change `e`: its variables are temporaries."""
    found = _stable.get(e.key)
    if found is None:
        if e.op == "var":
            found = e.value.startswith("%")
        else:
            found = all(is_stable(a) for a in e.args)
        if len(_stable) > 1_000_000:
            _stable.clear()
        _stable[e.key] = found
    return found


def variables(e: Expr) -> set[str]:
    return {n.value for n in walk((e,)) if n.op == "var"}


def assigns_any(body: list[Stmt] | tuple[Stmt, ...], names: set[str]) -> bool:
    """Whether a statement below writes one of the variables."""
    for s in body:
        if isinstance(s, If):
            if assigns_any(s.then, names) or assigns_any(s.orelse, names):
                return True
        elif isinstance(s, Loop):
            if assigns_any(s.head, names) or assigns_any(s.body, names) or assigns_any(s.latch, names):
                return True
        elif isinstance(s, Block):
            if assigns_any(s.body, names):
                return True
        elif getattr(s, "var", None) in names:
            return True
    return False


def zero(ty: Type) -> Expr:
    """The value of a zero-initialised scalar."""
    if isinstance(ty, IntType):
        return const(0, ty)
    return NULL if ty == PTR else fconst(0.0, ty)  # pyright: ignore[reportArgumentType]


def pure(name: str, ty: Type, *args: Expr) -> Expr:
    """Application of a function without effects, whose value is data."""
    return make("call", ty, args, name)
