// Functions that some threads return from in front of a place where all of them would have to wait.

__device__ void turned(int *s, int *out, int t, int n) {
  if (t >= n)
    return;
  s[t] = t;
  out[t] = s[t ^ 32];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_calls(int *out, int n) {
  __shared__ int s[64];
  turned(s, out, threadIdx.x, n);
  __syncthreads();
  turned(s, out + 64, threadIdx.x, n);
}

// What is returned early is returned at the end.
__device__ float beside(float *s, const float *in, int t, int n, float low)
{
  float v = in[t];
  if (t == 0) {
    s[64] = 1;
    return low * 2;
  }
  if (t >= n)
    return in[t] + s[t];  // its own
  s[t] = v;
  float w = s[t ^ 32];
  if (w > 3)
    return w;
  return w + v;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void values(float *out, const float *in, int n) {
  __shared__ float s[65];
  out[threadIdx.x] = beside(s, in, threadIdx.x, n, 1) + 1;
}

// In a loop or a switch in front of it.
__device__ void searched(int *s, int *out, const int *in, int t) {
  for (int i = 0; i < 4; i++) {
    if (in[t + i] == 7)
      return;
  }
  s[t] = t;
  out[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void after_a_loop(int *out, const int *in) {
  __shared__ int s[64];
  searched(s, out, in, threadIdx.x);
}

// A lambda.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void lambda(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  auto shifted = [&](int by) -> int {
    if (t >= n) return -1;
    s[t] = t;
    return s[t ^ by];
  };
  out[t] = shifted(32);
}

// The function that races is called behind the return.
__device__ int inner(int *s, int t) {
  s[t] = t;
  return s[t ^ 32];
}

__device__ void outer(int *s, int *out, int t, int n) {
  if (t >= n)
    return;
  out[t] = inner(s, t);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void by_way_of_another(int *out, int n) {
  __shared__ int s[64];
  outer(s, out, threadIdx.x, n);
}
