// The barrier goes in front of the early return.
// cuda-lsp: launch grid=(1) block=(64) n=40
__global__ void short_rows(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (t >= n) return;
  out[t] = s[63 - t];
}
