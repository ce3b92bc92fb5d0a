// Two files define the kernel: which of them the launch means is the build's matter.
__global__ void shift(int *out, int by) {
  out[threadIdx.x] = out[threadIdx.x + by];  // expect: possible-data-race with self
}
