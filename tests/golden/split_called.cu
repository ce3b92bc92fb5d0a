// Functions with barriers, called under a condition that only some threads meet.

__device__ void halve(float *s, int t) {
  int half = 32;
  if (t < half) s[t] += s[t + half];
  __syncthreads();
  if (t < 16) s[t] += s[t + 16];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void within_bounds(float *out, const float *in, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < n) {
    s[t] = in[t];
    __syncthreads();
    halve(s, t);
    __syncthreads();
    out[t] = s[t % 16];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
// Another caller, which all threads come to.
__global__ void by_all(float *out, const float *in) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  halve(s, t);
  __syncthreads();
  out[t] = s[t % 16];
}

__device__ float sum_of(float *data, int t, float value)
{
  data[t] = value;
  __syncthreads();
  for (int i = 32; i > 0; i >>= 1)
  {
    if (t < i)
    {
      data[t] += data[t + i];
    }
    __syncthreads();
  }
  return data[0];
}

// What the function gives is of use for those threads only that meet the condition.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void sums_within_bounds(float *out, const float *in, int n) {
  __shared__ float data[64];
  int t = threadIdx.x;
  if (t < n) {
    float x = in[t], y = in[t + 64];
    x = sum_of(data, t, x);
    y = sum_of(data, t, y);
    out[t] = x * y;
  }
}
