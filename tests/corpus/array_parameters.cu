// Parameters that are written as arrays are pointers: what is read and written through them is memory of the caller.

__device__ int at(int row[], int i) { return row[i]; }
__device__ int at_of_four(const int row[64], int i) { return row[i]; }
__device__ void set(int row[], int i, int value) { row[i] = value; }
__device__ void set_in_table(int table[][8], int i, int j) { table[i][j] = threadIdx.x; }

// cuda-lsp: launch grid=(4) block=(64)
__global__ void read_by_function(int *out) {  // expect: race-free
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = at(s, 63 - threadIdx.x) + at_of_four(s, threadIdx.x ^ 1);
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void read_by_function_racy(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  // expect: data-race intra-block at 3 with 19
  out[blockIdx.x * 64 + threadIdx.x] = at(s, 63 - threadIdx.x);
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void read_const_racy(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  // expect: data-race intra-warp at 4 with 26
  out[blockIdx.x * 64 + threadIdx.x] = at_of_four(s, threadIdx.x ^ 1);
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void written_by_function(int *out) {  // expect: race-free
  __shared__ int s[64];
  set(s, threadIdx.x, threadIdx.x);
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void written_by_function_racy(int *out) {  // expect: data-race intra-block at 5 with 5
  __shared__ int s[64];
  set(s, threadIdx.x / 2, threadIdx.x);
}

// cuda-lsp: launch grid=(1) block=(8,8)
__global__ void table_of_rows(int *out) {  // expect: race-free
  __shared__ int t[8][8];
  set_in_table(t, threadIdx.y, threadIdx.x);
}

// cuda-lsp: launch grid=(1) block=(8,8)
__global__ void table_of_rows_racy(int *out) {  // expect: data-race intra-block at 6 with 6
  __shared__ int t[8][8];
  set_in_table(t, threadIdx.y, threadIdx.x / 2);
}

// A thread's own array stays its own.
template <int N, int M> __device__ void mixed(float x[N][M]) {
  for (int i = 0; i < M; ++i)
    for (int c = 1; c < N; ++c) {
      float kept = x[c][i];
      x[c][i] = kept + x[0][i];
      x[0][i] = kept;
    }
}

__global__ void own_arrays(float *out) {  // expect: race-free
  float v[2][4] = {};
  mixed<2, 4>(v);
  for (int i = 0; i < 4; ++i) out[(blockIdx.x * blockDim.x + threadIdx.x) * 4 + i] = v[1][i];
}

// The pointer itself moves.
__device__ void fill(int row[], int n) {
  auto first = row;
  while (n--) *row++ = n;
  first[0] = 1;
}

__global__ void filled(int *out) {  // expect: race-free
  fill(out + (blockIdx.x * blockDim.x + threadIdx.x) * 4, 4);
}

__device__ void fill_too_far(int row[], int n) {
  while (n--) *row++ = threadIdx.x;  // expect: possible-data-race with self
}

__global__ void filled_too_far(int *out) { fill_too_far(out + (blockIdx.x * blockDim.x + threadIdx.x) * 4, 5); }

// Parameters of kernels, and of the host functions that launch them: the same memory may come twice.
__global__ void shifted(int out[], const int in[64]) {
  out[threadIdx.x] = in[threadIdx.x + 1];  // expect: data-race intra-block with self
}

void shift_in_place(int *p) { shifted<<<1, 64>>>(p, p); }

__global__ void shifted_apart(int out[], const int in[64]) {  // expect: race-free
  out[threadIdx.x] = in[threadIdx.x + 1];
}

void shift(int *p, int *q) { shifted_apart<<<1, 64>>>(p, q); }

__global__ void shifted_further_up(int *out, const int *in) {
  out[threadIdx.x] = in[threadIdx.x + 1];  // expect: data-race intra-block with self
}

static void launch_further_up(int a[], int b[4]) { shifted_further_up<<<1, 64>>>(a, b); }
void call_further_up(int *p) { launch_further_up(p, p); }

__global__ void rows_by_size(int out[], int n) {  // expect: race-free
  out[blockIdx.x * n + threadIdx.x] = blockIdx.x;
}

void launch_rows_by_size(int *out, const int sizes[]) {
  if (sizes[0] >= 64) rows_by_size<<<4, 64>>>(out, sizes[0]);
}

__global__ void rows_by_another_size(int out[], int n) {
  out[blockIdx.x * n + threadIdx.x] = blockIdx.x;  // expect: data-race inter-block with self
}

void launch_rows_by_another_size(int *out, const int sizes[]) {
  if (sizes[1] >= 64) rows_by_another_size<<<4, 64>>>(out, sizes[0]);
}
