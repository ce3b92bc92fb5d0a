// Heads that stand in several lines keep them; titles name the line of the keyword.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void strided(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (
      int i = t;
      i < n;
      i += 64)
  {
    s[t] = i;
    out[i] = s[63 - t];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void until(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  int i = t;
  while
    (
      i < n
    )
  {
    s[t] = i;
    out[i] = s[63 - t];
    i += 64;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void within(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (
      t <
      n
     )
  {
    for (int i = 0;
         i < n;
         i++) {
      s[t] = i;
      out[i * 64 + t] = s[63 - t];
    }
  }
}
