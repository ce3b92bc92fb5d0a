// Tickets for the lanes that are together: one of them takes as many as there are lanes, each finds its own place.

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ int next_of_group(int *counter) {
  cg::coalesced_group active = cg::coalesced_threads();
  int first = 0;
  if (active.thread_rank() == 0) first = atomicAdd(counter, active.size());
  return active.shfl(first, 0) + active.thread_rank();
}

// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void kept_by_groups(const int *in, int *out, int *size, int n) {  // expect: race-free
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) out[next_of_group(size)] = in[i];
}

// cuda-lsp: launch grid=(8) block=(128) n=3000
__global__ void kept_by_groups_in_rounds(const int *in, int *out, int *size, int n) {  // expect: race-free
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
    if (in[i] > 0) out[next_of_group(size)] = in[i];
}

// Lanes of one group have their ranks in another array, too; of two groups they have the same ones.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void ranks_of_two_groups(const int *in, int *out, int *size) {
  if (in[threadIdx.x] > 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    out[active.thread_rank()] = threadIdx.x;  // expect: possible-data-race intra-block with self
  }
}

// One ticket for all.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void one_for_the_group(const int *in, int *out, int *size, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(size, 1);
    out[active.shfl(first, 0) + active.thread_rank()] = in[i];  // expect: possible-data-race with self
  }
}

// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void taken_by_the_second(const int *in, int *out, int *size, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 1) first = atomicAdd(size, active.size());
    out[active.shfl(first, 0) + active.thread_rank()] = in[i];  // expect: possible-data-race with self
  }
}

// Asks the second lane, which has nothing.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void asked_the_second(const int *in, int *out, int *size, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(size, active.size());
    out[active.shfl(first, 1) + active.thread_rank()] = in[i];  // expect: possible-data-race with self
  }
}

// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void active_lanes(const int *in, int *out, int *size, int n) {  // expect: race-free
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && in[i] > 0) {
    unsigned mask = __activemask();
    int leader = __ffs(mask) - 1, lane = threadIdx.x % 32, first;
    if (lane == leader) first = atomicAdd(size, __popc(mask));
    first = __shfl_sync(mask, first, leader);
    out[first + __popc(mask & ((1u << lane) - 1))] = in[i];
  }
}

// The lanes were counted before some of them left.
// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void counted_before_some_left(const int *in, int *out, int *size, int n) {
  int i = blockIdx.x * 128 + threadIdx.x, lane = threadIdx.x % 32;
  if (i < n) {
    unsigned mask = __activemask();
    int leader = __ffs(mask) - 1, first;
    if (in[i] > 0) {
      if (lane == leader) first = atomicAdd(size, __popc(mask));
      first = __shfl_sync(mask, first, leader);
      out[first + __popc(mask & ((1u << lane) - 1))] = in[i];  // expect: possible-data-race with self
    }
  }
}

// Two rows of 16 threads are a warp: there are two lanes of each number along x.
// cuda-lsp: launch grid=(8) block=(16,8)
__global__ void lanes_of_rows(const int *in, int *out, int *size) {
  int i = (blockIdx.x * 8 + threadIdx.y) * 16 + threadIdx.x;
  if (in[i] > 0) {
    unsigned mask = __activemask();
    int leader = __ffs(mask) - 1, lane = threadIdx.x, first = 0;
    if (lane == leader) first = atomicAdd(size, __popc(mask));
    first = __shfl_sync(mask, first, leader);
    out[first + __popc(mask & ((1u << lane) - 1))] = in[i];  // expect: possible-data-race with self
  }
}

// The highest lane takes, the lowest one is asked.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void taken_by_the_highest(const int *in, int *out, int *size) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (in[i] > 0) {
    unsigned mask = __activemask();
    int leader = __ffs(mask) - 1, highest = 31 - __clz(mask), lane = threadIdx.x % 32, first = 0;
    if (lane == highest) first = atomicAdd(size, __popc(mask));
    first = __shfl_sync(mask, first, leader);
    out[first + __popc(mask & ((1u << lane) - 1))] = in[i];  // expect: possible-data-race with self
  }
}

// Counters of their own give the same tickets to several groups.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void counters_of_their_own(const int *in, int *out, int *size) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (in[i] > 0) {
    unsigned mask = __activemask();
    int leader = __ffs(mask) - 1, lane = threadIdx.x % 32, first = 0;
    if (lane == leader) first = atomicAdd(size + threadIdx.x / 32, __popc(mask));
    first = __shfl_sync(mask, first, leader);
    out[first + __popc(mask & ((1u << lane) - 1))] = in[i];  // expect: possible-data-race with self
  }
}

// Somebody sets the counter back.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void set_back(const int *in, int *out, int *size) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (in[i] > 0) out[next_of_group(size)] = in[i];  // expect: possible-data-race with self
  if (in[i] == -7) atomicExch(size, 0);
}

// The amount depends on the round, and lanes of different rounds may be together.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void more_in_each_round(const int *in, int *out, int *size, int n) {
  for (int i = 0; i < n; ++i)
    if (in[i * 64 + threadIdx.x] > 0) {
      unsigned mask = __activemask();
      int leader = __ffs(mask) - 1, lane = threadIdx.x % 32, first = 0;
      if (lane == leader) first = atomicAdd(size, __popc(mask) * (i + 1));
      first = __shfl_sync(mask, first, leader);
      out[first + __popc(mask & ((1u << lane) - 1)) * (i + 1)] = lane;  // expect: possible-data-race with self
    }
}

// --- by votes

// cuda-lsp: launch grid=(8) block=(128) n=100000
__global__ void lanes_that_voted(const int *in, int *out, int *size, int n) {  // expect: race-free
  int i = blockIdx.x * 128 + threadIdx.x, keep = i < n && in[i] > 0;
  unsigned mask = __ballot_sync(0xffffffffu, keep);
  if (keep) {
    int leader = __ffs(mask) - 1, lane = threadIdx.x % 32, first;
    if (lane == leader) first = atomicAdd(size, __popc(mask));
    first = __shfl_sync(mask, first, leader);
    out[first + __popc(mask & ((1 << lane) - 1))] = in[i];
  }
}

// Others than those that voted ask for the ticket.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void others_ask(const int *in, int *out, int *size) {
  int i = blockIdx.x * 128 + threadIdx.x, lane = threadIdx.x % 32;
  unsigned mask = __ballot_sync(0xffffffffu, in[i] > 0);
  int leader = __ffs(mask) - 1, first = 0;
  if (lane == leader) first = atomicAdd(size, 32 * __popc(mask));
  first = __shfl_sync(mask, first, leader);
  if (in[i] <= 0) out[first + lane] = in[i];  // expect: possible-data-race with self
}

// More write than voted.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void more_than_voted(const int *in, int *out, int *size) {
  int i = blockIdx.x * 128 + threadIdx.x, lane = threadIdx.x % 32;
  unsigned mask = __ballot_sync(0xffffffffu, in[i] > 0);
  if (in[i] >= 0) {
    int leader = __ffs(mask) - 1, first = 0;
    if (lane == leader) first = atomicAdd(size, __popc(mask));
    first = __shfl_sync(mask, first, leader);
    out[first + __popc(mask & ((1u << lane) - 1))] = in[i];  // expect: possible-data-race with self
  }
}

// --- what the lane that is asked has

// Lane 0 has nothing: it took no ticket, and began with nothing.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void asked_one_without(int *out, int *size) {
  int first;
  if (threadIdx.x % 32 == 3) first = atomicAdd(size, 32);
  first = __shfl_sync(0xffffffffu, first, 0);
  out[first + threadIdx.x % 32] = threadIdx.x;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(4) block=(128)
__global__ void some_warps_without(const int *in, int *out, int *size) {
  int first;
  if (threadIdx.x % 32 == 0 && in[blockIdx.x] > 0) first = atomicAdd(size, 32);
  first = __shfl_sync(0xffffffffu, first, 0);
  out[first + threadIdx.x % 32] = threadIdx.x;  // expect: possible-data-race with self
}

// The lane that is asked has returned.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void asked_one_that_has_gone(int *out, int *size) {
  int first = 0;
  if (threadIdx.x % 3 == 0) return;
  if (threadIdx.x % 32 == 0) first = atomicAdd(size, 32);
  first = __shfl_sync(0xffffffffu, first, 0);
  out[first + threadIdx.x % 32] = threadIdx.x;  // expect: possible-data-race with self
}

// The whole warp asks the lowest lane that voted; those that voted have its ticket.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void asked_by_the_whole_warp(const int *in, int *out, int *size, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, base = 0;
  bool keep = i < n && in[i] > 0;
  unsigned kept = __ballot_sync(~0u, keep);
  if (kept && lane == __ffs(kept) - 1) base = atomicAdd(size, __popc(kept));
  base = __shfl_sync(~0u, base, __ffs(kept) - 1);
  if (keep) out[base + __popc(kept & ((1u << lane) - 1))] = i;
}

// Those that did not vote have no ticket where nobody did.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void used_by_those_that_did_not_vote(const int *in, int *out, int *size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, base = 0;
  bool keep = i < n && in[i] > 0;
  unsigned kept = __ballot_sync(~0u, keep);
  if (kept && lane == __ffs(kept) - 1) base = atomicAdd(size, __popc(kept));
  base = __shfl_sync(~0u, base, __ffs(kept) - 1);
  out[base + __popc(kept & ((1u << lane) - 1))] = i;  // expect: possible-data-race with self
}

// One place too few.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void one_place_too_few_for_the_voters(const int *in, int *out, int *size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, base = 0;
  bool keep = i < n && in[i] > 0;
  unsigned kept = __ballot_sync(~0u, keep);
  if (kept && lane == __ffs(kept) - 1) base = atomicAdd(size, __popc(kept) - 1);
  base = __shfl_sync(~0u, base, __ffs(kept) - 1);
  if (keep) out[base + __popc(kept & ((1u << lane) - 1))] = i;  // expect: possible-data-race with self
}

// The lane behind the lowest one is asked, which took no ticket.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void the_wrong_lane_is_asked(const int *in, int *out, int *size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, base = 0;
  bool keep = i < n && in[i] > 0;
  unsigned kept = __ballot_sync(~0u, keep);
  if (kept && lane == __ffs(kept) - 1) base = atomicAdd(size, __popc(kept));
  base = __shfl_sync(~0u, base, __ffs(kept) & 31);
  if (keep) out[base + __popc(kept & ((1u << lane) - 1))] = i;  // expect: possible-data-race with self
}

// The vote was about something else than what is asked now.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void kept_by_another_test(const int *in, int *out, int *size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, base = 0;
  bool keep = i < n && in[i] > 0;
  unsigned kept = __ballot_sync(~0u, keep);
  if (kept && lane == __ffs(kept) - 1) base = atomicAdd(size, __popc(kept));
  base = __shfl_sync(~0u, base, __ffs(kept) - 1);
  if (i < n && in[i] > -5) out[base + __popc(kept & ((1u << lane) - 1))] = i;  // expect: possible-data-race with self
}

// The rank is unsigned, as cooperative groups and registers of lanes give it: the sum does not wrap around.
__device__ int place_of_lane(int *next) {
  unsigned active = __activemask(), below;
  int leader = __ffs(active) - 1, base;
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  unsigned rank = __popc(active & below);
  if (rank == 0) base = atomicAdd(next, __popc(active));
  base = __shfl_sync(active, base, leader);
  return base + rank;
}

__global__ void unsigned_ranks(const int *in, int *out, int *next, int n) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (in[i] > 0) out[place_of_lane(next)] = in[i];
}

// Too few are taken.
__device__ int shared_place_of_lane(int *next) {
  unsigned active = __activemask(), below;
  int leader = __ffs(active) - 1, base;
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  unsigned rank = __popc(active & below);
  if (rank == 0) base = atomicAdd(next, 1);
  base = __shfl_sync(active, base, leader);
  return base + rank;
}

__global__ void unsigned_ranks_of_too_few(const int *in, int *out, int *next, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (in[i] > 0) out[shared_place_of_lane(next)] = in[i];  // expect: possible-data-race with self
}

void launch_unsigned_ranks(const int *in, int *out, int *next, int n) {
  unsigned_ranks<<<(n + 255) / 256, 256>>>(in, out, next, n);
  unsigned_ranks_of_too_few<<<(n + 255) / 256, 256>>>(in, out, next, n);
}
