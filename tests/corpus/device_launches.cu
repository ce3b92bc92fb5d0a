// Kernels launched from device code run beside the kernel that launches them, or behind it: nothing here follows that,
// and it is said by name. What else the file holds is checked as ever.

// cuda-lsp: launch grid=(1) block=(32)
__global__ void leaf_cells(int *cells) {  // expect: race-free
  cells[threadIdx.x] = 1;
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void leaf_collision(int *cells) {
  cells[threadIdx.x / 2] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void refine(int *cells) {  // expect: unknown(dynamic-parallelism)
  if (threadIdx.x == 0) leaf_cells<<<1, 32>>>(cells + 32 * blockIdx.x);
}

// Launched once more by itself, behind its end.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void halves(int *cells, int depth) {  // expect: unknown(dynamic-parallelism)
  cells[threadIdx.x] = depth;
  if (depth > 0 && threadIdx.x == 0) halves<<<1, 32, 0, cudaStreamTailLaunch>>>(cells, depth - 1);
}

// Through a function of the device.
__device__ void spread(int *cells) { leaf_cells<<<2, 32>>>(cells); }

// cuda-lsp: launch grid=(1) block=(32)
__global__ void through_function(int *cells) {  // expect: unknown(dynamic-parallelism)
  spread(cells + threadIdx.x);
}

template <class T>
__global__ void fill(T *cells, T value) {  // expect: race-free
  cells[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// A template that launches a template, in a stream of its own.
template <class T>
__global__ void fill_from_device(T *cells, T value) {  // expect: unknown(dynamic-parallelism)
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  fill<T><<<1, 32, 0, stream>>>(cells, value);
  cudaStreamDestroy(stream);
}

// A copy started by device code is not part of the thread, either.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void clear_from_device(int *cells) {  // expect: unknown(dynamic-parallelism)
  cudaMemsetAsync(cells + threadIdx.x, 0, 4, 0);
}

void run(float *cells) {
  fill<<<4, 64>>>(cells, 1.0f);
  fill_from_device<<<1, 1>>>(cells, 2.0f);
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void unaffected(int *cells) {  // expect: race-free
  cells[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// What the runtime tells about the device starts nothing.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void asks_the_runtime(int *cells) {  // expect: race-free
  int device = 0;
  cudaGetDevice(&device);
  cells[blockIdx.x * blockDim.x + threadIdx.x] = device;
}
