// Lanes of a warp hand values to each other through global memory. A warp barrier has to stand between the write and
// the reading of the other lanes, and between that and the next write.

__global__ void warp_communicate(int *cells) {
  int lane = threadIdx.x % 32;
  int *cell = cells + (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32;
  int value = cell[lane];
  cell[lane] = value;  // expect: data-race intra-warp with +1
  value += cell[lane ^ 16];
  __syncwarp();
  cell[lane] = 2 * value;  // expect: data-race intra-warp with +1
  value -= cell[31 - lane];
  __syncwarp();
  cell[lane] = value;
}

__global__ void warp_communicate_in_order(int *cells) {  // expect: race-free
  int lane = threadIdx.x % 32;
  int *cell = cells + (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32;
  int value = cell[lane];
  cell[lane] = value + 1;
  __syncwarp();
  value += cell[lane ^ 16];
  __syncwarp();
  cell[lane] = 2 * value;
  __syncwarp();
  value -= cell[31 - lane];
  __syncwarp();
  cell[lane] = value;
}

int main() {
  int *cells;
  cudaMalloc(&cells, 16 * 64 * sizeof(int));
  warp_communicate<<<16, 64>>>(cells);
  warp_communicate_in_order<<<16, 64>>>(cells);
  return cudaFree(cells);
}
