// A barrier of a warp is enough for the first kernel, not for the second.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void warp(int *out, int n) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;
  if (t < n) {
    __syncwarp();
    out[t] = s[31 - t];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void block(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (t < n) {
    __syncwarp();
    out[t] = s[63 - t];
  }
}
