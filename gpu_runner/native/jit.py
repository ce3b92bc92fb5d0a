"""LLVM IR → machine code in this process."""

from __future__ import annotations

from typing import Any, Literal

import llvmlite  # pyright: ignore[reportMissingTypeStubs]
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
    return linked(object_code(text, level))


def object_code(text: str, level: Literal[1, 2, 3]) -> bytes:
    """An object file for this processor, for `linked`. Raises as `compile_ir` does."""
    machine = _machine()
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise CodeError(str(error)) from None
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def linked(code: bytes) -> Code:
    """The functions of an object file, in this process."""
    machine = _machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(f'target triple = "{machine.triple}"'), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Code(engine)


def machine_words() -> str:
    """What object files differ by: the versions of the compiler, and the processor with its features."""
    versions = f"{llvmlite.__version__} {llvm.llvm_version_info}"
    return f"{versions} {llvm.get_process_triple()} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True
    )
