// Neighbours exchange values within their warps, and the halves of the block theirs.

// cuda-lsp: launch grid=(4) block=(128)
__global__ void exchange(float *out, const float *in) {
  __shared__ float s[128];
  __shared__ float w[128];
  int t = threadIdx.x;
  int i = blockIdx.x * 128 + t;
  w[t] = in[i];
  float sum = w[t] + w[t ^ 1];
  s[t] = sum;
  out[i] = s[127 - t];
}

// The places are made first.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void split(float *out, const float *in) {
  __shared__ float s[128];
  __shared__ float w[128];
  int t = threadIdx.x;
  int i = blockIdx.x * 128 + t;
  w[t] = in[i];
  if (t % 2 == 0) {
    s[t] = w[t + 1];
    out[i] = s[127 - t];
  } else {
    s[t] = w[t - 1];
    out[i] = s[127 - t];
  }
}
