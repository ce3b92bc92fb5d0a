"""Several detectors side by side, each for a shard of the memory, say what one says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from runner_launch import launched, rehearsed_only, watched

from gpu_runner.cpu.handover import Consumer
from gpu_runner.cpu.machine import Outcome
from gpu_runner.detector.shards import ShardedDetector
from gpu_runner.detector.synchronization import Kind
from gpu_runner.gpu import execute
from gpu_runner.session import shape_of

KERNELS = {
    "global, by pages": """
    extern "C" __global__ void k(int *a, int *b) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      a[i] = i;
      b[i] = a[(i + 300) % 1024] + a[1023 - i];
    }""",
    "shared, by blocks": """
    extern "C" __global__ void k(int *a, int *b) {
      __shared__ int s[256], other[256];
      int t = threadIdx.x;
      s[t] = t;
      if (blockIdx.x != 2) __syncthreads();
      other[t] = s[255 - t];
      b[blockIdx.x * 256 + t] = other[t ^ 1];
    }""",
    "in order by flags": """
    extern "C" __global__ void k(int *a, int *b) {
      int t = threadIdx.x;
      if (blockIdx.x == 0) {
        b[t] = t;
        b[512 + t] = t;
        __threadfence();
        __syncthreads();
        if (t == 0) atomicExch(&a[1000], 1);
      } else if (blockIdx.x == 1) {
        if (t == 0) while (atomicAdd(&a[1000], 0) == 0) { }
        __syncthreads();
        __threadfence();
        a[t] = b[t] + b[512 + t];
      } else {
        a[t] = b[t + 256];
        b[t + 256] = 1;
      }
    }""",
    "atomic and not": """
    extern "C" __global__ void k(int *a, int *b) {
      atomicAdd(&a[threadIdx.x * 4 % 1024], 1);
      if (blockIdx.x == 3) b[threadIdx.x] = a[threadIdx.x * 4 % 1024];
    }""",
    "bytes and long words": """
    extern "C" __global__ void k(long long *a, char *b) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      a[i / 2] = i;
      b[i * 3 % 1024 + i / 512] = i;
    }""",
    "neighbours of the warp": """
    extern "C" __global__ void k(int *a, int *b) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      a[i] = i;
      __syncwarp();
      b[i] = a[i ^ 1] + a[i ^ 32];
    }""",
}


def rows_of(detector: ShardedDetector) -> list[tuple[int, ...]]:
    """The races, without the threads and addresses: each shard has its own that it saw first."""
    named = ("first_site", "second_site", "kinds", "relation", "count")
    return [tuple(int(row[name]) for name in named) for row in detector.races()]


@rehearsed_only
@pytest.mark.parametrize("name", KERNELS)
def test_shards_together_see_what_one_detector_sees(name: str) -> None:
    arguments = [np.zeros(1024, np.int32), np.zeros(1024, np.int32)]
    found: list[list[tuple[int, ...]]] = []
    counts: set[int] = set()
    for shards in (1, 3, 4):
        execution, detector = watched(launched(KERNELS[name], arguments, 4, 256), shards=shards)
        assert execution.outcome is Outcome.DONE
        assert execution.seen == ()
        counts.add(execution.records)
        found.append(rows_of(detector))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 0
    assert len(counts) == 1


REUSED = """
extern "C" __global__ void k(int *a, long long *b) {
  __shared__ int s[64];
  __shared__ long long wide[64];
  __shared__ char c[64];
  int t = threadIdx.x;
  if (t < 60) s[t] = t;
  if (t < 2) atomicAdd(&s[0], 1);
  wide[t] = t;
  c[t ^ 1] = t;
  if (blockIdx.x & 1) __syncthreads();
  b[t] = wide[t ^ 1] + c[t];
  a[t] = s[t];
}"""


@rehearsed_only
def test_shared_memory_of_blocks_that_come_one_after_the_other() -> None:
    """More blocks than are under way at once: in no shard have they more slots than its own blocks need."""
    found: list[list[tuple[int, ...]]] = []
    for shards in (1, 3, 4):
        kernel = launched(REUSED, [np.zeros(64, np.int32), np.zeros(64, np.int64)], 13, 64)
        detector = ShardedDetector(shape_of(kernel, kernel.launch.blocks), kernel.sites.table(), shards)
        slots: list[set[int]] = [set() for _ in range(shards)]

        def watching(seen: set[int], consume: Consumer) -> Consumer:
            def both(records: NDArray[np.uint64]) -> None:
                begins = records[:, 2] >> np.uint64(32) == Kind.BLOCK_BEGIN
                seen.update(records[begins, 1].tolist())
                consume(records)

            return both

        assert kernel.run([*map(watching, slots, detector.consumers)]).outcome is Outcome.DONE
        assert all(max(each) < -(-13 // shards) for each in slots)
        found.append(rows_of(detector))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 0


def test_what_is_noticed_in_all_shards_is_told_once() -> None:
    source = 'extern "C" __global__ void k(int *a) { a[threadIdx.x + 8 * (blockIdx.x % 2)] = 1; }'
    execution, _ = watched(launched(source, [np.zeros(64, np.int32)], 2, 64), shards=3)
    assert len(execution.seen) == 1


def test_large_launches_have_as_many_shards_as_there_are_processors_to_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    source = 'extern "C" __global__ void k(int *a) { a[threadIdx.x] = 1; }'
    monkeypatch.setattr(execute, "processors", lambda: 8)
    assert launched(source, [np.zeros(64, np.int32)], 2, 64).shards == 1
    assert launched(source, [np.zeros(64, np.int32)], 64, 512).shards == 6
    monkeypatch.setattr(execute, "processors", lambda: 2)
    assert launched(source, [np.zeros(64, np.int32)], 64, 512).shards == 1


def test_what_a_consumer_raises_comes_out() -> None:
    def broken(records: object) -> None:
        raise ValueError("no room")

    def fine(records: object) -> None:
        pass

    consumers: Sequence[object] = (fine, broken, fine)
    kernel = launched(KERNELS["global, by pages"], [np.zeros(1024, np.int32)] * 2, 4, 256)
    with pytest.raises(ValueError, match="no room"):
        kernel.run(consumers)  # pyright: ignore[reportArgumentType]
