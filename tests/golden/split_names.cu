// New names and new places of declarations hide nothing.

#define FACTOR value
__device__ int value = 7;

// cuda-lsp: launch grid=(1) block=(64)
__global__ void behind_a_macro(int *a) {
  int t = threadIdx.x;
  a[t] = a[t + 1] * FACTOR;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void hidden_in_the_other_half(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, x = 5;
  for (int k = 0; k < 1; k++) {
    if (t < 48) {
      s[t] = x;
      int x = t * 2;
      out[x] = s[47 - t];
    }
    out[t + 100] = x;
  }
}
