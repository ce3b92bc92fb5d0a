// A race in an inner loop that all threads make alike, in a loop that they leave at different times: the outer one is
// made uniform, the inner one stands around its condition.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void nested(int *s, int *out, int n, int m) {
  int t = threadIdx.x;
  for (int i = t; i < n; i += 64) {
    for (int j = 0; j < m; j++) {
      s[t] = i + j;
      out[t] += s[63 - t];
    }
  }
}
