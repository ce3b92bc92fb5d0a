// The kinds of barrier: block barriers that also vote, warp barriers with masks, cooperative groups.

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// cuda-lsp: launch grid=(1) block=(64)
__global__ void vote_or(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  int any = __syncthreads_or(in[t] > 100);
  out[t] = s[63 - t] + any;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void vote_and(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  if (__syncthreads_and(in[t] > 0)) out[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void vote_count(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  int positive = __syncthreads_count(in[t] > 0);
  out[t] = s[63 - t] * positive;
}

// The result of a vote is the same in all threads, so a barrier under it is reached by all or none.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_under_a_vote(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = 0;
  if (__syncthreads_or(in[t] > 100)) {
    s[t] = in[t];
    __syncthreads();
  }
  out[t] = s[63 - t];
}

// A loop that all threads leave together.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void iterate_until_all_agree(int *a) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  while (true) {
    int v = s[(t + 1) % 64];
    int done = __syncthreads_and(v == s[t]);
    if (done) break;
    s[t] = v;
    __syncthreads();
  }
  a[t] = s[t];
}

// The same loop decided by each thread for itself: the first to leave makes the others' barrier divergent.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void iterate_until_i_agree(int *a) {
  __shared__ int s[64];
  int t = threadIdx.x, rounds = 0;
  s[t] = a[t];
  while (rounds < 4 && a[t] != rounds) {
    ++rounds;
    __syncthreads();  // expect: barrier-divergence
  }
  a[t] = s[t] + rounds;
}

// A warp barrier orders the lanes of a warp ...
// cuda-lsp: launch grid=(1) block=(64)
__global__ void warp_barrier_inside_warps(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  out[t] = s[t ^ 31];
}

// ... and nothing between warps.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void warp_barrier_between_warps(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;  // expect: data-race intra-block with +2, fix: yes
  __syncwarp();
  out[t] = s[t ^ 32];
}

// A warp barrier of the lower half, reached by the lower half.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void half_warp_mask(int *out) {  // expect: race-free
  __shared__ int s[16];
  int t = threadIdx.x;
  if (t < 16) {
    s[t] = t;
    __syncwarp(0x0000ffff);
    out[t] = s[15 - t];
  }
}

// The mask names lanes that are not there: they never arrive.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void full_mask_in_half_warp(int *out) {
  __shared__ int s[16];
  int t = threadIdx.x;
  if (t < 16) {
    s[t] = t;
    __syncwarp();  // expect: barrier-divergence
    out[t] = s[15 - t];
  }
}

// Each half has its own barrier, but the data crosses from one half to the other.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void halves_with_masks_crossing(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;  // expect: data-race intra-warp with +2
  __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
  out[t] = s[31 - t];
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void halves_with_masks(int *out) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
  out[t] = s[t ^ 15];
}

// Shuffles exchange registers; they do not order memory.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void shuffle_is_no_barrier(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;  // expect: data-race intra-warp with +2
  int v = __shfl_xor_sync(0xffffffff, t, 1);
  out[t] = s[31 - t] + v;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void group_block_sync(int *out) {  // expect: race-free
  __shared__ int s[64];
  cg::thread_block block = cg::this_thread_block();
  int t = block.thread_rank();
  s[t] = t;
  block.sync();
  out[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void group_free_function(int *out) {  // expect: race-free
  __shared__ int s[64];
  cg::thread_block block = cg::this_thread_block();
  int t = threadIdx.x;
  s[t] = t;
  cg::sync(block);
  out[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void tile_of_32(int *out) {  // expect: race-free
  __shared__ int s[64];
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int t = threadIdx.x;
  s[t] = t;
  tile.sync();
  out[t] = s[t ^ 16];
}

// A tile of 8 threads is too small for an exchange over 8.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void tile_of_8_reaching_out(int *out) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int t = threadIdx.x;
  s[t] = t;  // expect: data-race intra-warp with +2, fix: yes
  tile.sync();
  out[t] = s[t ^ 8];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void tile_of_8(int *out) {  // expect: race-free
  __shared__ int s[64];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int t = threadIdx.x;
  s[t] = t;
  tile.sync();
  out[t] = s[t ^ 7];
}

// A reduction over a tile with the group's own shuffles and rank.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void tile_reduction(const int *in, int *out) {  // expect: race-free
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int v = in[threadIdx.x];
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
  if (tile.thread_rank() == 0) out[threadIdx.x / 16] = v;
}

// A grid-wide barrier orders the blocks; the launch is cooperative.
__global__ void grid_barrier(int *a, int *out) {  // expect: race-free
  cg::grid_group grid = cg::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;
  grid.sync();
  out[i] = a[127 - i];
}

void launch_grid_barrier(int *a, int *out) {
  void *arguments[] = {&a, &out};
  cudaLaunchCooperativeKernel((void *)grid_barrier, dim3(2), dim3(64), arguments);
}

// Threads that have returned count as arrived, the first one of a block does not: it arrives for the block.
__global__ void grid_barrier_behind_a_return(int *a, int *out) {
  cg::grid_group grid = cg::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 100) return;
  a[i] = i;
  grid.sync();  // expect: barrier-after-exit
  out[i] = a[99 - i];
}

__global__ void grid_barrier_that_a_block_misses(int *a, int *out) {
  cg::grid_group grid = cg::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 64) return;
  a[i] = i;
  grid.sync();  // expect: barrier-divergence
  out[i] = a[63 - i];
}

__global__ void grid_barrier_without_the_first_threads(int *a, int *out) {
  cg::grid_group grid = cg::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) return;
  a[i] = i;
  grid.sync();  // expect: barrier-divergence
  out[i] = a[127 - i];
}

void launch_grid_barriers_behind_returns(int *a, int *out) {
  void *arguments[] = {&a, &out};
  cudaLaunchCooperativeKernel((void *)grid_barrier_behind_a_return, dim3(2), dim3(64), arguments);
  cudaLaunchCooperativeKernel((void *)grid_barrier_that_a_block_misses, dim3(2), dim3(64), arguments);
  cudaLaunchCooperativeKernel((void *)grid_barrier_without_the_first_threads, dim3(2), dim3(64), arguments);
}

// With a block barrier in its place the blocks meet.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void block_barrier_for_a_grid(int *a, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;  // expect: data-race inter-block with +2, fix: no
  __syncthreads();
  out[i] = a[127 - i];
}

// A barrier in a function that all threads call.
__device__ void exchange(int *s, int t, int *out) {
  s[t] = t;
  __syncthreads();
  out[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_in_a_function(int *out) {  // expect: race-free
  __shared__ int s[64];
  exchange(s, threadIdx.x, out);
}

// A vote of all lanes is one answer for the warp.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void vote_decides(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  while (__any_sync(~0u, in[blockIdx.x * 64 + t] > s[t])) {
    s[t] += 1;
    __syncwarp();
    out[blockIdx.x * 64 + t] = s[t ^ 1];
    __syncwarp();
  }
}

// A vote of half the lanes is not.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void half_a_vote_decides(int *out) {
  unsigned half = threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u;
  int v = __any_sync(half, threadIdx.x % 32 == 3);
  if (v) __syncwarp();  // expect: barrier-divergence
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// Lane 0 says how often.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void lane_zero_counts(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  int n = __shfl_sync(~0u, in[blockIdx.x * 64 + t], 0);
  for (int i = 0; i < n; ++i) {
    s[t] = i;
    __syncwarp();
    out[blockIdx.x * 64 + t] = s[t ^ 1];
    __syncwarp();
  }
}

// Every lane asks its own neighbour.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void neighbour_counts(int *out) {
  int n = __shfl_sync(~0u, threadIdx.x, (threadIdx.x + 1) % 32);
  for (int i = 0; i < n; ++i) __syncwarp();  // expect: barrier-divergence
  out[blockIdx.x * 64 + threadIdx.x] = n;
}
