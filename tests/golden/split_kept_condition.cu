// A condition that reads what its branches write, in a loop of which all threads make all iterations.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void smooth(int *a) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  for (int pass = 0; pass < 4; pass++) {
    if (t > 0 && s[t - 1] > s[t]) s[t] = s[t - 1];
    else s[t] = s[63 - t];
  }
  a[t] = s[t];
}
