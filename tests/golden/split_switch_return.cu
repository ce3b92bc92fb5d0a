// What one section writes and then returns, another one reads.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void early(int *out, const int *kind) {
  __shared__ int s[64];
  int t = threadIdx.x;
  switch (kind[t]) {
  case 0:
    s[t] = 1;
    return;
  case 1:
    out[t] = s[63 - t];
    break;
  }
  out[t + 64] = 1;
}
