// An assignment in a larger statement reads and writes cells that collide: its value is computed in front of that.

#define MAXIMUM(a, b) ((a) > (b) ? (a) : (b))

// cuda-lsp: launch grid=(1) block=(64)
__global__ void chained(int *a, float *out) {
  int t = threadIdx.x;
  float best;
  best = a[t] = MAXIMUM(a[t], a[t + 1]);  // of two
  out[t] = best;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void narrowed(unsigned char *a, int *out, float f) {
  out[threadIdx.x] = a[threadIdx.x] += f * a[threadIdx.x + 1];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void condition(int *a, int *out, int n) {
  int t = threadIdx.x;
  if (n > 7)
    out[t] = 1;
  else if ((a[t] = a[t + 1]) > 3 && out[t + 1] != 4) {
    out[t + 1] = 2;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void choice(int *a, int *out) {
  int t = threadIdx.x;
  switch (a[t] = a[t + 1]) {
    case 1: out[t] = 1; break;
    default: out[t] = 2;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void declared(int *a, int *out) {
  int t = threadIdx.x;
  const int next = a[t + 1], own = (a[t] = next + 1);
  out[t] = next + own;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void operands(int *a, int *out, int n) {
  int t = threadIdx.x;
  out[t] = n + max(a[t] = a[t + 1], 3);
  (a[t] = a[t + 1]) += n;
}

__device__ int moved(int *a, int t) {
  return a[t] = a[t + 1];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void returned(int *a, int *out) {
  out[threadIdx.x] = moved(a, threadIdx.x);
}

struct Pair {
  float one, two;
};

template <typename T>
__global__ void typed(T *a, T *out) {
  T last;
  last = a[threadIdx.x] = a[threadIdx.x + 1];
  out[threadIdx.x] = last;
}

void host(float *p, Pair *q) {
  typed<<<1, 64>>>(p, p + 100);
  typed<<<1, 64>>>(q, q + 100);
}
