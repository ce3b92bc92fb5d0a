// What a ticket was taken for need not even be defined where none is taken: nothing is known of tickets there.

// cuda-lsp: launch grid=(4) block=(64)
__global__ void every_block_goes_first(int *out, int *counter, int n, int m) {
  __shared__ int base;
  bool first = m == 1;
  if (!first) {
    if (threadIdx.x == 0) base = atomicAdd(counter, 1 + (n / (m - 1) & 7));
    __syncthreads();
    first = base == 0;
  }
  if (threadIdx.x == 0 && first) out[0] = blockIdx.x;  // expect: data-race inter-block with self
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void one_block_goes_first(int *out, int *counter, int n, int m) {  // expect: race-free
  __shared__ int base;
  bool first = false;
  if (m != 1) {
    if (threadIdx.x == 0) base = atomicAdd(counter, 1 + (n / (m - 1) & 7));
    __syncthreads();
    first = base == 0;
  }
  if (threadIdx.x == 0 && first) out[0] = blockIdx.x;
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void every_warp_goes_first(int *out, int *counter, int n, int m) {
  bool first = m == 1;
  if (!first) {
    int at = 0;
    if (threadIdx.x % 32 == 0) at = atomicAdd(counter, 1 + (n / (m - 1) & 7));
    first = __shfl_sync(0xffffffffu, at, 0) == 0;
  }
  if (threadIdx.x % 32 == 0 && first) out[0] = threadIdx.x;  // expect: data-race intra-block with self
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void one_warp_goes_first(int *out, int *counter, int n, int m) {  // expect: race-free
  bool first = false;
  if (m != 1) {
    int at = 0;
    if (threadIdx.x % 32 == 0) at = atomicAdd(counter, 1 + (n / (m - 1) & 7));
    first = __shfl_sync(0xffffffffu, at, 0) == 0;
  }
  if (threadIdx.x % 32 == 0 && first) out[0] = threadIdx.x;
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void places_of_blocks(int *out, int *counter, int n, int m) {  // expect: race-free
  __shared__ int base;
  const int each = n / (m + 1);
  if (each < 0) return;
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) base = atomicAdd(counter, each);
    __syncthreads();
    for (int i = threadIdx.x; i < each; i += 64) out[base + i] = round;
    __syncthreads();
  }
}

// Numbers with a sign are added only where they are not negative.

// cuda-lsp: launch grid=(4) block=(64)
__global__ void entries_of_each(const int *in, int *out, int *counter) {  // expect: race-free
  int count = in[threadIdx.x];
  if (count > 0) {
    int at = atomicAdd(counter, count);
    for (int i = 0; i < count; ++i) out[at + i] = threadIdx.x;
  }
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void segments(const int *in, int *out, int *counter) {  // expect: race-free
  int begin = in[threadIdx.x], end = in[threadIdx.x + 1];
  if (begin < end) {
    int at = atomicAdd(counter, end - begin);
    for (int i = begin; i < end; ++i) out[at + i - begin] = threadIdx.x;
  }
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void segments_turned_round(const int *in, int *out, int *counter) {
  int begin = in[threadIdx.x], end = in[threadIdx.x + 1];
  if (begin > end) {
    int at = atomicAdd(counter, end - begin);
    out[at] = threadIdx.x;  // expect: possible-data-race with self
  }
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void one_may_be_taken_back(const int *in, int *out, int *counter) {
  int count = in[threadIdx.x];
  if (count > -2) {
    int at = atomicAdd(counter, count);
    for (int i = 0; i < count; ++i) out[at + i] = threadIdx.x;  // expect: possible-data-race with self
  }
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void some_take_none(const int *in, int *out, int *counter) {
  int count = in[threadIdx.x], at = 0;
  if (count > 0) at = atomicAdd(counter, count);
  out[at] = threadIdx.x;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void entries_of_blocks(int *out, int *counter, int each) {  // expect: race-free
  __shared__ int base;
  if (each < 0) return;
  if (threadIdx.x == 0) base = atomicAdd(counter, each);
  __syncthreads();
  for (int i = threadIdx.x; i < each; i += 64) out[base + i] = blockIdx.x;
}

// What is computed as a negative number and converted takes back.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void gives_and_takes(int *out) {
  __shared__ unsigned top;
  if (threadIdx.x == 0) top = 64;
  __syncthreads();
  unsigned p = atomicAdd(&top, 1 - 2 * (int)(threadIdx.x & 1));
  out[p] = threadIdx.x;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void takes_one_or_two(int *out) {  // expect: race-free
  __shared__ unsigned top;
  if (threadIdx.x == 0) top = 64;
  __syncthreads();
  unsigned p = atomicAdd(&top, 1 + (int)(threadIdx.x & 1));
  out[p] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void all_ones_takes_back(int *out) {
  __shared__ unsigned top;
  if (threadIdx.x == 0) top = 64;
  __syncthreads();
  unsigned p = atomicAdd(&top, (threadIdx.x & 1) + 0xffffffffu * !(threadIdx.x & 1));
  out[p] = threadIdx.x;  // expect: possible-data-race with self
}
