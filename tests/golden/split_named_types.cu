// What is computed with values whose type has a name of its own, by a typedef or a macro, has that name.
#ifdef WIDE
typedef double real;
#else
typedef float real;
#endif
#ifndef SCALAR
#define SCALAR int
#endif
// cuda-lsp: launch grid=(1) block=(64)
__global__ void of_a_typedef(const real *in, real *out) {
  __shared__ real s[72];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  s[t] = s[t + 1] * 2;
  __syncthreads();
  s[t] += s[t + 1] * 0.5f;
  out[t] = s[t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void of_a_macro(const SCALAR *in, SCALAR *out) {
  __shared__ SCALAR s[72];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    if (t >= d) s[t] += s[t - d];
    __syncthreads();
  }
  out[t] = s[t];
}
