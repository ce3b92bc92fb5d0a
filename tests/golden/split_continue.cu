// Threads skip the rest of an iteration in which a barrier is missing.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void skipped(float *out, const float *in, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  for (int k = 0; k < n; k++) {
    float x = in[k * 64 + t];
    if (x <= 0.0f)
      continue;

    s[t] = x;  // only what counts
    out[k * 64 + t] = s[63 - t];
  }
}
