// Compaction by sums over a block or warp, and by counters in shared memory: each thread's place in what its group keeps.

#include <cooperative_groups.h>
#include <cub/cub.cuh>

// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void kept_by_block(const int *in, int *out, int *size, int n) {  // expect: race-free
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  __shared__ int base;
  int i = blockIdx.x * 128 + threadIdx.x;
  int v = i < n ? in[i] : 0;
  int flag = v > 0, pos, total;
  Scan(temp).ExclusiveSum(flag, pos, total);
  if (threadIdx.x == 0) base = atomicAdd(size, total);
  __syncthreads();
  if (flag) out[base + pos] = v;
}

// More is written than was counted.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void kept_if_not_negative(const int *in, int *out, int *size, int n) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  __shared__ int base;
  int i = blockIdx.x * 128 + threadIdx.x;
  int v = i < n ? in[i] : 0;
  int flag = v > 0, pos, total;
  Scan(temp).ExclusiveSum(flag, pos, total);
  if (threadIdx.x == 0) base = atomicAdd(size, total);
  __syncthreads();
  if (v >= 0) out[base + pos] = v;  // expect: possible-data-race with self
}

// As many as the last thread has before it, one less than there may be.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void claimed_by_the_first(const int *in, int *out, int *size, int n) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  __shared__ int base;
  int i = blockIdx.x * 128 + threadIdx.x;
  int v = i < n ? in[i] : 0;
  int flag = v > 0, pos, total;
  Scan(temp).ExclusiveSum(flag, pos, total);
  if (threadIdx.x == 0) base = atomicAdd(size, pos);
  __syncthreads();
  if (flag) out[base + pos] = v;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void claimed_without_barrier(const int *in, int *out, int *size, int n) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  __shared__ int base;
  int i = blockIdx.x * 128 + threadIdx.x;
  int v = i < n ? in[i] : 0;
  int flag = v > 0, pos, total;
  Scan(temp).ExclusiveSum(flag, pos, total);
  if (threadIdx.x == 0) base = atomicAdd(size, total);  // expect: possible-data-race intra-block with +1, fix: yes
  if (flag) out[base + pos] = v;
}

// What is added may be negative: places are given twice.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void negative_sizes(const int *in, int *out, int n) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  int size = in[blockIdx.x * 128 + threadIdx.x], pos;
  Scan(temp).ExclusiveSum(size, pos);
  for (int k = 0; k < size; ++k) out[blockIdx.x * n + pos + k] = k;  // expect: possible-data-race with self
}

// Each thread has as many places as it needs.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void several_for_each(const unsigned *in, int *out) {  // expect: race-free
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  int size = in[threadIdx.x] & 15, pos;
  Scan(temp).ExclusiveSum(size, pos);
  for (int k = 0; k < size; ++k) out[pos + k] = k;
}

// cuda-lsp: launch grid=(1) block=(128)
__global__ void one_more_for_each(const unsigned *in, int *out) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  int size = in[threadIdx.x] & 15, pos;
  Scan(temp).ExclusiveSum(size, pos);
  for (int k = 0; k <= size; ++k) out[pos + k] = k;  // expect: possible-data-race intra-block with self
}

// An inclusive sum counts the thread itself.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void with_itself(const int *in, int *out) {  // expect: race-free
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  int v = in[blockIdx.x * 128 + threadIdx.x], flag = v != 0, pos;
  Scan(temp).InclusiveSum(flag, pos);
  if (flag) out[blockIdx.x * 128 + pos - 1] = v;
}

// Threads without an item have the number of the one before them.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void with_itself_for_all(const int *in, int *out) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  int v = in[blockIdx.x * 128 + threadIdx.x], flag = v != 0, pos;
  Scan(temp).InclusiveSum(flag, pos);
  out[blockIdx.x * 129 + pos] = v;  // expect: possible-data-race intra-block with self
}

// Threads that have returned give nothing, and what the others get is anything.
// cuda-lsp: launch grid=(8) block=(128) n=1000
__global__ void some_have_returned(const int *in, int *out, int n) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  int v = in[i], flag = v != 0, pos;
  Scan(temp).ExclusiveSum(flag, pos);  // expect: barrier-after-exit
  if (flag) out[blockIdx.x * 128 + pos] = v;  // expect: possible-data-race intra-block with self
}

// The collective was made for larger blocks.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void half_a_block(const int *in, int *out) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  int v = in[blockIdx.x * 64 + threadIdx.x], flag = v != 0, pos;
  Scan(temp).ExclusiveSum(flag, pos);
  if (flag) out[blockIdx.x * 64 + pos] = v;  // expect: possible-data-race intra-block with self
}

// CUB numbers the threads by the dimensions it was given.
// cuda-lsp: launch grid=(8) block=(16,8)
__global__ void other_dimensions(const int *in, int *out) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  int t = threadIdx.y * 16 + threadIdx.x;
  int v = in[blockIdx.x * 128 + t], flag = v != 0, pos;
  Scan(temp).ExclusiveSum(flag, pos);
  if (flag) out[blockIdx.x * 128 + pos] = v;  // expect: possible-data-race intra-block with self
}

// 200 of 256 threads are too many for a number of eight bits.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void narrow_sums(const int *in, int *out) {
  using Scan = cub::BlockScan<signed char, 256>;
  __shared__ typename Scan::TempStorage temp;
  int v = in[blockIdx.x * 256 + threadIdx.x];
  signed char flag = v != 0, pos;
  Scan(temp).ExclusiveSum(flag, pos);
  if (flag) out[blockIdx.x * 256 + pos + 128] = v;  // expect: possible-data-race intra-block with self
}

// The places of the round before.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void places_of_the_round_before(const int *in, int *out, int n) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  int pos = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    int v = in[i * 128 + threadIdx.x], flag = v > 0, next;
    Scan(temp).ExclusiveSum(flag, next);
    if (flag) out[i * 128 + pos] = v;  // expect: possible-data-race intra-block with self
    pos = next;
    __syncthreads();
  }
}

// In rounds, each with a claim of its own.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void kept_in_rounds(const int *in, int *out, int *size, int n) {  // expect: race-free
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  __shared__ int base;
  for (int first = blockIdx.x * 128; first < n; first += gridDim.x * 128) {
    int i = first + threadIdx.x, v = i < n ? in[i] : 0, flag = v > 0, pos, total;
    Scan(temp).ExclusiveSum(flag, pos, total);
    if (threadIdx.x == 0) base = atomicAdd(size, total);
    __syncthreads();
    if (flag) out[base + pos] = v;
    __syncthreads();
  }
}

// cuda-lsp: launch grid=(4) block=(128)
__global__ void kept_by_warp_scans(const int *in, int *out, int *size) {  // expect: race-free
  using Scan = cub::WarpScan<int>;
  __shared__ typename Scan::TempStorage temp[4];
  int v = in[blockIdx.x * 128 + threadIdx.x], flag = v > 0, pos, total;
  Scan(temp[threadIdx.x / 32]).ExclusiveSum(flag, pos, total);
  int base = 0;
  if (threadIdx.x % 32 == 0) base = atomicAdd(size, total);
  base = __shfl_sync(0xffffffffu, base, 0);
  if (flag) out[base + pos] = v;
}

// --- by shuffles

// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void shuffled_up(const int *in, int *out, int *size, int n) {  // expect: race-free
  int i = blockIdx.x * 128 + threadIdx.x, lane = threadIdx.x & 31;
  int v = i < n ? in[i] : 0, flag = v > 0, x = flag;
  for (int d = 1; d < 32; d <<= 1) {
    int y = __shfl_up_sync(0xffffffffu, x, d);
    if (lane >= d) x += y;
  }
  int total = __shfl_sync(0xffffffffu, x, 31), base = 0;
  if (lane == 0) base = atomicAdd(size, total);
  base = __shfl_sync(0xffffffffu, base, 0);
  if (flag) out[base + x - 1] = v;
}

// The last lane claims what it has added up, and each lane looks below itself.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void claimed_by_the_last_lane(const unsigned *in, int *out, int *size) {  // expect: race-free
  int lane = threadIdx.x % 32;
  int mine = in[blockIdx.x * 128 + threadIdx.x] & 7, x = mine;
#pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    int y = __shfl_up_sync(0xffffffffu, x, d);
    x += lane >= d ? y : 0;
  }
  int below = __shfl_up_sync(0xffffffffu, x, 1), base = 0;
  if (lane == 0) below = 0;
  if (lane == 31) base = atomicAdd(size, x);
  base = __shfl_sync(0xffffffffu, base, 31);
  for (int k = 0; k < mine; ++k) out[base + below + k] = lane;
}

// The first lane has added up only its own.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void claimed_by_the_first_lane(const unsigned *in, int *out, int *size) {
  int lane = threadIdx.x % 32;
  int mine = in[blockIdx.x * 128 + threadIdx.x] & 7, x = mine;
  for (int d = 1; d <= 16; d *= 2) {
    int y = __shfl_up_sync(0xffffffffu, x, d);
    if (lane >= d) x += y;
  }
  int base = 0;
  if (lane == 0) base = atomicAdd(size, x);
  base = __shfl_sync(0xffffffffu, base, 0);
  for (int k = 0; k < mine; ++k) out[base + x - mine + k] = lane;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(8) block=(32)
__global__ void total_of_lane_30(const int *in, int *out, int *size) {
  int lane = threadIdx.x, flag = in[blockIdx.x * 32 + lane] > 0, x = flag;
  for (int d = 1; d < 32; d <<= 1) {
    int y = __shfl_up_sync(0xffffffffu, x, d);
    if (lane >= d) x += y;
  }
  int total = __shfl_sync(0xffffffffu, x, 30), base = 0;
  if (lane == 0) base = atomicAdd(size, total);
  base = __shfl_sync(0xffffffffu, base, 0);
  if (flag) out[base + x - 1] = lane;  // expect: possible-data-race inter-block with self
}

// A step is missing: lanes 16 apart count the same.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void four_steps(const int *in, int *out) {
  int lane = threadIdx.x, flag = in[lane] > 0, x = flag;
  for (int d = 1; d < 16; d <<= 1) {
    int y = __shfl_up_sync(0xffffffffu, x, d);
    if (lane >= d) x += y;
  }
  if (flag) out[x - 1] = lane;  // expect: possible-data-race intra-warp with self
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void steps_in_threes(const int *in, int *out) {
  int lane = threadIdx.x, flag = in[lane] > 0, x = flag;
  for (int d = 1; d < 32; d *= 3) {
    int y = __shfl_up_sync(0xffffffffu, x, d);
    if (lane >= d) x += y;
  }
  if (flag) out[x - 1] = lane;  // expect: possible-data-race intra-warp with self
}

// One lane of each step is left out.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void greater_is_not_enough(const int *in, int *out) {
  int lane = threadIdx.x, flag = in[lane] > 0, x = flag;
  for (int d = 1; d < 32; d <<= 1) {
    int y = __shfl_up_sync(0xffffffffu, x, d);
    if (lane > d) x += y;
  }
  if (flag) out[x - 1] = lane;  // expect: possible-data-race intra-warp with self
}

// Two rows of 16 threads are one warp.
// cuda-lsp: launch grid=(1) block=(16,2)
__global__ void lanes_along_a_row(const int *in, int *out) {
  int lane = threadIdx.x, t = threadIdx.y * 16 + lane, flag = in[t] > 0, x = flag;
  for (int d = 1; d < 32; d <<= 1) {
    int y = __shfl_up_sync(0xffffffffu, x, d);
    if (lane >= d) x += y;
  }
  if (flag) out[x - 1] = t;  // expect: possible-data-race intra-warp with self
}

// Each half of the warp begins anew.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void halves_of_a_warp(const int *in, int *out) {
  int lane = threadIdx.x, flag = in[lane] > 0, x = flag;
  for (int d = 1; d < 32; d <<= 1) {
    int y = __shfl_up_sync(0xffffffffu, x, d, 16);
    if (lane >= d) x += y;
  }
  if (flag) out[x - 1] = lane;  // expect: possible-data-race intra-warp with self
}

// The lanes that hold nothing have returned: what is shuffled from them is anything.
// cuda-lsp: launch grid=(8) block=(128) n=1000
__global__ void shuffled_from_the_departed(const int *in, int *out, int n) {
  int i = blockIdx.x * 128 + threadIdx.x, lane = threadIdx.x & 31;
  if (i % 3 == 0) return;
  int v = in[i], flag = v > 0, x = flag;
  for (int d = 1; d < 32; d <<= 1) {
    int y = __shfl_up_sync(0xffffffffu, x, d);
    if (lane >= d) x += y;
  }
  if (flag) out[i / 32 * 32 + x - 1] = v;  // expect: possible-data-race with self
}

// Places in a warp are no places in the block.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_warps_one_place(const int *in, int *out) {
  int lane = threadIdx.x & 31, flag = in[threadIdx.x] > 0, x = flag;
  for (int d = 1; d < 32; d <<= 1) {
    int y = __shfl_up_sync(0xffffffffu, x, d);
    if (lane >= d) x += y;
  }
  if (flag) out[x - 1] = lane;  // expect: possible-data-race intra-block with self
}

// Three warps in two: the last lane of the second one does not exist.
// cuda-lsp: launch grid=(1) block=(48)
__global__ void asks_a_lane_that_is_not_there(int *out, int *size) {
  int base = atomicAdd(size, 32);
  base = __shfl_sync(0xffffffffu, base, 31);
  out[base + threadIdx.x % 32] = threadIdx.x;  // expect: possible-data-race intra-block with self
}

// --- by a counter of the block

// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void counted_then_claimed(const int *in, int *out, int *size, int n) {  // expect: race-free
  __shared__ int count, base;
  int i = blockIdx.x * 128 + threadIdx.x, pos = -1;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  int v = i < n ? in[i] : 0;
  if (v > 0) pos = atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(size, count);
  __syncthreads();
  if (v > 0) out[base + pos] = v;
}

// The counter becomes the claim.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void counted_and_claimed_in_rounds(const int *in, int *out, int *size, int n) {  // expect: race-free
  __shared__ int count;
  for (int i = blockIdx.x * 128 + threadIdx.x, k = 0; k < 4; ++k, i += 1024) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int v = i < n ? in[i] : 0, pos = 0;
    if (v > 0) pos = atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) count = atomicAdd(size, count);
    __syncthreads();
    if (v > 0) out[pos + count] = v;
    __syncthreads();
  }
}

// The next round begins while the slower threads still look for their claim.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void rounds_that_overlap(const int *in, int *out, int *size, int n) {
  __shared__ int count;
  for (int i = blockIdx.x * 128 + threadIdx.x, k = 0; k < 4; ++k, i += 1024) {
    if (threadIdx.x == 0) count = 0;  // expect: possible-data-race intra-block with +7
    __syncthreads();
    int v = i < n ? in[i] : 0, pos = 0;
    if (v > 0) pos = atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) count = atomicAdd(size, count);
    __syncthreads();
    if (v > 0) out[pos + count] = v;
  }
}

// Claimed before all have been counted.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void claimed_too_early(const int *in, int *out, int *size) {
  __shared__ int count, base;
  int v = in[blockIdx.x * 128 + threadIdx.x], pos = -1;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (v > 0) pos = atomicAdd(&count, 1);  // expect: possible-data-race intra-block with +1
  if (threadIdx.x == 0) base = atomicAdd(size, count);
  __syncthreads();
  if (v > 0) out[base + pos] = v;  // expect: possible-data-race inter-block with self
}

// The second half of the threads counts itself after the claim.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void counted_after_the_claim(const int *in, int *out, int *size) {
  __shared__ int count, base;
  int v = in[blockIdx.x * 128 + threadIdx.x];
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(size, count);
  __syncthreads();
  if (threadIdx.x >= 64) out[base + atomicAdd(&count, 1)] = v;  // expect: possible-data-race inter-block with self
}

// One less than was counted.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void claimed_one_less(const int *in, int *out, int *size) {
  __shared__ int count, base;
  int v = in[blockIdx.x * 128 + threadIdx.x], pos = -1;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (v > 0) pos = atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(size, count - 1);
  __syncthreads();
  if (v > 0) out[base + pos] = v;  // expect: possible-data-race inter-block with self
}

// Set back between counting and claiming.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void set_back_before_the_claim(const int *in, int *out, int *size) {
  __shared__ int count, base;
  int v = in[blockIdx.x * 128 + threadIdx.x], pos = -1;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (v > 0) pos = atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 5) count = 0;
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(size, count);
  __syncthreads();
  if (v > 0) out[base + pos] = v;  // expect: possible-data-race inter-block with self
}

// The counter begins with whatever is in shared memory, perhaps less than zero.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void counted_from_anything(const int *in, int *out, int *size) {
  __shared__ int count, base;
  int v = in[blockIdx.x * 128 + threadIdx.x], pos = -1;
  if (v > 0) pos = atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(size, count);
  __syncthreads();
  if (v > 0) out[base + pos] = v;  // expect: possible-data-race inter-block with self
}

// cuda-lsp: launch grid=(8) block=(128)
__global__ void counted_from_less_than_zero(const int *in, int *out, int *size) {
  __shared__ int count, base;
  int v = in[blockIdx.x * 128 + threadIdx.x], pos = -1;
  if (threadIdx.x == 0) count = -64;
  __syncthreads();
  if (v > 0) pos = atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(size, count);
  __syncthreads();
  if (v > 0) out[base + pos] = v;  // expect: possible-data-race inter-block with self
}

// Some give their place back.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void places_given_back(const int *in, int *out, int *size) {
  __shared__ int count, base;
  int v = in[blockIdx.x * 128 + threadIdx.x], pos = -1;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (v > 0) pos = atomicAdd(&count, 1);
  if (v > 100) atomicSub(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(size, count);
  __syncthreads();
  if (v > 0) out[base + pos] = v;  // expect: possible-data-race with self
}

// Blocks claim from counters of their own.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void claimed_of_its_own(const int *in, int *out, int *size) {
  __shared__ int count, base;
  int v = in[blockIdx.x * 128 + threadIdx.x], pos = -1;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (v > 0) pos = atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(size + blockIdx.x, count);
  __syncthreads();
  if (v > 0) out[base + pos] = v;  // expect: possible-data-race inter-block with self
}

// A number that is read from memory may be negative.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void size_of_the_block(const int *sizes, int *out, int *size) {
  __shared__ int base;
  int n_block = sizes[blockIdx.x];
  if (threadIdx.x == 0) base = atomicAdd(size, n_block);
  __syncthreads();
  if ((int)threadIdx.x < n_block) out[base + threadIdx.x] = blockIdx.x;  // expect: possible-data-race inter-block with self
}

// cuda-lsp: launch grid=(8) block=(128)
__global__ void size_that_is_not_negative(const int *sizes, int *out, int *size) {  // expect: race-free
  __shared__ int base;
  int n_block = min(max(sizes[blockIdx.x], 0), 128);
  if (threadIdx.x == 0) base = atomicAdd(size, n_block);
  __syncthreads();
  if ((int)threadIdx.x < n_block) out[base + threadIdx.x] = blockIdx.x;
}

// The thread that reads the claim has waited for one that already began the next count.
// cuda-lsp: launch grid=(8) block=(64)
__global__ void told_to_go_on(int *out, int *size, volatile int *go) {
  __shared__ int base;
  if (threadIdx.x == 0) base = atomicAdd(size, 1);
  __syncthreads();
  if (threadIdx.x == 33) {
    base = 7;
    __threadfence();
    go[blockIdx.x] = 1;
  }
  if (threadIdx.x == 0) {
    while (go[blockIdx.x] == 0) {}
    __threadfence();
    out[base] = blockIdx.x;  // expect: possible-data-race inter-block with self
  }
}

// --- by a counter that is read again when it has its last value

// What was counted is written by all threads, each of which reads the counter for itself.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void written_out_together(const int *in, int *out, int *size, int n) {  // expect: race-free
  __shared__ int queue[128], used, base;
  if (threadIdx.x == 0) used = 0;
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) queue[atomicAdd(&used, 1)] = in[i];
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(size, used);
  __syncthreads();
  for (int k = threadIdx.x; k < used; k += 128) out[base + k] = queue[k];
}

// One more than was claimed.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void one_more_written_out(const int *in, int *out, int *size, int n) {
  __shared__ int used, base;
  if (threadIdx.x == 0) used = 0;
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) atomicAdd(&used, 1);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(size, used);
  __syncthreads();
  for (int k = threadIdx.x; k <= used; k += 128) out[base + k] = k + i;  // expect: possible-data-race with self
}

// The counter is another one when it is read again.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void counted_on_after_the_claim(const int *in, int *out, int *size, int n) {
  __shared__ int used, base;
  if (threadIdx.x == 0) used = 0;
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) atomicAdd(&used, 1);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(size, used);
  __syncthreads();
  if (threadIdx.x == 0) used += 3;
  __syncthreads();
  for (int k = threadIdx.x; k < used; k += 128) out[base + k] = k + i;  // expect: possible-data-race with self
}

// In rounds, the next of which counts from the beginning while slower threads still write.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void counted_anew_too_early(const int *in, int *out, int *size, int n) {
  __shared__ int used, base;
  for (int r = 0; r < 4; ++r) {
    if (threadIdx.x == 0) used = 0;  // expect: data-race intra-block with +7
    __syncthreads();
    int i = (r * 8 + blockIdx.x) * 128 + threadIdx.x;
    if (i < n && in[i] > 0) atomicAdd(&used, 1);
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(size, used);
    __syncthreads();
    if (threadIdx.x < used) out[base + threadIdx.x] = i;  // expect: possible-data-race with self
  }
}

// --- who claims for the block

// cuda-lsp: launch grid=(8) block=(16,8)
__global__ void claimed_by_number_zero(int *out, int *size) {  // expect: race-free
  __shared__ int base;
  int t = threadIdx.x + 16 * threadIdx.y;
  if (t == 0) base = atomicAdd(size, 128);
  __syncthreads();
  out[base + t] = t;
}

// Two threads have an eighth of zero.
// cuda-lsp: launch grid=(8) block=(16,8)
__global__ void claimed_by_several(int *out, int *size) {
  __shared__ int base;
  int t = threadIdx.x + 16 * threadIdx.y;
  if (t / 8 == 0) base = atomicAdd(size, 128);  // expect: data-race with self
  __syncthreads();
  out[base + t] = t;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(8) block=(128)
__global__ void claimed_by_the_last(int *out, int *size) {  // expect: race-free
  __shared__ int base;
  if (threadIdx.x == blockDim.x - 1) base = atomicAdd(size, 128);
  __syncthreads();
  out[base + threadIdx.x] = threadIdx.x;
}

// cuda-lsp: launch grid=(8) block=(128)
__global__ void claimed_too_little_by_the_last(int *out, int *size) {
  __shared__ int base;
  if (threadIdx.x == blockDim.x - 1) base = atomicAdd(size, 127);
  __syncthreads();
  out[base + threadIdx.x] = threadIdx.x;  // expect: possible-data-race inter-block with self
}

// The thread that claims says how much: its own number.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void claimed_by_number(int *out, int *size) {  // expect: race-free
  __shared__ int base;
  if (threadIdx.x == 127) base = atomicAdd(size, threadIdx.x + 1);
  __syncthreads();
  out[base + threadIdx.x] = threadIdx.x;
}

// cuda-lsp: launch grid=(8) block=(128)
__global__ void claimed_by_a_smaller_number(int *out, int *size) {
  __shared__ int base;
  if (threadIdx.x == 126) base = atomicAdd(size, threadIdx.x + 1);
  __syncthreads();
  out[base + threadIdx.x] = threadIdx.x;  // expect: possible-data-race inter-block with self
}

// cuda-lsp: launch grid=(8) block=(128)
__global__ void claimed_by_rank(int *out, int *size) {  // expect: race-free
  auto g = cooperative_groups::this_thread_block();
  __shared__ int base;
  if (g.thread_rank() == 0) base = atomicAdd(size, 128);
  g.sync();
  out[base + g.thread_rank()] = 1;
}

// In blocks of any size.
__global__ void claimed_by_rank_anywhere(int *out, int *size) {  // expect: race-free
  auto g = cooperative_groups::this_thread_block();
  __shared__ int base;
  if (g.thread_rank() == 0) base = atomicAdd(size, g.size());
  g.sync();
  out[base + g.thread_rank()] = 1;
}

// cuda-lsp: launch grid=(8) block=(128)
__global__ void claimed_by_rank_too_late(int *out, int *size) {
  auto g = cooperative_groups::this_thread_block();
  __shared__ int base;
  if (g.thread_rank() == 0) base = atomicAdd(size, 128);  // expect: data-race with +1
  out[base + g.thread_rank()] = 1;
}

// --- counter and place as members of one object

struct Kept {
  int used, base;
  int queue[128];
};

// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void kept_in_one_struct(const int *in, int *out, int *size, int n) {  // expect: race-free
  __shared__ Kept s;
  if (threadIdx.x == 0) s.used = 0;
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) s.queue[atomicAdd(&s.used, 1)] = in[i];
  __syncthreads();
  if (threadIdx.x == 0) s.base = atomicAdd(size, s.used);
  __syncthreads();
  for (int k = threadIdx.x; k < s.used; k += blockDim.x) out[s.base + k] = s.queue[k];
}

// The counter goes on before all have read it.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void counted_on_in_one_struct(const int *in, int *out, int *size, int n) {
  __shared__ Kept s;
  if (threadIdx.x == 0) s.used = 0;
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) s.queue[atomicAdd(&s.used, 1)] = in[i];
  __syncthreads();
  if (threadIdx.x == 0) s.base = atomicAdd(size, s.used);
  __syncthreads();
  if (threadIdx.x < s.used) out[s.base + threadIdx.x] = s.queue[threadIdx.x];  // expect: data-race with +1; possible-data-race inter-block with self
  if (threadIdx.x == 5) s.used = 0;
}

// What is claimed is one less than what is written.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void claimed_less_in_one_struct(const int *in, int *out, int *size, int n) {
  __shared__ Kept s;
  if (threadIdx.x == 0) s.used = 0;
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) s.queue[atomicAdd(&s.used, 1)] = in[i];
  __syncthreads();
  if (threadIdx.x == 0) s.base = atomicAdd(size, s.used - 1);
  __syncthreads();
  for (int k = threadIdx.x; k < s.used; k += blockDim.x) out[s.base + k] = s.queue[k];  // expect: possible-data-race inter-block with self
}

// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void kept_in_one_array(const int *in, int *out, int *size, int n) {  // expect: race-free
  __shared__ int c[2], queue[128];
  if (threadIdx.x < 2) c[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) queue[atomicAdd(&c[0], 1)] = in[i];
  __syncthreads();
  if (threadIdx.x == 0) c[1] = atomicAdd(size, c[0]);
  __syncthreads();
  for (int k = threadIdx.x; k < c[0]; k += blockDim.x) out[c[1] + k] = queue[k];
}

// Both are written again by a thread that does not wait for the claim.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void written_again_in_one_array(const int *in, int *out, int *size, int n) {
  __shared__ int c[2], queue[128];
  if (threadIdx.x < 2) c[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) queue[atomicAdd(&c[0], 1)] = in[i];
  __syncthreads();
  if (threadIdx.x == 0) c[1] = atomicAdd(size, c[0]);  // expect: data-race with +1
  if (threadIdx.x == 1) c[threadIdx.x] = 7;
  __syncthreads();
  for (int k = threadIdx.x; k < c[0]; k += blockDim.x) out[c[1] + k] = queue[k];  // expect: possible-data-race with self
}

// The second counter is put in order behind the claim, for all to read.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void moved_on_in_one_array(const int *in, int *out, int *size, int n) {
  __shared__ int c[2], queue[128];
  if (threadIdx.x < 2) c[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) queue[atomicAdd(&c[0], 1)] = in[i];
  __syncthreads();
  if (threadIdx.x == 0) c[1] = atomicAdd(size, c[0]);
  __syncthreads();
  if (threadIdx.x < 2) c[threadIdx.x] /= 2;
  __syncthreads();
  for (int k = threadIdx.x; k < c[0]; k += blockDim.x) out[c[1] + k] = queue[k];  // expect: possible-data-race inter-block with self
}

// No thread of so small a block claims: what is read is what was there.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void the_thread_that_claims_is_not_there(int *size, int *out) {
  __shared__ int base;
  if (threadIdx.x == 127) base = atomicAdd(size, 64);
  __syncthreads();
  out[base + threadIdx.x] = threadIdx.x;  // expect: possible-data-race with self
}

__global__ void the_thread_that_claims_may_not_be_there(const int *in, int *size, int *out) {
  __shared__ int base;
  if (threadIdx.x == 127) base = atomicAdd(size, blockDim.x);
  __syncthreads();
  out[base + threadIdx.x] = in[blockIdx.x];  // expect: possible-data-race with self
}

// --- a counter that is set to zero by another thread than the first

// cuda-lsp: launch grid=(1) block=(64)
__global__ void zeroed_by_the_second_thread(int *low, int *negative) {  // expect: race-free
  __shared__ int n[2];
  if (threadIdx.x < 2) n[threadIdx.x] = 0;
  __syncthreads();
  int p = atomicAdd(&n[1], 1);
  __syncthreads();
  if (p >= n[1]) low[0] = threadIdx.x;
  if (n[1] < 0) negative[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void zeroed_in_reverse(int *negative) {  // expect: race-free
  __shared__ int n[2];
  if (threadIdx.x < 2) n[1 - threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&n[0], 1);
  __syncthreads();
  if (n[0] < 0) negative[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(8,8)
__global__ void zeroed_by_a_row(int *negative) {  // expect: race-free
  __shared__ int n[8];
  if (threadIdx.y == 3) n[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&n[5], 1);
  __syncthreads();
  if (n[5] < 0) negative[0] = threadIdx.x;
}

// No thread sets that one.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void zeroed_beside_it(int *negative) {
  __shared__ int n[3];
  if (threadIdx.x < 2) n[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&n[2], 1);
  __syncthreads();
  if (n[2] < 0) negative[0] = threadIdx.x;  // expect: possible-data-race with self
}

// Nobody says that there is a second thread.
__global__ void zeroed_by_a_thread_that_may_be_missing(int *negative) {
  __shared__ int n[2];
  if (threadIdx.x < 2) n[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&n[1], 1);
  __syncthreads();
  if (n[1] < 0) negative[blockIdx.x] = threadIdx.x;  // expect: possible-data-race with self
}

// --- the storage of a library's collective beside it

// cuda-lsp: launch grid=(4) block=(64)
__global__ void claimed_in_the_storage_of_a_sort(int *size, int *out) {
  using Sort = cub::BlockRadixSort<int, 64, 4>;
  __shared__ union {
    Sort::TempStorage storage;
    int words[6000];
  } u;
  if (threadIdx.x == 0) u.words[200] = atomicAdd(size, 64);
  __syncthreads();
  int base = u.words[200];
  __syncthreads();
  int keys[4] = {1, 2, 3, (int)threadIdx.x};
  Sort(u.storage).Sort(keys);
  __syncthreads();
  out[u.words[200] + threadIdx.x] = base + keys[0];  // expect: possible-data-race inter-block with self
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void claimed_beside_the_storage_of_a_sort(int *size, int *out) {  // expect: race-free
  using Sort = cub::BlockRadixSort<int, 64, 4>;
  __shared__ Sort::TempStorage storage;
  __shared__ int base;
  if (threadIdx.x == 0) base = atomicAdd(size, 64);
  int keys[4] = {1, 2, 3, (int)threadIdx.x};
  Sort(storage).Sort(keys);
  __syncthreads();
  out[base + threadIdx.x] = keys[0];
}
