// A comment between branches with a barrier each stays between them.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void both(float *o, const int *f) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (f[t]) {
    s[t] = 1;
    __syncthreads();
    o[t] = s[63 - t];
  }
  // the others
  else {
    s[t] = 2;
    __syncthreads();
    o[t] = s[63 - t] + 1;
  }
}
