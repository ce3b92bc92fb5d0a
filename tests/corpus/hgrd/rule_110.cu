// A row of cells that each thread steps on once its neighbours have published theirs: flags between the threads of one
// block at block scope, across its borders at device scope.

constexpr int BLOCKS = 4, THREADS = 64, TOTAL = BLOCKS * THREADS;

__global__ void step_cells(int *cells, volatile int *copy, int *ready, int size, int step) {  // expect: race-free
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t; i < size; i += TOTAL) copy[i] = cells[i];
  if (threadIdx.x == 0 || threadIdx.x == blockDim.x - 1) {
    __threadfence();
    atomicExch(&ready[t], step);
  } else {
    __threadfence_block();
    atomicExch_block(&ready[t], step);
  }
  if (threadIdx.x <= 1) {
    while (atomicAdd(&ready[(TOTAL + t - 1) % TOTAL], 0) != step) {
    }
    __threadfence();
  } else {
    while (atomicAdd_block(&ready[t - 1], 0) != step) {
    }
    __threadfence_block();
  }
  for (int i = t; i < size; i += TOTAL) cells[i] = i > 0 ? copy[i - 1] : 0;
}

// The threads at a block's border publish for their own block only.
__global__ void step_cells_in_blocks(int *ready, int step) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicExch_block(&ready[t], step);  // expect: data-race inter-block with +1
  while (atomicAdd(&ready[(TOTAL + t - 1) % TOTAL], 0) != step) {
  }
}

void step(int *cells, int *copy, int size, int steps) {
  int *ready;
  cudaMalloc(&ready, TOTAL * sizeof(int));
  cudaMemset(ready, 0, TOTAL * sizeof(int));
  for (int i = 0; i < steps; i++) step_cells<<<BLOCKS, THREADS>>>(cells, copy, ready, size, i + 1);
  step_cells_in_blocks<<<BLOCKS, THREADS>>>(ready, steps + 1);
}
