// The accesses are in two functions: the place is between the calls.
__device__ void store(int *s, int t) { s[t] = t; }
__device__ int load(const int *s, int t) { return s[63 - t]; }

// cuda-lsp: launch grid=(1) block=(64)
__global__ void calls(int *out) {
  __shared__ int s[64];
  store(s, threadIdx.x);
  int x = load(s, threadIdx.x);
  out[threadIdx.x] = x;
}
