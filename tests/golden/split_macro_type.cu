// The type of what both halves use is written by a macro, and is written so in front of them.
#define REAL double
#define CELL float *
// cuda-lsp: launch grid=(1) block=(64)
__global__ void scaled(const REAL *in, float *out, int n) {
  __shared__ float s[72];
  int t = threadIdx.x;
  if (t < n) {
    REAL own = in[t];
    CELL cell = &s[t];
    *cell = own;
    const int next = t + 1;
    out[t] = s[next] * own + *cell;
  }
}
