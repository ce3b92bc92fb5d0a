// Threads without a row return in front of the barriers of a reduction: these stay, the rest is under the condition.

// cuda-lsp: launch grid=(2) block=(64)
__global__ void row_sums(float *sums, int rows, const float *m, int cols, int stride, int lanes) {
  __shared__ float partial[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int row = i / lanes, lane = i % lanes;  // several threads for each row
  if (row >= rows) return;

  float sum = 0.0f;
  for (int j = lane; j < cols; j += lanes) {
    sum += m[row * stride + j];
  }
  partial[threadIdx.x] = sum;

  // From here on half of the lanes add what the others have.
  __syncthreads();
  int left = lanes;
  while (left > 1) {
    int half = (1 + left) >> 1;
    if (lane < half) {
      float other = 0.0f;
      if (lane + half < left) other = partial[threadIdx.x + half];
      partial[threadIdx.x] += other;
    }
    __syncthreads();
    left = half;
  }
  if (lane == 0) {
    sums[row] = partial[threadIdx.x];
  }
}
