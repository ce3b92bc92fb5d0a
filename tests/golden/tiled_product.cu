// The threads outside of the result stay away from the tiles, and from their barriers with them.
constexpr int kTile = 16;

// cuda-lsp: launch grid=(4,3) block=(16,16)
__global__ void tiled_product(const float *left, const float *right, float *out, int rows, int inner, int columns) {
  __shared__ float a[kTile][kTile], b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  if (row < rows && column < columns) {
    float sum = 0.0f;
    for (int tile = 0; tile < inner; tile += kTile) {
      a[threadIdx.y][threadIdx.x] = left[row * inner + tile + threadIdx.x];
      b[threadIdx.y][threadIdx.x] = right[(tile + threadIdx.y) * columns + column];
      __syncthreads();
      for (int k = 0; k < kTile; ++k)
        sum += a[threadIdx.y][k] * b[k][threadIdx.x];
      __syncthreads();
    }
    out[row * columns + column] = sum;
  }
}
