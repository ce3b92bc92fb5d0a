"""LLVM IR → machine code in this process."""

from __future__ import annotations

from typing import Any, Literal

from llvmlite import binding  # pyright: ignore[reportMissingTypeStubs]

llvm: Any = binding


class CodeError(Exception):
    """LLVM rejected generated code: a defect of a translation."""


class Code:
    """Compiled functions; they live as long as this object."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def address(self, name: str) -> int:
        return int(self._engine.get_function_address(name))


def compile_ir(text: str, level: Literal[1, 2, 3]) -> Code:
    """Compile with LLVM's standard pipeline of that level. Raises `CodeError` where LLVM rejects the text."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise CodeError(str(error)) from None
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True
    )
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return Code(engine)
