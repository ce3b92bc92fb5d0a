"""CUDA C++ → PTX, with the compiler that is there: ``nvcc`` of a toolkit, or NVRTC as a library.

Two builds are of use. The *confirm* build (``-G``) keeps every access of the source; the *shipped* build is the
optimised one, in which accesses may have been merged, hoisted or dropped. NVRTC takes device code only; it comes
with the toolkit and as a Python package (`nvidia-cuda-nvrtc`) and needs neither a GPU nor a driver.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, Literal

from gpu_runner.nvrtc_headers import installed, texts_by_name

Build = Literal["confirm", "shipped"]

_BUILD_FLAGS: Final[dict[Build, tuple[str, ...]]] = {
    "confirm": ("-G",),  # with line information; -lineinfo beside it makes compilers warn
    "shipped": ("-lineinfo",),
}
_NVCC_FLAGS: Final = ("--extended-lambda", "--expt-relaxed-constexpr")
"""A project that does not need these does not notice them; with others they are among what only nvcc knows."""
_MARKED_LAMBDA: Final = re.compile(rb"\](\s*)((?:__(?:host|device)__\s*)+)(?=[({]|mutable\b)")
"""NVRTC takes no word about where a lambda runs."""
_NO_HEADER: Final = re.compile(r"could not open source file|cannot open source file")
_SUMMARY: Final = re.compile(r'^\d+ (?:error|warning)s? detected in the compilation of ".*"\.$', re.MULTILINE)
"""It names a temporary file."""
_UNKNOWN_ARCH: Final = re.compile(r"Unsupported gpu architecture|invalid value for --gpu-architecture")
_NVCC_SECONDS: Final = 120.0
_WITH_CLUSTERS: Final = 90
"""The architecture that brought most of what older ones lack."""


class CompileError(Exception):
    """The compiler rejected the source; the message is its log."""


class CompilerTrouble(CompileError):
    """The compiler itself did not do its work: it took too long, or had no room for its files."""


class NoCompiler(Exception):
    """There is neither ``nvcc`` nor NVRTC on this machine."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How to compile; the flags are those that both compilers know (``-D``, ``-I``, ``-include``, ``-std``, …)."""

    build: Build = "confirm"
    arch: int = 80
    """Compute capability times ten."""
    flags: tuple[str, ...] = ()
    compiler: Literal["auto", "nvcc", "nvrtc"] = "auto"
    instances: tuple[str, ...] = ()
    """Instances of kernel templates to compile, as expressions: ``ns::scale<float>``."""
    headers: str = ""
    """A folder for the CUDA headers that NVRTC brings along; empty: only what is built in can be included."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """PTX, and what the compiler said besides."""

    ptx: str
    log: str
    compiler: Literal["nvcc", "nvrtc"]
    arch: int
    """Of the code."""
    reason: str = ""
    """Why it is not for the architecture that was asked for, as in "as it knows no sm_70"; empty where it is."""


def compile_source(text: str, name: str, options: CompileOptions | None = None) -> Compiled:
    """Compile one translation unit. `name` is the path that line information gives; it need not exist.

    Raises `CompileError` and `NoCompiler`.
    """
    options = options or CompileOptions()
    try:
        return _compiled(text, name, options)
    except CompileError as error:
        if not _UNKNOWN_ARCH.search(str(error)):
            raise
        nearest = nearest_arch(options.arch, _known_archs(options.compiler))
        if nearest is None:
            raise
        done = _compiled(text, name, replace(options, arch=nearest))
        return replace(done, reason=f"as it knows no sm_{options.arch}")


def newer_arch(text: str, name: str, options: CompileOptions) -> int | None:
    """An architecture for which a source compiles that does not for the one asked for, as it uses what only newer GPUs
    have; None where it compiles for none. Raises `NoCompiler`."""
    newer = [arch for arch in _known_archs(options.compiler) if arch > options.arch]
    if not newer:
        return None
    found: int | None = None
    for arch in dict.fromkeys((max(newer), _WITH_CLUSTERS if _WITH_CLUSTERS in newer else max(newer))):
        try:
            _compiled(text, name, replace(options, arch=arch))
        except CompileError:
            break
        found = arch
    return found


def nearest_arch(wanted: int, known: Sequence[int]) -> int | None:
    """The newest known architecture that is not newer than the one wanted, or else the oldest; None where nothing else
    than that is known."""
    older = [arch for arch in known if arch < wanted]
    found = max(older) if older else min(known, default=wanted)
    return found if found != wanted else None


def _known_archs(compiler: Literal["auto", "nvcc", "nvrtc"]) -> list[int]:
    """The architectures of the compiler that is taken."""
    nvcc = find_nvcc() if compiler != "nvrtc" else None
    if nvcc is not None:
        try:
            command = [nvcc, "--list-gpu-arch"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=_NVCC_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return []
        return [int(number) for number in re.findall(r"compute_(\d+)$", done.stdout, re.MULTILINE)]
    path = find_nvrtc()
    library = ctypes.CDLL(path) if path is not None else None
    count = ctypes.c_int()
    if library is None or library.nvrtcGetNumSupportedArchs(ctypes.byref(count)) != 0:
        return []
    archs = (ctypes.c_int * count.value)()
    return list(archs) if library.nvrtcGetSupportedArchs(archs) == 0 else []


def _compiled(text: str, name: str, options: CompileOptions) -> Compiled:
    if options.compiler in ("auto", "nvcc"):
        nvcc = find_nvcc()
        if nvcc is not None:
            return _with_nvcc(nvcc, text, name, options)
    if options.compiler in ("auto", "nvrtc"):
        library = find_nvrtc()
        if library is not None:
            return _with_nvrtc(library, text, name, options)
    wanted = {"auto": "neither nvcc nor NVRTC", "nvcc": "no nvcc", "nvrtc": "no NVRTC"}[options.compiler]
    raise NoCompiler(
        f"{wanted} found: install the CUDA toolkit (nvcc on the PATH or CUDA_PATH set), "
        "or the Python package nvidia-cuda-nvrtc (pip install 'cuda-lsp[run]')"
    )


def find_nvcc() -> str | None:
    """``nvcc`` on the PATH or in the toolkit that CUDA_PATH or CUDA_HOME names."""
    for variable in ("CUDA_PATH", "CUDA_HOME"):
        folder = os.environ.get(variable)
        if folder and (found := shutil.which("nvcc", path=str(Path(folder) / "bin"))):
            return found
    return shutil.which("nvcc")


@cache
def find_nvrtc() -> str | None:
    """Path of the newest NVRTC library: of the Python package, of a toolkit, or where the system's loader looks."""
    folders: list[Path] = []
    spec = importlib.util.find_spec("nvidia")
    for location in (spec.submodule_search_locations or ()) if spec else ():
        folders.extend(Path(location).glob("*/lib"))
        folders.extend(Path(location).glob("*/bin"))
    for variable in ("CUDA_PATH", "CUDA_HOME"):
        if os.environ.get(variable):
            folders.extend(Path(os.environ[variable]) / part for part in ("lib64", "lib", "bin"))
    for folder in folders:
        names = (*folder.glob("libnvrtc.so*"), *folder.glob("libnvrtc*.dylib"), *folder.rglob("nvrtc64_*.dll"))
        found = sorted(path for path in names if "builtins" not in path.name and "alt" not in path.name)
        if found:
            return str(found[-1])
    return ctypes.util.find_library("nvrtc")


def _with_nvcc(nvcc: str, text: str, name: str, options: CompileOptions) -> Compiled:
    """``nvcc -ptx``, in a folder of its own; a ``#line`` in front keeps the user's path in the line information."""
    try:
        return _nvcc_in_folder(nvcc, text, name, options)
    except OSError as error:
        raise CompilerTrouble(f"nvcc cannot be used, for want of temporary files: {error.strerror or error}") from None


def _nvcc_in_folder(nvcc: str, text: str, name: str, options: CompileOptions) -> Compiled:
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    with tempfile.TemporaryDirectory(prefix="cuda-lsp-") as folder:
        source = Path(folder) / "unit.cu"
        probes = "".join(f"\nstatic auto cuda_lsp_instance_{n} = &{name};" for n, name in enumerate(options.instances))
        source.write_text(f'#line 1 "{quoted}"\n{text}{probes}\n', encoding="utf-8", errors="surrogateescape")
        target = Path(folder) / "unit.ptx"
        beside = (f"-I{Path(name).parent}",) if Path(name).is_absolute() else ()
        command = [nvcc, "-ptx", f"-arch=compute_{options.arch}", *_BUILD_FLAGS[options.build], *_NVCC_FLAGS]
        command += options.flags
        try:
            done = subprocess.run(
                [*command, *beside, "-o", str(target), str(source)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_NVCC_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CompilerTrouble(f"nvcc took more than {_NVCC_SECONDS:.0f} s") from None
        log = _SUMMARY.sub("", done.stdout + done.stderr).strip()
        if done.returncode != 0 or not target.exists():
            raise CompileError(log or f"nvcc ended with code {done.returncode}")
        return Compiled(target.read_text(encoding="utf-8", errors="replace"), log, "nvcc", options.arch)


def _with_nvrtc(path: str, text: str, name: str, options: CompileOptions) -> Compiled:
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise NoCompiler(f"NVRTC at {path} does not load: {error}") from None
    program = ctypes.c_void_p()
    source = _MARKED_LAMBDA.sub(_unmarked, text.encode("utf-8", "surrogateescape"))
    found = installed(library, options.headers) if options.headers and b"#include" in source else None
    folder, missing = (None, found) if isinstance(found, str) else (found, None)
    headers = texts_by_name(folder, source)
    count = len(headers)
    texts = (ctypes.c_char_p * count)(*[header.encode() for header in headers.values()])
    names = (ctypes.c_char_p * count)(*[header.encode() for header in headers])
    _ok(library, library.nvrtcCreateProgram(ctypes.byref(program), source, name.encode(), count, texts, names))
    try:
        for instance in options.instances:
            _ok(library, library.nvrtcAddNameExpression(program, instance.encode()))
        beside = (f"-I{Path(name).parent}",) if Path(name).is_absolute() else ()
        flags = [
            f"-arch=compute_{options.arch}",
            "-default-device",
            # A word without a meaning since C++17, which nvcc still takes.
            "-Dregister=",
            *_BUILD_FLAGS[options.build],
            *options.flags,
            *beside,
        ]
        if folder is not None:
            flags += [f"-I{folder}", f"-I{folder / 'cccl'}"]
        array = (ctypes.c_char_p * len(flags))(*[flag.encode() for flag in flags])
        code = library.nvrtcCompileProgram(program, len(flags), array)
        log = _text(library, program, "ProgramLog").strip()
        if code != 0:
            said = log or _message(library, code)
            raise CompileError(f"{said}\n{missing}" if missing is not None and _NO_HEADER.search(said) else said)
        return Compiled(_text(library, program, "PTX"), log, "nvrtc", options.arch)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _unmarked(found: re.Match[bytes]) -> bytes:
    """The words blanked: columns and lines stay."""
    return b"]" + found[1] + re.sub(rb"\S", b" ", found[2])


def _text(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    _ok(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(max(1, size.value))
    _ok(library, getattr(library, f"nvrtcGet{what}")(program, buffer))
    return buffer.value.decode("utf-8", "replace")


def _ok(library: ctypes.CDLL, code: int) -> None:
    if code != 0:
        raise CompileError(_message(library, code))


def _message(library: ctypes.CDLL, code: int) -> str:
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return f"NVRTC: {library.nvrtcGetErrorString(code).decode()}"
