"""Random kernels: source text with its launches, and the concrete launches that each of them stands for.

A seed names a sample. ``text_of`` puts several into one file, which is parsed faster than several files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from analyzers.reference.launch import ConcreteLaunch
from benchmarks.generated.idioms import IdiomWriter
from benchmarks.generated.terms import Flavour, Scope, Shape

HEADER: Final = """\
#include <cassert>
__device__ int fold(int x, int m) {
  if (x < m) return x;
  return x - m;
}
__device__ int steps(int x, int m) {
  int c = 0;
  while (c < 4) {
    if (c * 2 > (x & 7) % m) break;
    ++c;
  }
  return c;
}
template <class T> __device__ void put(T *p, int i, int v) {
  if (i < 0) return;
  p[i] = v;
}
template <class T> __device__ int swapped(T *p, int i, int j, int v) {
  p[i] = v;
  __syncthreads();
  return p[j];
}
template <class T> __device__ void cleared(T *p, int i, int n) {
  for (int j = i; j < n; j += blockDim.x) p[j] = 0;
}
template <class T> __device__ int block_sum(T *p, int i, int v) {
  __syncthreads();
  p[i] = v;
  for (unsigned w = blockDim.x / 2; w > 0; w /= 2) {
    __syncthreads();
    if (i < w) p[i] += p[i + w];
  }
  __syncthreads();
  return p[0];
}
"""
"""The functions that kernels call."""

Style = Literal["comment", "host", "none"]
"""Who says how the kernel is launched: a comment, host code, nobody."""

_BLOCKS: Final = (
    *[(4, 1, 1)] * 4, *[(8, 1, 1)] * 6, *[(6, 1, 1)] * 2, *[(4, 2, 1)] * 2, (16, 1, 1), (8, 2, 1), (33, 1, 1)
)  # fmt: skip
_GRIDS: Final = ((1, 1, 1), (1, 1, 1), (2, 1, 1))
_UNSEEN: Final = (
    ((1, 1, 1), (1, 1, 1)),
    ((1, 1, 1), (8, 1, 1)),
    ((2, 1, 1), (4, 1, 1)),
    ((1, 1, 1), (33, 1, 1)),
    ((3, 1, 1), (2, 1, 1)),
)


_OFFSETS: Final = {
    "(unsigned *)(a + 64)": 256,
    "(unsigned *)(a + 16)": 64,
    "(unsigned *)(a + 1)": 4,
    "(unsigned *)a": 0,
}
"""What a host may pass for ``u``, and how many bytes that is behind ``a``."""


@dataclass(frozen=True, slots=True)
class GivenLaunch:
    """A launch as the analysis sees it, and executions that it allows."""

    text: str
    """The comment or the host's statement."""
    concrete: tuple[ConcreteLaunch, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """One random kernel."""

    seed: int
    name: str
    kernel: str
    """Its definition."""
    style: Style
    launches: tuple[GivenLaunch, ...]
    steered: bool
    """What memory holds decides where threads go or what they touch."""

    @property
    def text(self) -> str:
        """The kernel with its launches, without the functions it calls."""
        comments = "".join(f"// cuda-lsp: {g.text}\n" for g in self.launches) if self.style == "comment" else ""
        host = ""
        if self.style == "host":
            calls = "".join(f"  {g.text}\n" for g in self.launches)
            host = f"void launch_{self.name}(int *a, short *b, unsigned *u) {{\n{calls}}}\n"
        return comments + self.kernel + host


def text_of(samples: Iterable[Sample]) -> str:
    """One file with all of them."""
    return HEADER + "\n".join(s.text for s in samples)


def sample(seed: int, most: int = 12) -> Sample:
    """The kernel with this number, of up to ``most`` statements outside of patterns and nested ones."""
    random = Random(f"kernel {seed}")
    style: Style = random.choices(("comment", "host", "none"), (65, 27, 8))[0]
    block, grid = random.choice(_BLOCKS), random.choice(_GRIDS)
    flavour = Flavour(
        data=random.random() < 0.2,
        divergence=random.random() < 0.25,
        jumps=random.random() < 0.35,
        idioms=random.choice((0.0, 0.2, 0.5, 0.9)),
        barriers=random.choice((0.2, 0.6, 0.9, 1.0)),
        flaws=random.choice((0.0, 0.0, 0.1, 0.3)),
        tidy=random.random() < 0.7,
        statements=min(random.choice((3, 5, 8, 12)), most),
    )
    writer = IdiomWriter(random, flavour, Shape(block, grid, style != "none"))
    name = f"k{seed}"
    kernel = _definition(writer, name)
    return Sample(
        seed, name, kernel, style, _launches(random, name, style, block, grid), flavour.data or writer.steered
    )


def _definition(w: IdiomWriter, name: str) -> str:
    w.outside = [("a", "int"), ("b", "short"), ("u", "unsigned")]
    if w.shape.block[1] > 1:
        w.line("const int x = threadIdx.x, y = threadIdx.y;")
        w.line("const int t = threadIdx.y * blockDim.x + threadIdx.x;")
        w.line("const int g = blockIdx.x * blockDim.x * blockDim.y + t;")
    else:
        w.line("const int t = threadIdx.x;")
        w.line("const int x = t % 8, y = t / 8;")
        w.line("const int g = blockIdx.x * blockDim.x + threadIdx.x;")
    w.line(w.one(["const unsigned lane = t & 31;", "const int lane = t % 32;"]))
    w.own = {name: w.one(["g", "g", "g", "2 * g", "2 * g + 1", "3 * g + 1", "g + n", "g ^ 1"]) for name, _ in w.outside}
    declared: list[tuple[str, tuple[int, ...], str, str]] = [("s", (128,), "int", "__shared__ int s[128];")]
    if w.chance(0.4):
        declared.append(("tile", (8, 9), "int", f"__shared__ int tile[8][{w.one([8, 9])}];"))
    if w.chance(0.2):
        declared.append(("h", (128,), "short", "__shared__ short h[128];"))
    if w.chance(0.2):
        declared.append(("q", (128,), "unsigned", "__shared__ unsigned q[128];"))
    for array, extents, ty, text in declared:
        w.shared.append((array, extents, ty))
        w.line(text)
    scope = Scope()
    while w.left > 0:
        w.statement(scope)
    body = "\n".join(w.lines)
    return f"__global__ void {name}(int *a, short *b, unsigned *u, int n, unsigned m) {{\n{body}\n}}\n"


def _launches(
    random: Random, name: str, style: Style, block: tuple[int, int, int], grid: tuple[int, int, int]
) -> tuple[GivenLaunch, ...]:
    if style == "none":
        at = [ConcreteLaunch(g, b, {"n": n, "m": n + 1}) for (g, b), n in zip(_UNSEEN, (1, 0, 3, 2, 5), strict=True)]
        return (GivenLaunch("", tuple(at)),)
    found: list[GivenLaunch] = []
    passed = random.choice(tuple(_OFFSETS)) if style == "host" and random.random() < 0.15 else "u"
    aliases = {"a": ("a", 0), "u": ("a", _OFFSETS[passed])} if passed != "u" else {}
    for _ in range(random.choice((1, 1, 1, 2))):
        given = None if random.random() < 0.2 else (random.randint(0, 6), random.randint(1, 4))
        if found:
            grid, block = random.choice(_GRIDS), random.choice((block, (block[0] // 2, block[1], 1)))
        text = _written(name, style, block, grid, given, passed)
        values = [given] if given is not None else [(0, 1), (2, 2), (5, 1)]
        concrete = tuple(ConcreteLaunch(grid, block, {"n": n, "m": m}, aliases=aliases) for n, m in values)
        if all(text != other.text for other in found):
            found.append(GivenLaunch(text, concrete))
    return tuple(found)


def _written(
    name: str,
    style: Style,
    block: tuple[int, int, int],
    grid: tuple[int, int, int],
    given: tuple[int, int] | None,
    passed: str,
) -> str:
    if style == "comment":
        values = f" n={given[0]} m={given[1]}" if given is not None else ""
        return f"launch grid=({grid[0]}) block=({block[0]},{block[1]}){values}"
    sizes = f"{grid[0]}, {block[0]}" if block[1] == 1 else f"dim3({grid[0]}), dim3({block[0]}, {block[1]})"
    arguments = f"{given[0]}, {given[1]}" if given is not None else "*a, *u"
    return f"{name}<<<{sizes}>>>(a, b, {passed}, {arguments});"
