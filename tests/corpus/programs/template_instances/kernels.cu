// Templates that are instantiated explicitly can be called from files that do not see their text.
#include "kernels.h"

template <class T>
__global__ void filled(T *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}

template <class T>
__global__ void filled_here(T *out, int step) {  // expect: race-free
  out[threadIdx.x * step] = threadIdx.x;
}

template <class T>
void fill(T *out, int step) {
  filled<T><<<1, 64>>>(out, step);
}
template void fill<int>(int *out, int step);

template <class T>
void fill_here(T *out, int step) {
  filled_here<T><<<1, 64>>>(out, step);
}

void self_test(int *out) {
  fill<int>(out, 1);
  fill_here<int>(out, 1);
}
