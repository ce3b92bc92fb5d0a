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

// Threads that are through change nothing: below zero an unsigned counter would be large again.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void downwards(const int *a, int *out) {
  __shared__ int s[64];
  for (unsigned i = threadIdx.x; i > 0; i--) {
    s[threadIdx.x] = a[i];
    out[threadIdx.x] = s[63 - threadIdx.x];
  }
}

// The counter is used behind the loop.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void used_behind(const int *a, int *out, int n) {
  __shared__ int s[64];
  int i = threadIdx.x * 2, j = 0;
  for (; i < n; i += 128, j++) {
    s[threadIdx.x] = a[i];
    out[threadIdx.x] = s[63 - threadIdx.x];  // in the mirror
  }
  out[threadIdx.x + 64] = i + j;
}

// What __syncthreads_or takes is an int.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void bits(const unsigned long long *masks, int *out) {
  __shared__ unsigned long long s[64];
  unsigned long long mask = masks[threadIdx.x];
  while (mask) {
    s[threadIdx.x] = mask;
    out[threadIdx.x] = s[63 - threadIdx.x] != 0;
    mask = 0;
  }
}
