// A name that is not declared deletes code from what the compiler sees; the kernel around it must not be called race-free.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void missing_name(int *out) {  // expect: unknown(parse-error)
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = missing::value(t);
  out[t] = s[63 - t];
}

// The neighbours of a broken kernel keep their verdicts.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void intact(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  out[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void intact_and_racing(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;  // expect: data-race intra-block with +1, fix: yes
  out[t] = s[63 - t];
}
