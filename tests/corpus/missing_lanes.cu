// Shuffles, votes and reductions of a warp, and the lanes that their masks name.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// cuda-lsp: launch grid=(1) block=(64)
__global__ void shuffle_of_half_a_warp(int *out) {
  int t = threadIdx.x;
  if (t % 32 < 16) out[t] = __shfl_down_sync(0xffffffff, t, 1);  // expect: missing-lanes, fix: no
  __syncthreads();
  out[t + 64] = out[t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void shuffle_of_the_lanes_named(int *out) {  // expect: race-free
  int t = threadIdx.x;
  if (t % 32 < 16) out[t] = __shfl_down_sync(0xffff, t, 1);
}

// The first lane is not named, and comes; the one that is named and does not come is the last.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void vote_with_one_lane_too_many(int *out) {
  int t = threadIdx.x;
  if (t < 8) out[t] = __any_sync(0x1ff, out[t] > 3);  // expect: missing-lanes
  out[t] += __popc(__ballot_sync(0xffffffff, out[t] > 3));
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void vote_of_a_whole_warp(int *out) {  // expect: race-free
  int t = threadIdx.x;
  if (t < 32) out[t] = __all_sync(0xffffffff, out[t] > 3);
}

// In rows of eight the first four are one warp.
// cuda-lsp: launch grid=(1) block=(8,8)
__global__ void vote_of_whole_rows(int *out) {  // expect: race-free
  int t = threadIdx.x + 8 * threadIdx.y;
  if (threadIdx.y < 4) out[t] = __ballot_sync(0xffffffff, out[t] > 3);
}

// cuda-lsp: launch grid=(1) block=(8,8)
__global__ void vote_of_some_rows(int *out) {
  int t = threadIdx.x + 8 * threadIdx.y;
  if (threadIdx.y < 3) out[t] = __ballot_sync(0xffffffff, out[t] > 3);  // expect: missing-lanes
  __syncthreads();
}

// There are no more lanes.
// cuda-lsp: launch grid=(1) block=(16)
__global__ void shuffle_of_a_small_block(int *out) {  // expect: race-free
  int t = threadIdx.x;
  if (t < 16) out[t] = __shfl_xor_sync(0xffffffff, t, 1);
}

// Lanes that have returned are not waited for.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shuffle_behind_a_return(int *out) {  // expect: race-free
  int t = threadIdx.x;
  if (t % 32 >= 16) return;
  out[t] = __shfl_down_sync(0xffffffff, t, 1);
}

// The second half of the reduction of a block, by fewer threads than a warp has.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void reduced_by_eight_lanes(const float *in, float *out) {
  __shared__ float part[8];
  float sum = in[blockIdx.x * 256 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 8) {
    sum = part[threadIdx.x];
    for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);  // expect: missing-lanes
    if (threadIdx.x == 0) part[0] = sum;
  }
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = part[0];
}

// cuda-lsp: launch grid=(4) block=(256)
__global__ void reduced_by_a_warp(const float *in, float *out) {  // expect: race-free
  __shared__ float part[8];
  float sum = in[blockIdx.x * 256 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < 8 ? part[threadIdx.x] : 0;
    for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

// A group of sixteen has its own lanes, one of thirty-two the whole warp.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void half_of_a_warp_is_a_group(int *out) {  // expect: race-free
  auto half = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x;
  if (t % 32 < 16) out[t] = half.shfl_down(t, 1);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void half_of_a_group(int *out) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int t = threadIdx.x;
  if (t % 32 < 16) out[t] = warp.shfl_down(t, 1);  // expect: missing-lanes
  warp.sync();
}

// The lanes of the other branch come to an exchange of their own, and may meet these.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void exchanges_in_both_branches(int *out) {  // expect: race-free
  int t = threadIdx.x;
  if (t % 32 < 16)
    out[t] = __shfl_xor_sync(0xffffffff, t, 1);
  else
    out[t] = __shfl_xor_sync(0xffffffff, t, 2);
}

// In a called function, by a template.
template <int LANES>
__device__ int lowest(int value) {
  for (int d = LANES / 2; d > 0; d /= 2) value = min(value, __shfl_down_sync(0xffffffff, value, d));  // expect: missing-lanes
  return value;
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void lowest_of_eight(int *out) {
  int t = threadIdx.x;
  if (t < 8) {
    int low = lowest<8>(out[t]);
    if (t == 0) out[64] = low;
  }
  __syncthreads();
}

// Lanes that have nothing more to wait for come to the end of the kernel, and nobody waits for them.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shuffle_at_the_end(int *out) {  // expect: race-free
  int t = threadIdx.x;
  if (t % 32 < 16) out[t] = __shfl_down_sync(0xffffffff, t, 1);
}

// To return in the other branch is to return.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shuffle_beside_a_return(int *out) {  // expect: race-free
  int t = threadIdx.x;
  if (t % 32 < 16)
    out[t] = __shfl_down_sync(0xffffffff, t, 1);
  else
    return;
  out[t] += __shfl_down_sync(0xffffffff, t, 2);
}

// Whoever misses it in one round waits for the others in the next one.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void votes_in_rounds(int *out, int n) {
  int t = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    if (__all_sync(0xffffffff, out[t] > i)) break;
    if (t % 32 < 16) out[t] = __any_sync(0xffffffff, out[t] > 3);  // expect: missing-lanes
  }
}

// Cases, each with an exchange of the same kind.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void exchanges_in_all_cases(int *out) {  // expect: race-free
  int t = threadIdx.x, v = t;
  switch (t & 1) {
  case 0: v = __shfl_xor_sync(0xffffffff, v, 1); break;
  case 1: v = __shfl_xor_sync(0xffffffff, v, 2); break;
  }
  out[t] = v;
}

// How wide a warp is in a block whose size nobody knows, nobody knows either.
__global__ void votes_of_a_row(int *out) {
  int t = threadIdx.x + blockDim.x * threadIdx.y;
  if (threadIdx.y == 0) out[t] = __any_sync(0xffffffff, out[t] > 3);
  __syncthreads();  // expect: redundant-barrier
}

// --- which lanes the mask names

// The lane that comes is not among those that it names, and these do not come.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void vote_that_names_the_others(int *out) {
  int t = threadIdx.x, v = t;
  if (t & 1) v += __ballot_sync(0x55555555, v > 2);  // expect: lane-not-in-mask
  __syncthreads();
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void vote_that_names_those_that_come(int *out) {
  int t = threadIdx.x, v = t;
  if (t & 1) v += __ballot_sync(0xaaaaaaaa, v > 2);
  __syncthreads();  // expect: redundant-barrier
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void first_lane_names_all_others(int *out) {
  int t = threadIdx.x, v = t;
  if (t == 0) v = __shfl_sync(0xfffffffe, v, 1);  // expect: lane-not-in-mask
  __syncthreads();
  out[t] = v;
}

// --- what lanes that miss it come to

// cuda-lsp: launch grid=(1) block=(32)
__global__ void fewer_lanes_each_time(int *out) {  // expect: race-free
  int t = threadIdx.x, v = t;
  if (t < 16) v += __shfl_down_sync(0xffffffff, v, 8);
  if (t < 8) v += __any_sync(0xff, v);
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void other_lanes_the_next_time(int *out) {
  int t = threadIdx.x, v = t;
  if (t < 16) v += __shfl_down_sync(0xffffffff, v, 8);  // expect: missing-lanes
  if (t >= 8) v += __any_sync(0xffffffff, v);
  out[t] = v;
}

// What the others come to does not wait for these.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void others_among_themselves(int *out) {  // expect: race-free
  int t = threadIdx.x, v = t;
  if (t < 16) v += __shfl_down_sync(0xffffffff, v, 8);
  if (t >= 16) v += __shfl_down_sync(0xffff0000, v, 8);
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void barrier_of_one_lane(int *out) {
  int t = threadIdx.x, v = t;
  if (t < 16) v += __shfl_down_sync(0xffffffff, v, 8);
  if (t == 0) __syncwarp(1);  // expect: redundant-barrier
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32) n=0
__global__ void barrier_that_is_not_made(int *out, int n) {
  int t = threadIdx.x, v = t;
  if (t < 16) v += __shfl_xor_sync(0xffffffff, v, 2);
  if (n) __syncthreads();  // expect: redundant-barrier
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32) n=1
__global__ void barrier_that_is_made(int *out, int n) {
  int t = threadIdx.x, v = t;
  if (t < 16) v += __shfl_xor_sync(0xffffffff, v, 2);  // expect: missing-lanes
  if (n) __syncthreads();
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32) n=1
__global__ void one_round(int *out, int n) {  // expect: race-free
  int t = threadIdx.x, v = t;
  for (int i = 0; i < n; ++i) {
    v += __shfl_xor_sync(0xffffffff, v, 1);
    if (t < 16) v += __shfl_down_sync(0xffffffff, v, 8);
  }
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32) n=2
__global__ void two_rounds(int *out, int n) {
  int t = threadIdx.x, v = t;
  for (int i = 0; i < n; ++i) {
    v += __shfl_xor_sync(0xffffffff, v, 1);
    if (t < 16) v += __shfl_down_sync(0xffffffff, v, 8);  // expect: missing-lanes
  }
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32) n=8
__global__ void once_more_in_the_sixth_round(int *out, int n) {
  int t = threadIdx.x, v = t;
  for (int i = 0; i < n; ++i) {
    if (i == 5) v += __any_sync(0xffffffff, v);
    if (t < 16) v += __shfl_down_sync(0xffffffff, v, 8);  // expect: missing-lanes
  }
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32) n=5
__global__ void no_sixth_round(int *out, int n) {  // expect: race-free
  int t = threadIdx.x, v = t;
  for (int i = 0; i < n; ++i) {
    if (i == 5) v += __any_sync(0xffffffff, v);
    if (t < 16) v += __shfl_down_sync(0xffffffff, v, 8);
  }
  out[t] = v;
}

// What memory holds may let them end, or not.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void ended_by_what_memory_holds(int *out, const int *in) {
  int t = threadIdx.x, v = t;
  if (t < 16) {
    v += __shfl_xor_sync(0xffffffff, v, 1);  // expect: missing-lanes
  } else {
    if (in[0] >= 0) return;
  }
  __syncthreads();  // expect: barrier-after-exit
  out[t] = v;
}

// --- exchanges that may be met instead

// Those that miss the first come to neither.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void fewer_lanes_behind_a_barrier(int *out) {
  int t = threadIdx.x, v = t;
  if (t < 16) v = __shfl_xor_sync(0xffffffff, v, 1);  // expect: missing-lanes
  __syncthreads();
  if (t < 8) v = __shfl_xor_sync(0xffffffff, v, 2);  // expect: missing-lanes
  __syncthreads();
  out[t] = v;
}

// Whoever comes to the first comes to the second, too: it is not there instead.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void some_lanes_once_more(int *out) {
  int t = threadIdx.x, v = t;
  if (t < 16) {
    if (t < 8) v += __shfl_xor_sync(0xffff, v, 1);  // expect: missing-lanes
    v += __shfl_xor_sync(0xffff, v, 2);
  }
  __syncwarp();
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void some_lanes_before(int *out) {
  int t = threadIdx.x, v = t;
  if (t < 16) {
    if (t < 8) v += __shfl_xor_sync(0xff, v, 1);
    v += __shfl_xor_sync(0xffff, v, 2);
  }
  __syncwarp();  // expect: redundant-barrier
  out[t] = v;
}

// Each lane comes to one of three.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void one_of_three(int *out) {
  int t = threadIdx.x, v = t;
  if (t < 8)
    v = __shfl_xor_sync(0xffffffff, v, 1);
  else if (t < 16)
    v = __shfl_xor_sync(0xffffffff, v, 2);
  else
    v = __shfl_xor_sync(0xffffffff, v, 3);
  __syncwarp();  // expect: redundant-barrier
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void one_of_two_or_none(int *out) {
  int t = threadIdx.x, v = t;
  if (t < 8)
    v = __shfl_xor_sync(0xffffffff, v, 1);  // expect: missing-lanes
  else if (t < 16)
    v = __shfl_xor_sync(0xffffffff, v, 2);  // expect: missing-lanes
  __syncwarp();
  out[t] = v;
}

// A barrier of all stands between: whoever comes to the second waits there for those at the first.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void other_half_behind_a_barrier(int *out) {
  int t = threadIdx.x, v = t;
  if (t % 32 < 16) v = __shfl_sync(0xffffffff, v, 0);  // expect: missing-lanes
  __syncthreads();
  if (t % 32 >= 16) v = __shfl_sync(0xffffffff, v, 16);
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void other_half_behind_a_vote(int *out, int n) {
  int t = threadIdx.x, v = t;
  for (int i = 0; i < n; ++i) {
    if (t % 32 < 16) v = __shfl_sync(0xffffffff, v, 0);  // expect: missing-lanes
    v += __any_sync(0xffffffff, v > i);
    if (t % 32 >= 16) v = __shfl_sync(0xffffffff, v, 16);  // expect: missing-lanes
  }
  out[t] = v;
}

// What stands between is for other lanes, or not on the way of both.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void other_half_behind_a_barrier_of_some(int *out) {  // expect: race-free
  int t = threadIdx.x, v = t;
  if (t < 16) v = __shfl_sync(0xffffffff, v, 0);
  if (t >= 16) __syncwarp(0xffff0000);  // expect: redundant-barrier
  if (t >= 16) v = __shfl_sync(0xffffffff, v, 16);
  out[t] = v;
}

// --- lanes that leave a loop

// cuda-lsp: launch grid=(1) block=(32)
__global__ void left_before_the_shuffle(int *out) {
  int t = threadIdx.x, v = t;
  do {
    if (t >= 16) break;
    v += __shfl_xor_sync(0xffffffff, v, 1);  // expect: missing-lanes
  } while (0);
  __syncthreads();
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32) n=4
__global__ void left_in_a_loop(int *out, int n) {
  int t = threadIdx.x, v = t;
  for (int i = 0; i < n; ++i) {
    if (t >= 16) break;
    v += __shfl_xor_sync(0xffffffff, v, 1);  // expect: missing-lanes
  }
  __syncthreads();
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32) n=4
__global__ void left_and_at_the_end(int *out, int n) {  // expect: race-free
  int t = threadIdx.x, v = t;
  for (int i = 0; i < n; ++i) {
    if (t >= 16) break;
    v += __shfl_xor_sync(0xffffffff, v, 1);
  }
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32) n=4
__global__ void left_by_lanes_that_are_not_named(int *out, int n) {
  int t = threadIdx.x, v = t;
  for (int i = 0; i < n; ++i) {
    if (t >= 16) break;
    v += __shfl_xor_sync(0xffff, v, 1);
  }
  __syncthreads();  // expect: redundant-barrier
  out[t] = v;
}

// --- in assembly

// cuda-lsp: launch grid=(1) block=(32)
__global__ void shuffle_in_assembly(int *out) {
  int t = threadIdx.x, v = t;
  if (t < 16) asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(v) : "r"(t));  // expect: missing-lanes
  __syncthreads();
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void shuffle_in_assembly_of_the_lanes_named(int *out) {
  int t = threadIdx.x, v = t;
  if (t < 16) asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffff;" : "=r"(v) : "r"(t));
  __syncthreads();  // expect: redundant-barrier
  out[t] = v;
}

// What the mask is, an instruction before it says.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void vote_in_assembly_of_unknown_lanes(int *out) {
  int t = threadIdx.x;
  unsigned m = 0;
  if (t < 16) asm volatile("activemask.b32 %0; vote.sync.ballot.b32 %0, 1, %0;" : "+r"(m));
  __syncthreads();  // expect: redundant-barrier
  out[t] = m;
}

// --- results that no conflict depends on

// cuda-lsp: launch grid=(1) block=(32)
__global__ void shuffle_for_nothing(int *out) {
  int t = threadIdx.x, v = t;
  if (t < 16) __shfl_sync(0xffffffff, v, 0);  // expect: missing-lanes
  __syncthreads();
  out[t] = v;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void shuffle_for_a_sum(const int *in, int *sum) {
  int t = threadIdx.x, v = in[t];
  if (t < 16) v = __shfl_sync(0xffffffff, v, 0);  // expect: missing-lanes
  __syncthreads();
  atomicAdd(sum, v);
}

// Which exchange it is, the instruction says, whatever it is written as.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void two_instructions(unsigned *out) {
  unsigned t = threadIdx.x, v = t;
  if (t < 16)
    asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(v) : "r"(t));  // expect: missing-lanes
  else
    asm volatile("vote.sync.ballot.b32 %0, 1, 0xffffffff;" : "=r"(v));  // expect: missing-lanes
  __syncthreads();
  out[t] = v;
}

#define NEXT(v) __shfl_xor_sync(0xffffffff, v, 1)
#define FAR(v) __shfl_xor_sync(0xffffffff, v, 8)

// Two macros around one instruction: the lanes may meet.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void one_instruction(unsigned *out) {  // expect: race-free
  unsigned t = threadIdx.x, v = t;
  if (t < 16) v = NEXT(v);
  else v = FAR(v);
  __syncthreads();  // expect: redundant-barrier
  out[t] = v;
}

// So are the instruction and its intrinsic.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void instruction_and_intrinsic(unsigned *out) {  // expect: race-free
  unsigned t = threadIdx.x, v = t;
  if (t < 16) v = __shfl_xor_sync(0xffffffff, v, 1);
  else asm volatile("shfl.sync.bfly.b32 %0, %1, 8, 0x1f, 0xffffffff;" : "=r"(v) : "r"(t));
  __syncthreads();  // expect: redundant-barrier
  out[t] = v;
}
