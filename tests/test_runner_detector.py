"""The detector: kernels with and without races, run on the CPU, and random traces against plain vector clocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runner_launch import Argument, prepared, run

from gpu_runner.compile import Build
from gpu_runner.cpu.sites import SITE_TABLE
from gpu_runner.detector import detect, shadow
from gpu_runner.detector.detect import Detector, Shape
from gpu_runner.detector.synchronization import NO_WRITE, Kind, Order
from gpu_runner.native.structs import allocate

BUILDS = pytest.mark.parametrize("build", ["confirm", "shipped"])
INTS = [np.zeros(4096, np.int32)]


def races(
    body: str,
    arguments: Sequence[Argument] = (),
    grid: int = 2,
    block: int = 64,
    build: Build = "confirm",
    seed: int = 0,
) -> set[tuple[int, int, str, str]]:
    """Races of a body with ``t`` (thread), ``i`` (global), ``a`` (4096 ints) and ``f`` (more), by line of the body."""
    source = f"""extern "C" __global__ void k(int *a, int *f) {{
      int t = threadIdx.x, b = blockIdx.x, i = b * blockDim.x + t; __shared__ int s[1024]; (void)s; (void)i;
      {body}
    }}"""
    kernel = prepared(source, [*INTS, *(arguments or [np.zeros(64, np.int32)])], grid, block, build)
    ran = run(kernel, seed)
    assert ran.execution.seen == ()
    assert not ran.execution.note
    return {(first - 2, second - 2, kinds, relation) for first, second, kinds, relation in ran.races}


def test_a_write_and_a_read_of_neighbours() -> None:
    body = "a[i] = i;\nint v = a[i + 1];\nf[i & 7] = v >> 31;"
    found = races(body, grid=1)
    assert {(1, 2, "rw", "warp"), (1, 2, "rw", "block")} <= found
    assert (1, 2, "rw", "grid") in races(body)
    assert races("a[i] = i;\n__syncthreads();\nf[0] = 0 * (t ? a[i - 1] : 0);", grid=1) == {
        (3, 3, "ww", "warp-same"),
        (3, 3, "ww", "block-same"),
    }


@BUILDS
def test_barriers_order_a_block_and_not_the_grid(build: Build) -> None:
    body = "s[t] = t;\n__syncthreads();\na[i] = s[t ^ 33];\n__syncthreads();\na[i ^ 1] += s[t];"
    assert races(body, build=build) == set()
    assert (1, 2, "rw", "grid") in races("if (t == 0) a[b] = 1;\n__syncthreads(); f[i & 7] = a[1 - b];", build=build)


@BUILDS
def test_a_warp_is_not_in_lock_step(build: Build) -> None:
    assert races("s[t] = t;\na[i] = s[t ^ 1];", build=build) == {(1, 2, "rw", "warp")}
    assert races("s[t] = t;\n__syncwarp();\na[i] = s[t ^ 1];", build=build) == set()
    assert races("s[t] = t;\n__syncwarp();\na[i] = s[t ^ 33];", build=build) == {(1, 3, "rw", "block")}
    assert races("s[t] = t;\n__shfl_sync(~0u, t, 0);\na[i] = s[t ^ 1];", build=build) == {(1, 3, "rw", "warp")}
    half = "s[t] = t;\nif (t & 16) __syncwarp(0xffff0000u);\nelse __syncwarp(0xffffu);\na[i] = s[t ^ {}];"
    assert races(half.format(3), build=build) == set()
    assert races(half.format(16), build=build) == {(1, 4, "rw", "warp")}


@BUILDS
def test_atomics_do_not_race_with_each_other_and_do_with_plain_accesses(build: Build) -> None:
    assert races("atomicAdd(a, t);\natomicMax(a, 3);", build=build) == set()
    found = races("atomicAdd(a, t);\nif (t == 40) f[b] = a[0];", build=build)
    assert found == {(1, 2, "ar", "warp"), (1, 2, "ar", "block"), (1, 2, "ar", "grid")}
    assert (1, 1, "aa", "grid") in races("atomicAdd_block(a, t);", build=build)
    assert races("atomicAdd_block(a, t);", grid=1, build=build) == set()
    assert (1, 2, "aw", "grid") in races("if (b == 0) atomicAdd(a, t);\nelse a[0] = 5;", build=build)


@BUILDS
@pytest.mark.parametrize("grid", [1, 2])
@pytest.mark.parametrize("place", ["f[9]", "s[9]"])
def test_every_atomic_access_counts_and_not_the_last_one_alone(place: str, grid: int, build: Build) -> None:
    """The last thread's own atomic access comes after those of all others, and orders none of them."""
    last = f"s[9] = 0;\n__syncthreads();\natomicAdd(&{place}, 1);\nif (t == 7) "
    for plain, kinds in ((f"{place} = 5;", "aw"), (f"a[b] = {place};", "ar")):
        found = races(f"if (t == 0) {last}{plain}", grid=grid, block=8, build=build)
        assert (3, 4, kinds, "warp") in found
        apart = last.replace("if (t", "__syncthreads(); if (t")
        assert not {one for one in races(f"if (t == 0) {apart}{plain}", grid=1, block=8, build=build) if one[1] > 2}


@BUILDS
@pytest.mark.parametrize("grid", [1, 2])
def test_atomics_of_different_sizes_are_not_atomic_to_each_other(build: Build, grid: int) -> None:
    wide = "unsigned long long *w = (unsigned long long *)a;\nif (t & 1) atomicAdd(w, 1ull << 32);\n"
    found = races(wide + "else atomicAdd(a + 1, 1);", grid=grid, build=build)
    assert {(one[0], one[1], one[2]) for one in found} == {(2, 3, "aa")}
    assert {"warp", "block"} <= {one[3] for one in found}
    assert races(wide + "else atomicAdd(w, 1);", grid=grid, build=build) == set()
    assert races(wide + "__syncthreads();\natomicAdd(a + 1, 1);", grid=1, build=build) == set()
    read = "int v = {};\natomicAdd(a + 1, v);"
    assert (1, 2, "ar", "warp") in races(read.format("((volatile long long *)a)[0]"), grid=grid, build=build)
    assert races(read.format("((volatile int *)a)[1]"), grid=grid, build=build) == set()
    # What a vector is of is accessed one by one.
    pair = 'int v, u; asm volatile("ld.volatile.global.v2.u32 {%0, %1}, [%2];" : "=r"(v), "=r"(u) : "l"(a));\n'
    assert races(pair + "atomicAdd(a + 1, u);\natomicAdd(a, v);", grid=grid, build=build) == set()
    # Not the last one alone.
    behind = "if (t == 0) atomicAdd(a, 1);\nif (t == 1) atomicAdd(a, 2);\nif (t == 2) "
    behind += "atomicAdd((unsigned long long *)a, 1);"
    assert {one[:2] for one in races(behind, grid=1, build=build)} == {(1, 3), (2, 3)}


def test_the_same_value_is_benign() -> None:
    assert races("a[7] = 1;") == {(1, 1, "ww", f"{where}-same") for where in ("warp", "block", "grid")}
    assert races("a[7] = t & 1;") >= {(1, 1, "ww", "warp")}


def test_bytes_of_a_word_are_apart() -> None:
    bytes_ = "char *c = (char *)a;\nc[i] = t;\n__syncthreads();\n"
    assert races(bytes_ + "f[i & 7] = 0 * c[i];", grid=1) == {(4, 4, "ww", "warp-same"), (4, 4, "ww", "block-same")}
    assert races(bytes_ + "if (t % 4 == 0) a[i / 4] = 0;", grid=1) == set()
    assert races("char *c = (char *)a;\nc[i] = t;\nif (t == 5) a[0] = 9;", grid=1) >= {(2, 3, "ww", "warp")}
    assert races("short *c = (short *)a;\nc[i] = t;\nif (t == 5) c[4] = 9;", grid=1) == {(2, 3, "ww", "warp")}


def test_wide_accesses() -> None:
    body = "((int4 *)a)[i] = make_int4(i, i, i, i);\n__syncthreads();\na[(i * 4 + 5) & 511] = 0;"
    assert {found[3] for found in races(body)} == {"grid"}
    assert races("((double *)a)[i] = i;\nif (t == 7) a[3] = 1;", grid=1) == {(1, 2, "ww", "warp")}


def test_uninitialised_shared_memory() -> None:
    assert races("a[i] = s[t];", grid=1) == {(1, 1, "ru", "warp")}
    assert races("if (t < 63) s[t] = 0;\n__syncthreads();\na[i] = s[t];", grid=1) == {(3, 3, "ru", "warp")}


FLAG = """
if (b == 0) {{ if (t == 0) {{
  a[9] = 5;
  {release}
}} }}
else if (t == 0) {{
  {acquire}
  f[8] = a[9];
}}"""


@BUILDS
@pytest.mark.parametrize("grid_order", [0, 1])
@pytest.mark.parametrize(
    ("release", "acquire", "clean"),
    [
        ("__threadfence(); *(volatile int *)f = 1;", "while (*(volatile int *)f == 0); __threadfence();", True),
        ("__threadfence(); atomicExch(f, 1);", "while (atomicAdd(f, 0) == 0); __threadfence();", True),
        ("__threadfence(); atomicExch(f, 1);", "while (atomicAdd(f, 0) == 0);", False),
        ("atomicExch(f, 1);", "while (atomicAdd(f, 0) == 0); __threadfence();", False),
        ("__threadfence_block(); atomicExch(f, 1);", "while (atomicAdd(f, 0) == 0); __threadfence();", False),
        ("__threadfence(); atomicExch(f, 1);", "while (atomicAdd(f, 0) == 0); __threadfence_block();", False),
        ("__threadfence(); atomicExch_block(f, 1);", "while (*(volatile int *)f == 0); __threadfence();", False),
        (
            'asm volatile("st.release.gpu.u32 [%0], 1;" :: "l"(f) : "memory");',
            'int v; do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory"); while (!v);',
            True,
        ),
        (
            'asm volatile("st.release.gpu.u32 [%0], 1;" :: "l"(f) : "memory");',
            'int v; do asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory"); while (!v);',
            False,
        ),
        (
            'asm volatile("red.release.gpu.add.u32 [%0], 1;" :: "l"(f) : "memory");',
            "while (*(volatile int *)f == 0); __threadfence();",
            True,
        ),
    ],
)
def test_flags_between_blocks(release: str, acquire: str, clean: bool, build: Build, grid_order: int) -> None:
    found = races(FLAG.format(release=release, acquire=acquire), build=build, seed=grid_order)
    on_data = {race for race in found if race[:2] == (3, 8)}
    assert on_data == (set() if clean else {(3, 8, "rw", "grid")})


@BUILDS
@pytest.mark.parametrize(
    ("enter", "leave", "clean"),
    [
        ("while (atomicCAS(f, 0, 1) != 0); __threadfence();", "__threadfence(); atomicExch(f, 0);", True),
        ("while (atomicCAS(f, 0, 1) != 0);", "__threadfence(); atomicExch(f, 0);", False),
        ("while (atomicCAS(f, 0, 1) != 0); __threadfence();", "atomicExch(f, 0);", False),
        ("while (atomicCAS(f + b, 0, 1) != 0); __threadfence();", "__threadfence(); atomicExch(f + b, 0);", False),
    ],
)
def test_locks(enter: str, leave: str, clean: bool, build: Build) -> None:
    body = f"if (t % 8 == 0) {{\n{enter}\na[3] = a[3] + 1;\n{leave}\n}}"
    for seed in (0, 5):
        found = {race for race in races(body, grid=3, build=build, seed=seed) if race[:2] == (3, 3)}
        assert bool(found) == (not clean)


def test_the_last_block() -> None:
    body = """
    a[i] = t;
    __threadfence();
    __syncthreads();
    if (t == 0) s[0] = atomicAdd(f, 1) == gridDim.x - 1;
    __syncthreads();
    if (s[0]) {{ {fence} f[1 + t] = {read}[(i + 64) % 256] & 0; }}"""
    assert races(body.format(fence="__threadfence();", read="a"), [np.zeros(256, np.int32)], grid=4) == set()
    assert races(body.format(fence="", read="((volatile int *)a)"), [np.zeros(256, np.int32)], grid=4) == set()
    found = races(body.format(fence="", read="a"), [np.zeros(256, np.int32)], grid=4)
    assert found == {(2, 7, "rw", "grid")}


def test_branches_of_a_warp_are_not_ordered() -> None:
    assert races("if (t & 1) a[0] = 1;\nelse a[0] = 2;", grid=1, block=2) == {(1, 2, "ww", "warp")}


def test_named_barriers_order_those_who_meet() -> None:
    body = """s[t] = t;
    if (t < 64) asm volatile("bar.sync 1, 96;" ::: "memory");
    else if (t < 96) asm volatile("bar.arrive 1, 96;" ::: "memory");
    {}"""
    assert races(body.format("if (t < 64) a[t] = s[95 - t];"), grid=1, block=128) == set()
    assert races(body.format("if (t < 64) a[t] = s[127 - t];"), grid=1, block=128) == {(1, 4, "rw", "block")}
    assert races(body.format("if (t >= 64 && t < 96) a[t] = s[t - 64];"), grid=1, block=128) == {(1, 4, "rw", "block")}


# Random traces


@dataclass
class Plain:
    """Happens-before by full vector clocks and complete histories: obviously right, and slow."""

    blocks: int
    threads: int
    clocks: dict[int, dict[int, int]] = field(default_factory=dict[int, dict[int, int]])
    released: dict[tuple[int, bool], dict[int, int]] = field(default_factory=dict[tuple[int, bool], dict[int, int]])
    pending: dict[tuple[int, bool], dict[int, int]] = field(default_factory=dict[tuple[int, bool], dict[int, int]])
    left: dict[tuple[int, int], dict[int, int]] = field(default_factory=dict[tuple[int, int], dict[int, int]])
    history: list[tuple[int, int, int, int, bool, bool, bool, int]] = field(
        default_factory=list[tuple[int, int, int, int, bool, bool, bool, int]]
    )
    racy: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    groups: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """Per agent: its times at the ends of its groups of copies."""

    def clock(self, thread: int) -> dict[int, int]:
        return self.clocks.setdefault(thread, {thread: 1})

    def tick(self, thread: int) -> None:
        self.clock(thread)[thread] += 1

    def meet(self, threads: Sequence[int]) -> None:
        groups = [self.clocks, *({t: tables.get((t, wide), {}) for t in threads} for tables, wide in self._tables())]
        for thread in threads:
            self.clock(thread)
        for group, (tables, wide) in zip(groups, [(None, False), *self._tables()], strict=True):
            union: dict[int, int] = {}
            for thread in threads:
                join(union, group[thread])
            for thread in threads:
                if tables is None:
                    self.clocks[thread] = dict(union)
                else:
                    tables[thread, wide] = dict(union)
        for thread in threads:
            self.tick(thread)

    def _tables(self) -> list[tuple[dict[tuple[int, bool], dict[int, int]], bool]]:
        return [(tables, wide) for tables in (self.released, self.pending) for wide in (False, True)]

    def join(self, members: Sequence[int], arrivers: Sequence[int]) -> None:
        """A named barrier: the members wait, the others only arrive."""
        union: dict[int, int] = {}
        for thread in (*members, *arrivers):
            join(union, self.clock(thread))
            self.tick(thread)
        for thread in members:
            join(self.clock(thread), union)

    def issue(self, thread: int) -> None:
        join(self.clock(self.agent(thread)), self.clock(thread))
        self.tick(thread)

    def commit(self, thread: int) -> None:
        agent = self.agent(thread)
        self.groups.setdefault(agent, []).append(self.clock(agent)[agent])
        self.tick(agent)

    def wait(self, thread: int, left: int) -> None:
        """For all groups of copies but the last so many."""
        agent = self.agent(thread)
        ends = self.groups.get(agent, [])
        if left < len(ends):
            join(self.clock(thread), {agent: ends[-1 - left]})

    def arrive(self, thread: int, cell: int) -> None:
        """The agent arrives at a split barrier: a release to the block."""
        self.issue(thread)
        agent, block = self.agent(thread), thread // self.threads
        self.fence(agent, wide=False, acquires=False)
        join(self.left.setdefault((cell, block), {}), self.released[agent, False])

    def agent(self, thread: int) -> int:
        return self.blocks * self.threads + thread

    def fence(self, thread: int, wide: bool, releases: bool = True, acquires: bool = True) -> None:
        for reach in (False, True)[: 1 + wide]:
            if acquires:
                join(self.clock(thread), self.pending.get((thread, reach), {}))
        for reach in (False, True)[: 1 + wide]:
            if releases:
                self.released[thread, reach] = dict(self.clock(thread))
        if releases:
            self.tick(thread)

    def access(
        self, thread: int, cell: int, reads: bool, writes: bool, strong: bool, wide: bool, order: Order, size: int = 4
    ) -> None:
        block = thread // self.threads
        if strong and reads:
            for whom, reach in ((block, False), (-1, True))[: 1 + wide]:
                if order in (Order.ACQUIRE, Order.ACQ_REL, Order.SC):
                    join(self.clock(thread), self.left.get((cell, whom), {}))
                else:
                    join(self.pending.setdefault((thread, reach), {}), self.left.get((cell, whom), {}))
        if strong and writes and order >= Order.RELEASE:
            self.fence(thread, wide, acquires=False)
        known = dict(self.clock(thread))
        if strong:
            for reach in (False, True):
                join(known, self.pending.get((thread, reach), {}))
        for other, at, old, time, wrote, was_strong, was_wide, old_size in self.history:
            if at != cell or other == thread or not (writes or wrote) or known.get(other, 0) >= time:
                continue
            covered = block == other // self.threads or (wide and was_wide)
            if not (strong and was_strong and covered and size == old_size):
                self.racy.add((old, len(self.history)))
        self.history.append((thread, cell, len(self.history), self.clock(thread)[thread], writes, strong, wide, size))
        if strong and writes:
            for whom, reach in ((block, False), (-1, True)):
                if reach and not wide:
                    if not reads:
                        self.left[cell, -1] = {}
                    continue
                if not reads:
                    self.left[cell, whom] = {}
                join(self.left.setdefault((cell, whom), {}), self.released.get((thread, reach), {}))


def join(into: dict[int, int], other: dict[int, int]) -> None:
    for thread, time in other.items():
        into[thread] = max(into.get(thread, 0), time)


BLOCKS, THREADS, SHIFT, CELLS = 2, 40, 6, 4
THREAD = st.integers(0, BLOCKS * THREADS - 1)
FEW = st.sampled_from([0, 1, 2, 40])
FOUR = st.integers(0, 3)
WHAT = st.sampled_from(["read", "write", "both"])
ORDERS = st.sampled_from([Order.RELAXED, Order.RELAXED, Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL])
FENCES = st.sampled_from([Order.SC, Order.SC, Order.ACQUIRE, Order.RELEASE])
STEP = st.one_of(
    st.tuples(st.just("access"), THREAD, st.integers(0, CELLS - 1), WHAT, st.sampled_from([None, False, True]), ORDERS),
    st.tuples(st.just("access"), FEW, st.integers(0, 1), WHAT, st.sampled_from([None, None, False, True]), ORDERS),
    st.tuples(st.just("access"), st.sampled_from([0, 1, 33]), st.just(2),
              st.sampled_from(["read", "write", "both", "both", "both"]), st.sampled_from([None, True]), ORDERS),
    st.tuples(st.just("access"), FOUR, st.just(3), WHAT, st.just(None), ORDERS),
    st.tuples(st.just("fence"), THREAD, st.booleans(), FENCES),
    st.tuples(st.just("fence"), st.sampled_from([0, 1, 2, 3, 40]), st.booleans(), FENCES),
    st.tuples(st.just("hand over"), FEW, FEW, st.integers(0, 1), st.sampled_from(["read", "both"])),
    st.tuples(st.just("block"), st.integers(0, BLOCKS - 1)),
    st.tuples(st.just("warp"), st.integers(0, 2 * BLOCKS - 1),
              st.sampled_from([0xFFFFFFFF, 0xF, 0x3, 0xFFFF0001, 0x5])),
    st.tuples(st.just("warp"), st.just(0), st.integers(1, 15)),
    st.tuples(st.just("join"), st.integers(0, BLOCKS - 1), st.sampled_from([1, 3, 9, 40]), st.sampled_from([0, 1, 2])),
    st.tuples(st.just("copy"), FEW, st.integers(0, CELLS - 1), st.sampled_from(["read", "write"])),
    st.tuples(st.just("commit"), FEW),
    st.tuples(st.just("wait"), FEW, st.integers(0, 3)),
    st.tuples(st.just("arrive"), FEW, st.integers(0, CELLS - 1)),
)  # fmt: skip


def number_of(blocks: int, thread: int) -> int:
    """Of a thread or an agent, as records have it."""
    agents, thread = divmod(thread, blocks * THREADS)
    return (agents * blocks + thread // THREADS << SHIFT) + thread % THREADS


@pytest.mark.parametrize("agents", [False, True])
@pytest.mark.parametrize("blocks", [1, BLOCKS])
@settings(max_examples=600, deadline=None)
@given(steps=st.lists(STEP, max_size=60))
def test_compressed_clocks_lose_nothing(blocks: int, agents: bool, steps: Sequence[tuple[object, ...]]) -> None:
    check_against_plain_clocks(blocks, agents, steps)


@settings(max_examples=300, deadline=None)
@given(steps=st.lists(STEP, max_size=60))
def test_accesses_of_two_sizes_race_where_plain_clocks_say_so(steps: Sequence[tuple[object, ...]]) -> None:
    check_against_plain_clocks(BLOCKS, False, steps, sizes=True)


ONE_CELL = st.one_of(
    st.tuples(st.just("access"), st.sampled_from([0, 1, 2, 40, 41]), st.just(0), WHAT,
              st.sampled_from([True, True, True, False, None]), st.just(Order.RELAXED)),
    st.tuples(st.just("hand over"), FEW, FEW, st.just(1), st.just("read")),
    st.tuples(st.just("block"), st.integers(0, 1)),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(blocks=st.sampled_from([1, BLOCKS]), steps=st.lists(ONE_CELL, max_size=12))
def test_few_accesses_of_two_sizes_to_one_word(blocks: int, steps: Sequence[tuple[object, ...]]) -> None:
    check_against_plain_clocks(blocks, False, steps, sizes=True)


@pytest.mark.parametrize("between", ["read", "both"])
def test_an_atomic_access_ordered_before_one_of_another_size_races_with_others_of_that_size(between: str) -> None:
    """Thread 1 and then thread 0 of its block, behind a barrier; thread 40 of another block knows of neither."""
    for first in ("read", "both"):
        for one, two, last in ((1, 0, 40), (0, 1, 41)):
            steps: list[tuple[object, ...]] = [
                ("access", one, 0, first, True, Order.RELAXED), ("block", 0),
                ("access", two, 0, between, True, Order.RELAXED), ("access", last, 0, "write", True, Order.RELAXED),
            ]  # fmt: skip
            check_against_plain_clocks(BLOCKS, False, steps, sizes=True)


def check_against_plain_clocks(
    blocks: int, agents: bool, steps: Sequence[tuple[object, ...]], sizes: bool = False
) -> None:
    """Every access is a site of its own, and whether it races with anything earlier is the same as by plain clocks. Of
    one block, barriers tell more: what was before them is forgotten. `sizes`: those of every other thread are of eight
    bytes."""
    plain = Plain(blocks, THREADS)
    first_site = 32
    rows = [(number, 0, 0, 0, 0) for number in range(first_site)]
    records: list[tuple[int, int, int]] = []

    def note(thread: int, site: int, address: int = 0, value: int = 0) -> None:
        records.append((address, value, number_of(blocks, thread) | site << 32))

    def access(thread: int, cell: int, what: str, scope: bool | None, order: Order) -> None:
        reads, writes, strong, wide = what != "write", what != "read", scope is not None, bool(scope)
        if what == "both":
            strong = True
        elif order == Order.ACQ_REL or order == (Order.RELEASE if what == "read" else Order.ACQUIRE):
            order = Order.RELAXED
        size = 8 if sizes and thread % 2 else 4
        plain.access(thread, cell, reads, writes, strong, wide, order, size)
        kind = {"read": Kind.READ, "write": Kind.WRITE, "both": Kind.ATOMIC}[what]
        rows.append((kind, size, order if strong else Order.WEAK, 3 if wide else 1 if strong else 0, size == 8))
        note(thread, len(rows) - 1, 4096 + (8 if sizes else 4) * cell, len(rows))

    def fence(thread: int, wide: bool, order: Order) -> None:
        plain.fence(thread, wide, order != Order.ACQUIRE, order != Order.RELEASE)
        rows.append((Kind.FENCE, 0, order, 3 if wide else 1, 0))
        note(thread, len(rows) - 1)

    for step in steps:
        match step:
            case ("access", int(thread), int(cell), str(what), scope, Order() as order):
                assert scope is None or isinstance(scope, bool)
                access(thread % (blocks * THREADS), cell, what, scope, order)
            case ("fence", int(thread), bool(wide), Order() as order):
                fence(thread % (blocks * THREADS), wide, order)
            case ("hand over", int(thread), int(other), int(cell), str(what)):
                fence(thread % (blocks * THREADS), True, Order.SC)
                access(thread % (blocks * THREADS), cell, "both", True, Order.RELAXED)
                access(other % (blocks * THREADS), cell, what, True, Order.RELAXED)
            case ("block", int(block)):
                block %= blocks
                plain.meet(range(block * THREADS, (block + 1) * THREADS))
                note(block * THREADS, Kind.BLOCK_BARRIER)
            case ("warp", int(warp), int(mask)):
                block, second = divmod(warp % (2 * blocks), 2)
                lanes = 32 if second == 0 else THREADS - 32
                mask &= (1 << lanes) - 1
                base = block * THREADS + second * 32
                plain.meet([base + lane for lane in range(lanes) if mask >> lane & 1])
                note(base, Kind.WARP_SYNC, 0, mask)
            case ("join", int(block), int(apart), int(arrivers)):
                first = block % blocks * THREADS
                members = range(first, first + THREADS, apart)
                plain.join(members, range(first + 1, first + 1 + arrivers) if apart > arrivers else ())
                for thread in range(first + 1, first + 1 + arrivers) if apart > arrivers else ():
                    note(thread, Kind.JOIN_ARRIVE, 3)
                for thread in members:
                    note(thread, Kind.JOIN_MEMBER, 3)
                note(first, Kind.JOIN_END, 3)
            case ("copy", int(thread), int(cell), str(what)) if agents:
                thread %= blocks * THREADS
                plain.issue(thread)
                note(thread, Kind.ASYNC_ISSUE)
                access(plain.agent(thread), cell, what, None, Order.WEAK)
            case ("commit", int(thread)) if agents:
                thread %= blocks * THREADS
                plain.commit(thread)
                note(thread, Kind.ASYNC_COMMIT)
            case ("wait", int(thread), int(left)) if agents:
                thread %= blocks * THREADS
                plain.wait(thread, left)
                note(thread, Kind.ASYNC_WAIT, 0, left)
            case ("arrive", int(thread), int(cell)) if agents:
                thread %= blocks * THREADS
                plain.arrive(thread, cell)
                note(thread, Kind.ASYNC_ARRIVE, 4096 + 4 * cell)
            case _:
                assert not agents
    detector = Detector(Shape(blocks, THREADS, SHIFT, 4096, 256, 0, 16, 2, agents=agents), np.array(rows, SITE_TABLE))
    for begin in range(0, len(records), 7):
        detector.consume(np.array(records[begin : begin + 7], np.uint64).reshape(-1, 3))
    sites = [site for site in range(first_site, len(rows)) if rows[site][0] != Kind.FENCE]
    found = {(int(race["first_site"]), int(race["second_site"])) for race in detector.races()}
    truth = {(sites[first], sites[second]) for first, second in plain.racy}
    # What FastTrack keeps of a cell ends with a plain write, which stands for all that was before; so of a cell's
    # races the first ones are found, and nothing that is none.
    assert found <= truth
    for cell in range(CELLS):
        at = {site for site, access in zip(sites, plain.history, strict=True) if access[1] == cell}
        early = min((pair[1] for pair in truth if pair[1] in at), default=None)
        if early is not None:
            assert any(pair[1] == early for pair in found), (cell, early)


def test_lanes_that_met_before_a_barrier_do_not_learn_what_one_of_them_does_behind_it() -> None:
    """Lanes 0 and 1 meet, then the block; what lane 0 does by itself since is not known to lane 1."""
    relaxed, full = Order.RELAXED, Order.SC
    for lanes, alone in ((0b11, 0b1), (0b1111, 0b101), (0b111, 0b110)):
        steps = [
            ("warp", 0, lanes), ("block", 0), ("fence", 0, False, full), ("fence", 2, False, full),
            ("access", 2, 0, "write", None, relaxed), ("access", 0, 1, "write", None, relaxed), ("warp", 0, alone),
            ("fence", 1, False, full), ("access", 1, 0, "read", None, relaxed), ("access", 1, 1, "read", None, relaxed),
        ]  # fmt: skip
        check_against_plain_clocks(1, False, steps)


@pytest.mark.parametrize("first", ["read", "both"])
@pytest.mark.parametrize("last", ["read", "write"])
def test_what_was_acquired_and_not_fenced_is_not_before_plain_accesses(first: str, last: str) -> None:
    """Thread 0 accesses a word, releases, and is seen by thread 40, whose atomic access of the word is behind that. Its
    plain access is not: there is no fence."""
    steps = [
        ("access", 0, 0, first, True, Order.RELAXED), ("fence", 0, True, Order.SC),
        ("access", 0, 1, "write", True, Order.RELAXED), ("access", 40, 1, "read", True, Order.RELAXED),
        ("access", 40, 0, "both", True, Order.RELAXED), ("access", 40, 0, last, None, Order.RELAXED),
    ]  # fmt: skip
    check_against_plain_clocks(BLOCKS, False, steps)
    check_against_plain_clocks(1, False, steps)


def test_an_arrival_at_a_split_barrier_ends_no_group_of_copies() -> None:
    """The last group is under way yet, and it alone, whatever arrivals there were before it or in it."""
    for before, within, behind in ((0, 1, 0), (1, 0, 0), (2, 1, 0), (0, 0, 1), (0, 2, 3)):
        steps: list[tuple[object, ...]] = [("arrive", 0, 3)] * before
        steps += [("copy", 0, 0, "write"), ("commit", 0), *[("arrive", 0, 3)] * within]
        steps += [("copy", 0, 1, "write"), ("commit", 0), *[("arrive", 0, 3)] * behind]
        for left in range(3):
            reads = [("access", 0, cell, "read", None, Order.RELAXED) for cell in (0, 1)]
            check_against_plain_clocks(1, True, [*steps, ("wait", 0, left), *reads])


def test_rows_of_lanes_are_given_back() -> None:
    detector = Detector(
        Shape(1, 32, 5, 4096, 256, 0, 16, 1), np.array([(n, 0, 0, 0, 0) for n in range(32)], SITE_TABLE)
    )
    syncs = [(0, mask, Kind.WARP_SYNC << 32) for mask in (1, 3, 2, 7, 0xFFFFFFFF, 12)] + [
        (0, 0, Kind.BLOCK_BARRIER << 32)
    ]
    detector.consume(np.array(syncs * 500, np.uint64))
    assert detector.clocks["rows_used"] <= 64


def test_there_is_room_for_what_a_warp_or_a_block_learns_at_once() -> None:
    """Each of 32 lanes has read what many other blocks released, and then they meet."""
    blocks, flags = 1 + 32 * 48, 48
    rows = [(number, 0, 0, 0, 0) for number in range(32)]
    rows += [(Kind.FENCE, 0, Order.SC, 3, 0), (Kind.WRITE, 4, Order.RELAXED, 3, 0), (Kind.READ, 4, Order.RELAXED, 3, 0)]
    released: list[tuple[int, int, int]] = []
    read: list[tuple[int, int, int]] = []
    for block in range(1, blocks):
        where = 4096 + 4 * block
        released += [(0, 0, block << 5 | 32 << 32), (where, 1, block << 5 | 33 << 32)]
        read.append((where, 0, (block - 1) // flags | 34 << 32))
    fenced = [(0, 0, lane | 32 << 32) for lane in range(32)]
    for meeting in ((0, (1 << 32) - 1, Kind.WARP_SYNC << 32), (0, 0, Kind.BLOCK_BARRIER << 32)):
        detector = Detector(Shape(blocks, 32, 5, 4096, 4 * blocks + 4, 0, 16, 1), np.array(rows, SITE_TABLE))
        detector.consume(np.array(released + read + fenced, np.uint64))
        clocks = detector.clocks
        clocks["pool_size"] = clocks["pool_used"] + 40_000  # as after other meetings
        clocks["slots_size"] = clocks["slots_used"] + 100
        detector.consume(np.array([meeting], np.uint64))
        assert clocks["pool_used"] <= clocks["pool_size"]
        assert clocks["slots_used"] < clocks["slots_size"]


def test_a_failed_compare_and_swap_is_a_read() -> None:
    rows = [(number, 0, 0, 0, 0) for number in range(32)] + [
        (Kind.ATOMIC, 4, Order.RELAXED, 3, 0),
        (Kind.READ, 4, 0, 0, 0),
    ]
    for flag, expected in ((0, 1), (NO_WRITE, 0)):
        detector = Detector(Shape(1, 32, 5, 4096, 256, 0, 16, 1), np.array(rows, SITE_TABLE))
        detector.consume(np.array([[4096, 0, 0 | (32 | flag) << 32], [4096, 0, 1 | 33 << 32]], np.uint64))
        assert len(detector.races()) == expected
        if expected:
            assert int(detector.races()["kinds"][0]) == shadow.ATOMIC_WRITE | shadow.READ << 4


def test_memory_grows_without_losing_anything() -> None:
    memory = detect.Memory(shadow.Shadow)
    memory.attach("nodes", allocate(shadow.Node, 4))
    memory.arrays["nodes"]["site"] = [1, 2, 3, 0]
    for count, used in ((100, 3), (100, 3), (5000, 4), (300_000, 5)):
        if used > 3:
            memory.arrays["nodes"]["site"][used - 1] = used
        memory.grow("nodes", count, used)
        nodes = memory.arrays["nodes"]
        assert len(nodes) >= count
        assert nodes["site"][:5].tolist() == [1, 2, 3, 4, 5][:used] + [0] * (5 - used)
        assert not nodes["site"][5:].any()
        assert int(memory["nodes"]) == nodes.ctypes.data
    memory.arrays["nodes"]["next"][:] = 7  # to the last page
    memory.arrays["nodes"]["next"][:] = 0
    seen = memory.arrays["nodes"]  # somebody who still looks at it keeps what he sees
    memory.grow("nodes", 10_000_000, 5)
    assert seen["site"][:5].tolist() == memory.arrays["nodes"]["site"][:5].tolist() == [1, 2, 3, 4, 5]
