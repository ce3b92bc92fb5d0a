// A brace that is never closed is missed at the end of the file, far from the kernel that lacks it.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void closed(int *out) {  // expect: race-free
  out[threadIdx.x] = 1;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void left_open(int *out) {  // expect: unknown(parse-error)
  if (out[64] > 0) {
    out[threadIdx.x] = 1;
}
