// Blocks read what their neighbours have written; the kernel is launched so that it may wait for all of them.
#include <cooperative_groups.h>

__global__ void smooth(float *line, float *out, int n) {
  auto grid = cooperative_groups::this_grid();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  line[i] = line[i] * 0.5f;
  out[i] = line[(i + 1) % n];
}

void run(float *line, float *out) {
  int n = 32 * 256;
  void *arguments[] = {&line, &out, &n};
  cudaLaunchCooperativeKernel((void *)smooth, dim3(32), dim3(256), arguments, 0, 0);
}
