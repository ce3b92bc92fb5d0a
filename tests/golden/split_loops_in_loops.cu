// A loop that threads leave at different times is in another one, and only threads with work compute its head.
__global__ void rows(int *out, const int *in, const int *end, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int r = t; r < n; r += 64) {
    for (int c = 0; c < end[r]; c++) {
      s[t] = in[r * 64 + c];
      __syncthreads();
      out[t] += s[63 - t];
      __syncthreads();
    }
  }
}
void run_rows(int *out, int *in, int *end, int n) { rows<<<1, 64>>>(out, in, end, n); }

// The same where a conditional is around the loop.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void sparse(float *out, const float *value, const int *begin, const int *column, const float *x, int n) {
  __shared__ float part[64];
  int t = threadIdx.x;
  if (t < n) {
    float sum = 0;
    for (int j = begin[t]; j < begin[t + 1]; j++) {
      part[t] = value[j];
      sum += part[t ^ 1] * x[column[j]];
    }
    out[t] = sum;
  }
}

// The outer loop ends for all threads at once, and stays as it is.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void triangle(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int r = 0; r < n; r++) {
    for (int c = t; c < 60 + 2 * r; c += 32) {
      s[t] = c + r;
      out[t] += s[63 - t];
    }
  }
}
