// Two conditionals around one piece of code, which become one.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void reversed(int *out, const int *in, int n, int least) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) {
    if (t == 0 || in[t] > least) {  // what counts
      s[t] = in[t];

      // the other end
      out[t] = s[n - 1 - t];
    }
  }
}
