// cuda-lsp: launch grid=(1) block=(64)
__global__ void shifted(int *a) {
  int t = threadIdx.x;
  if (t < 32) {
    a[t] = a[t + 1];
  }
}
