// Both accesses are in a function; its kernels get the barrier together.
__device__ int exchanged(int *s, int t) {
  s[t] = t;
  return s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void once(int *out) {
  __shared__ int s[64];
  out[threadIdx.x] = exchanged(s, threadIdx.x);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void with_offset(int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  out[t] = exchanged(s + 64, t) + 1;
}
