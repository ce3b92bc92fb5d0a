// What a loop leaves behind is known of threads that come to the loop: of the others it says nothing.

// cuda-lsp: launch grid=(1) block=(512)
__global__ void counts_up_to_its_number(int *out) {
  unsigned char c = 0;
  if (threadIdx.x < 256)
    while (c != threadIdx.x) ++c;
  out[c] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(256)
__global__ void all_count(int *out) {  // expect: race-free
  unsigned char c = 0;
  while (c != threadIdx.x) ++c;
  out[c] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void low_digits(int *out) {
  unsigned q = 0;
  if (threadIdx.x < 16)
    while ((q & 15) != threadIdx.x) ++q;
  out[q] = threadIdx.x;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(512)
__global__ void those_who_waited(int *out) {
  unsigned char c = 0;
  if (threadIdx.x < 256)
    while (c != threadIdx.x) ++c;
  if (c == 0 && threadIdx.x > 255) __syncthreads();  // expect: barrier-divergence
}
