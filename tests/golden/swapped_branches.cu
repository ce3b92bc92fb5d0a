// One half of the block reads what the other one writes, and stands in front of it.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void halves(const float *in, float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  int i = blockIdx.x * 64 + t;
  if (t < 32) {
    // the readers
    out[i] = s[t + 32];
  } else {
    s[t] = in[i];
  }
}
