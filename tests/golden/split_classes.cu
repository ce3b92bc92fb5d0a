// Values of classes that nobody wrote code to copy go through a variable as numbers do.

__device__ float4 twice(float4 v) {
  return make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void vectors(float4 *a) {
  int t = threadIdx.x;
  a[t] = a[t + 1];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void called(float4 *a) {
  a[threadIdx.x] = twice(a[threadIdx.x + 1]);
}
