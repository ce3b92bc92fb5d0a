// Comments between the branches of a conditional stay where they are.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void above(float *o, const int *f) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (f[t]) {
    s[t] = 1;
  }
  // otherwise: read,
  // and no more
  else {
    o[t] = s[63 - t];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void behind(float *o, const int *f) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (f[t]) {
    s[t] = 1;
  } // wrote
  else // read
  {
    o[t] = s[63 - t];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_a_line(float *o, const int *f) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (f[t]) {
    s[t] = 1;
  } /* wrote */ else /* read */ {
    o[t] = s[63 - t];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void over_lines(float *o, const int *f) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (f[t])
    s[t] = 1; /* wrote: else
                 read
  */
  else // read
    o[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void chained(float *o, const int *f) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (f[t]) {
    s[t] = 1;
  } /* wrote */
  // or
  else /* read */ if (t > 3) {
    o[t] = s[63 - t];
  }
}
