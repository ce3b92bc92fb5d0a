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
