// Matrix fragments (wmma): which lane moves which row is not said, so that a row read by a warp is read by any lane.
#include <mma.h>
using namespace nvcuda;
using Row = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using Column = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// Each warp multiplies a tile of its own.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void tile_by_warp(const half *in, float *out) {  // expect: race-free
  __shared__ half s[2][256];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = lane; i < 256; i += 32) s[w][i] = in[(blockIdx.x * 2 + w) * 256 + i];
  __syncwarp();
  Row a;
  Column b;
  Sum c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, &s[w][0], 16);
  wmma::load_matrix_sync(b, &s[w][0], 16);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(out + (blockIdx.x * 2 + w) * 256, c, 16, wmma::mem_row_major);
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void no_barrier_before_the_load(const half *in, float *out) {
  __shared__ half s[2][256];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = lane; i < 256; i += 32) s[w][i] = in[(blockIdx.x * 2 + w) * 256 + i];  // expect: data-race intra-warp with +2
  Row a;
  wmma::load_matrix_sync(a, &s[w][0], 16);
  out[blockIdx.x * 64 + threadIdx.x] = a.x[0];
}

// Lane i writes row i: what it holds goes to other lanes all the same.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void row_by_lane(const half *in, float *out) {
  __shared__ half s[256];
  for (int i = 0; i < 16; ++i)
    if (threadIdx.x < 16) s[threadIdx.x * 16 + i] = in[i];  // expect: data-race intra-warp with +2
  Row a;
  wmma::load_matrix_sync(a, s, 16);
  out[blockIdx.x * 32 + threadIdx.x] = a.x[0];
}

// cuda-lsp: launch grid=(4) block=(32)
__global__ void read_behind_the_store(float *out) {
  __shared__ float s[256];
  Sum c;
  wmma::fill_fragment(c, 0.0f);
  wmma::store_matrix_sync(s, c, 16, wmma::mem_row_major);  // expect: data-race intra-warp with +1
  if (threadIdx.x < 16) out[blockIdx.x * 16 + threadIdx.x] = s[threadIdx.x * 16];
}

// Two warps store to one tile.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void one_tile_two_warps(float *out) {
  __shared__ float s[256];
  Sum c;
  wmma::fill_fragment(c, 0.0f);
  wmma::store_matrix_sync(s, c, 16, wmma::mem_row_major);  // expect: data-race intra-block with self
}

// The last row of one warp is the first of the other.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void tiles_overlap_by_a_row(float *out) {
  __shared__ float s[512];
  int w = threadIdx.x / 32;
  Sum c;
  wmma::fill_fragment(c, 0.0f);
  wmma::store_matrix_sync(s + w * 240, c, 16, wmma::mem_row_major);  // expect: data-race intra-block with self
}

// Side by side in rows of 32.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void tiles_side_by_side(float *out) {  // expect: race-free
  __shared__ float s[512];
  int w = threadIdx.x / 32;
  Sum c;
  wmma::fill_fragment(c, 0.0f);
  wmma::store_matrix_sync(s + w * 16, c, 32, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < 512; i += 64) out[blockIdx.x * 512 + i] = s[i];
}

// cuda-lsp: launch grid=(4) block=(32)
__global__ void row_by_lane_and_barrier(const half *in, float *out) {  // expect: race-free
  __shared__ half s[256];
  for (int i = 0; i < 16; ++i)
    if (threadIdx.x < 16) s[threadIdx.x * 16 + i] = in[i];
  __syncwarp();
  Row a;
  wmma::load_matrix_sync(a, s, 16);
  out[blockIdx.x * 32 + threadIdx.x] = a.x[0];
}

// cuda-lsp: launch grid=(4) block=(32)
__global__ void read_behind_the_barrier(float *out) {  // expect: race-free
  __shared__ float s[256];
  Sum c;
  wmma::fill_fragment(c, 0.0f);
  wmma::store_matrix_sync(s, c, 16, wmma::mem_row_major);
  __syncwarp();
  if (threadIdx.x < 16) out[blockIdx.x * 16 + threadIdx.x] = s[threadIdx.x * 16];
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void tile_below_tile(float *out) {  // expect: race-free
  __shared__ float s[512];
  int w = threadIdx.x / 32;
  Sum c;
  wmma::fill_fragment(c, 0.0f);
  wmma::store_matrix_sync(s + w * 256, c, 16, wmma::mem_col_major);
  __syncthreads();
  for (int i = threadIdx.x; i < 512; i += 64) out[blockIdx.x * 512 + i] = s[i];
}

// Of one warp only.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void one_tile_one_warp(float *out) {  // expect: race-free
  __shared__ float s[256];
  Sum c;
  wmma::fill_fragment(c, 0.0f);
  if (threadIdx.x < 32) wmma::store_matrix_sync(s, c, 16, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 64) out[blockIdx.x * 256 + i] = s[i];
}

// Rows of the whole matrix, whose size the host gives: lines do not meet where 32 bits wrap around.
__global__ void tile_of_a_large_matrix(float *out, int n) {  // expect: race-free
  Sum c;
  wmma::fill_fragment(c, 0.0f);
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  wmma::store_matrix_sync(out + row * n + column, c, n, wmma::mem_row_major);
}

void store_tiles(float *out, int m, int n) { tile_of_a_large_matrix<<<dim3(n / 16, m / 16), 32>>>(out, n); }
