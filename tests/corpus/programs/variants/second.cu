__global__ void shift(int *out, int by) {  // expect: race-free
  atomicAdd(out + threadIdx.x, by);
}
