"""A parsed module → the module with logging, for one kernel and what it calls.

What is logged is what `ptx.logged` says, and what ends a thread. Sites are numbered by instruction and chain of calls
(`contexts`). A construct whose accesses could not be logged is refused with its name, as on the CPU: an access that is
skipped unnoticed would hide a race.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from gpu_runner.cpu.body import Unsupported, UnsupportedHere
from gpu_runner.cpu.layout import Fault, SiteKind
from gpu_runner.cpu.registry import OPERATIONS
from gpu_runner.cpu.sites import Sites
from gpu_runner.cpu.translate import OPERATION_MODULES
from gpu_runner.cpu.variables import reached
from gpu_runner.gpu.accesses import atomic, barrier, fence, load, store
from gpu_runner.gpu.asynchronous import copy, load_rows, split_barrier
from gpu_runner.gpu.contexts import Contexts, contexts_of
from gpu_runner.gpu.layout import CONTROL, FAULT, Control, What
from gpu_runner.gpu.operands import ADDRESS, VALUE, Registers
from gpu_runner.gpu.pointers import with_direct_calls
from gpu_runner.gpu.routine import DELAY, LATE_BEGIN, LOG, ROUTINE
from gpu_runner.gpu.writer import CONTEXT, DECLARATIONS, SITE, Plan, Writer, log
from gpu_runner.ptx import model
from gpu_runner.ptx.logged import flat, logged
from gpu_runner.ptx.parse import parse
from gpu_runner.ptx.parse_function import parse_statements
from gpu_runner.ptx.render import statement_text

Writing = Callable[[Writer, model.Instruction], str]
_WRITERS: Final[dict[str, Writing]] = {
    "ld": load,
    "ldu": load,
    "st": store,
    "atom": atomic,
    "red": atomic,
    "membar": fence,
    "fence": fence,
    "bar": barrier,
    "barrier": barrier,
    "cp": copy,
    "mbarrier": split_barrier,
    "ldmatrix": load_rows,
}
_CONTROL_FLOW: Final = frozenset({"bra", "brx", "ret", "exit", "trap", "brkpt", "pmevent"})
_PRINT: Final = "vprintf"
_REGISTERS_ONLY: Final = frozenset({"mma", "dp2a", "vote", "tanh", "ex2", "szext", "createpolicy"})
_ENVIRONMENT: Final = {"%envreg1": 8 * Control.WORKSPACE + 4, "%envreg2": 8 * Control.WORKSPACE}
"""Where the driver says that the workspace of a cooperative launch is, high and low half; we give our own."""


@dataclass(frozen=True, slots=True)
class Instrumented:
    """A module that logs, and what its records mean."""

    module: model.Module
    kernel: str
    sites: Sites
    what: tuple[What, ...]
    """By site, from the first one on."""
    symbols: tuple[str, ...]
    """Shared variables, as `cpu.variables.lay_out` names them, in the order in which their offsets are noted."""
    uses_agents: bool
    cooperative: bool
    """The kernel has a barrier of the whole grid: all blocks have to be resident."""
    prints: bool


def instrument(module: model.Module, kernel: str) -> Instrumented:
    """Raises `Unsupported`, and KeyError where there is no such kernel."""
    assert OPERATIONS, OPERATION_MODULES
    function = module.definition(kernel)
    if function is None or function.kind != "entry":
        raise KeyError(kernel)
    module = with_direct_calls(module, kernel)
    function = module.definition(kernel)
    assert function is not None
    contexts = contexts_of(module, function)
    work = _Work(module, contexts, kernel)
    for each in contexts.functions:
        work.rewrite(each)
    if work.reasons:
        raise Unsupported(tuple(work.reasons))
    return work.result()


def without_debugging(module: model.Module) -> model.Module:
    """For the driver, which takes no debug information that is only half there: the sections are not rendered."""
    return replace(module, target=tuple(word for word in module.target if word != "debug"))


class _Work:
    def __init__(self, module: model.Module, contexts: Contexts, kernel: str) -> None:
        self.module = module
        self.contexts = contexts
        self.kernel = kernel
        self.plan = Plan()
        self.reasons: dict[str, None] = {}
        self.rewritten: dict[str, model.Function] = {}
        self.symbols: list[str] = []
        self.position = 0
        self.begun = False
        _, self.names, _ = reached(module, kernel)

    def result(self) -> Instrumented:
        routine = parse(ROUTINE)
        kept = (self._kept(function) for function in self.module.functions)
        functions = tuple(function for function in kept if function is not None)
        whole = replace(
            without_debugging(self.module),
            variables=(*routine.variables, *self._variables()),
            functions=(*routine.functions, *functions),
            aliases=(),
        )
        plan = self.plan
        return Instrumented(
            whole,
            self.kernel,
            plan.sites,
            tuple(plan.what),
            tuple(self.symbols),
            plan.uses_agents,
            plan.cooperative,
            _PRINT in self.names,
        )

    def _kept(self, function: model.Function) -> model.Function | None:
        found = self.rewritten.get(function.name)
        if found is None:
            return function if function.body is None and function.name in self.names else None
        return found if function.body is not None else replace(found, body=None)

    def _variables(self) -> Iterator[model.Variable]:
        functions = {function.name for function in self.module.functions}
        for variable in self.module.variables:
            if not functions & set(_initial_names(variable.initialiser)):
                yield variable
            elif variable.name in self.names:
                raise Unsupported((f"variable {variable.name} holds the address of a function",))

    def rewrite(self, function: model.Function) -> None:
        writer = Writer(self.plan, function.name, self.contexts.chains[function.name], Registers())
        is_kernel = function.name == self.kernel
        for parameter in (*function.parameters, *function.results):
            if parameter.space == "reg":
                writer.registers.scopes[0][parameter.name] = parameter.type, None
        positions = logged(function).positions
        self.position, self.begun = 0, False
        body = self._block(function, function.body or (), writer, positions)
        begin = DECLARATIONS
        if is_kernel:
            begin += f".reg .b32 {CONTEXT}; mov.u32 {CONTEXT}, 0;"
            shared = (v.name for v in self.module.variables if v.space == "shared" and v.name in self.names)
            begin += self._noted({name: name for name in shared})
            begin += f"call {DELAY}, (0, {LATE_BEGIN[0]}, {LATE_BEGIN[1]});"
        last = next(
            (s.location for s in reversed([*flat(body)]) if isinstance(s, model.Instruction | model.Call)), None
        )
        falls = model.Instruction("ret", location=last)
        end = self._around(writer, falls, f"{self._exit(writer, falls)} ret;") if is_kernel else ()
        parameters = function.parameters
        if not is_kernel:
            parameters = (*parameters, model.Variable("reg", "b32", CONTEXT))
        whole = (*parse_statements(begin), *body, *end)
        self.rewritten[function.name] = replace(function, parameters=parameters, body=whole)

    def _noted(self, names: dict[str, str]) -> str:
        """Text that notes where shared variables lie: the assembler may lay them out in another way than we do. Every
        thread does it, so that it is done before the first record of anybody."""
        if not names:
            return ""
        text = f"ld.const.u64 {ADDRESS}, [{CONTROL}+{8 * Control.SYMBOLS}];"
        for key, name in names.items():
            text += f"mov.u64 {VALUE}, {name}; st.global.u64 [{ADDRESS}+{8 * len(self.symbols)}], {VALUE};"
            self.symbols.append(key)
        return text

    def _block(
        self,
        function: model.Function,
        statements: tuple[model.Statement, ...],
        writer: Writer,
        positions: frozenset[int],
    ) -> tuple[model.Statement, ...]:
        found: list[model.Statement] = []
        for statement in statements:
            if isinstance(statement, model.Scope):
                writer.registers.scopes.append({})
                found.append(model.Scope(self._block(function, statement.body, writer, positions)))
                writer.registers.scopes.pop()
                continue
            self.position += 1
            self.begun = self.begun or isinstance(statement, model.Instruction | model.Call)
            try:
                match statement:
                    case model.Registers():
                        writer.registers.declare(statement)
                        found.append(statement)
                    case model.Variable(space="shared"):
                        found.append(statement)
                        if self.begun:
                            raise UnsupportedHere("shared variable behind instructions")
                        key = f"{function.name}:{statement.name}"
                        found.extend(parse_statements(self._noted({key: statement.name})))
                    case model.Call():
                        found.extend(self._call(function, statement, writer, found))
                    case model.Instruction():
                        found.extend(self._instruction(statement, writer, self.position in positions))
                    case _:
                        found.append(statement)
            except UnsupportedHere as error:
                self.reasons.setdefault(_described(statement, str(error)))
        return tuple(found)

    def _instruction(
        self, instruction: model.Instruction, writer: Writer, is_logged: bool
    ) -> tuple[model.Statement, ...]:
        opcode = instruction.opcode
        if is_logged:
            if opcode not in _WRITERS:
                raise UnsupportedHere("instruction")
            return self._around(writer, instruction, _WRITERS[opcode](writer, instruction))
        if opcode in ("mapa", "getctarank"):
            raise UnsupportedHere("shared memory of other blocks of a cluster")
        if opcode not in OPERATIONS and opcode not in _CONTROL_FLOW and opcode not in _REGISTERS_ONLY:
            raise UnsupportedHere("instruction")
        if opcode in ("trap", "brkpt"):
            return self._around(writer, instruction, self._fault(writer, instruction, Fault.TRAP))
        if opcode == "exit" or (opcode == "ret" and writer.function == self.kernel):
            itself = statement_text(replace(instruction, guard=None, location=None))
            return self._around(writer, instruction, f"{self._exit(writer, instruction)} {itself}")
        if opcode == "mov" and isinstance(instruction.operands[1], model.Register):
            offset = _ENVIRONMENT.get(instruction.operands[1].name)
            if offset is not None:
                self.plan.cooperative = True
                where = model.Address(model.Symbol(CONTROL), int(offset))
                return (
                    replace(
                        instruction, opcode="ld", modifiers=("const", "u32"), operands=(instruction.operands[0], where)
                    ),
                )
        return (instruction,)

    def _exit(self, writer: Writer, instruction: model.Instruction) -> str:
        return f"{writer.site(What.EXIT, SiteKind.NONE, instruction)} {log('0')}"

    def _fault(
        self, writer: Writer, instruction: model.Instruction | model.Call, fault: Fault, address: str = "0"
    ) -> str:
        site = writer.site(What.FAULT, SiteKind.NONE, instruction)
        return f"{site} call {LOG}, ({SITE}, {int(fault) << FAULT}, {address}, 0, 0); exit;"

    def _around(
        self, writer: Writer, instruction: model.Instruction | model.Call, text: str
    ) -> tuple[model.Statement, ...]:
        """The text in place of an instruction, under its predicate and at its place in the source."""
        guard = instruction.guard
        if guard is not None:
            after = writer.label("after")
            text = f"@{'' if guard.negated else '!'}{guard.register} bra {after}; {text} {after}:"
        return tuple(_placed(statement, instruction.location) for statement in parse_statements(text))

    def _call(
        self, function: model.Function, call: model.Call, writer: Writer, before: list[model.Statement]
    ) -> tuple[model.Statement, ...]:
        assert isinstance(call.target, model.Symbol)
        if call.target.name == "__assertfail":
            message = _passed(before, call.arguments[0])
            return self._around(writer, call, self._fault(writer, call, Fault.ASSERTION, message or "0"))
        start = self.contexts.starts.get((function.name, self.position))
        if start is None:
            return (call,)
        (add,) = parse_statements(f"add.u32 {SITE}, {CONTEXT}, {start};")
        return _placed(add, call.location), replace(call, arguments=(*call.arguments, model.Register(SITE)))


def _placed(statement: model.Statement, location: model.Location | None) -> model.Statement:
    if isinstance(statement, model.Instruction | model.Call):
        return replace(statement, location=location)
    return statement


def _passed(before: list[model.Statement], argument: model.Operand) -> str | None:
    """The register that was stored into an argument of a call, in the same scope."""
    for statement in reversed(before):
        match statement:
            case model.Instruction("st", modifiers, (model.Address(model.Symbol(name)), model.Register(source))):
                if modifiers[0] == "param" and model.Symbol(name) == argument:
                    return source
            case _:
                pass
    return None


def _initial_names(value: model.Value | None) -> Iterator[str]:
    match value:
        case model.Braces(values):
            for inner in values:
                yield from _initial_names(inner)
        case model.Symbol(name) | model.Generic(name) | model.Mask(_, model.Symbol(name) | model.Generic(name)):
            yield name
        case _:
            pass


def _described(statement: model.Statement, why: str) -> str:
    if isinstance(statement, model.Instruction | model.Call):
        opcode = statement.opcode if isinstance(statement, model.Instruction) else "call"
        line = f" (line {statement.location.position.line})" if statement.location else ""
        return f"{'.'.join((opcode, *statement.modifiers))}: {why}{line}"
    return f"{type(statement).__name__.lower()}: {why}"
