// Without the barrier nearly all pairs would race: it stays, and all threads get to it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void bitonic(int *a) {
  __shared__ int s[64];
  const unsigned int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  for (unsigned int k = 2; k <= 64; k *= 2) {
    for (unsigned int j = k / 2; j > 0; j /= 2) {
      unsigned int other = t ^ j;
      if (other > t) {
        if ((t & k) == 0) {
          if (s[t] > s[other]) { int v = s[t]; s[t] = s[other]; s[other] = v; }
        } else {
          if (s[t] < s[other]) { int v = s[t]; s[t] = s[other]; s[other] = v; }
        }
        __syncthreads();
      }
    }
  }
  a[t] = s[t];
}
