// What a repair declares in a section of a switch, other labels must not jump past: the section gets braces.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void conditional(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  switch (n) {
  case 0:  // the upper half
    if (t < 32) {
      s[t] = 1;
    } else {
      out[t] = s[t - 32];
    }
    [[fallthrough]];
  case 1:
    out[t] += 3;
    break;
  default:
    if (t < 32) {
      s[t] = 2;
    } else {
      out[t] = s[t - 32];
    }
  }
}

struct Pair {
  int a, b;
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void statement(Pair *s, int n) {
  int t = threadIdx.x;
  switch (n) {
  case 0: s[t] = s[63 - t]; break;
  default: s[t].a = 1;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void nested(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  switch (n) {
  case 0:
    switch (t % 3) {
    case 0:
      s[t] = t;
      break;
    default:
      out[t] = s[t - t % 3];
    }
    break;
  case 1:
    out[t] = 2;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void loop(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  switch (n) {
  case 0:
    out[t] = 0;
    for (int i = 0; i <= t % 3; i++) {
      s[t] = i;
      if (out[t] > 7)
        break;
      out[t] += s[63 - t];
    }
    break;
  default:
    out[t] = 3;
  }
}
