// A barrier of a function goes in all of its calls or in none: the first call of two needs none in front of it.

__device__ int reversed_after_all(int *s, int t, int value) {
  __syncthreads();
  s[t] = value;
  __syncthreads();
  return s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void twice(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  int first = reversed_after_all(s, t, t);
  out[t] = first + reversed_after_all(s, t, first);
}

__device__ int reversed_alone(int *s, int t, int value) {
  __syncthreads();  // expect: redundant-barrier
  s[t] = value;
  __syncthreads();
  return s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void once(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  out[t] = reversed_alone(s, t, t);
}
