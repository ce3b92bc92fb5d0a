// Steps that are negative numbers without a sign: they wrap around, and the sum with a sign goes down.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void down_a_block(int *out) {
  int at = 500;
  for (int i = 0; i < 4; i++) {
    if (i > 1) out[at] = threadIdx.x;  // expect: data-race with self
    at += 1 - blockDim.x;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void below_zero(int *out) {
  int at = 10;
  for (int i = 0; i < 4; i++) {
    if (at < 0) out[0] = threadIdx.x;  // expect: data-race with self
    at += threadIdx.x - blockDim.x;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void as_long_as_it_is_positive(int *out) {
  int at = 130;
  while (at > 0) {
    if (at < 100) out[at] = threadIdx.x;  // expect: data-race with self
    at += 0u - blockDim.x;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void down_by_blocks(int *out, int n) {  // expect: race-free
  for (int i = n - 1 - threadIdx.x; i >= 0; i -= blockDim.x) out[i] = i;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void which_way(int *out) {
  int at = 500, way = blockIdx.x ? 1 : -1;
  for (int i = 0; i < 4; i++) {
    if (at < 400) out[0] = threadIdx.x;  // expect: data-race with self
    at += way * blockDim.x;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void halos(int *out, int n) {  // expect: race-free
  if (threadIdx.x < blockDim.x - 2)
    for (int i = threadIdx.x; i < n; i += blockDim.x - 2) out[i] = threadIdx.x;
}

__global__ void one_less(int *out, unsigned n) {  // expect: race-free
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < gridDim.x * blockDim.x - 1)
    for (unsigned i = t; i < n; i += gridDim.x * blockDim.x - 1) out[i] = t;
}

__global__ void rows_of(int *out, unsigned n, unsigned m) {  // expect: race-free
  if (threadIdx.x < n) {
    int at = threadIdx.x;
    for (unsigned i = 0; i < m; i++) {
      out[at++] = i;
      at += n - 1;
    }
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_whole_warps(int *out) {
  int at = 500;
  for (int i = 0; i < 4; i++) {
    if (at < 400) out[0] = threadIdx.x;  // expect: data-race with self
    at += -blockDim.x & ~31u;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void shifted(int *out) {
  int at = 500;
  for (int i = 0; i < 4; i++) {
    if (at < 300) out[0] = threadIdx.x;  // expect: data-race with self
    at += (0u - blockDim.x) << 1;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void around_a_ring(int *ring) {
  unsigned at = 0;
  for (int i = 0; i < 4; i++) {
    if (i == 2) ring[at % 8] = threadIdx.x;  // expect: data-race with self
    at += -blockDim.x;
  }
}

// cuda-lsp: launch grid=(2) block=(1)
__global__ void one_thread(int *out) {
  unsigned at = 0;
  for (int i = 0; i < 4; i++) {
    if (i == 3) out[at % 8] = blockIdx.x;  // expect: data-race with self
    at += blockDim.x - 2;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void hashed(int *table) {
  unsigned h = 0;
  for (int tries = 0; tries < 5; tries++) {
    h += (threadIdx.x + 1) * 2654435761u;
    if (tries == 3) table[h >> 30] = threadIdx.x;  // expect: data-race with self
  }
}

// cuda-lsp: launch grid=(1) block=(64) step=4294967232
__global__ void given(int *out, unsigned step) {  // expect: unknown(beyond-sizes)
  int at = 500;
  for (int i = 0; i < 4; i++) {
    if (at < 400) out[0] = threadIdx.x;
    at += step;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void small_enough(int *out) {
  unsigned char at = 6;
  for (int i = 0; i < 6 && at < 600; i++) {
    if (i == 5) out[0] = threadIdx.x;  // expect: data-race with self
    at += blockDim.x - 2;
  }
}

__global__ void in_whole_steps(int *out, unsigned k, int n) {  // expect: race-free
  unsigned step = (k + 31) / 32 * 32;
  if (threadIdx.x < step)
    for (int i = threadIdx.x; i < n; i += step) out[i] = threadIdx.x;
}

void launch(int *out, unsigned n, unsigned m) {
  in_whole_steps<<<1, 64>>>(out, n, m);
  one_less<<<100, 64>>>(out, n);
  rows_of<<<1, 64>>>(out, n, m);
}
