"""Race questions of common kernels, as the race conditions pose them: one function per access pair.

Each gives a query and what it is: ``free`` (no two threads collide) or ``race``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analyzers.ir.expr import (
    BDIM,
    BID,
    GDIM,
    I32,
    I64,
    TID,
    U8,
    U32,
    Expr,
    IntType,
    add,
    binary,
    cast,
    compare,
    const,
    land,
    lnot,
    lor,
    mul,
    opaque,
    select,
    sub,
    substitute,
    sym,
)
from analyzers.solve.query import Fact, Overlap, Query

Pattern = tuple[Query, str]
PATTERNS: dict[str, Callable[[], Pattern]] = {}
HARDWARE = -1
HOST = 7


def pattern(make: Callable[[], Pattern]) -> Callable[[], Pattern]:
    PATTERNS[make.__name__] = make
    return make


def param(name: str, ty: IntType = I32) -> Expr:
    return sym(f"param:{name}", ty)


def i32(e: Expr | int) -> Expr:
    return const(e, I32) if isinstance(e, int) else cast(e, I32)


def u32(e: Expr | int) -> Expr:
    return const(e, U32) if isinstance(e, int) else cast(e, U32)


def lt(a: Expr, b: Expr) -> Expr:
    return compare("lt", a, b)


def le(a: Expr, b: Expr) -> Expr:
    return compare("le", a, b)


@dataclass(frozen=True)
class Thread:
    """One of the two threads: its coordinates and loop counters."""

    number: int
    mode: str

    def axis(self, symbols: tuple[Expr, ...], i: int, own: bool) -> Expr:
        s = symbols[i]
        return sym(f"{s.value}@{self.number}", U32) if own else s

    @property
    def x(self) -> Expr:
        return self.axis(TID, 0, True)

    @property
    def y(self) -> Expr:
        return self.axis(TID, 1, True)

    @property
    def bx(self) -> Expr:
        return self.axis(BID, 0, self.mode == "grid")

    @property
    def by(self) -> Expr:
        return self.axis(BID, 1, self.mode == "grid")

    def loop(self, label: str) -> Expr:
        return sym(f"loop:{label}@{self.number}", I64)

    @property
    def gid(self) -> Expr:
        """``blockIdx.x * blockDim.x + threadIdx.x`` as int."""
        return i32(add(mul(self.bx, BDIM[0]), self.x))


Index = Callable[[Thread], Expr]
Guard = Callable[[Thread], list[Expr]]


def no_guard(_: Thread) -> list[Expr]:
    return []


def question(
    left: Index,
    right: Index | None = None,
    guard: Guard = no_guard,
    guard2: Guard | None = None,
    *,
    mode: str = "block",
    block: tuple[int | None, ...] = (256, 1, 1),
    grid: tuple[int | None, ...] = (None, 1, 1),
    facts: tuple[Expr, ...] = (),
    loops: tuple[tuple[str, int], ...] = (),
    extra: Callable[[Thread, Thread], list[Expr]] = lambda _a, _b: [],
    width: int = 4,
    width2: int | None = None,
) -> Query:
    """The two-thread question for element indices (of any integer type) of ``width`` bytes."""
    t1, t2 = Thread(1, mode), Thread(2, mode)
    bound = {d: const(v, U32) for dims, vs in ((BDIM, block), (GDIM, grid)) for d, v in zip(dims, vs, strict=True) if v}

    def bytes_of(index: Expr, w: int) -> Expr:
        return mul(cast(index, I64), const(w, I64))

    width2 = width2 or width
    addresses = bytes_of(left(t1), width), bytes_of((right or left)(t2), width2)
    coordinates, sizes = (BID, grid) if mode == "grid" else (TID, block)
    distinct = lor(
        *(
            compare("ne", t1.axis(coordinates, i, True), t2.axis(coordinates, i, True))
            for i in range(3)
            if sizes[i] != 1
        )
    )
    parts = [distinct, *guard(t1), *(guard2 or guard)(t2), *extra(t1, t2)]
    if width == width2:
        parts.append(compare("eq", *addresses))
    else:
        parts += [
            lt(addresses[0], add(addresses[1], const(width2, I64))),
            lt(addresses[1], add(addresses[0], const(width, I64))),
        ]
    ranges: dict[Expr, tuple[int, int]] = {}
    limits = [Fact(f, HOST) for f in facts]
    for i, (top_b, top_g) in enumerate(((1024, 2**31 - 1), (1024, 65535), (64, 65535))):
        for dims, own, known, top in ((BDIM, TID, block[i], top_b), (GDIM, BID, grid[i], top_g)):
            if known is None:
                ranges[dims[i]] = (1, top)
            for t in (t1, t2):
                s = t.axis(own, i, own is TID or mode == "grid")
                ranges[s] = (0, (known or top) - 1)
                if known is None:
                    limits.append(Fact(lt(s, dims[i]), HARDWARE))
        if block[i] is None or grid[i] is None:
            total = mul(cast(bound.get(BDIM[i], BDIM[i]), I64), cast(bound.get(GDIM[i], GDIM[i]), I64))
            limits.append(Fact(lt(total, const(2**31, I64)), HARDWARE))
    if sum(b is None for b in block) > 1:
        dims = [cast(bound.get(d, d), I64) for d in BDIM]
        limits.append(Fact(le(mul(mul(dims[0], dims[1]), dims[2]), const(1024, I64)), HARDWARE))
    for label, top in loops:
        for t in (t1, t2):
            ranges[t.loop(label)] = (0, top)
    fixed = {f: substitute(f.condition, bound) for f in limits}
    return Query(
        tuple(dict.fromkeys(substitute(p, bound) for p in parts)),
        tuple(dict.fromkeys(Fact(c, f.tag) for f, c in fixed.items() if c.op != "const")),
        ranges,
        Overlap(substitute(addresses[0], bound), substitute(addresses[1], bound), width, width2),
        mode,  # pyright: ignore[reportArgumentType]
    )


N, W, H, S = param("n"), param("w"), param("h"), param("s")
ANY = (None, 1, 1)
ANY2 = (None, None, 1)


@pattern
def one_dimensional() -> Pattern:
    return question(lambda t: t.gid, guard=lambda t: [lt(t.gid, N)], mode="grid", block=ANY), "free"


@pattern
def one_dimensional_same_block() -> Pattern:
    return question(lambda t: t.gid, guard=lambda t: [lt(t.gid, N)], block=ANY), "free"


@pattern
def one_dimensional_fixed_block() -> Pattern:
    return question(lambda t: t.gid, guard=lambda t: [lt(t.gid, N)], mode="grid"), "free"


@pattern
def shared_by_thread() -> Pattern:
    return question(lambda t: t.x), "free"


@pattern
def neighbour() -> Pattern:
    return question(lambda t: t.x, lambda t: add(t.x, u32(1)), guard2=lambda t: [lt(t.x, u32(255))]), "race"


@pattern
def neighbour_across_blocks() -> Pattern:
    return question(
        lambda t: t.gid, lambda t: add(t.gid, i32(1)), lambda t: [lt(t.gid, sub(N, i32(1)))], mode="grid"
    ), "race"


def _tile(t: Thread, pitch: int) -> Expr:
    return add(mul(t.y, u32(pitch)), t.x)


@pattern
def tile_2d() -> Pattern:
    return question(lambda t: _tile(t, 16), block=(16, 16, 1)), "free"


@pattern
def tile_padded() -> Pattern:
    return question(lambda t: _tile(t, 33), block=(32, 32, 1)), "free"


@pattern
def tile_too_narrow() -> Pattern:
    return question(lambda t: _tile(t, 31), block=(32, 32, 1)), "race"


@pattern
def tile_transposed_read() -> Pattern:
    return question(lambda t: _tile(t, 33), lambda t: add(mul(t.x, u32(33)), t.y), block=(32, 32, 1)), "race"


def _xy(t: Thread, tile: int = 16) -> tuple[Expr, Expr]:
    return i32(add(mul(t.bx, u32(tile)), t.x)), i32(add(mul(t.by, u32(tile)), t.y))


def _row_major(t: Thread) -> Expr:
    x, y = _xy(t)
    return add(mul(y, W), x)


def _inside(t: Thread) -> list[Expr]:
    x, y = _xy(t)
    return [lt(x, W), lt(y, H)]


@pattern
def row_major_symbolic_width() -> Pattern:
    return question(_row_major, guard=_inside, mode="grid", block=(16, 16, 1), grid=ANY2), "free"


@pattern
def row_major_same_block() -> Pattern:
    return question(_row_major, guard=_inside, block=(16, 16, 1), grid=ANY2), "free"


@pattern
def row_major_unguarded() -> Pattern:
    return question(_row_major, mode="grid", block=(16, 16, 1), grid=ANY2), "race"


def _xy_any(t: Thread) -> tuple[Expr, Expr]:
    return i32(add(mul(t.bx, BDIM[0]), t.x)), i32(add(mul(t.by, BDIM[1]), t.y))


@pattern
def row_major_any_block() -> Pattern:
    def index(t: Thread) -> Expr:
        x, y = _xy_any(t)
        return add(mul(y, W), x)

    def guard(t: Thread) -> list[Expr]:
        x, y = _xy_any(t)
        return [lnot(lor(le(W, x), le(H, y)))]

    return question(index, guard=guard, mode="grid", block=ANY2, grid=ANY2), "free"


@pattern
def transpose_output() -> Pattern:
    """``out[(bx*32 + ty) * h + by*32 + tx]``"""

    def xy(t: Thread) -> tuple[Expr, Expr]:
        return i32(add(mul(t.by, u32(32)), t.x)), i32(add(mul(t.bx, u32(32)), t.y))

    def index(t: Thread) -> Expr:
        x, y = xy(t)
        return add(mul(y, H), x)

    def guard(t: Thread) -> list[Expr]:
        x, y = xy(t)
        return [lt(x, H), lt(y, W)]

    return question(index, guard=guard, mode="grid", block=(32, 32, 1), grid=ANY2), "free"


@pattern
def transpose_loop_rows() -> Pattern:
    """``tile[ty + 8*k][tx]`` for k in 0..3, 32x8 threads, rows of 33"""
    return question(
        lambda t: add(mul(add(i32(t.y), mul(i32(t.loop("k")), i32(8))), i32(33)), i32(t.x)),
        block=(32, 8, 1),
        loops=(("k", 3),),
    ), "free"


@pattern
def reduction_step() -> Pattern:
    """``if (tid < s) sdata[tid] += sdata[tid + s]``"""
    return question(lambda t: i32(t.x), lambda t: add(i32(t.x), S), lambda t: [lt(i32(t.x), S)], block=ANY), "free"


@pattern
def reduction_step_unsigned() -> Pattern:
    s = param("s", U32)
    return question(
        lambda t: t.x, lambda t: add(t.x, s), lambda t: [lt(t.x, s)], block=ANY, facts=(le(s, u32(1024)),)
    ), "free"


@pattern
def reduction_step_wrapping() -> Pattern:
    """with an unbounded unsigned distance ``tid + s`` wraps: s = 2^32 - 1, thread 1 reads what thread 0 writes"""
    s = param("s", U32)
    return question(lambda t: t.x, lambda t: add(t.x, s), lambda t: [lt(t.x, s)], block=ANY), "race"


@pattern
def reduction_interleaved() -> Pattern:
    """``i = 2*s*tid; if (i < bdim) sdata[i] += sdata[i + s]``"""
    s = param("s", U32)

    def i(t: Thread) -> Expr:
        return mul(mul(u32(2), s), t.x)

    return question(
        i, lambda t: add(i(t), s), lambda t: [lt(i(t), BDIM[0]), le(u32(1), s), le(s, u32(512))], block=ANY
    ), "free"


@pattern
def reduction_missing_barrier() -> Pattern:
    """next iteration's read against this one's write: sdata[tid] (tid < 64), sdata[tid + 32] (tid < 32)"""
    return question(
        lambda t: t.x,
        lambda t: add(t.x, u32(32)),
        lambda t: [lt(t.x, u32(64))],
        lambda t: [lt(t.x, u32(32))],
        block=(128, 1, 1),
    ), "race"


@pattern
def block_result() -> Pattern:
    """``if (tid == 0) out[bid] = sdata[0]``"""
    return question(lambda t: t.bx, guard=lambda t: [compare("eq", t.x, u32(0))], mode="grid"), "free"


@pattern
def block_result_same_block() -> Pattern:
    return question(lambda t: t.bx, guard=lambda t: [compare("eq", t.x, u32(0))]), "free"


@pattern
def everybody_writes_zero() -> Pattern:
    return question(lambda t: u32(0)), "race"


def _grid_stride(t: Thread) -> Expr:
    stride = i32(mul(BDIM[0], GDIM[0]))
    return add(t.gid, mul(i32(t.loop("i")), stride))


@pattern
def grid_stride() -> Pattern:
    return question(
        _grid_stride, guard=lambda t: [lt(_grid_stride(t), N)], mode="grid", block=ANY, loops=(("i", 2**31 - 1),)
    ), "free"


@pattern
def grid_stride_same_block() -> Pattern:
    return question(
        _grid_stride, guard=lambda t: [lt(_grid_stride(t), N)], block=ANY, loops=(("i", 2**31 - 1),)
    ), "free"


@pattern
def grid_stride_size_t() -> Pattern:
    def index(t: Thread) -> Expr:
        first = cast(add(mul(t.bx, BDIM[0]), t.x), I64)
        return add(first, mul(t.loop("i"), cast(mul(GDIM[0], BDIM[0]), I64)))

    n = param("n", I64)
    return question(
        index,
        guard=lambda t: [lt(index(t), n)],
        mode="grid",
        block=ANY,
        loops=(("i", 2**40),),
        facts=(le(n, const(2**40, I64)),),
    ), "free"


@pattern
def grid_stride_2d() -> Pattern:
    def xy(t: Thread) -> tuple[Expr, Expr]:
        x, y = _xy_any(t)
        return (
            add(x, mul(i32(t.loop("x")), i32(mul(BDIM[0], GDIM[0])))),
            add(y, mul(i32(t.loop("y")), i32(mul(BDIM[1], GDIM[1])))),
        )

    def index(t: Thread) -> Expr:
        x, y = xy(t)
        return add(mul(y, W), x)

    def guard(t: Thread) -> list[Expr]:
        x, y = xy(t)
        return [lt(x, W), lt(y, H)]

    return question(
        index, guard=guard, mode="grid", block=ANY2, grid=ANY2, loops=(("x", 2**31 - 1), ("y", 2**31 - 1))
    ), "free"


@pattern
def block_stride_loop() -> Pattern:
    """``for (i = tid; i < n; i += bdim) s[i]``"""

    def index(t: Thread) -> Expr:
        return add(i32(t.x), mul(i32(t.loop("i")), i32(BDIM[0])))

    return question(index, guard=lambda t: [lt(index(t), N)], block=ANY, loops=(("i", 2**31 - 1),)), "free"


@pattern
def chunk_per_block() -> Pattern:
    """``out[bid * chunk + k], k < chunk``"""
    chunk = param("chunk")
    return question(
        lambda t: add(mul(i32(t.bx), chunk), i32(t.loop("k"))),
        guard=lambda t: [lt(i32(t.loop("k")), chunk), compare("eq", t.x, u32(0))],
        mode="grid",
        loops=(("k", 2**31 - 1),),
    ), "free"


@pattern
def coarsened_four() -> Pattern:
    """four consecutive elements per thread: ``base = gid * 4; out[base + k]``"""
    return question(lambda t: add(mul(t.gid, i32(4)), i32(t.loop("k"))), mode="grid", loops=(("k", 3),)), "free"


@pattern
def vector_store() -> Pattern:
    """float4 against float at 4 * gid"""
    return question(lambda t: t.gid, lambda t: mul(t.gid, i32(4)), mode="grid", width=16, width2=4), "free"


@pattern
def stencil_shared() -> Pattern:
    """``s[tid + 1]`` written, ``s[tid]`` read without a barrier"""
    return question(lambda t: add(t.x, u32(1)), lambda t: t.x), "race"


@pattern
def butterfly() -> Pattern:
    """``s[tid]`` written, ``s[tid ^ 16]`` read"""
    return question(lambda t: t.x, lambda t: binary("xor", t.x, u32(16))), "race"


@pattern
def butterfly_write_write() -> Pattern:
    return question(lambda t: binary("xor", t.x, u32(16))), "free"


@pattern
def swizzled_tile() -> Pattern:
    """``s[ty][tx ^ ty]``: a permutation of each row"""
    return question(lambda t: add(mul(t.y, u32(32)), binary("xor", t.x, t.y)), block=(32, 32, 1)), "free"


@pattern
def bit_reversal() -> Pattern:
    """bitonic partner: ``ixj = tid ^ j; if (ixj > tid) swap(s[tid], s[ixj])``"""

    def partner(t: Thread) -> Expr:
        return binary("xor", t.x, u32(8))

    return question(lambda t: t.x, partner, lambda t: [lt(t.x, partner(t))], block=(512, 1, 1)), "free"


@pattern
def warp_and_lane() -> Pattern:
    """``s[warp][lane]`` rows of 33"""
    return question(
        lambda t: add(mul(binary("div", t.x, u32(32)), u32(33)), binary("rem", t.x, u32(32))), block=(1024, 1, 1)
    ), "free"


@pattern
def warp_and_lane_by_bits() -> Pattern:
    return question(
        lambda t: add(mul(binary("shr", i32(t.x), i32(5)), i32(33)), binary("and", i32(t.x), i32(31))), block=ANY
    ), "free"


@pattern
def warp_leader() -> Pattern:
    """``if (lane == 0) s[warp] = v``"""
    return question(
        lambda t: binary("div", t.x, u32(32)),
        guard=lambda t: [compare("eq", binary("rem", t.x, u32(32)), u32(0))],
        block=(1024, 1, 1),
    ), "free"


@pattern
def warp_without_leader() -> Pattern:
    return question(lambda t: binary("div", t.x, u32(32)), block=(1024, 1, 1)), "race"


@pattern
def decoded_index() -> Pattern:
    """``y = gid / w, x = gid % w; out[x * h + y]`` with gid < w * h"""

    def index(t: Thread) -> Expr:
        return add(mul(binary("rem", t.gid, W), H), binary("div", t.gid, W))

    return question(
        index,
        guard=lambda t: [lt(t.gid, mul(W, H)), le(i32(1), W), lt(binary("div", t.gid, W), H), le(i32(0), t.gid)],
        mode="grid",
    ), "free"


@pattern
def histogram() -> Pattern:
    def index(t: Thread) -> Expr:
        return opaque("load:data", I32, (t.gid,), "grid")

    return question(index, guard=lambda t: [lt(t.gid, N)]), "race"


@pattern
def scatter_by_permutation_of_self() -> Pattern:
    """reads of one cell are equal: ``s[idx[0] + tid]``"""
    base = opaque("load:idx", I32, (i32(0),), "grid")
    return question(lambda t: add(base, i32(t.x))), "free"


@pattern
def wrapped_neighbour() -> Pattern:
    """``s[(tid + 1) % 256]`` written only"""
    return question(lambda t: binary("rem", add(t.x, u32(1)), u32(256))), "free"


@pattern
def wrapped_by_select() -> Pattern:
    return question(
        lambda t: select(lt(add(t.x, u32(1)), u32(256)), add(t.x, u32(1)), u32(0)), block=(256, 1, 1)
    ), "free"


@pattern
def clamped() -> Pattern:
    """``out[min(gid, n - 1)]``"""
    return question(lambda t: binary("min", t.gid, sub(N, i32(1))), mode="grid"), "race"


@pattern
def truncating_division() -> Pattern:
    """``a[(i - 1) / 2]`` truncates towards zero: i = 0 and i = 1 meet"""
    return question(
        lambda t: binary("div", sub(i32(t.x), i32(1)), i32(2)),
        guard=lambda t: [compare("ne", binary("rem", i32(t.x), i32(2)), i32(1))],
    ), "race"


@pattern
def truncating_division_of_even() -> Pattern:
    """the same for even threads only: rounding down would keep them apart"""
    return question(
        lambda t: binary("div", sub(i32(t.x), i32(1)), i32(2)),
        guard=lambda t: [compare("eq", binary("rem", i32(t.x), i32(2)), i32(0))],
    ), "race"


def _beside_the_point(condition: Expr) -> Query:
    """Everybody writes one cell, where ``condition`` or ``thread 1 < thread 2`` holds: the condition need not."""
    m = param("m")
    return question(
        lambda t: u32(0),
        block=(64, 1, 1),
        # n is at least 145, and n + s overflows; interval arithmetic sees only n >= 90
        facts=(
            *(le(i32(50), p) for p in (N, m)),
            *(le(p, i32(200)) for p in (N, m)),
            le(i32(290), add(N, m)),
            le(m, N),
            le(i32(2**31 - 100), S),
        ),
        extra=lambda a, b: [lor(condition, lt(a.x, b.x))],
    )


@pattern
def overflow_nobody_looks_at() -> Pattern:
    """``n + s`` overflows, so ``(n + s) / 4 < 3`` says nothing, and it need not"""
    return _beside_the_point(lt(binary("div", add(N, S), i32(4)), i32(3))), "race"


@pattern
def overflow_nobody_looks_at_narrowed() -> Pattern:
    return _beside_the_point(lt(cast(add(N, S), U8), const(3, U8))), "race"


@pattern
def overflow_nobody_looks_at_divided() -> Pattern:
    return _beside_the_point(lt(binary("div", add(N, S), binary("max", W, i32(1))), i32(3))), "race"


@pattern
def overflow_nobody_looks_at_in_select() -> Pattern:
    """``c ? a : b`` with an overflow in the side that is not taken"""
    return question(
        lambda t: select(lt(N, i32(100)), binary("rem", add(N, S), i32(7)), i32(0)),
        block=(64, 1, 1),
        facts=(le(i32(150), N), le(N, i32(200)), le(i32(2**31 - 100), S)),
    ), "race"


@pattern
def division_by_zero_nobody_looks_at() -> Pattern:
    return question(
        lambda t: select(compare("ne", t.x, u32(0)), binary("div", u32(6), t.x), u32(6)), block=(8, 1, 1)
    ), "race"


@pattern
def previous_element() -> Pattern:
    """``int i = threadIdx.x - 1; if (i >= 0) s[i]`` against itself: the subtraction is unsigned"""

    def index(t: Thread) -> Expr:
        return i32(sub(t.x, u32(1)))

    return question(index, guard=lambda t: [le(i32(0), index(t))]), "free"


@pattern
def previous_element_read() -> Pattern:
    def index(t: Thread) -> Expr:
        return i32(sub(t.x, u32(1)))

    return question(lambda t: t.x, index, guard2=lambda t: [le(i32(0), index(t))]), "race"


@pattern
def multiplicative_hash() -> Pattern:
    return question(
        lambda t: binary("shr", mul(u32(t.gid), u32(2654435761)), u32(24)), mode="grid", grid=(64, 1, 1)
    ), "race"


@pattern
def multiplicative_hash_injective() -> Pattern:
    """an odd factor permutes the 32-bit numbers"""
    return question(lambda t: mul(t.x, u32(2654435761))), "free"


@pattern
def ceil_div_grid() -> Pattern:
    """gdim.x = (n + 255) / 256, bdim.x = 256, no guard"""
    return question(
        lambda t: t.gid,
        mode="grid",
        facts=(compare("eq", GDIM[0], u32(binary("div", add(N, i32(255)), i32(256)))), le(i32(1), N)),
    ), "free"


@pattern
def ceil_div_symbolic_block() -> Pattern:
    """gdim.x = (n + b - 1) / b, bdim.x = b"""
    b = cast(BDIM[0], I32)
    return question(
        lambda t: t.gid,
        mode="grid",
        block=ANY,
        facts=(compare("eq", GDIM[0], u32(binary("div", sub(add(N, b), i32(1)), b))), le(i32(1), N)),
    ), "free"


def _tonemap(*facts: Expr) -> Query:
    """``x = 16*bx + tx, y = 16*by + ty; p = image + w*4*y + x*4`` over a grid of (w/16, h/16) blocks, four bytes
    each."""

    def index(t: Thread) -> Expr:
        x, y = _xy(t)
        return add(mul(mul(W, i32(4)), y), mul(x, i32(4)))

    sizes = (
        compare("eq", GDIM[0], u32(binary("div", W, i32(16)))),
        compare("eq", GDIM[1], u32(binary("div", H, i32(16)))),
        le(i32(1), W),
        le(i32(1), H),
    )
    return question(index, mode="grid", block=(16, 16, 1), grid=ANY2, facts=(*sizes, *facts), width=1, width2=1)


@pattern
def tonemapping() -> Pattern:
    return _tonemap(), "free"


@pattern
def tonemapping_rounded_up() -> Pattern:
    """the grid from (w + 15) / 16 needs the fact that w is a multiple of 16"""

    def index(t: Thread) -> Expr:
        x, y = _xy(t)
        return add(mul(mul(W, i32(4)), y), mul(x, i32(4)))

    return question(
        index,
        mode="grid",
        block=(16, 16, 1),
        grid=ANY2,
        facts=(
            compare("eq", GDIM[0], u32(binary("div", add(W, i32(15)), i32(16)))),
            compare("eq", GDIM[1], u32(binary("div", add(H, i32(15)), i32(16)))),
            le(i32(1), W),
            le(i32(1), H),
            compare("eq", binary("rem", W, i32(16)), i32(0)),
        ),
        width=1,
        width2=1,
    ), "free"


@pattern
def tonemapping_without_fact() -> Pattern:
    def index(t: Thread) -> Expr:
        x, y = _xy(t)
        return add(mul(mul(W, i32(4)), y), mul(x, i32(4)))

    return question(
        index,
        mode="grid",
        block=(16, 16, 1),
        grid=ANY2,
        facts=(
            compare("eq", GDIM[0], u32(binary("div", add(W, i32(15)), i32(16)))),
            compare("eq", GDIM[1], u32(binary("div", add(H, i32(15)), i32(16)))),
            le(i32(1), W),
            le(i32(1), H),
        ),
        width=1,
        width2=1,
    ), "race"


@pattern
def matrix_multiply_tile() -> Pattern:
    """``As[ty][tx]`` written, ``As[ty][k]`` read"""
    return question(
        lambda t: _tile(t, 16),
        lambda t: add(mul(i32(t.y), i32(16)), i32(t.loop("k"))),
        block=(16, 16, 1),
        loops=(("k", 15),),
    ), "race"


@pattern
def batch_of_rows() -> Pattern:
    """``out[(b * rows + r) * cols + c]``: block per row, threads stride over columns"""
    rows, cols = param("rows"), param("cols")

    def index(t: Thread) -> Expr:
        row = add(mul(i32(t.by), rows), i32(t.bx))
        return add(mul(row, cols), add(i32(t.x), mul(i32(t.loop("c")), i32(BDIM[0]))))

    def guard(t: Thread) -> list[Expr]:
        return [lt(i32(t.bx), rows), lt(add(i32(t.x), mul(i32(t.loop("c")), i32(BDIM[0]))), cols)]

    return question(index, guard=guard, mode="grid", block=ANY, grid=ANY2, loops=(("c", 2**31 - 1),)), "free"


@pattern
def odd_and_even() -> Pattern:
    """``s[2*tid]`` written, ``s[2*tid + 1]`` read"""
    return question(lambda t: mul(t.x, u32(2)), lambda t: add(mul(t.x, u32(2)), u32(1)), block=ANY), "free"


@pattern
def double_buffer() -> Pattern:
    """``s[p ^ 1][tid]`` written, ``s[p][tid + 1]`` read, p uniform"""
    p = binary("and", param("p"), i32(1))
    return question(
        lambda t: add(mul(binary("xor", p, i32(1)), i32(257)), i32(t.x)),
        lambda t: add(mul(p, i32(257)), add(i32(t.x), i32(1))),
    ), "free"


@pattern
def same_warp_only() -> Pattern:
    """``s[tid / 32]`` from two threads of one warp"""
    return question(
        lambda t: binary("div", t.x, u32(32)),
        block=(1024, 1, 1),
        extra=lambda a, b: [compare("eq", binary("div", a.x, u32(32)), binary("div", b.x, u32(32)))],
    ), "race"


@pattern
def guard_contradiction() -> Pattern:
    """write under ``tid < 32``, read under ``tid >= 64``"""
    return question(
        lambda t: t.x,
        lambda t: t.x,
        lambda t: [lt(t.x, u32(32))],
        lambda t: [le(u32(64), t.x)],
    ), "free"


@pattern
def guarded_by_data() -> Pattern:
    """``if (flag[tid]) s[tid]`` against ``if (!flag[tid]) s[tid]`` cannot both run in the same thread; distinct
    threads differ"""

    def flag(t: Thread) -> Expr:
        return compare("ne", opaque("load:flag", I32, (i32(t.x),), "grid"), i32(0))

    return question(lambda t: t.x, guard=lambda t: [flag(t)], guard2=lambda t: [lnot(flag(t))], block=ANY), "free"


@pattern
def barrier_not_executed() -> Pattern:
    """iterations of a loop whose barrier is skipped when ``k % 3 != 0``"""

    def loop(t: Thread) -> Expr:
        return i32(t.loop("k"))

    return question(
        lambda t: t.x,
        lambda t: add(t.x, u32(1)),
        lambda t: [lt(loop(t), i32(9))],
        loops=(("k", 8),),
        extra=lambda a, b: [
            compare("eq", b.loop("k"), add(a.loop("k"), const(1, I64))),
            lnot(land(compare("eq", binary("rem", loop(b), i32(3)), i32(0)), lt(loop(b), i32(9)))),
        ],
    ), "race"
