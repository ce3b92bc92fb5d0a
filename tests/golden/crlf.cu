// Line ends stay as they are.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void mirror(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[63 - threadIdx.x];
}
