// Halves of barriers, barriers in memory taken in turn, groups inside groups.

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <utility>
namespace cg = cooperative_groups;

// Arrival and wait of a block group.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void block_halves(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  auto block = cg::this_thread_block();
  s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  auto token = block.barrier_arrive();
  int own = in[blockIdx.x * 64 + threadIdx.x] * 2;
  block.barrier_wait(std::move(token));
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x] + own;
}

// The store comes after the arrival.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void block_halves_racy(const int *in, int *out) {
  __shared__ int s[64];
  auto block = cg::this_thread_block();
  auto token = block.barrier_arrive();
  s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];  // expect: data-race intra-block with +2
  block.barrier_wait(std::move(token));
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

// Work on an own cell between the halves.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void own_cell_between(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64], private_cell[64];
  auto block = cg::this_thread_block();
  s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  auto token = block.barrier_arrive();
  private_cell[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x] * 2;
  block.barrier_wait(std::move(token));
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x] + private_cell[threadIdx.x];
}

// Two barriers in memory taken in turn.
// cuda-lsp: launch grid=(2) block=(128) n=16
__global__ void two_in_turn(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float s[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
  if (threadIdx.x == 0) {
    init(&full, blockDim.x);
    init(&empty, blockDim.x);
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    s[threadIdx.x] = in[(blockIdx.x * n + k) * 128 + threadIdx.x];
    full.arrive_and_wait();
    sum += s[127 - threadIdx.x];
    empty.arrive_and_wait();
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}

// Two buffers need one barrier for each round.
// cuda-lsp: launch grid=(2) block=(128) n=16
__global__ void two_buffers(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float s[2][128];
  __shared__ cuda::barrier<cuda::thread_scope_block> full;
  if (threadIdx.x == 0) init(&full, blockDim.x);
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    s[k % 2][threadIdx.x] = in[(blockIdx.x * n + k) * 128 + threadIdx.x];
    full.arrive_and_wait();
    sum += s[k % 2][127 - threadIdx.x];
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}

// An operation given as a template argument.
typedef float (*Operation)(float, float);
__device__ float larger(float a, float b) { return a > b ? a : b; }
template <Operation F> __global__ void folded(const float *in, float *out) {  // expect: race-free
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k) s[t] = F(s[t], s[t + k]);
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

void fold(const float *in, float *out) { folded<larger><<<32, 256>>>(in, out); }
// A tile of four inside a tile of 16.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void tile_of_a_tile(const float *in, float *out) {  // expect: race-free
  auto wide = cg::tiled_partition<16>(cg::this_thread_block());
  auto narrow = cg::tiled_partition<4>(wide);
  float v = in[blockIdx.x * 64 + threadIdx.x];
  v += narrow.shfl_xor(v, 1);
  v += narrow.shfl_xor(v, 2);
  if (narrow.thread_rank() == 0) out[blockIdx.x * 16 + wide.meta_group_rank() * 4 + narrow.meta_group_rank()] = v;
}

// Rows of a matrix by warps, columns by lanes.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void rows_by_warps(const float *in, float *out) {  // expect: race-free
  __shared__ float s[4][33];
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  s[warp][lane] = in[blockIdx.x * 128 + threadIdx.x];
  __syncwarp();
  out[blockIdx.x * 128 + threadIdx.x] = s[warp][lane ^ 1] - s[warp][31 - lane];
}

// The last warp may be short.
// cuda-lsp: launch grid=(4) block=(96) n=300
__global__ void short_tail(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float s[96];
  int i = blockIdx.x * 96 + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  if (i < n) out[i] = s[threadIdx.x] + (threadIdx.x > 0 ? s[threadIdx.x - 1] : 0.0f);
}
