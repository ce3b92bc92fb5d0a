// Dynamic shared memory: one object, whatever the arrays are called.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_array(const int *in, int *out) {  // expect: race-free
  extern __shared__ int pool[];
  int t = threadIdx.x;
  pool[t] = in[t];
  __syncthreads();
  out[t] = pool[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_array_unordered(const int *in, int *out) {
  extern __shared__ int pool[];
  int t = threadIdx.x;
  pool[t] = in[t];  // expect: data-race intra-block with +1, fix: yes
  out[t] = pool[63 - t];
}

// The pool is divided: n ints, then n more.
// cuda-lsp: launch grid=(1) block=(64) n=64
__global__ void divided(const int *in, int *out, int n) {  // expect: race-free
  extern __shared__ int pool[];
  int *low = pool, *high = pool + n;
  int t = threadIdx.x;
  low[t] = in[t];
  high[63 - t] = in[t];
  out[t] = low[t] + high[63 - t];
}

// The parts overlap when n is smaller than the block.
// cuda-lsp: launch grid=(1) block=(64) n=32
__global__ void divided_overlapping(const int *in, int *out, int n) {
  extern __shared__ int pool[];
  int *low = pool, *high = pool + n;
  int t = threadIdx.x;
  low[t] = in[t];  // expect: data-race intra-block with +1
  high[t] = -in[t];
  out[t] = in[t];
}

// Both names mean the same memory.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_names(const int *in, int *out) {
  extern __shared__ int first[];
  extern __shared__ int second[];
  int t = threadIdx.x;
  first[t] = in[t];  // expect: data-race intra-block with +1
  second[63 - t] = t;
  out[t] = t;
}

// Different element types in one pool, laid out by hand.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void mixed_types(const float *in, float *out) {  // expect: race-free
  extern __shared__ unsigned char bytes[];
  float *values = (float *)bytes;
  int *keys = (int *)(bytes + 32 * sizeof(float));
  int t = threadIdx.x;
  values[t] = in[t];
  keys[31 - t] = t;
  __syncthreads();
  out[t] = values[keys[t]];
}

// The second part begins too early: it counts 32 bytes, not 32 floats.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void mixed_types_too_early(const float *in, float *out) {
  extern __shared__ unsigned char bytes[];
  float *values = (float *)bytes;
  int *keys = (int *)(bytes + 32);
  int t = threadIdx.x;
  values[t] = in[t];  // expect: data-race intra-warp with +1
  keys[t] = t;
  out[t] = in[t];
}

// Static and dynamic shared memory are different.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void static_and_dynamic(const int *in, int *out) {  // expect: race-free
  extern __shared__ int pool[];
  __shared__ int fixed[64];
  int t = threadIdx.x;
  pool[t] = in[t];
  fixed[63 - t] = in[t];
  out[t] = pool[t] + fixed[63 - t];
}

// The size of the parts comes from the block's dimensions, and the launch reserves both.
__global__ void parts_by_block_size(const float *in, float *out) {  // expect: race-free
  extern __shared__ float floats[];
  float *mine = floats, *sums = floats + blockDim.x;
  int t = threadIdx.x;
  mine[t] = in[blockIdx.x * blockDim.x + t];
  sums[t] = 0;
  __syncthreads();
  for (int k = 0; k <= t; ++k) sums[t] += mine[k];
  out[blockIdx.x * blockDim.x + t] = sums[t];
}

void launch_parts(const float *in, float *out) {
  int block = 96;
  parts_by_block_size<<<3, block, 2 * block * sizeof(float)>>>(in, out);
}

// A row of the pool per warp.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void row_per_warp(const int *in, int *out) {  // expect: race-free
  extern __shared__ int pool[];
  int lane = threadIdx.x % 32;
  int *row = pool + threadIdx.x / 32 * 32;
  row[lane] = in[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = row[31 - lane];
}

// The rows are 31 cells long: lane 31 of a warp writes where lane 0 of the next one does.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void row_per_warp_too_short(const int *in, int *out) {
  extern __shared__ int pool[];
  int lane = threadIdx.x % 32;
  int *row = pool + threadIdx.x / 32 * 31;
  row[lane] = in[threadIdx.x];  // expect: data-race intra-block with self
  __syncthreads();
  out[threadIdx.x] = row[lane];
}
