// Launched from members of a class template that another file instantiates: overloaded ones, and templates themselves.
#include "kernels.h"

__global__ void set(float *out, int width, int rows) {  // expect: race-free
  int x = threadIdx.x, y = blockIdx.x;
  if (y < rows) out[y * width + x] = x;
}

__global__ void set_narrow(float *out, int width, int rows) {
  int x = threadIdx.x, y = blockIdx.x;
  if (y < rows) out[y * width + x] = x;  // expect: data-race inter-block with self
}

__global__ void move(float *out, const float *in, int n) {  // expect: race-free
  int i = threadIdx.x;
  out[i] = in[i + n];
}

__global__ void move_over(float *out, const float *in, int n) {
  int i = threadIdx.x;
  out[i] = in[i + n];  // expect: data-race intra-block with self
}

extern "C" {
void cuda_set(int blocks, float *out, int width, int rows) { set<<<blocks, 64>>>(out, width, rows); }
void cuda_set_narrow(int blocks, float *out, int width, int rows) { set_narrow<<<blocks, 64>>>(out, width, rows); }
void cuda_move(float *out, const float *in, int n) { move<<<1, 64>>>(out, in, n); }
void cuda_move_over(float *out, const float *in, int n) { move_over<<<1, 64>>>(out, in, n); }
}
