// Several threads write the same value to one cell.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void constant_flag(const int *in, int *flag) {
  int t = threadIdx.x;
  if (in[t] < 0) *flag = 1;  // expect: benign-race with self
}

// All threads clear the same cell.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void everybody_clears(int *cell) {
  *cell = 0;  // expect: benign-race with self
}

// The value is a parameter, the same for every thread.
// cuda-lsp: launch grid=(1) block=(64) v=7
__global__ void everybody_stores_parameter(int *out, int v) {
  __shared__ int s;
  s = v;  // expect: benign-race intra-block with self
  __syncthreads();
  out[threadIdx.x] = s;
}

// A concurrent read makes it a race.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void flag_read_at_once(int *out) {
  __shared__ int s;
  s = 5;  // expect: data-race intra-block with +1; data-race intra-block with self
  out[threadIdx.x] = s;
}

// Two different constants.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_constants(int *flag) {
  int t = threadIdx.x;
  *flag = t < 32 ? 1 : 2;  // expect: data-race with self
}

// Every pair of threads that shares a cell computes the same value for it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void value_is_a_function_of_the_cell(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t % 32] = 3 * (t % 32) + 1;  // expect: benign-race intra-block with self
  __syncthreads();
  out[t] = s[31 - t % 32];
}

// Both threads copy the same input cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void copied_twice(const int *in, int *out) {
  int c = threadIdx.x / 2;
  out[c] = in[c];  // expect: benign-race intra-warp with self
}

// Two statements store the same constant to one cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void same_constant_twice(int *flag) {
  int t = threadIdx.x;
  if (t == 3) *flag = 1;  // expect: benign-race with +1
  if (t == 40) *flag = 1;
}

// The constants differ between the statements.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void different_constants_twice(int *flag) {
  int t = threadIdx.x;
  if (t == 3) *flag = 1;  // expect: data-race intra-block with +1
  if (t == 40) *flag = 0;
}

// One store with one value by one thread: nothing to report.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void flag_by_one_thread(int *flag) {  // expect: race-free
  if (threadIdx.x == 3) *flag = 1;
}

// Numbers that are no integers: what all rows of a block load from one place is equal.
// cuda-lsp: launch grid=(4) block=(32,4)
__global__ void rows_load_alike(const float *in, float *out) {
  __shared__ float line[32];
  line[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];  // expect: benign-race with self
  __syncthreads();
  if (threadIdx.y == 0) out[blockIdx.x * 32 + threadIdx.x] = line[31 - threadIdx.x];
}

// Each row loads its own.
// cuda-lsp: launch grid=(4) block=(32,4)
__global__ void rows_load_apart(const float *in, float *out) {
  __shared__ float line[32];
  line[threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];  // expect: data-race with self
  __syncthreads();
  if (threadIdx.y == 0) out[blockIdx.x * 32 + threadIdx.x] = line[31 - threadIdx.x];
}
