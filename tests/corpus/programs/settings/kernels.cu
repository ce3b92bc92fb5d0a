// Variables that several files share are one variable: a call into another file changes them.
extern int tile_width;
void configure(int wide);

__global__ void before(int *out, int width) {  // expect: race-free
  out[blockIdx.x * width + threadIdx.x] = threadIdx.x;
}

__global__ void after(int *out, int width) {
  out[blockIdx.x * width + threadIdx.x] = threadIdx.x;  // expect: data-race inter-block with self
}

__global__ void again(int *out, int width) {  // expect: race-free
  out[blockIdx.x * width + threadIdx.x] = threadIdx.x;
}

void run(int *out) {
  tile_width = 64;
  before<<<4, 64>>>(out, tile_width);
  configure(0);
  after<<<4, 64>>>(out, tile_width);
  configure(1);
  again<<<4, 64>>>(out, tile_width);
}
