// Branches that all threads take alike, one statement each, without braces.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void chosen(const float *in, float *out, int mode) {
  __shared__ float s[72];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (mode > 3)
    s[t] = s[t + 1];  // the next one
  // or
  else if (mode > 2)
    s[t] += 2 * s[t + 2];
  else
    // whatever is left
    s[t] = s[t + 3];
  out[t] = s[t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_line(const float *in, float *out, int mode) {
  __shared__ float s[72];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (mode > 3) s[t] = s[t + 1]; else s[t] = s[t + 2];
  out[t] = s[t];
}
