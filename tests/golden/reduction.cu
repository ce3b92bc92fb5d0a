// A tree in shared memory without its barriers.
// cuda-lsp: launch grid=(8) block=(256)
__global__ void sum(const int *in, int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  for (int step = 128; step > 0; step >>= 1) {
    if (t < step) s[t] += s[t + step];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
