// The barrier is the project's own word for it, and still is where it goes.
#if defined(DEBUG_BARRIERS)
#define SYNC() (__syncthreads(), report(__LINE__))
#else
#define SYNC() __syncthreads()
#endif

// cuda-lsp: launch grid=(1) block=(64) n=40
__global__ void reversed(const float *in, float *out, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  if (t < n) {
    SYNC();
    out[t] = s[63 - t];
  }
}
