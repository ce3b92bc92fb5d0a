"""Lower CUDA text in tests: to kernels, to readable programs, to the values a kernel computes."""

import textwrap
from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.lower import LoweredUnit, lower_unit
from analyzers.frontend.parse import ParsedUnit, UnitParser
from analyzers.ir.kernel import Kernel, Stmt, Unsupported, statements
from analyzers.ir.printer import kernel_text
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch

PATH = "/project/unit.cu"


@cache
def _parser() -> UnitParser:
    return UnitParser()


def unit(text: str, files: dict[str, str] | None = None, flags: CompileFlags | None = None) -> LoweredUnit:
    """Lower a text; `files` are further files by absolute path."""
    used = flags or CompileFlags()

    def parse(probes: Sequence[str] = ()) -> ParsedUnit:
        return _parser().parse(PATH, text, used, files or {}, probes)

    return lower_unit(parse(), parse)


def kernels(text: str, files: dict[str, str] | None = None) -> dict[str, Kernel]:
    return {k.name: k for k in unit(text, files).kernels}


def kernel(text: str, name: str | None = None) -> Kernel:
    """The kernel of that name, or the only one."""
    found = kernels(text)
    if name is None:
        assert len(found) == 1, list(found)
        return next(iter(found.values()))
    return found[name]


S = TypeVar("S", bound=Stmt)


def each(k: Kernel, kind: type[S]) -> list[S]:
    """The statements of one kind, in source order."""
    return [s for s in statements(k.body) if isinstance(s, kind)]


def unsupported(text: str, name: str | None = None) -> list[str]:
    """The kinds of code that was not taken in."""
    return [s.kind for s in statements(kernel(text, name).body) if isinstance(s, Unsupported)]


def program(text: str, name: str | None = None) -> str:
    """The body of a kernel as the printer shows it, places in the source left out."""
    lines = kernel_text(kernel(text, name)).splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip() == "block kernel:")
    return "\n".join(line.split("  // ")[0].removeprefix("    ") for line in lines[start + 1 :])


def expected(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


def computed(text: str, given: Sequence[int] = (), count: int = 1, width: int = 4) -> list[int]:
    """What one thread of the only kernel leaves in `out`, as signed integers; `in` holds the numbers `given`."""
    k = kernel(text)
    assert not unsupported(text), unsupported(text)
    modulus = 1 << 8 * width
    launch = ConcreteLaunch(arrays={"in": [n % modulus for n in given], "out": [0] * count}, values={"n": 5})
    result = run(k, launch)
    assert result.outcome == "finished", result.reason
    found = [result.read("out", width * i, width) for i in range(count)]
    return [n - modulus if n >= modulus // 2 else n for n in found]
