// More threads than cells: the cells are taken in turn.

constexpr int CELLS = 48;

__global__ void increment(int *cell) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  cell[t % CELLS]++;  // expect: data-race with self
}

__global__ void increment_own(int *cell) {  // expect: race-free
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < CELLS) cell[t % CELLS]++;
}

int main() {
  int *cell;
  cudaMalloc(&cell, CELLS * sizeof(int));
  increment<<<2, 96>>>(cell);
  increment_own<<<2, 96>>>(cell);
  return cudaFree(cell);
}
