"""What `cuda-lsp doctor` looks at: the program and what it stands on, compilers and GPU, the cache, and one file.

Each look gives `Entry`s; one that is a problem says what to do about it. Nothing is changed.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analyzers.model import UnitResult, Verdict
from analyzers.requests import CheckRequest
from cuda_lsp import __version__, cache
from cuda_lsp.cli import gpu, jobs
from cuda_lsp.workspace import compile_commands, project
from cuda_lsp.workspace.project import Project
from cuda_lsp.workspace.spelling import one_spelling
from cuda_lsp.workspace.suffixes import CUDA_SUFFIXES
from gpu_runner.compile import find_nvcc, find_nvrtc
from gpu_runner.sanitizer.opinion import NoSanitizer, find_sanitizer

_ROOT: Final = Path(__file__).parent.parent.parent
_NEEDED: Final = ("libclang", "z3-solver", "ortools", "numpy", "llvmlite", "pygls", "lsprotocol", "pathspec", "shtab")
_WAIT_S: Final = 20.0
_TRIAL_BYTES: Final = 64 << 10
_REINSTALL: Final = "install it again: python -m pip install --force-reinstall cuda-lsp"
_TRIAL: Final = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void trial(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  a[threadIdx.x] = s[63 - threadIdx.x];
}
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was looked at."""

    section: str
    name: str
    value: str
    advice: str = ""
    """What to do, if anything."""
    is_problem: bool = False


def program(backend: str) -> Iterator[Entry]:
    """The program, its packages, and whether it finds the race in a small kernel."""
    yield Entry("program", "server", f"{__version__} in {_ROOT}")
    yield Entry("program", "python", f"{platform.python_version()}, {sys.executable}")
    yield Entry("program", "system", f"{platform.system()} {platform.release()} {platform.machine()}")
    command = shutil.which("cuda-lsp")
    if command is None:
        advice = "editors that start “cuda-lsp serve” need it there; or give them the full path"
        yield Entry("program", "command", "no cuda-lsp on the PATH", advice)
    else:
        yield Entry("program", "command", command)
    for name in _NEEDED:
        try:
            yield Entry("program", name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield Entry("program", name, "not installed", _REINSTALL, is_problem=True)
    yield _trial(backend)


def _trial(backend: str) -> Entry:
    started = time.monotonic()
    request = CheckRequest(str(Path(tempfile.gettempdir()) / "trial.cu"), _TRIAL)
    try:
        with jobs.Pool(1, backend) as pool:
            (outcome,) = pool.outcomes([jobs.Task("check", request)], lambda _task, _progress: None)
    except OSError as error:
        return Entry("program", "trial", f"no worker could be started: {error.strerror or error}", _REINSTALL, True)
    seconds = time.monotonic() - started
    unit = outcome.unit
    assert unit is not None
    if {kernel.verdict for kernel in unit.kernels} == {Verdict.DATA_RACE}:
        return Entry("program", "trial", f"a race in a small kernel was found ({seconds:.1f} s)")
    return Entry("program", "trial", f"the race in a small kernel was not found: {_why(unit)}", _REINSTALL, True)


def _why(unit: UnitResult) -> str:
    if unit.failure is not None:
        return unit.failure.text
    reasons = [reason.text for kernel in unit.kernels for context in kernel.contexts for reason in context.reasons]
    return reasons[0] if reasons else ", ".join(kernel.verdict.value for kernel in unit.kernels) or "no kernel was seen"


def cuda() -> Iterator[Entry]:
    """Compilers, which runs need, and the GPU, which nothing needs."""
    yield Entry("CUDA", "headers", "bundled; checks need no toolkit")
    nvcc, nvrtc = find_nvcc(), find_nvrtc()
    if nvcc is not None:
        yield Entry("CUDA", "nvcc", f"{_version(nvcc)}, {nvcc}")
    else:
        yield Entry("CUDA", "nvcc", "none on the PATH, in CUDA_PATH or CUDA_HOME")
    if nvrtc is not None:
        yield Entry("CUDA", "NVRTC", f"{_wheel_version()}{nvrtc}")
    elif nvcc is not None:
        yield Entry("CUDA", "NVRTC", "none; nvcc is used")
    else:
        advice = "cuda-lsp run needs nvcc or NVRTC: pip install 'cuda-lsp[run]'; checks do not"
        yield Entry("CUDA", "NVRTC", "none", advice)
    found = gpu.find()
    if found.driver is not None:
        yield Entry("CUDA", "driver", f"for CUDA up to {found.driver}")
    else:
        yield Entry("CUDA", "driver", "none; nothing needs one")
    if found.trouble:
        yield Entry("CUDA", "GPU", found.trouble, "cuda-lsp needs no GPU; nvidia-smi may tell what the driver lacks")
    else:
        yield Entry("CUDA", "GPU", "; ".join(found.devices) or "none; nothing needs one")
    yield Entry("CUDA", "runs on a GPU", _gpu_runs(bool(found.devices)))
    try:
        yield Entry("CUDA", "second opinion", f"{find_sanitizer()}: run --sanitizer")
    except NoSanitizer:
        yield Entry("CUDA", "second opinion", "no compute-sanitizer; nothing needs one")


def _gpu_runs(is_there: bool) -> str:
    """Whether `cuda-lsp run --device gpu` is possible here."""
    try:
        bindings = importlib.util.find_spec("cuda.bindings") is not None
    except ModuleNotFoundError:
        bindings = False
    if not is_there:
        return "no; kernels run on the processor"
    if not bindings:
        return "not without NVIDIA's bindings: pip install 'cuda-lsp[gpu]'"
    return "run --device gpu"


def _version(nvcc: str) -> str:
    try:
        done = subprocess.run([nvcc, "--version"], capture_output=True, text=True, timeout=_WAIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "does not run"
    match = re.search(r"release (\S+?),", done.stdout)
    return match[1] if match else "of unknown version"


def _wheel_version() -> str:
    for name in ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu13", "nvidia-cuda-nvrtc-cu12"):
        try:
            return f"{name} {importlib.metadata.version(name)}, "
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""


def disk_cache() -> Iterator[Entry]:
    """Where results are kept, and whether they can be."""
    folder = cache.default_directory()
    named = f", from {cache.DIRECTORY_VARIABLE}" if os.environ.get(cache.DIRECTORY_VARIABLE) else ""
    yield Entry("cache", "folder", f"{folder}{named}")
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    size = sum(path.stat().st_size for path in files if path.exists())
    yield Entry("cache", "size", f"{size / (1 << 20):.1f} MB in {len(files)} {'file' if len(files) == 1 else 'files'}")
    place = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    try:
        # A full disk lets a file be made, and nothing be written to it.
        with tempfile.NamedTemporaryFile(dir=place) as trial:
            trial.write(bytes(_TRIAL_BYTES))
        yield Entry("cache", "writable", "yes")
    except OSError as error:
        advice = f"results are not kept; let {cache.DIRECTORY_VARIABLE} name a folder that can be written"
        yield Entry("cache", "writable", f"no: {error.strerror or error}", advice, is_problem=True)


def file(path: Path) -> Iterator[Entry]:
    """With which settings and flags a file is checked, and where they come from."""
    section = f"file {path}"
    absolute = Path(one_spelling(Path.cwd() / path))
    if not absolute.is_file():
        yield Entry(section, "text", "there is no such file", "name a CUDA source", is_problem=True)
        return
    if absolute.suffix.lower() not in CUDA_SUFFIXES:
        advice = "files of other names are CUDA to an editor whose language id says so, and to the command line by name"
        yield Entry(section, "name", f"{absolute.suffix or 'no'} is not .cu or .cuh", advice)
    found = project.load(str(absolute.parent), None, ())
    for problem in found.problems:
        yield Entry(section, "settings", str(problem), "correct it; until then the default holds", is_problem=True)
    yield Entry(section, "settings", found.found[0] or "defaults: no .cuda-lsp.toml in its folder or above it")
    if found.baseline is not None:
        yield Entry(section, "baseline", f"{found.baseline.path}, {len(found.baseline.entries)} findings")
    workspace = found.workspace_of(str(absolute))
    below = ", with the folders below it" if workspace.recursive else " alone"
    advice = "a .cuda-lsp.toml or a repository would show host code in other folders" if not workspace.recursive else ""
    yield Entry(section, "host code", f"{workspace.top}{below}", advice)
    yield from _flags(section, str(absolute), found)


def _flags(section: str, path: str, found: Project) -> Iterator[Entry]:
    flags, origin = compile_commands.flags_for(path, found.database, found.settings, found.directory)
    advice = ""
    if origin == "defaults" and found.database.path is not None:
        origin = f"defaults: nothing could be taken from {found.database.path}"
    elif origin == "defaults":
        origin = "defaults: no compile_commands.json beside or above it or in a build folder there"
        advice = "cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON writes one; or say extra-args in .cuda-lsp.toml"
    elif path not in found.database.commands:
        advice = "the file has no command of its own, the nearest one was taken"
    yield Entry(section, "flags from", origin, advice)
    yield Entry(section, "flags", " ".join((f"sm_{flags.arch}", *flags.arguments)))
    for dropped in dict.fromkeys(flags.dropped):
        yield Entry(section, "not used", f"{dropped.flag}: {dropped.reason}")
    for folder in _missing_folders(flags.arguments, flags.directory):
        yield Entry(
            section, "include folder", f"{folder} does not exist", "build first, or correct it", is_problem=True
        )


def _missing_folders(arguments: tuple[str, ...], directory: str) -> Iterator[str]:
    from cuda_lsp.lookups import include_folders

    for _, folder in include_folders(arguments):
        if not (Path(directory) / folder).is_dir():
            yield folder
