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
__global__ void as_long_as_it_is_positive(int *out, int n) {
  int at = n;
  while (at > 0) {
    if (at < n - 64) out[at] = threadIdx.x;  // expect: data-race with self
    at += 0u - blockDim.x;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void down_by_blocks(int *out, int n) {  // expect: race-free
  for (int i = n - 1 - threadIdx.x; i >= 0; i -= blockDim.x) out[i] = i;
}
