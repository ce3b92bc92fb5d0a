// One launch here, one in another file: both count.
__global__ void spread(int *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}

__global__ void spread_apart(int *out, int step) {  // expect: race-free
  out[threadIdx.x * step] = threadIdx.x;
}

void spread_twice(int *out) {
  spread<<<1, 32>>>(out, 2);
  spread_apart<<<1, 32>>>(out, 2);
}
