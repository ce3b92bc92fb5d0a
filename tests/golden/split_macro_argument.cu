// Macros that come to one assignment: the arguments that its value is made of go first, where they collide.
#define SET(a, i, v) (a)[i] = (v)
#define PUT(a, i, v)  \
  do {                \
    (a)[i] = v;       \
  } while (0)
#define ADD(a, i, v) a[i] += v
#define MIX(a, i, v, w) a[i] = max((short)(v), 0) + (w)

// cuda-lsp: launch grid=(1) block=(64)
__global__ void reversed(float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = out[t];
  __syncthreads();
  SET(s, t, s[63 - t]);
  out[t] = s[t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void wrapped(float *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  PUT(s, t, (s[63 - t] + 1));  // one behind
  out[t] = s[t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void scanned(float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = out[t];
  for (int i = 1; i < 64; i *= 2) {
    __syncthreads();
    if (t >= i)
      ADD(s, t, s[t - i]);
  }
  out[t] = s[t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void mixed(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = out[t];
  __syncthreads();
  MIX(s, t, s[63 - t], s[t ^ 1]);
  out[t] = s[t];
}
