// The vote of the threads in the test of the loop orders its iterations: no barrier is needed beside it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void rows_of_teeth(float *out) {
  __shared__ float s[64];
  int t = threadIdx.x, rows = t % 16;
  s[t] = 0;
  for (int i = 0; i < rows; ++i) {
    s[t] += i;
    out[i * 64 + t] = s[i];
  }
}
