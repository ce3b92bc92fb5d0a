// A barrier in a function that only some threads call, with what it orders in the caller.
#define SYNC() __syncthreads()

__device__ void publish(int *s, int t, int v) {
  s[t] = v;
  SYNC();
}

__global__ void exchange(int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t < n) {
    publish(s, t, out[t]);
    out[t] = s[n - 1 - t];
  }
}

void run(int *out, int n) { exchange<<<1, 128>>>(out, n); }
