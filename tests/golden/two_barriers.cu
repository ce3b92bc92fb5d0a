// The read meets the writes of its own and of the next iteration.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void both(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < n; ++k) {
    s[t] = k + t;
    sum += s[63 - t];
  }
  out[t] = sum;
}
