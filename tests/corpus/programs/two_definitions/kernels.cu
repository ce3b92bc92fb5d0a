// Which of two definitions of a function a call reaches is the build's matter, also where one of them is not followed.
__global__ void rows(int *out, int width) {
  out[blockIdx.x * width + threadIdx.x] = threadIdx.x;  // expect: data-race inter-block with self
}

__global__ void columns(int *out, int height) {  // expect: race-free
  out[blockIdx.x * height + threadIdx.x] = threadIdx.x;
}

void run(int *out, int width, int height) {
  rows<<<4, 64>>>(out, width);
  columns<<<4, 64>>>(out, height);
}
