// A barrier is missing in a loop that threads leave at different times: all make all iterations.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void strided(int *a, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int i = t; i < n; i += 64) {
    // through shared memory
    s[t] = a[i];
    a[i] = s[t ^ 1];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void from_elsewhere(int *a, int n) {
  __shared__ int s[64];
  for (int i = threadIdx.x * 2; i < 2 * n; i += 128) {
    s[threadIdx.x] = a[i];
    const int other = s[63 - threadIdx.x];
    a[i] = other;
  }
}
