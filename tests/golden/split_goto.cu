// Threads leave out what is in front of a label, two of them one after the other, and nothing else leads there.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void leaves_early(float *out, const float *in, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t >= n) goto end;
  if (in[t] < 0) {
    out[t] = 0;
    goto end;
  }
  s[t] = in[t];
  out[t] = s[n - 1 - t];
end:
  return;
}

// What is behind the label is made by all threads, in each iteration.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void leaves_out(float *out, const float *in, int n, int k) {
  __shared__ float s[64];
  int t = threadIdx.x;
  for (int j = 0; j < k; j++) {
    if (t + j >= n) goto next;
    s[t] = in[t + j];  // of this round
  next:
    out[64 * j + t] = s[63 - t];
  }
}
