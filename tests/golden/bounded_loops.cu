// The bounds of loops depend on the thread: all threads make as many iterations as the last one, or the first one.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void rows_of_a_triangle(float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  for (int i = 0; i < t; ++i) {
    s[t] = i;
    out[i * 64 + t] = s[63 - t];
  }
}

// With the type of what it stands for.
__global__ void rounds_of_warps(float *out) {
  __shared__ float s[1024];
  const unsigned t = threadIdx.x;
#pragma unroll 2
  for (int i = 0; i < t / 32 + 2; i++) {
    // through shared memory
    s[t] = i;
    out[t] += s[blockDim.x - 1 - t];
  }
}

// What is left becomes less: the first thread has most to do.
__global__ void what_is_left(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  for (int d = 0; d < n - t; d++) {
    s[t] = in[t + d];
    out[t] += s[255 - t];
  }
}
void run(const float *in, float *out, int n) { what_is_left<<<1, 256>>>(in, out, n); }

// The last thread of the block, not of the grid.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void of_a_grid(float *out, int n) {
  __shared__ float s[64];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i <= row && i < n; i += 2) {
    s[threadIdx.x] = i;
    out[row] += s[63 - threadIdx.x];
  }
}

// cuda-lsp: launch grid=(1) block=(16,4)
__global__ void in_two_dimensions(float *out, int n) {
  __shared__ float s[64];
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  for (int r = 0; r < n; r++)
    for (int i = n; i > t; i--) {
      s[t] = i;
      out[r * 64 + t] += s[63 - t];
    }
}
