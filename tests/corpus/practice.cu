// Kernels of kinds that are written every day, each with a twin that has a mistake of every day.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>
#include <cub/cub.cuh>
#include <cfloat>
namespace cg = cooperative_groups;

struct Welford {
  float mean, m2, n;
};

__device__ Welford combine(Welford a, Welford b) {
  if (b.n == 0) return a;
  float n = a.n + b.n, d = b.mean - a.mean;
  return {a.mean + d * b.n / n, a.m2 + b.m2 + d * d * a.n * b.n / n, n};
}

__device__ Welford warp_combine(Welford w) {
  for (int o = 16; o; o >>= 1) {
    Welford other{__shfl_xor_sync(~0u, w.mean, o), __shfl_xor_sync(~0u, w.m2, o), __shfl_xor_sync(~0u, w.n, o)};
    w = combine(w, other);
  }
  return w;
}

__constant__ float mask[25];

struct MD {
  float m, d;
};

__device__ MD join(MD a, MD b) {
  bool big = a.m > b.m;
  MD hi = big ? a : b, lo = big ? b : a;
  return {hi.m, hi.d + lo.d * expf(lo.m - hi.m)};
}

// Layer norm: mean and variance joined by shuffles, then through shared memory.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void layer_norm(const float *x, const float *g, const float *b, float *y, int cols) {  // expect: race-free
  __shared__ Welford part[32];
  __shared__ float stats[2];
  const float *row = x + (size_t)blockIdx.x * cols;
  Welford w{0, 0, 0};
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    float d = row[i] - w.mean;
    w.n += 1; w.mean += d / w.n; w.m2 += d * (row[i] - w.mean);
  }
  w = warp_combine(w);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) part[warp] = w;
  __syncthreads();
  if (warp == 0) {
    w = lane < (blockDim.x + 31) / 32 ? part[lane] : Welford{0, 0, 0};
    w = warp_combine(w);
    if (lane == 0) { stats[0] = w.mean; stats[1] = rsqrtf(w.m2 / cols + 1e-5f); }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    y[(size_t)blockIdx.x * cols + i] = (row[i] - stats[0]) * stats[1] * g[i] + b[i];
}

// The threads of other warps may read the statistics too early.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void layer_norm_racy(const float *x, const float *g, const float *b, float *y, int cols) {
  __shared__ Welford part[32];
  __shared__ float stats[2];
  const float *row = x + (size_t)blockIdx.x * cols;
  Welford w{0, 0, 0};
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    float d = row[i] - w.mean;
    w.n += 1; w.mean += d / w.n; w.m2 += d * (row[i] - w.mean);
  }
  w = warp_combine(w);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) part[warp] = w;
  __syncthreads();
  if (warp == 0) {
    w = lane < (blockDim.x + 31) / 32 ? part[lane] : Welford{0, 0, 0};
    w = warp_combine(w);
    if (lane == 0) { stats[0] = w.mean; stats[1] = rsqrtf(w.m2 / cols + 1e-5f); }  // expect: data-race intra-block with +3
  }
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    y[(size_t)blockIdx.x * cols + i] = (row[i] - stats[0]) * stats[1] * g[i] + b[i];
}

// The largest K of a row by a warp: one lane inserts what the others found.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void topk(const float *x, float *vals, int *idx, int n, int rows) {  // expect: race-free
  __shared__ float sv[8][16];
  __shared__ int si[8][16];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * 8 + warp;
  if (row >= rows) return;
  for (int i = lane; i < 16; i += 32) { sv[warp][i] = -FLT_MAX; si[warp][i] = -1; }
  __syncwarp();
  for (int base = 0; base < n; base += 32) {
    float v = base + lane < n ? x[(size_t)row * n + base + lane] : -FLT_MAX;
    unsigned want = __ballot_sync(~0u, v > sv[warp][16 - 1]);
    __syncwarp();
    while (want) {
      int src = __ffs(want) - 1;
      want &= want - 1;
      float c = __shfl_sync(~0u, v, src);
      if (lane == 0) {
        int p = 16 - 1;
        while (p > 0 && sv[warp][p - 1] < c) { sv[warp][p] = sv[warp][p - 1]; si[warp][p] = si[warp][p - 1]; --p; }
        sv[warp][p] = c; si[warp][p] = base + src;
      }
      __syncwarp();
    }
  }
  for (int i = lane; i < 16; i += 32) { vals[(size_t)row * 16 + i] = sv[warp][i]; idx[(size_t)row * 16 + i] = si[warp][i]; }
}

// The lanes go on while one of them still inserts.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void topk_racy(const float *x, float *vals, int *idx, int n, int rows) {
  __shared__ float sv[8][16];
  __shared__ int si[8][16];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * 8 + warp;
  if (row >= rows) return;
  for (int i = lane; i < 16; i += 32) { sv[warp][i] = -FLT_MAX; si[warp][i] = -1; }
  __syncwarp();
  for (int base = 0; base < n; base += 32) {
    float v = base + lane < n ? x[(size_t)row * n + base + lane] : -FLT_MAX;
    unsigned want = __ballot_sync(~0u, v > sv[warp][16 - 1]);  // expect: possible-data-race intra-warp with +8; possible-data-race intra-warp with +9
    __syncwarp();
    while (want) {
      int src = __ffs(want) - 1;
      want &= want - 1;
      float c = __shfl_sync(~0u, v, src);
      if (lane == 0) {
        int p = 16 - 1;
        while (p > 0 && sv[warp][p - 1] < c) { sv[warp][p] = sv[warp][p - 1]; si[warp][p] = si[warp][p - 1]; --p; }  // expect: possible-data-race intra-warp with +5
        sv[warp][p] = c; si[warp][p] = base + src;  // expect: possible-data-race intra-warp with +4
      }
    }
  }
  for (int i = lane; i < 16; i += 32) { vals[(size_t)row * 16 + i] = sv[warp][i]; idx[(size_t)row * 16 + i] = si[warp][i]; }
}

// Seven points, plane by plane, with a halo.
// cuda-lsp: launch grid=(4,4) block=(32,16) nx=128 ny=64
__global__ void stencil3d(const float *in, float *out, int nx, int ny, int nz) {  // expect: race-free
  __shared__ float s[18][34];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 16 + ty;
  bool inside = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
  size_t plane = (size_t)nx * ny, at = (size_t)y * nx + x;
  float below = inside ? in[at] : 0, here = inside ? in[at + plane] : 0;
  for (int z = 1; z < nz - 1; ++z) {
    float above = inside ? in[at + (z + 1) * plane] : 0;
    s[ty + 1][tx + 1] = here;
    if (tx == 0 && x > 0) s[ty + 1][0] = in[at + z * plane - 1];
    if (tx == 31 && x < nx - 1) s[ty + 1][33] = in[at + z * plane + 1];
    if (ty == 0 && y > 0) s[0][tx + 1] = in[at + z * plane - nx];
    if (ty == 15 && y < ny - 1) s[17][tx + 1] = in[at + z * plane + nx];
    __syncthreads();
    if (inside) out[at + z * plane] = s[ty][tx + 1] + s[ty + 2][tx + 1] + s[ty + 1][tx] + s[ty + 1][tx + 2] + above + below - 6 * here;
    __syncthreads();
    below = here; here = above;
  }
}

// The next plane overwrites the tile while some still read it.
// cuda-lsp: launch grid=(4,4) block=(32,16) nx=128 ny=64
__global__ void stencil3d_racy(const float *in, float *out, int nx, int ny, int nz) {
  __shared__ float s[18][34];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 16 + ty;
  bool inside = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
  size_t plane = (size_t)nx * ny, at = (size_t)y * nx + x;
  float below = inside ? in[at] : 0, here = inside ? in[at + plane] : 0;
  for (int z = 1; z < nz - 1; ++z) {
    float above = inside ? in[at + (z + 1) * plane] : 0;
    s[ty + 1][tx + 1] = here;  // expect: data-race intra-block with +6; data-race intra-warp with +6
    if (tx == 0 && x > 0) s[ty + 1][0] = in[at + z * plane - 1];
    if (tx == 31 && x < nx - 1) s[ty + 1][33] = in[at + z * plane + 1];
    if (ty == 0 && y > 0) s[0][tx + 1] = in[at + z * plane - nx];
    if (ty == 15 && y < ny - 1) s[17][tx + 1] = in[at + z * plane + nx];
    __syncthreads();
    if (inside) out[at + z * plane] = s[ty][tx + 1] + s[ty + 2][tx + 1] + s[ty + 1][tx] + s[ty + 1][tx + 2] + above + below - 6 * here;
    below = here; here = above;
  }
}

// Convolution with a constant mask: a tile with its border.
// cuda-lsp: launch grid=(4,4) block=(20,20)
__global__ void conv(const float *in, float *out, int w, int h) {  // expect: race-free
  __shared__ float s[20][20];
  int ox = blockIdx.x * 16 + threadIdx.x, oy = blockIdx.y * 16 + threadIdx.y, ix = ox - 2, iy = oy - 2;
  s[threadIdx.y][threadIdx.x] = ix >= 0 && iy >= 0 && ix < w && iy < h ? in[iy * w + ix] : 0;
  __syncthreads();
  if (threadIdx.x < 16 && threadIdx.y < 16 && ox < w && oy < h) {
    float sum = 0;
    for (int i = 0; i < 5; ++i) for (int j = 0; j < 5; ++j) sum += mask[i * 5 + j] * s[threadIdx.y + i][threadIdx.x + j];
    out[oy * w + ox] = sum;
  }
}

// The tile is read before it is complete.
// cuda-lsp: launch grid=(4,4) block=(20,20)
__global__ void conv_racy(const float *in, float *out, int w, int h) {
  __shared__ float s[20][20];
  int ox = blockIdx.x * 16 + threadIdx.x, oy = blockIdx.y * 16 + threadIdx.y, ix = ox - 2, iy = oy - 2;
  s[threadIdx.y][threadIdx.x] = ix >= 0 && iy >= 0 && ix < w && iy < h ? in[iy * w + ix] : 0;  // expect: data-race intra-block with +3
  if (threadIdx.x < 16 && threadIdx.y < 16 && ox < w && oy < h) {
    float sum = 0;
    for (int i = 0; i < 5; ++i) for (int j = 0; j < 5; ++j) sum += mask[i * 5 + j] * s[threadIdx.y + i][threadIdx.x + j];
    out[oy * w + ox] = sum;
  }
}

// Softmax in one pass, maximum and sum together.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void softmax(const float *x, float *y, int n) {  // expect: race-free
  __shared__ MD total;
  using Reduce = cub::BlockReduce<MD, 256>;
  __shared__ typename Reduce::TempStorage temp;
  x += (size_t)blockIdx.x * n; y += (size_t)blockIdx.x * n;
  MD part{-FLT_MAX, 0};
  for (int i = threadIdx.x; i < n; i += 256) part = join(part, MD{x[i], 1});
  MD all = Reduce(temp).Reduce(part, join);
  if (threadIdx.x == 0) total = all;
  __syncthreads();
  float inv = 1 / total.d;
  for (int i = threadIdx.x; i < n; i += 256) y[i] = expf(x[i] - total.m) * inv;
}

// The result of the block is read before it is there.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void softmax_racy(const float *x, float *y, int n) {
  __shared__ MD total;
  using Reduce = cub::BlockReduce<MD, 256>;
  __shared__ typename Reduce::TempStorage temp;
  x += (size_t)blockIdx.x * n; y += (size_t)blockIdx.x * n;
  MD part{-FLT_MAX, 0};
  for (int i = threadIdx.x; i < n; i += 256) part = join(part, MD{x[i], 1});
  MD all = Reduce(temp).Reduce(part, join);
  if (threadIdx.x == 0) total = all;  // expect: data-race intra-block with +1; data-race intra-block with +2
  float inv = 1 / total.d;
  for (int i = threadIdx.x; i < n; i += 256) y[i] = expf(x[i] - total.m) * inv;
}

// Transpose through a swizzled tile.
// cuda-lsp: launch grid=(4,4) block=(32,8)
__global__ void transpose(const float *in, float *out, int w, int h) {  // expect: race-free
  __shared__ float t[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (x < w && y + j < h) t[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = in[(size_t)(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (x < h && y + j < w) out[(size_t)(y + j) * h + x] = t[threadIdx.x][threadIdx.x ^ (threadIdx.y + j)];
}

// A barrier of the warp does not wait for the rows of others.
// cuda-lsp: launch grid=(4,4) block=(32,8)
__global__ void transpose_racy(const float *in, float *out, int w, int h) {
  __shared__ float t[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (x < w && y + j < h) t[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = in[(size_t)(y + j) * w + x];  // expect: data-race intra-block with +3
  __syncwarp();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (x < h && y + j < w) out[(size_t)(y + j) * h + x] = t[threadIdx.x][threadIdx.x ^ (threadIdx.y + j)];
}

// Tiles in two buffers, copied while the others are multiplied.
// cuda-lsp: launch grid=(4,4) block=(8,32) n=128
__global__ void gemm(const float *A, const float *B, float *C, int n) {  // expect: race-free
  __shared__ __align__(16) float a[2][32][32], b[2][32][32];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32, col = blockIdx.x * 32, t = ty * 8 + tx;
  int r = t / 8, c = t % 8 * 4;
  float acc[4] = {0, 0, 0, 0};
  auto load = [&](int stage, int k) {
    __pipeline_memcpy_async(&a[stage][r][c], &A[(row + r) * n + k + c], 16);
    __pipeline_memcpy_async(&b[stage][r][c], &B[(k + r) * n + col + c], 16);
    __pipeline_commit();
  };
  load(0, 0);
  int stage = 0;
  for (int k = 0; k < n; k += 32) {
    if (k + 32 < n) { load(stage ^ 1, k + 32); __pipeline_wait_prior(1); }
    else __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = 0; i < 32; ++i) for (int j = 0; j < 4; ++j) acc[j] += a[stage][ty][i] * b[stage][i][tx * 4 + j];
    __syncthreads();
    stage ^= 1;
  }
  for (int j = 0; j < 4; ++j) C[(row + ty) * n + col + tx * 4 + j] = acc[j];
}

// The copy behind the next overwrites tiles that some still multiply.
// cuda-lsp: launch grid=(4,4) block=(8,32) n=128
__global__ void gemm_racy(const float *A, const float *B, float *C, int n) {
  __shared__ __align__(16) float a[2][32][32], b[2][32][32];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32, col = blockIdx.x * 32, t = ty * 8 + tx;
  int r = t / 8, c = t % 8 * 4;
  float acc[4] = {0, 0, 0, 0};
  auto load = [&](int stage, int k) {
    __pipeline_memcpy_async(&a[stage][r][c], &A[(row + r) * n + k + c], 16);  // expect: data-race intra-warp with +10
    __pipeline_memcpy_async(&b[stage][r][c], &B[(k + r) * n + col + c], 16);  // expect: data-race intra-block with +9
    __pipeline_commit();
  };
  load(0, 0);
  int stage = 0;
  for (int k = 0; k < n; k += 32) {
    if (k + 32 < n) { load(stage ^ 1, k + 32); __pipeline_wait_prior(1); }
    else __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = 0; i < 32; ++i) for (int j = 0; j < 4; ++j) acc[j] += a[stage][ty][i] * b[stage][i][tx * 4 + j];
    stage ^= 1;
  }
  for (int j = 0; j < 4; ++j) C[(row + ty) * n + col + tx * 4 + j] = acc[j];
}

// Reduction by groups.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void cg_sum(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float part[32];
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  float v = 0;
  for (int i = block.group_index().x * block.size() + block.thread_rank(); i < n; i += gridDim.x * block.size()) v += in[i];
  v = cg::reduce(warp, v, cg::plus<float>());
  if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = v;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    v = warp.thread_rank() < warp.meta_group_size() ? part[warp.thread_rank()] : 0;
    v = cg::reduce(warp, v, cg::plus<float>());
    if (warp.thread_rank() == 0) atomicAdd(out, v);
  }
}

// A barrier of the warp is no barrier of the block.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void cg_sum_racy(const float *in, float *out, int n) {
  __shared__ float part[32];
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  float v = 0;
  for (int i = block.group_index().x * block.size() + block.thread_rank(); i < n; i += gridDim.x * block.size()) v += in[i];
  v = cg::reduce(warp, v, cg::plus<float>());
  if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = v;  // expect: data-race intra-block with +3
  warp.sync();
  if (warp.meta_group_rank() == 0) {
    v = warp.thread_rank() < warp.meta_group_size() ? part[warp.thread_rank()] : 0;
    v = cg::reduce(warp, v, cg::plus<float>());
    if (warp.thread_rank() == 0) atomicAdd(out, v);
  }
}

// Sums and counts of clusters, private to each block first.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void kmeans(const float *pts, const int *label, float *sums, int *counts, int n, int k, int d) {  // expect: race-free
  extern __shared__ float s[];
  int *c = (int *)(s + k * d);
  for (int i = threadIdx.x; i < k * d; i += blockDim.x) s[i] = 0;
  for (int i = threadIdx.x; i < k; i += blockDim.x) c[i] = 0;
  __syncthreads();
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p < n) {
    int l = label[p];
    for (int j = 0; j < d; ++j) atomicAdd(&s[l * d + j], pts[p * d + j]);
    atomicAdd(&c[l], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < k * d; i += blockDim.x) atomicAdd(&sums[i], s[i]);
  for (int i = threadIdx.x; i < k; i += blockDim.x) atomicAdd(&counts[i], c[i]);
}

// Two points of one cluster add to one sum.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void kmeans_racy(const float *pts, const int *label, float *sums, int *counts, int n, int k, int d) {  // expect: unknown(not-examined)
  extern __shared__ float s[];
  int *c = (int *)(s + k * d);
  for (int i = threadIdx.x; i < k * d; i += blockDim.x) s[i] = 0;
  for (int i = threadIdx.x; i < k; i += blockDim.x) c[i] = 0;
  __syncthreads();
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p < n) {
    int l = label[p];
    for (int j = 0; j < d; ++j) s[l * d + j] += pts[p * d + j];  // expect: possible-data-race intra-block with self; possible-data-race intra-block with +1
    atomicAdd(&c[l], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < k * d; i += blockDim.x) atomicAdd(&sums[i], s[i]);
  for (int i = threadIdx.x; i < k; i += blockDim.x) atomicAdd(&counts[i], c[i]);
}

// Bodies in tiles.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void nbody(const float4 *pos, float4 *vel, int n) {  // expect: race-free
  extern __shared__ float4 tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = i < n ? pos[i] : make_float4(0, 0, 0, 0);
  float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < gridDim.x; ++t) {
    int j = t * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = j < n ? pos[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < blockDim.x; ++k) { float4 q = tile[k]; float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z; float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f); ax += dx * r * r * r * q.w; ay += dy * r; az += dz * r; }
    __syncthreads();
  }
  if (i < n) vel[i] = make_float4(vel[i].x + ax, vel[i].y + ay, vel[i].z + az, 0);
}

// The next tile overwrites one that some still read.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void nbody_racy(const float4 *pos, float4 *vel, int n) {
  extern __shared__ float4 tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = i < n ? pos[i] : make_float4(0, 0, 0, 0);
  float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < gridDim.x; ++t) {
    int j = t * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = j < n ? pos[j] : make_float4(0, 0, 0, 0);  // expect: data-race intra-block with +3
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < blockDim.x; ++k) { float4 q = tile[k]; float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z; float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f); ax += dx * r * r * r * q.w; ay += dy * r; az += dz * r; }
  }
  if (i < n) vel[i] = make_float4(vel[i].x + ax, vel[i].y + ay, vel[i].z + az, 0);
}

// Bitonic sort in shared memory.
// cuda-lsp: launch grid=(8) block=(512)
__global__ void bitonic_shared(unsigned *keys) {  // expect: race-free
  __shared__ unsigned s[1024];
  unsigned *k = keys + blockIdx.x * 1024;
  s[threadIdx.x] = k[threadIdx.x]; s[threadIdx.x + 512] = k[threadIdx.x + 512];
  for (unsigned size = 2; size <= 1024; size <<= 1) {
    bool dir = (threadIdx.x & size / 2) == 0;
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned p = 2 * threadIdx.x - (threadIdx.x & stride - 1);
      unsigned a = s[p], b = s[p + stride];
      if ((a > b) == dir) { s[p] = b; s[p + stride] = a; }
    }
  }
  __syncthreads();
  k[threadIdx.x] = s[threadIdx.x]; k[threadIdx.x + 512] = s[threadIdx.x + 512];
}

// Only the first step of each size waits.
// cuda-lsp: launch grid=(8) block=(512)
__global__ void bitonic_shared_racy(unsigned *keys) {
  __shared__ unsigned s[1024];
  unsigned *k = keys + blockIdx.x * 1024;
  s[threadIdx.x] = k[threadIdx.x]; s[threadIdx.x + 512] = k[threadIdx.x + 512];  // expect: possible-data-race intra-block with +6; possible-data-race intra-block with +7
  for (unsigned size = 2; size <= 1024; size <<= 1) {
    bool dir = (threadIdx.x & size / 2) == 0;
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      if (stride == size / 2) __syncthreads();
      unsigned p = 2 * threadIdx.x - (threadIdx.x & stride - 1);
      unsigned a = s[p], b = s[p + stride];  // expect: possible-data-race intra-block with +1
      if ((a > b) == dir) { s[p] = b; s[p + stride] = a; }  // expect: possible-data-race intra-block with self
    }
  }
  __syncthreads();
  k[threadIdx.x] = s[threadIdx.x]; k[threadIdx.x + 512] = s[threadIdx.x + 512];
}

// Attention: tiles of keys and values, a running maximum and sum.
// cuda-lsp: launch grid=(8,4) block=(64)
__global__ void attention(const float *q, const float *k, const float *v, float *o, int n) {  // expect: race-free
  constexpr int D = 64, B = 32;
  __shared__ float ks[B][D + 1], vs[B][D];
  int row = blockIdx.x * 64 + threadIdx.x;
  const float *kh = k + (size_t)blockIdx.y * n * D, *vh = v + (size_t)blockIdx.y * n * D;
  float acc[D], m = -FLT_MAX, l = 0;
  for (int d = 0; d < D; ++d) acc[d] = 0;
  for (int j = 0; j < n; j += B) {
    for (int i = threadIdx.x; i < B * D; i += 64) {
      int r = i / D, c = i % D;
      ks[r][c] = j + r < n ? kh[(j + r) * D + c] : 0;
      vs[r][c] = j + r < n ? vh[(j + r) * D + c] : 0;
    }
    __syncthreads();
    for (int r = 0; r < B && j + r < n; ++r) {
      float s = 0;
      for (int d = 0; d < D; ++d) s += q[((size_t)blockIdx.y * n + row) * D + d] * ks[r][d];
      float mn = fmaxf(m, s), f = expf(m - mn), p = expf(s - mn);
      l = l * f + p; m = mn;
      for (int d = 0; d < D; ++d) acc[d] = acc[d] * f + p * vs[r][d];
    }
    __syncthreads();
  }
  if (row < n) for (int d = 0; d < D; ++d) o[((size_t)blockIdx.y * n + row) * D + d] = acc[d] / l;
}

// The next tiles overwrite those that some still use.
// cuda-lsp: launch grid=(8,4) block=(64)
__global__ void attention_racy(const float *q, const float *k, const float *v, float *o, int n) {
  constexpr int D = 64, B = 32;
  __shared__ float ks[B][D + 1], vs[B][D];
  int row = blockIdx.x * 64 + threadIdx.x;
  const float *kh = k + (size_t)blockIdx.y * n * D, *vh = v + (size_t)blockIdx.y * n * D;
  float acc[D], m = -FLT_MAX, l = 0;
  for (int d = 0; d < D; ++d) acc[d] = 0;
  for (int j = 0; j < n; j += B) {
    for (int i = threadIdx.x; i < B * D; i += 64) {
      int r = i / D, c = i % D;
      ks[r][c] = j + r < n ? kh[(j + r) * D + c] : 0;  // expect: data-race intra-block with +6
      vs[r][c] = j + r < n ? vh[(j + r) * D + c] : 0;  // expect: data-race intra-block with +8
    }
    __syncthreads();
    for (int r = 0; r < B && j + r < n; ++r) {
      float s = 0;
      for (int d = 0; d < D; ++d) s += q[((size_t)blockIdx.y * n + row) * D + d] * ks[r][d];
      float mn = fmaxf(m, s), f = expf(m - mn), p = expf(s - mn);
      l = l * f + p; m = mn;
      for (int d = 0; d < D; ++d) acc[d] = acc[d] * f + p * vs[r][d];
    }
  }
  if (row < n) for (int d = 0; d < D; ++d) o[((size_t)blockIdx.y * n + row) * D + d] = acc[d] / l;
}

// Digits of a block counted.
// cuda-lsp: launch grid=(16) block=(256)
__global__ void radix_count(const unsigned *keys, unsigned *counts, int shift, int n) {  // expect: race-free
  __shared__ unsigned hist[16];
  if (threadIdx.x < 16) hist[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) atomicAdd(&hist[(keys[i] >> shift) & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = hist[threadIdx.x];
}

// Some count before the counters are zero.
// cuda-lsp: launch grid=(16) block=(256)
__global__ void radix_count_racy(const unsigned *keys, unsigned *counts, int shift, int n) {
  __shared__ unsigned hist[16];
  if (threadIdx.x < 16) hist[threadIdx.x] = 0;  // expect: possible-data-race intra-block with +2
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) atomicAdd(&hist[(keys[i] >> shift) & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = hist[threadIdx.x];
}

// One histogram for each warp.
// cuda-lsp: launch grid=(32) block=(256)
__global__ void histogram(const unsigned char *in, unsigned *out, int n) {  // expect: race-free
  __shared__ unsigned h[8][257];
  int warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 8 * 257; i += 256) (&h[0][0])[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&h[warp][in[i]], 1u);
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < 8; ++w) sum += h[w][threadIdx.x];
  atomicAdd(&out[threadIdx.x], sum);
}

// Lanes of a warp lose counts of each other.
// cuda-lsp: launch grid=(32) block=(256)
__global__ void histogram_racy(const unsigned char *in, unsigned *out, int n) {
  __shared__ unsigned h[8][257];
  int warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 8 * 257; i += 256) (&h[0][0])[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) h[warp][in[i]]++;  // expect: possible-data-race intra-warp with self
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < 8; ++w) sum += h[w][threadIdx.x];
  atomicAdd(&out[threadIdx.x], sum);
}

// The next frontier: each vertex once.
// cuda-lsp: launch grid=(64) block=(128)
__global__ void bfs(const int *rowptr, const int *cols, int *dist, const int *frontier, int size, int *next, int *nsize, int level) {  // expect: race-free
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= size) return;
  int u = frontier[i];
  for (int e = rowptr[u]; e < rowptr[u + 1]; ++e) {
    int w = cols[e];
    if (atomicCAS(&dist[w], -1, level) == -1) next[atomicAdd(nsize, 1)] = w;
  }
}

// A vertex that two edges lead to is taken twice.
// cuda-lsp: launch grid=(64) block=(128)
__global__ void bfs_racy(const int *rowptr, const int *cols, int *dist, const int *frontier, int size, int *next, int *nsize, int level) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= size) return;
  int u = frontier[i];
  for (int e = rowptr[u]; e < rowptr[u + 1]; ++e) {
    int w = cols[e];
    if (dist[w] == -1) { dist[w] = level; next[atomicAdd(nsize, 1)] = w; }  // expect: possible-data-race intra-block with self; possible-data-race intra-warp with self
  }
}

// A row by a warp.
// cuda-lsp: launch grid=(64) block=(128)
__global__ void spmv_vector(const int *rp, const int *ci, const float *val, const float *x, float *y, int rows) {  // expect: race-free
  __shared__ volatile float part[128 + 16];
  int lane = threadIdx.x & 31, r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (r < rows) {
    float s = 0;
    for (int j = rp[r] + lane; j < rp[r + 1]; j += 32) s += val[j] * x[ci[j]];
    for (int o = 16; o; o /= 2) s += __shfl_down_sync(~0u, s, o);
    if (lane == 0) y[r] = s;
  }
}

// Every lane adds to the row.
// cuda-lsp: launch grid=(64) block=(128)
__global__ void spmv_vector_racy(const int *rp, const int *ci, const float *val, const float *x, float *y, int rows) {
  int lane = threadIdx.x & 31, r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (r < rows) {
    float s = 0;
    for (int j = rp[r] + lane; j < rp[r + 1]; j += 32) s += val[j] * x[ci[j]];
    y[r] += s;  // expect: data-race intra-warp with self
  }
}
