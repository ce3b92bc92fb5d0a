// What is read has not been written yet.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void shifted(const float *in, float *out) {
  __shared__ float s[65];
  int t = threadIdx.x;
  int i = blockIdx.x * 64 + t;
  out[i] = s[t + 1];
  s[t] = in[i];
}
