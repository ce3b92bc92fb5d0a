// A barrier under a condition that does not hold in every launch is taken out of it, rather than that a second one stands
// beside it.
template <int N>
__global__ void mirrored(float *out, const float *in) {
  __shared__ float s[N];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * N + t];
  if (N > 128) __syncthreads();
  int other = N - 1 - t;
  out[blockIdx.x * N + t] = s[other];
}

__global__ void halves(float *out, const float *in, int n) {
  __shared__ float s[256];
  for (int i = 0; i < n; i++) {
    s[threadIdx.x] = in[i * 256 + threadIdx.x];
    if (n > 128) {
      __syncthreads();
    }
    out[i * 256 + threadIdx.x] = s[255 - threadIdx.x];
    __syncthreads();
  }
}

void host(float *out, const float *in, int n) {
  mirrored<128><<<4, 128>>>(out, in);
  mirrored<256><<<4, 256>>>(out, in);
  halves<<<1, 256>>>(out, in, n);
}
