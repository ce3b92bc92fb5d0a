// Sections of a switch that collide: it is split behind the break of the first, which the default must not take.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void sections(int *s, int *out) {
  int t = threadIdx.x;
  switch (t % 3) {
  case 0:
    s[t] = t;
    break;
  case 1:
  case -1:
    out[t] = s[t ^ 32];
    break;
  default:
    out[t] = t;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void default_first(int *s, int *out) {
  int t = threadIdx.x;
  switch (t / 24) {
    default:
      s[t] = t;
      break;
    case 1: {
      out[t] = s[t ^ 63];
      break;
    }
  }
}
