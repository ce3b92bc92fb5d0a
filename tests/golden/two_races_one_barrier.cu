// One barrier between the second read and the first write orders both pairs.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shift_both(int *a, int *b) {
  int t = threadIdx.x;
  int x = a[t + 1];
  int y = b[t + 1];
  a[t] = x + y;
  b[t] = x - y;
}
