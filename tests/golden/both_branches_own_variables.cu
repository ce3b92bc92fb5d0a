// Halves of a block that exchange, each through a variable of its own.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void smooth(const float *in, float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  int i = blockIdx.x * 64 + t;
  if (t < 32) {
    const float own = in[i];  // read once
    s[t] = own;
    out[i] = 0.5f * (own + s[t + 32]);
  } else {
    const float own = in[i];
    const float weight = 0.25f;
    s[t] = own;
    out[i] = weight * (own + s[t - 32]);
  }
}
