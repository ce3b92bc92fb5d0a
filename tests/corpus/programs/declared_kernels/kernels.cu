// Kernels that another file launches, which sees their declarations only; parameters have other names there.
#include "kernels.cuh"

__global__ void rows(int *out, int width, int n) {  // expect: race-free
  int x = threadIdx.x;
  int y = blockIdx.x;
  if (x < n) out[y * width + x] = x;
}

__global__ void rows_short(int *out, int width, int n) {
  int x = threadIdx.x;
  int y = blockIdx.x;
  if (x < n) out[y * width + x] = x;  // expect: data-race inter-block with self
}

__global__ void halves(int *s, int n) {
  int t = threadIdx.x;
  s[t] = s[t + n];  // expect: data-race intra-block with self
}

__global__ void halves_apart(int *s, int n) {  // expect: race-free
  int t = threadIdx.x;
  s[t] = s[t + n];
}
