// Kernels written with cooperative groups.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

// Tiles first, then one warp for all of them.
// cuda-lsp: launch grid=(8) block=(256) n=100000
__global__ void tile_reduce(const float *in, float *out, unsigned n) {  // expect: race-free
  __shared__ float partial[8];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  float sum = 0.f;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int d = tile.size() / 2; d > 0; d >>= 1) sum += tile.shfl_down(sum, d);
  if (tile.thread_rank() == 0) partial[tile.meta_group_rank()] = sum;
  cg::sync(block);
  if (tile.meta_group_rank() == 0) {
    sum = tile.thread_rank() < tile.meta_group_size() ? partial[tile.thread_rank()] : 0.f;
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0) out[blockIdx.x] = sum;
  }
}

// cuda-lsp: launch grid=(8) block=(256) n=100000
__global__ void tile_reduce_racy(const float *in, float *out, unsigned n) {
  __shared__ float partial[8];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  float sum = 0.f;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int d = tile.size() / 2; d > 0; d >>= 1) sum += tile.shfl_down(sum, d);
  if (tile.thread_rank() == 0) partial[tile.meta_group_rank()] = sum;  // expect: data-race intra-block with +3
  cg::sync(tile);
  if (tile.meta_group_rank() == 0) {
    sum = tile.thread_rank() < tile.meta_group_size() ? partial[tile.thread_rank()] : 0.f;
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0) out[blockIdx.x] = sum;
  }
}

// Grid sync: iterate a jacobi stencil in one kernel.
__global__ void jacobi(float *a, float *b, int n, int iterations) {  // expect: race-free
  cg::grid_group grid = cg::this_grid();
  for (int it = 0; it < iterations; ++it) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
      if (i > 0 && i < n - 1) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    }
    grid.sync();
    float *tmp = a; a = b; b = tmp;
  }
}

void run_g_jacobi(float *a, float *b, int n, int it) {
  void *args[] = {&a, &b, &n, &it};
  cudaLaunchCooperativeKernel((void *)jacobi, dim3(32), dim3(256), args, 0, 0);
}

__global__ void jacobi_racy(float *a, float *b, int n, int iterations) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  for (int it = 0; it < iterations; ++it) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
      if (i > 0 && i < n - 1) b[i] = 0.5f * (a[i - 1] + a[i + 1]);  // expect: data-race inter-block with self
    }
    block.sync();
    float *tmp = a; a = b; b = tmp;
  }
}

void run_b_jacobi(float *a, float *b, int n, int it) {
  void *args[] = {&a, &b, &n, &it};
  cudaLaunchCooperativeKernel((void *)jacobi_racy, dim3(32), dim3(256), args, 0, 0);
}

// One sum of the whole grid.
__device__ void sum_of_block(double *s, const cg::thread_block &block) {
  const unsigned int tid = block.thread_rank();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  s[tid] = cg::reduce(warp, s[tid], cg::plus<double>());
  cg::sync(block);
  double total = 0.0;
  if (block.thread_rank() == 0) {
    total = 0;
    for (int i = 0; i < blockDim.x; i += warp.size()) total += s[i];
    s[0] = total;
  }
  cg::sync(block);
}

__global__ void sum_of_grid(const float *in, float *out, unsigned int n) {  // expect: race-free
  cg::thread_block block = cg::this_thread_block();
  cg::grid_group grid = cg::this_grid();
  extern double __shared__ s[];
  s[block.thread_rank()] = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) s[block.thread_rank()] += in[i];
  cg::sync(block);
  sum_of_block(s, block);
  if (block.thread_rank() == 0) out[blockIdx.x] = s[0];
  cg::sync(grid);
  if (grid.thread_rank() == 0) {
    for (int b = 1; b < gridDim.x; b++) out[0] += out[b];
  }
}

void run_reduce(const float *i, float *o, unsigned n) {
  void *args[] = {&i, &o, &n};
  cudaLaunchCooperativeKernel((void *)sum_of_grid, dim3(32), dim3(256), args, 256 * sizeof(double), 0);
}

// Tile of 16 with shared scratch per tile.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void tile16_scratch(const int *in, int *out) {  // expect: race-free
  __shared__ int scratch[128];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int *mine = scratch + tile.meta_group_rank() * 16;
  mine[tile.thread_rank()] = in[blockIdx.x * 128 + block.thread_rank()];
  for (int s = tile.size() / 2; s > 0; s /= 2) {
    tile.sync();
    if (tile.thread_rank() < s) mine[tile.thread_rank()] += mine[tile.thread_rank() + s];
  }
  if (tile.thread_rank() == 0) out[blockIdx.x * 8 + tile.meta_group_rank()] = mine[0];
}

// cuda-lsp: launch grid=(8) block=(128)
__global__ void tile16_scratch_racy(const int *in, int *out) {
  __shared__ int scratch[128];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int *mine = scratch + tile.meta_group_rank() * 16;
  mine[tile.thread_rank()] = in[blockIdx.x * 128 + block.thread_rank()];
  tile.sync();
  for (int s = tile.size() / 2; s > 0; s /= 2) {
    if (tile.thread_rank() < s) mine[tile.thread_rank()] += mine[tile.thread_rank() + s];  // expect: data-race intra-warp with self
  }
  if (tile.thread_rank() == 0) out[blockIdx.x * 8 + tile.meta_group_rank()] = mine[0];
}

// Dynamic tiled partition through a thread_group parameter.
__device__ int sum_over(cg::thread_group g, int *temp, int val) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    temp[lane] = val;
    g.sync();
    if (lane < i) val += temp[lane + i];
    g.sync();
  }
  return val;
}

// cuda-lsp: launch grid=(8) block=(256)
__global__ void sum_by_group(int *sum, const int *input) {  // expect: race-free
  __shared__ int temp[256];
  auto g = cg::this_thread_block();
  int v = input[blockIdx.x * blockDim.x + threadIdx.x];
  int block_sum = sum_over(g, temp, v);
  if (g.thread_rank() == 0) atomicAdd(sum, block_sum);
}

// cuda-lsp: launch grid=(8) block=(256)
__global__ void sum_by_run_time_tile(int *sum, const int *input) {  // expect: race-free
  __shared__ int temp[256];
  auto g = cg::this_thread_block();
  auto tile = cg::tiled_partition(g, 32);
  int v = input[blockIdx.x * blockDim.x + threadIdx.x];
  int *mine = &temp[(g.thread_rank() / 32) * 32];
  int tile_sum = sum_over(tile, mine, v);
  if (tile.thread_rank() == 0) atomicAdd(sum, tile_sum);
}

// Nested: tile4 of warp.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void nested_tile(const float4 *in, float *out) {  // expect: race-free
  __shared__ float s[64];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto tile4 = cg::tiled_partition<4>(warp);
  float4 v = in[blockIdx.x * 64 + threadIdx.x];
  s[threadIdx.x] = v.x + v.y + v.z + v.w;
  tile4.sync();
  if (tile4.thread_rank() == 0) {
    float acc = 0;
    for (int i = 0; i < 4; ++i) acc += s[threadIdx.x + i];
    out[blockIdx.x * 16 + warp.meta_group_rank() * 8 + tile4.meta_group_rank()] = acc;
  }
}

// Binary / labeled partitions.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void binary_partition(const int *in, int *odd, int *even) {  // expect: race-free
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int v = in[blockIdx.x * 64 + threadIdx.x];
  auto sub = cg::binary_partition(tile, v & 1);
  if (v & 1) {
    int s = cg::reduce(sub, v, cg::plus<int>());
    if (sub.thread_rank() == 0) atomicAdd(odd, s);
  } else {
    int s = cg::reduce(sub, v, cg::plus<int>());
    if (sub.thread_rank() == 0) atomicAdd(even, s);
  }
}
