// The barrier must stand in every configuration.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void configured(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
#ifdef WIDE
  s[t] = 2 * t;
#else
  s[t] = t;
#endif
#pragma unroll
  for (int k = 0; k < 4; ++k) sum += s[(t + k) % 64];
  out[t] = sum;
}
