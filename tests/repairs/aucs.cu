// Kernels with the shape of the 24 scenarios that AuCS was measured on (its table I), each with the kind of its repair.

#include <cuda_runtime.h>

// GkleeTests, device_global: the sides of a conditional collide, under a bounds check.
// repair: restructure
// cuda-lsp: launch grid=(1) block=(128) n=100
__global__ void device_global(unsigned *input, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (i % 2 == 1) {
      input[i] = i;
    } else {
      input[i] = input[i + 1];
    }
  }
}

// GkleeTests, colonel: threads meet in one execution of a statement.
// repair: use-atomic
// cuda-lsp: launch grid=(2) block=(128)
__global__ void colonel(int *in) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  in[i % 50]++;
}

// GkleeTests, dl: a barrier under a bounds check.
// repair: restructure
// cuda-lsp: launch grid=(1) block=(64)
__global__ void dl(int *in) {
  int t = threadIdx.x;
  if (t < 50) {
    in[t] = t;
    __syncthreads();
    int sum = in[t];
    if (t > 0) sum += in[t - 1];
    if (t < 49) sum += in[t + 1];
    in[t + 64] = sum / 3;
  }
}

// GkleeTests, dl: the branches have a barrier each.
// repair: remove-barrier
// cuda-lsp: launch grid=(1) block=(64)
__global__ void dl_in_branches(int *in) {
  int t = threadIdx.x;
  if (t > 31) {
    if (in[t] % 2 == 0) in[t]++;
    __syncthreads();
  } else {
    if (in[t] % 2 == 1) in[t]--;
    __syncthreads();
  }
}

// arrayfire 0a8371a876b, computeEvalHomography: filled under a bounds check, then reduced.
// repair: insert-barrier
// cuda-lsp: launch grid=(2) block=(256)
__global__ void evaluated(unsigned *inliers, const unsigned *counts, unsigned iterations) {
  __shared__ unsigned s_inliers[256], s_idx[256];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s_inliers[t] = 0;
  s_idx[t] = 0;
  __syncthreads();
  if (i < iterations) {
    s_inliers[t] = counts[i];
    s_idx[t] = i;
  }
  for (unsigned half = 128; half > 0; half >>= 1) {
    if (t < half) {
      if (s_inliers[t + half] > s_inliers[t]) {
        s_inliers[t] = s_inliers[t + half];
        s_idx[t] = s_idx[t + half];
      }
    }
    __syncthreads();
  }
  if (t == 0) inliers[blockIdx.x] = s_idx[0];
}

// arrayfire a7a297ba814, scan_nonfinal_kernel: flags of the row are read, then overwritten by its last thread.
// repair: insert-barrier
// cuda-lsp: launch grid=(1) block=(128)
__global__ void scan_first_by_key(float *out, const char *flags, int n) {
  __shared__ char s_flag[128], s_last;
  __shared__ int boundary;
  int t = threadIdx.x, id = t;
  if (t == 127) {
    s_last = 0;
    boundary = -1;
  }
  __syncthreads();
  for (int k = 0; k < n; k++) {
    char flag = flags[id];
    s_flag[t] = flag;
    __syncthreads();
    if (t == 0) {
      if (s_last == 0 && s_flag[t] == 1) boundary = id;
    }
    out[id] = s_flag[t];
    if (t == 127) s_last = flag;
    id += blockDim.x;
    __syncthreads();
  }
  if (t == 0) out[0] = boundary;
}

// arrayfire a7a297ba814, scan_dim_nonfinal_kernel: the same for columns of a block.
// repair: insert-barrier
// cuda-lsp: launch grid=(1) block=(32,8)
__global__ void scan_dim_by_key(float *out, const char *flags, int n) {
  __shared__ char s_flag[8][32], s_last[32];
  int x = threadIdx.x, y = threadIdx.y;
  if (y == 7) s_last[x] = 0;
  __syncthreads();
  for (int k = 0; k < n; k++) {
    char flag = flags[(k * 8 + y) * 32 + x];
    s_flag[y][x] = flag;
    __syncthreads();
    char before = y == 0 ? s_last[x] : s_flag[y - 1][x];
    out[(k * 8 + y) * 32 + x] = before == 0 && flag == 1;
    if (y == 7) s_last[x] = flag;
    __syncthreads();
  }
}

// arrayfire 0c5a38182b7, hamming_matcher: the result of an iteration is read while the next one begins.
// repair: insert-barrier
// cuda-lsp: launch grid=(2) block=(128)
__global__ void hamming_matcher(unsigned *out, const unsigned *train, unsigned queries) {
  __shared__ unsigned s_dist[128];
  unsigned t = threadIdx.x, f = blockDim.x * blockIdx.x + t;
  for (unsigned j = 0; j < queries; j++) {
    s_dist[t] = train[f] ^ j;
    __syncthreads();
    if (t < 64) s_dist[t] = min(s_dist[t], s_dist[t + 64]);
    __syncthreads();
    if (t == 0) out[j * gridDim.x + blockIdx.x] = s_dist[0] + s_dist[1];
  }
}

// arrayfire 0c5a38182b7, hamming_matcher_unroll: the same with a query that one part of the block loads.
// repair: insert-barrier
// cuda-lsp: launch grid=(2) block=(128)
__global__ void hamming_matcher_unroll(unsigned *out, const unsigned *train, const unsigned *query, unsigned queries) {
  __shared__ unsigned s_dist[128], s_query[8];
  unsigned t = threadIdx.x, f = blockDim.x * blockIdx.x + t;
  for (unsigned j = 0; j < queries; j++) {
    s_dist[t] = 512;
    if (t < 8) s_query[t] = query[t * queries + j];
    __syncthreads();
    unsigned dist = 0;
#pragma unroll
    for (unsigned k = 0; k < 8; k++) dist += __popc(train[f] ^ s_query[k]);
    s_dist[t] = dist;
    __syncthreads();
    if (t < 64) s_dist[t] = min(s_dist[t], s_dist[t + 64]);
    __syncthreads();
    if (t == 0) out[j * gridDim.x + blockIdx.x] = s_dist[0] + s_dist[1];
  }
}

// arrayfire d7abcf2358e, JacobiSVD: some threads skip the rest of an iteration.
// repair: restructure
// cuda-lsp: launch grid=(1) block=(64)
__global__ void jacobi(float *out, const float *p, int sweeps) {
  __shared__ float acc[64];
  int t = threadIdx.x;
  for (int k = 0; k < sweeps; k++) {
    float x = p[k * 64 + t];
    if (x <= 1e-6f) continue;
    acc[t] = x * x;
    if (t < 32) out[k * 32 + t] = acc[t] + acc[t + 32];
  }
}

// arrayfire c59116e3ec3, warp_reduce of ireduce: one warp reduces without order.
// repair: insert-barrier
// cuda-lsp: launch grid=(1) block=(32)
__global__ void warp_reduced(int *out, const int *in) {
  __shared__ int s_val[32], s_idx[32];
  int t = threadIdx.x;
  s_val[t] = in[t];
  s_idx[t] = t;
  __syncthreads();
  for (int n = 16; n >= 1; n >>= 1) {
    if (t < n) {
      if (s_val[t + n] < s_val[t]) {
        s_val[t] = s_val[t + n];
        s_idx[t] = s_idx[t + n];
      }
    }
  }
  if (t == 0) out[0] = s_idx[0];
}

// arrayfire a515b112076, scan_dim_kernel: the last value is read while the next iteration overwrites it.
// repair: insert-barrier
// cuda-lsp: launch grid=(1) block=(32,8)
__global__ void scan_dim(float *out, const float *in, int n) {
  __shared__ float s_val[8][32], s_last[32];
  int x = threadIdx.x, y = threadIdx.y;
  if (y == 7) s_last[x] = 0;
  __syncthreads();
  for (int k = 0; k < n; k++) {
    float val = in[(k * 8 + y) * 32 + x];
    if (y == 7) s_last[x] += val;
    s_val[y][x] = val;
    __syncthreads();
    if (y > 0) val += s_val[y - 1][x];
    val += s_last[x];
    out[(k * 8 + y) * 32 + x] = val;
  }
}

// arrayfire d88e6a3540f, warp_reduce: what was reduced is read by threads that others overwrite.
// repair: insert-barrier
// cuda-lsp: launch grid=(1) block=(64)
__global__ void reduced(float *out, const float *in) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  float rest = s[t] + s[63 - t];
  for (int n = 32; n >= 1; n >>= 1) {
    if (t < n) s[t] += s[t + n];
    __syncthreads();
  }
  out[t] = rest + (t == 0 ? s[0] : 0);
}

// arrayfire 1050816e422, hamming_matcher: the last steps of a reduction, within one warp of the block.
// repair: insert-barrier
// cuda-lsp: launch grid=(1) block=(128)
__global__ void last_warp(unsigned *out, const unsigned *in) {
  __shared__ unsigned s_dist[128];
  unsigned t = threadIdx.x;
  s_dist[t] = in[t];
  __syncthreads();
  if (t < 64) s_dist[t] = min(s_dist[t], s_dist[t + 64]);
  __syncthreads();
  if (t < 32) {
    unsigned other = s_dist[t + 32];
    if (other < s_dist[t]) s_dist[t] = other;
    if (t < 16) other = s_dist[t + 16];
    if (t < 16 && other < s_dist[t]) s_dist[t] = other;
    if (t < 8) other = s_dist[t + 8];
    if (t < 8 && other < s_dist[t]) s_dist[t] = other;
  }
  if (t == 0) out[0] = s_dist[0];
}

// arrayfire 1050816e422, hamming_matcher_unroll: the same where threads decide by what they read.
// repair: restructure
// cuda-lsp: launch grid=(1) block=(64)
__global__ void last_warp_unrolled(unsigned *out, const unsigned *in) {
  __shared__ unsigned s_dist[64];
  unsigned t = threadIdx.x;
  s_dist[t] = in[t];
  __syncthreads();
  if (t < 32) {
    if (s_dist[t + 16] < s_dist[t]) s_dist[t] = s_dist[t + 16];
  }
  if (t == 0) out[0] = s_dist[0];
}

// arrayfire 0ed6cccc5f, select_matches: a barrier in the conditional of a tree reduction.
// repair: move-barrier
// cuda-lsp: launch grid=(2) block=(32,8)
__global__ void selected(float *best, const float *in, unsigned features) {
  __shared__ float s_dist[256];
  unsigned f = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sid = threadIdx.x * blockDim.y + threadIdx.y;
  s_dist[sid] = f < features ? in[f * 8 + threadIdx.y] : 1e9f;
  __syncthreads();
  for (unsigned i = blockDim.y / 2; i > 0; i >>= 1) {
    if (threadIdx.y < i) {
      float dist = s_dist[sid + i];
      if (dist < s_dist[sid]) s_dist[sid] = dist;
      __syncthreads();
    }
  }
  if (threadIdx.y == 0 && f < features) best[f] = s_dist[threadIdx.x * blockDim.y];
}

// arrayfire dfbfca5fb77, select_matches: loops with barriers under a bounds check, one with different trip counts.
// repair: restructure
// cuda-lsp: launch grid=(2) block=(32,8)
__global__ void selected_in_bounds(float *best, const float *in, unsigned features, unsigned candidates) {
  __shared__ float s_dist[256];
  unsigned f = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sid = threadIdx.x * blockDim.y + threadIdx.y;
  if (f < features) {
    s_dist[sid] = 1e9f;
    __syncthreads();
    for (unsigned i = threadIdx.y; i < candidates; i += blockDim.y) {
      float dist = in[f * candidates + i];
      if (dist < s_dist[sid]) s_dist[sid] = dist;
      __syncthreads();
    }
    for (unsigned i = blockDim.y / 2; i > 0; i >>= 1) {
      if (threadIdx.y < i) {
        float dist = s_dist[sid + i];
        if (dist < s_dist[sid]) s_dist[sid] = dist;
        __syncthreads();
      }
    }
    if (threadIdx.y == 0) best[f] = s_dist[threadIdx.x * blockDim.y];
  }
}

// arrayfire 0e0c726d7d0, hamming_matcher_unroll: the loop over queries is under a bounds check.
// repair: restructure
// cuda-lsp: launch grid=(2) block=(64)
__global__ void matched_in_bounds(unsigned *out, const unsigned *train, unsigned features, unsigned queries) {
  __shared__ unsigned s_dist[64];
  unsigned t = threadIdx.x, f = blockDim.x * blockIdx.x + t;
  if (f < features) {
    for (unsigned j = 0; j < queries; j++) {
      s_dist[t] = train[f] ^ j;
      __syncthreads();
      if (t == 0) out[j * gridDim.x + blockIdx.x] = s_dist[0] + s_dist[1];
      __syncthreads();
    }
  }
}

// arrayfire ee4d0bd77d7, computeDescriptor: a histogram is cleared, filled and combined under a bounds check.
// repair: restructure
// cuda-lsp: launch grid=(1,2) block=(32,8)
__global__ void described(unsigned char *out, const float *in, int features) {
  __shared__ float desc[8 * 32];
  int x = threadIdx.x, y = threadIdx.y, f = blockIdx.y * blockDim.y + y;
  if (f < features) {
    desc[y * 32 + x] = 0;
    __syncthreads();
    atomicAdd(&desc[y * 32 + ((int)in[f * 32 + x] & 31)], 1.0f);
    __syncthreads();
    float sum = desc[y * 32 + x] + desc[y * 32 + (x + 1) % 32];
    out[f * 32 + x] = sum;
  }
}

// arrayfire 0d0d7d1285a, warp_reduce: a barrier under the condition of a tree reduction in a function.
// repair: move-barrier
// cuda-lsp: launch grid=(1) block=(64)
__device__ void tree(float *s, int t) {
  for (int n = 32; n >= 1; n >>= 1) {
    if (t < n) {
      s[t] += s[t + n];
      __syncthreads();
    }
  }
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void reduced_by_function(float *out, const float *in) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  tree(s, t);
  if (t == 0) out[0] = s[0];
}

// arrayfire 31761d27f01, computeMedian: a barrier between writes of own cells.
// repair: remove-redundant
// cuda-lsp: launch grid=(2) block=(128)
__global__ void median(float *out, const float *in, unsigned iterations) {
  __shared__ float s_median[128];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s_median[t] = 1e9f;
  __syncthreads();
  if (i < iterations) s_median[t] = in[i];
  __syncthreads();
  if (t == 0) out[blockIdx.x] = s_median[0] + s_median[1];
}

// arrayfire faefa30c3a0, harris_response: a barrier behind sums of own variables.
// repair: remove-redundant
// cuda-lsp: launch grid=(1) block=(64)
__global__ void harris(float *out, const float *image, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float sum = 0;
  for (int k = t; k < n; k += 64) sum += image[k] * image[k];
  __syncthreads();
  s[t] = sum;
  __syncthreads();
  if (t == 0) out[0] = s[0] + s[1];
}

// kaldi bc13196e7fe, _add_diag_mat_mat: threads that have returned miss the barriers of a reduction.
// repair: guard-return
// cuda-lsp: launch grid=(1) block=(64)
__global__ void diagonal(float *v, const float *m, int rows) {
  __shared__ float partial[64];
  int t = threadIdx.x;
  if (t >= rows) return;
  partial[t] = m[t];
  __syncthreads();
  if (t == 0) v[0] = partial[0] + partial[1];
}

// thundersvm febf515a826, nu_smo_solve_kernel: an array is reduced, then filled again for the next reduction.
// repair: insert-barrier
// cuda-lsp: launch grid=(1) block=(64)
__device__ int smallest(const float *values, int *index) {
  int t = threadIdx.x;
  index[t] = t;
  __syncthreads();
  for (int half = 32; half > 0; half >>= 1) {
    if (t < half && values[index[t + half]] < values[index[t]]) index[t] = index[t + half];
    __syncthreads();
  }
  return index[0];
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void solved(int *out, const float *f, const float *y) {
  __shared__ float values[64];
  __shared__ int index[64];
  int t = threadIdx.x;
  values[t] = y[t] > 0 ? f[t] : 1e9f;
  int up = smallest(values, index);
  values[t] = y[t] < 0 ? -f[t] : 1e9f;
  int low = smallest(values, index);
  if (t == 0) {
    out[0] = up;
    out[1] = low;
  }
}
