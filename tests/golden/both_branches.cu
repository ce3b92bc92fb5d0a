// Both halves of the block write before they read what the other one has written.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void turned(const float *in, float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  int i = blockIdx.x * 64 + t;
  if (t < 32) {
    // the first half
    s[t] = in[i];
    out[i] = s[t + 32];
  } else {
    // the second half
    s[t] = -in[i];

    out[i] = s[t - 32];
  }
}
