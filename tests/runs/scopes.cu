// Atomics and their scopes.

// cuda-lsp: launch grid=(2) block=(32)
// run: race inter-block
__global__ void atomics_of_the_block_between_blocks(int *count) {
  atomicAdd_block(count, 1);  // racy
}

// cuda-lsp: launch grid=(2) block=(32)
// run: clean
__global__ void atomics_of_the_block_inside_of_it(int *counts) {
  atomicAdd_block(&counts[blockIdx.x], 1);
}

// One of the two does not mean the other block.
// cuda-lsp: launch grid=(2) block=(32)
// run: race inter-block
__global__ void one_side_means_its_block(int *most) {
  if (blockIdx.x == 0)
    atomicMax(most, threadIdx.x);        // racy
  else
    atomicMax_block(most, threadIdx.x);  // racy
}

// cuda-lsp: launch grid=(2) block=(32)
// run: clean
__global__ void one_side_means_the_system(int *most) {
  if (blockIdx.x == 0)
    atomicMax(most, threadIdx.x);
  else
    atomicMax_system(most, threadIdx.x);
}
