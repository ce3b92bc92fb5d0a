// A chain of conditions without braces whose first sides collide.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void chain(int *s, int *out) {
  int t = threadIdx.x;
  if (t < 40)
    s[t] = t;
  else if (t < 56)
    s[t] = s[t - 40];
  else
    out[t] = t;
}
