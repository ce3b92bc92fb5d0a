// A section of a switch goes on into the next one, for all threads alike: a barrier where it ends, and no split.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void falling(int *s, int *out, int mode) {
  int t = threadIdx.x;
  switch (mode) {
  case 1:
    s[t] = 2;
    [[fallthrough]];
  case 2: {
    out[t] = s[t ^ 32];
    break;
  }
  default:
    break;
  }
}
