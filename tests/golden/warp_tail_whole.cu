// More races than are repaired at once: what is left shows as possible while the repair is looked for, and is no worse.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void sum(float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = out[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
  }
  if (t == 0) out[0] = s[0];
}
