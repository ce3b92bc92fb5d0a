// A test `!=` that the values step over ends nothing; a second way out of the loop does.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void counted_too(int *out) {
  int at = 0;
  for (int i = 0; at != 7 && i < 5; i++) {
    if (i == 2) out[0] = threadIdx.x;  // expect: data-race with self
    at += 4;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void left_by_a_jump(int *out) {
  for (int i = 0; i != 7; i += 4) {
    if (i > 7) out[i] = threadIdx.x;  // expect: data-race with self
    if (i > 15) break;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void left_by_a_jump_alone(int *out) {
  for (int i = 0; i < 40; i += 4) {
    if (i == 7) break;
    if (i > 7) out[i] = threadIdx.x;  // expect: data-race with self
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void only_for_some(int *out) {
  for (int i = 0, at = threadIdx.x; at != 100 && i < 4; i++, at += blockDim.x)
    if (i == 3) out[0] = at;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_by_one(int *out) {  // expect: race-free
  int at = 0;
  for (int i = 0; at != 7 && i < 50; i++) {
    if (at > 7) out[0] = threadIdx.x;
    at++;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void no_other_way_out(int *out) {  // expect: race-free
  for (int at = 0; at != 16; at += 4)
    if (at > 16) out[0] = threadIdx.x;
}
