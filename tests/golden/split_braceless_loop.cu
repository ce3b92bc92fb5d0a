// Neither the conditional nor the loop has braces.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void folded(int *out, const int *in) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 40)
    for (int i = 0; i < 8; i++)
      s[t] += s[39 - t];
  out[t] = s[t];
}
