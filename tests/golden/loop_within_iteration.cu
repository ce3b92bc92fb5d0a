// Each iteration has a row of its own: only the write and the read of one iteration meet.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void rows(int *out) {
  __shared__ int s[8][64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 8; ++k) {
    s[k][t] = k + t;
    sum += s[k][63 - t];
  }
  out[t] = sum;
}
