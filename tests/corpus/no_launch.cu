// Kernels that nothing in this file launches: checked under the hardware's limits, and never more than "possible".

__global__ void scale(float *a, float f, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= f;
}

__global__ void scale_strided(float *a, float f, int n) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] *= f;
}

__global__ void neighbour_sum(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1) a[i] += a[i + 1];  // expect: possible-data-race with self
}

__global__ void block_reverse(const int *in, int *out) {  // expect: race-free
  extern __shared__ int s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = s[blockDim.x - 1 - threadIdx.x];
}

__global__ void block_reverse_unordered(const int *in, int *out) {
  extern __shared__ int s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[i];  // expect: possible-data-race intra-block with +1, fix: yes
  out[i] = s[blockDim.x - 1 - threadIdx.x];
}

// The launch bounds are a promise: at most 32 threads in a block.
__global__ void __launch_bounds__(32) at_most_one_warp(int *out) {  // expect: race-free
  __shared__ int s[32];
  s[threadIdx.x & 31] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

// Without the promise a second warp comes back to the same cells.
__global__ void any_number_of_warps(int *out) {
  __shared__ int s[32];
  s[threadIdx.x & 31] = threadIdx.x;  // expect: possible-data-race intra-block with self
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x & 31];
}

__global__ void tree_reduction(const float *in, float *out) {  // expect: race-free
  extern __shared__ float sums[];
  sums[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
    if (threadIdx.x < d) sums[threadIdx.x] += sums[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

__global__ void transpose_any_size(const float *in, float *out, int w, int h) {  // expect: race-free
  __shared__ float tile[32][33];
  int bx = blockIdx.x, by = blockIdx.y;
  int x = bx * 32 + threadIdx.x, y = by * 32 + threadIdx.y;
  if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y * w + x];
  __syncthreads();
  int tx = by * 32 + threadIdx.x, ty = bx * 32 + threadIdx.y;
  if (threadIdx.x < 32 && threadIdx.y < 32 && tx < h && ty < w) out[ty * h + tx] = tile[threadIdx.x][threadIdx.y];
}

__global__ void divergent_anywhere(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 1;
  if (threadIdx.x < 7) __syncthreads();  // expect: barrier-divergence
}

// What a comment promises about the launch counts like a launch.
// cuda-lsp: launch grid=(8) block=(256) n=2000
__global__ void promised_by_comment(const int *in, int *out, int n) {
  __shared__ int s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0;  // expect: data-race intra-block with +1, fix: yes
  if (i < n) out[i] = s[255 - threadIdx.x];
}

// So does an assumption written into the code.
__global__ void promised_by_assumption(int *out, int stride) {  // expect: race-free
  __builtin_assume(stride == 3);
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 100000) out[i * stride] = i;
}

__global__ void stride_unknown(int *out, int stride) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 100000) out[i * stride] = i;  // expect: possible-data-race with self
}
