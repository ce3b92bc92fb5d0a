// Threads write one cell with what a loop or memory of their own carried there: the same for all that compute it from the
// same things.

// Two threads add up one row.
__global__ void row_sums(const float *in, float *out, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 2;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += in[row * n + k];
  out[row] = sum;  // expect: benign-race intra-warp with self
}

// What they add differs.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void sums_with_own_weight(const float *in, float *out, int n) {
  int row = threadIdx.x / 2;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += in[row * n + k] * threadIdx.x;
  out[row] = sum;  // expect: data-race intra-warp with self
}

// They do not start with the same.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void sums_from_own_start(const float *in, float *out, int n) {
  int row = threadIdx.x / 2;
  float sum = threadIdx.x;
  for (int k = 0; k < n; ++k) sum += in[row * n + k];
  out[row] = sum;  // expect: data-race intra-warp with self
}

// One of them adds one value more.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void one_adds_more(const float *in, float *out, int n) {
  int row = threadIdx.x / 2;
  float sum = 0;
  for (int k = 0; k < n + threadIdx.x % 2; ++k) sum += in[row * n + k];
  out[row] = sum;  // expect: data-race intra-warp with self
}

// Rows of different length, as a sparse matrix has them.
__global__ void sparse_rows(const int *starts, const int *columns, const float *values, const float *x, float *y) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 4;
  float sum = 0;
  for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;  // expect: benign-race intra-warp with self
}

// Each lane takes every fourth value, and nobody adds the four parts up.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void parts_of_sparse_rows(const int *starts, const float *values, float *y) {
  int row = threadIdx.x / 4;
  float sum = 0;
  for (int k = starts[row] + threadIdx.x % 4; k < starts[row + 1]; k += 4) sum += values[k];
  y[row] = sum;  // expect: data-race intra-warp with self
}

// Sums within sums.
__global__ void sums_of_sums(const float *in, float *out, int n, int m) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 2;
  float all = 0;
  for (int i = 0; i < n; ++i) {
    float most = -1;
    for (int k = 0; k < m; ++k) most = fmaxf(most, in[(row * n + i) * m + k]);
    all += most;
  }
  out[row] = all;  // expect: benign-race intra-warp with self
}

// cuda-lsp: launch grid=(1) block=(64) n=4 m=4
__global__ void sums_of_own_sums(const float *in, float *out, int n, int m) {
  int row = threadIdx.x / 2;
  float all = 0;
  for (int i = 0; i < n; ++i) {
    float most = -1;
    for (int k = 0; k < m; ++k) most = fmaxf(most, in[(threadIdx.x * n + i) * m + k]);
    all += most;
  }
  out[row] = all;  // expect: data-race intra-warp with self
}

// The place of the largest value, an integer.
__global__ void place_of_largest(const float *in, int *out, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 2, best = 0;
  for (int k = 1; k < n; ++k)
    if (in[row * n + k] > in[row * n + best]) best = k;
  out[row] = best;  // expect: benign-race intra-warp with self
}

// A function that returns out of its loop.
__device__ int first_negative(const float *row, int n) {
  for (int k = 0; k < n; ++k)
    if (row[k] < 0) return k;
  return -1;
}

__global__ void searched(const float *in, int *out, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 2;
  out[row] = first_negative(in + row * n, n);  // expect: benign-race intra-warp with self
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void searched_apart(const float *in, int *out, int n) {
  out[threadIdx.x / 2] = first_negative(in + threadIdx.x * n, n);  // expect: data-race intra-warp with self
}

// What is found where a loop is left is what its last iteration says, not what it would have gone on with.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void taken_when_left(float *out, int n) {
  int found = 0;
  for (int k = 0;; ++k) {
    if (k >= n) {
      found = threadIdx.x;
      break;
    }
    found = 0;
  }
  if (found > 3) __syncthreads();  // expect: barrier-divergence
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void written_when_left(int *out, int n) {
  int found = 0;
  for (int k = 0; k < n; ++k) {
    if (k > 2) {
      found = threadIdx.x;
      break;
    }
    found = k;
  }
  out[0] = found;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void same_when_left(int *out, int n) {
  int found = 0;
  for (int k = 0; k < n; ++k) {
    if (k > 2) {
      found = n;
      break;
    }
    found = k;
  }
  if (found > 3) __syncthreads();  // expect: redundant-barrier
  out[0] = found;  // expect: benign-race with self
}

// Through an array of the thread's own.
__global__ void copied_through_registers(const float *in, float *out) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 2;
  float own[4];
  for (int k = 0; k < 4; ++k) own[k] = in[row * 4 + k];
  for (int k = 0; k < 4; ++k) out[row * 4 + k] = 2 * own[k];  // expect: benign-race intra-warp with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void own_through_registers(const float *in, float *out) {
  int row = threadIdx.x / 2;
  float own[4];
  for (int k = 0; k < 4; ++k) own[k] = in[threadIdx.x * 4 + k];
  for (int k = 0; k < 4; ++k) out[row * 4 + k] = 2 * own[k];  // expect: data-race intra-warp with self
}

// One of the four comes from elsewhere.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_of_own(const float *in, float *out) {
  int row = threadIdx.x / 2;
  float own[4];
  for (int k = 0; k < 4; ++k) own[k] = in[row * 4 + k];
  own[2] = threadIdx.x;
  for (int k = 0; k < 4; ++k) out[row * 4 + k] = own[k];  // expect: data-race intra-warp with self
}

// Four sums at fixed places.
__global__ void four_sums(const float4 *in, float4 *out, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 2;
  float sums[4] = {0, 0, 0, 0};
  for (int k = 0; k < n; ++k) {
    float4 v = in[row * n + k];
    sums[0] += v.x;
    sums[1] += v.y;
    sums[2] += v.z;
    sums[3] += v.w;
  }
  out[row] = make_float4(sums[0], sums[1], sums[2], sums[3]);  // expect: benign-race intra-warp with self
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void four_own_sums(const float4 *in, float4 *out, int n) {
  int row = threadIdx.x / 2;
  float sums[4] = {0, 0, 0, 0};
  for (int k = 0; k < n; ++k) {
    float4 v = in[threadIdx.x * n + k];
    sums[0] += v.x;
    sums[1] += v.y;
    sums[2] += v.z;
    sums[3] += v.w;
  }
  out[row] = make_float4(sums[0], sums[1], sums[2], sums[3]);  // expect: data-race intra-warp with self
}
