// A function that other files take the address of may be called with anything, whatever its calls in sight say.
__global__ void tiles(int *out, int width) {
  out[blockIdx.x * width + threadIdx.x] = threadIdx.x;  // expect: data-race inter-block with self
}

__global__ void tiles_called(int *out, int width) {  // expect: race-free
  out[blockIdx.x * width + threadIdx.x] = threadIdx.x;
}

extern "C" void launch_tiles(int *out, int width) { tiles<<<4, 64>>>(out, width); }
extern "C" void launch_tiles_called(int *out, int width) { tiles_called<<<4, 64>>>(out, width); }
