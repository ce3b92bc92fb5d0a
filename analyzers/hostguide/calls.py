"""What calls in host code do: known library functions, functions of the unit run in place, and unknown ones.

An unknown function may change every variable whose address is known to somebody, every global and every object behind a
pointer. Functions of the bundled headers (runtime API, C++ library, ATen) change only what they are handed.
"""

from __future__ import annotations

import re

from analyzers.frontend.cindex import Cursor, CursorKind, TranslationUnit, TypeKind
from analyzers.hostguide.borrowed import is_borrowed, is_only_called
from analyzers.hostguide.build import TreeBuilder, is_written_by_compiler
from analyzers.hostguide.build_expressions import LEFT_OUT
from analyzers.hostguide.declared import FUNCTIONS
from analyzers.hostguide.given import launches_later, only_asks
from analyzers.hostguide.hosttypes import OTHER, VOID, HostType, PointerTo, RecordType, ReferenceTo
from analyzers.hostguide.implicit import Implicit
from analyzers.hostguide.library import (
    LIBRARY,
)
from analyzers.hostguide.loops import Writes
from analyzers.hostguide.memory import Stop, alternatives
from analyzers.hostguide.places import Frame, target_of
from analyzers.hostguide.source import SourceTexts, extent
from analyzers.hostguide.specials import UNSEEN
from analyzers.hostguide.tree import Declaration, HostFunction, Node, Place, identity, place_of
from analyzers.hostguide.values import (
    Address,
    Choice,
    Closure,
    FunctionValue,
    Pointer,
    Record,
    Unknown,
    Value,
    Variable,
)
from analyzers.ir.expr import Expr, FloatType, IntType

_NORETURN_BEFORE = re.compile(
    rb"\[\[[^\[\]]*\bnoreturn\b[^\[\]]*\]\]\s*(?:(?:\[\[[^\[\]]*\]\]|extern|static|inline|constexpr|\"C\")\s*)*$"
)
_SMALL = 1500
"""Bytes of a function that is run in place though no kernel is launched from it."""
_DEEPEST = 7
_MOST_STEPS = 100_000
"""Work done in one unit (`steps`) after which no function is run in place any more."""
_MOST_RUNS = 24
"""How often one function is run in place in one unit before it is taken as called with anything."""

_LONGEST_CALL = 40
"""Characters of a call that stands in a message as it is written."""

LAUNCH_CALLS = frozenset(
    {
        "cudaLaunchKernel",
        "cudaLaunchCooperativeKernel",
        "cudaLaunchKernelEx",
        "cudaLaunchKernelExC",
        "cudaLaunchKernel_ptsz",
    }
)
_NEVER_RETURN = frozenset(
    {
        "abort", "exit", "_exit", "_Exit", "quick_exit", "terminate", "longjmp", "__assert_fail", "__assert",
        "__builtin_unreachable", "__builtin_trap", "__builtin_abort", "unreachable",
    }
)  # fmt: skip


class Caller(Implicit):
    """Calls of every kind."""

    wanted: frozenset[str] = frozenset()
    """Names of the functions from which a kernel can be launched."""
    by_value: frozenset[str] = frozenset()
    """Names of the kernels that are named otherwise than to be launched."""

    def __init__(self, builder: TreeBuilder) -> None:
        super().__init__(builder)
        self.needs_root: dict[str, HostFunction] = {}
        """Functions reached in a way that could not be followed, by USR: they may be called with anything."""
        self._followed: dict[tuple[int, str], set[tuple[int, int]]] = {}
        """By unit and file, the extents of the calls that were followed."""
        self._handed: dict[tuple[int, str, int], bool] = {}
        """By unit, file and end of the name of a function that is handed to others: whether these only call it."""
        self.runs: dict[str, int] = {}
        self.ran: set[str] = set()
        """Names of the functions that were run."""
        self.ran_at: dict[Place, dict[str, HostFunction]] = {}
        """The functions that were run and lead to launches; by USR, because instances of a template share a place."""
        self.taken: dict[HostFunction, None] = {}
        """Functions of other translation units than their callers' that were run since the root was entered."""
        self.told: dict[int, Variable] = {}
        """By the expressions that make them, objects whose address is known to others from their constructor."""
        self.resembles: dict[int, int] = {}
        """Tensors made in the shape of another one."""
        self._noreturn: dict[int, bool] = {}
        self._pickers: dict[int, bool] = {}

    def call(self, node: Node) -> Value:
        result = self._called(node)
        self.apply(node)
        if isinstance(node.ty, RecordType):
            self.made_temporary(node, result)
        return result

    def _called(self, node: Node) -> Value:
        if node.op == "construct":
            return self.construct(node)
        if node.op == "method":
            return self.call_method(node)
        target: Cursor | None = node.value
        if target is None or target.kind not in _CALLABLE:
            callee = node.args[0]
            if callee is None:
                return self.unknown_call(node, None, node.args[1:])
            return self._through(node, self.evaluate(callee))
        return self._function(node, target)

    def _through(self, node: Node, callee: Value) -> Value:
        """A call through a pointer or of a closure."""
        leaves = alternatives(callee)
        if len(leaves) == 1 and isinstance(leaves[0][1], FunctionValue):
            return self._function(node, leaves[0][1].cursor)
        if len(leaves) == 1 and isinstance(leaves[0][1], Closure):
            return self.run_closure(leaves[0][1], [a for a in node.args[1:] if a is not None], node)
        for _, leaf in leaves:
            self.unfollowed(leaf)
        if node.arg(0).op == "binary" and node.arg(0).value in (".*", "->*"):
            self._changed_by_member(node.arg(0))
        return self.unknown_call(node, None, node.args[1:])

    def _changed_by_member(self, callee: Node) -> None:
        """A member function that a pointer says is called on an object."""
        base = callee.arg(0)
        place = self.place(base) if callee.value == ".*" else self.pointee(self.peek(base))
        if place is not None:
            self.unfollowed(place)
            self.forget(place)
            self.escape((place.variable,))

    def unfollowed(self, value: Value, seen: frozenset[Variable] = frozenset(), later: bool = True) -> None:
        """A function or closure goes where its calls cannot be seen, by itself or in an object. ``later``: it may be
        kept there, and called after what follows here."""
        if isinstance(value, FunctionValue) and value.cursor.spelling in self.wanted:
            function = self.builder.function(value.cursor)
            if function is not None:
                self.needs_root[value.key] = function
        elif isinstance(value, Closure):
            self.run_sometimes(value, later)
        elif isinstance(value, Record):
            for part in value.parts.values():
                self.unfollowed(part, seen, later)
        elif isinstance(value, Choice):
            self.unfollowed(value.first, seen, later)
            self.unfollowed(value.second, seen, later)
        elif isinstance(value, Address) and value.variable not in seen:
            held = self.state.store.get(value.variable)
            if held is not None:
                self.unfollowed(held, seen | {value.variable}, later)

    def _function(self, node: Node, target: Cursor) -> Value:
        name = target.spelling
        bundled = self.bundled(target)
        arguments = tuple(a for a in node.args[1:] if a is not None)
        if name in LAUNCH_CALLS and (bundled or target.get_definition() is None):
            return self.launch_call(node, name, arguments)
        if (bundled and name in _NEVER_RETURN) or self.never_returns(target):
            for a in arguments:
                self.evaluate(a)
            raise Stop
        if bundled:
            known = LIBRARY.get(name)
            if known is not None:
                result = known(self, node, arguments)
                if result is not None:
                    return result
            return self.unknown_call(node, target, arguments, harmless=True)
        function = self.builder.function(target)
        before = self.state.copy()
        if function is not None and self.may_run(function):
            result = self.run_function(function, arguments, None, node)
        else:
            result = self.unknown_call(node, target, arguments)
        self.keep_members(None if name in self.builder.replaceable else function, None, before)
        return result

    def construct(self, node: Node) -> Value:
        raise NotImplementedError

    def construct_base(self, node: Node, this: Value | None) -> None:
        raise NotImplementedError

    def call_method(self, node: Node) -> Value:
        raise NotImplementedError

    def launch_call(self, node: Node, name: str, arguments: tuple[Node, ...]) -> Value:
        raise NotImplementedError

    def run_sometimes(self, closure: Closure, later: bool) -> None:
        raise NotImplementedError

    def never_returns(self, target: Cursor) -> bool:
        key = identity(target)
        found = self._noreturn.get(key)
        if found is None:
            if "noreturn" in target.type.spelling:
                found = True
            else:
                path, start, end = extent(target)
                text = self.builder.sources.text(path)
                body = text.find(b"{", start, end)
                head = text[start : body if body >= 0 else end]
                found = b"noreturn" in head or b"NORETURN" in head or _says_noreturn(self.builder.sources, target)
            self._noreturn[key] = found
        return found

    def may_run(self, function: HostFunction) -> bool:
        if function.name in self.builder.replaceable:
            self._give_up(function)
            return False
        if self._on_stack(function) or self.steps > _MOST_STEPS:
            self._give_up(function)
            return False
        if function.name in self.wanted:
            key = function.cursor.get_usr()
            count = self.runs.get(key, 0)
            if self.frame.depth >= _DEEPEST or count >= _MOST_RUNS:
                self._give_up(function)
                return False
            self.runs[key] = count + 1
            return True
        if self.frame.depth >= _DEEPEST:
            return False
        _, start, end = extent(function.cursor)
        return end - start <= _SMALL or self._picks(function)

    def _picks(self, function: HostFunction) -> bool:
        """Whether a function gives a function, such as a kernel out of many."""
        key = identity(function.cursor)
        found = self._pickers.get(key)
        if found is None:
            result = function.cursor.result_type.get_canonical()
            found = result.kind == TypeKind.POINTER and result.get_pointee().kind == TypeKind.FUNCTIONPROTO
            self._pickers[key] = found
        return found

    def _give_up(self, function: HostFunction) -> None:
        if function.name in self.wanted:
            self.needs_root[function.cursor.get_usr()] = function

    def _on_stack(self, function: HostFunction) -> bool:
        frame: Frame | None = self.frame
        while frame is not None:
            if frame.function is function:
                return True
            frame = frame.caller
        return False

    def run_function(
        self,
        function: HostFunction,
        arguments: tuple[Node, ...],
        this: Value | None,
        node: Node,
        enclosing: Closure | None = None,
    ) -> Value:
        """Run a body with these arguments in the current state. Raises Stop when it never returns."""
        frame = Frame(function, self.frame, this, enclosing, node)
        bound: list[tuple[Variable, Value]] = []
        for index, parameter in enumerate(function.parameters):
            argument = arguments[index] if index < len(arguments) else None
            if argument is not None and argument.value is LEFT_OUT:
                self.run_implied(UNSEEN)
            if not isinstance(parameter.ty, ReferenceTo):
                self.elide(argument)
            self._note_named(function, parameter, argument)
            value = self._lent(function, parameter, argument) or self._argument(parameter.ty, argument, parameter.name)
            made = Variable(
                parameter.name, parameter.ty.target if isinstance(parameter.ty, ReferenceTo) else parameter.ty
            )
            made.fixed = parameter.is_fixed
            frame.variables[parameter] = made
            bound.append((made, value))
        if enclosing is not None:
            self.own_copies(frame, function, enclosing)
        self._follow(node.cursor)
        if node.cursor.translation_unit is not function.cursor.translation_unit:
            self.taken[function] = None
        for variable, value in bound:
            self.state.store[variable] = value
        result = self._activated(frame, function)
        self.run_implied(self.destroyed_parameters(function))
        return result

    def own_copies(self, frame: Frame, function: HostFunction, closure: Closure) -> None:
        """A lambda that writes what it captured by copy writes its own copy, which lives from call to call."""
        for declared, _ in self.effects_of(function.body).places:
            if declared in frame.variables or declared.storage not in ("local", "parameter"):
                continue
            mode = closure.by_reference(declared.name)
            outer = closure.frame.variables.get(declared)
            if mode is True or outer is None:
                continue
            if mode is None:
                self.forget(Address(outer))
            made = Variable(declared.name, outer.ty)
            frame.variables[declared] = made
            self.state.store[made] = self.fresh(declared.name, declared.ty)
        for declared in self.objects_around(function):
            mode = closure.by_reference(declared.name)
            outer = closure.frame.variables.get(declared)
            if declared in frame.variables or mode is True or outer is None:
                continue
            if mode is None:
                self.forget(Address(outer))
            made = self.new_variable(declared.name, target_of(declared.ty))
            frame.variables[declared] = made
            held = closure.copies.get(outer) if mode is False and not self.copied_object(declared) else None
            if isinstance(declared.ty, ReferenceTo):
                held = closure.copies.get(held.variable) if isinstance(held, Address) and not held.path else None
            self.state.store[made] = held if held is not None else self.fresh(declared.name, declared.ty)

    def writes_captured(self, closure: Closure, name: str) -> bool:
        function = self.builder.lambda_body(closure.cursor)
        return function is None or any(d.name == name for d, _ in self.effects_of(function.body).places)

    def _follow(self, call: Cursor) -> None:
        path, start, end = extent(call)
        self._followed.setdefault((id(call.translation_unit), path), set()).add((start, end))

    def _note_named(self, function: HostFunction, parameter: Declaration, argument: Node | None) -> None:
        """Note a function that is handed to another one, which may do nothing but call it."""
        while argument is not None and argument.op in ("cast", "addr"):
            argument = argument.args[0]
        if argument is not None and argument.op == "fn":
            path, _, end = extent(argument.cursor)
            key = (id(argument.cursor.translation_unit), path, end)
            self._handed[key] = is_only_called(function, parameter) and self._handed.get(key, True)

    def is_followed(self, unit: TranslationUnit, path: str, offset: int, text: bytes) -> bool:
        """Whether a name, as a unit reads it, is what a call that was followed calls, or is handed to a function that
        does nothing but call it. A function that is named in any other way goes where its calls need not be seen: as
        an argument, of a template too, or into a variable."""
        if _CALLED.match(text, offset) is None:
            name = _NAME.match(text, offset)
            return name is not None and self._handed.get((id(unit), path, name.end()), False)
        calls = [c for c in self._followed.get((id(unit), path), ()) if c[0] <= offset < c[1]]
        return any(_depth(text[start:offset]) == 0 for start, _ in calls)

    def runs_now(self, function: HostFunction) -> None:
        """Note that a function is run."""
        self.ran.add(function.name)
        if function.name.partition("<")[0] in self.wanted or function.name in self.wanted:
            self.ran_at.setdefault(place_of(function.cursor), {})[function.cursor.get_usr()] = function

    def effects_of(self, node: Node, *parts: Node | None) -> Writes:
        raise NotImplementedError

    def _lent(self, function: HostFunction, parameter: Declaration, argument: Node | None) -> Address | None:
        """The address of a variable for a parameter that the function only looks through; nobody else has it."""
        if argument is None or argument.op != "addr" or argument.arg(0).op not in ("ref", "member"):
            return None
        return self.place(argument.arg(0)) if is_borrowed(function, parameter) else None

    def _argument(self, ty: HostType, node: Node | None, name: str) -> Value:
        if node is None:
            return self.fresh(name, ty)
        if isinstance(ty, ReferenceTo):
            place = self.place(node)
            if place is not None:
                return place
            temporary = Variable(name, ty.target, outside=self.may_refer(node))
            self.state.store[temporary] = self.evaluate(node)
            return Address(temporary)
        return self.converted(self.evaluate(node), ty)

    def _activated(self, frame: Frame, function: HostFunction) -> Value:
        caller, statement = self.frame, self.statement
        self.frame = frame
        self.runs_now(function)
        try:
            for base in function.bases:
                self.construct_base(base, frame.this)
            for field, ty, initial in function.initialisers:
                if not isinstance(ty, ReferenceTo):
                    self.elide(initial)
                value = self.bound_member(initial, ty)
                if isinstance(frame.this, Address):
                    self.write(Address(frame.this.variable, (*frame.this.path, field)), value)
            try:
                self.run_statement(function.body)
                frame.returns.append((self.state, None))
            except Stop:
                pass
        finally:
            self.frame, self.statement = caller, statement
        joined = self.join_all(frame.returns)
        if joined is None:
            raise Stop
        self.state = joined[0]
        local = set(frame.variables.values()) - self.state.escaped
        for variable in local & self.state.store.keys():
            if not self._is_captured(joined[1]):
                del self.state.store[variable]
        value = joined[1]
        if value is None:
            return self.fresh(function.name, frame.result)
        if isinstance(function.result, ReferenceTo):
            return self._referred(value, function, frame)
        return value

    def _referred(self, value: Value, function: HostFunction, frame: Frame) -> Value:
        """What a returned reference refers to; the place is remembered for the case that it is written to."""
        assert isinstance(function.result, ReferenceTo)
        target = function.result.target
        if isinstance(value, Address):
            if frame.call is not None:
                self.returned = (frame.call, value)
            return self.read(value, target)
        for _, leaf in alternatives(value):
            if isinstance(leaf, Address):
                self.escape((leaf.variable,))
        return self.fresh(function.name, target)

    def _is_captured(self, value: Value | None) -> bool:
        """Whether a result may refer to the variables of the function that returned it."""
        return isinstance(value, (Closure, Address, Record, Choice))

    def run_closure(self, closure: Closure, arguments: list[Node], node: Node, body: Cursor | None = None) -> Value:
        if self.builder.refers_anew(closure.cursor):
            return self.unknown_call(node, None, tuple(arguments))
        function = self.builder.function(body) if body is not None else None
        if function is None or not function.body.args:
            function = self.builder.lambda_body(closure.cursor)
        if function is None:
            return self.unknown_call(node, None, tuple(arguments))
        if self._on_stack(function) or self.frame.depth >= _DEEPEST + 3:
            self.run_sometimes(closure, later=False)
            return self.unknown_call(node, None, tuple(arguments))
        return self.run_function(function, tuple(arguments), None, node, closure)

    def unknown_call(
        self, node: Node, target: Cursor | None, arguments: tuple[Node | None, ...], harmless: bool = False
    ) -> Value:
        """Call something without looking into it. ``harmless``: it touches nothing but what it is handed."""
        kin: list[Value] = []
        ty = node.ty
        for a in arguments if isinstance(ty, PointerTo) else ():
            if a is not None and isinstance(a.ty, PointerTo) and isinstance(ty, PointerTo) and not a.effects:
                kin += [self.evaluate(a)] if a.ty.target == ty.target else []
        for index, argument in enumerate(a for a in arguments if a is not None):
            ty = self.parameter(target, index)
            if isinstance(ty, ReferenceTo) or (ty is None and argument.op in ("ref", "member", "index")):
                place = self.place(argument)
                value = self.evaluate(argument) if place is None or not argument.effects else self.fresh("value", OTHER)
                if ty is None or not ty.const:
                    if place is not None:
                        self.forget(place, argument.ty)
                        if not harmless or (target is not None and self._may_refer(target, argument.ty)):
                            self.escape((place.variable,))
                    elif argument.op in ("member", "index", "deref"):
                        self.forget_outside()
                self._handed_over(argument, value, ty, harmless, target)
            elif argument.op == "addr":
                place = self.place(argument.arg(0))
                if place is None:
                    self.evaluate(argument)
                    continue
                self._handed_over(argument, place, ty, harmless, target)
            else:
                self._handed_over(argument, self.evaluate(argument), ty, harmless, target)
        if not harmless:
            self.forget_outside()
            self.shapes += 1
        name = target.spelling if target is not None else "call"
        if isinstance(node.ty, IntType):
            return self.fresh(self._as_written(node, name), node.ty)
        if isinstance(node.ty, PointerTo):
            return self.related(name, *kin)
        return self.fresh(name, node.ty) if node.ty is not VOID else Unknown(0, "void", VOID)

    def _as_written(self, node: Node, name: str) -> str:
        """A call as the source shows it, ``atoi(argv[1])``, where that is short; else ``name(…)``."""
        text = self.builder.sources.slice(*extent(node.cursor))
        if len(text) <= _LONGEST_CALL and name in text and text.endswith(")") and text.count("(") == text.count(")"):
            return text
        return f"{name}(…)"

    def _may_refer(self, target: Cursor, given: HostType) -> bool:
        """Whether a library function may return something through which an argument of this type can be written."""
        ty = self.builder.types.of(target.result_type)
        if isinstance(ty, ReferenceTo):
            return not ty.const and (ty.target == given or not isinstance(given, (IntType, FloatType)))
        return not isinstance(ty, (IntType, FloatType)) and ty is not VOID

    def _handed_over(
        self, argument: Node, value: Value, ty: HostType | None, harmless: bool, called: Cursor | None
    ) -> None:
        """An argument reaches code that is not looked into."""
        # An algorithm of the library calls what it is given, and is done with it.
        applied = called if harmless and called is not None and called.kind == CursorKind.FUNCTION_DECL else None
        kept = applied is None or isinstance(self.builder.types.of(applied.result_type), RecordType)
        self.unfollowed(value, later=kept)
        if self.by_value:
            self._given_to(called, value)
        if harmless:
            self.called_back_later(value)
        if isinstance(value, Expr):
            return
        through_const = isinstance(ty, PointerTo) and ty.const
        if harmless and (ty is VOID or (isinstance(ty, PointerTo) and not ty.const)):
            for _, leaf in alternatives(value):
                if isinstance(leaf, Pointer):
                    self.forget_behind(leaf)
        if isinstance(value, Pointer):
            return
        for place in self.reachable(value):
            if not through_const:
                whole = place.path and isinstance(place.path[-1], int)
                target = Address(place.variable, place.path[:-1]) if whole else place
                self.forget(target)
            if not harmless:
                self.escape((place.variable,))

    def _given_to(self, target: Cursor | None, value: Value) -> None:
        """A function that is not looked into is given a value."""
        name = target.spelling if target is not None else ""
        if target is None or target.kind not in FUNCTIONS:
            self.given(value, "code that is not in sight, which is given the kernel, launches it so")
        elif not self.bundled(target):
            unseen = self.builder.function(target) is None and not is_written_by_compiler(target)
            self.given(
                value, f"`{name}`, which is given the kernel and is not in sight, launches it so" if unseen else ""
            )
        elif launches_later(name):
            self.given(value, f"the graph to which `{name}` adds the kernel launches it so")
        elif not only_asks(name):
            self.given(value)


def _says_noreturn(sources: SourceTexts, target: Cursor) -> bool:
    """Whether an attribute in front of a declaration of the function says so: clang's extents begin behind it."""
    for declaration in (target, target.canonical, target.get_definition()):
        if declaration is None:
            continue
        path, start, _ = extent(declaration)
        if _NORETURN_BEFORE.search(sources.text(path)[max(0, start - 300) : start]) is not None:
            return True
    return False


_CALLABLE = frozenset({CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONVERSION_FUNCTION})


_NAME = re.compile(rb"\w+")
_CALLED = re.compile(rb"\w+\s*(?:<[^<>;(){}]*>\s*)?\(")


def _depth(text: bytes) -> int:
    """How many parentheses and braces are open at the end of a text."""
    return sum(text.count(sign) for sign in (b"(", b"{", b"[")) - sum(text.count(sign) for sign in (b")", b"}", b"]"))
