// Pairs of columns are turned until no pair needs it: each row of the block skips turns and stops by itself.

__device__ void rotate(float *columns, float *lengths, float *sums, const float *limits, int n) {
  int x = threadIdx.x;
  sums[x] = columns[x] * columns[x];
  __syncthreads();
  if (x < 2) sums[x] += sums[x + 2];
  __syncthreads();
  if (x < 1) lengths[0] = sums[0] + sums[1];
  __syncthreads();

  for (int i = 0; i < n - 1; i++) {
    bool turned = false;
    for (int j = i + 1; j < n; j++) {
      float *a = columns + i * 4;
      float *b = columns + j * 4;
      float p = 0;
      for (int k = 0; k < 4; k++)
        p += a[k] * b[k];
      if (p <= limits[i] * lengths[0])
        continue;

      float c, s;
      if (p > 1.0f) {
        c = 1.0f / p;
        s = 1.0f - c;
      } else {
        c = s = 0.5f;
      }
      __syncthreads();
      if (x < 4) {
        float t = c * a[x] + s * b[x];
        b[x] = c * b[x] - s * a[x];
        a[x] = t;
      }
      __syncthreads();
      sums[x] = a[x] * c;
      __syncthreads();
      if (x == 0) {
        lengths[0] = sums[0] + sums[1] + sums[2] + sums[3];
      }
      __syncthreads();
      turned = true;
    }
    if (!turned)
      break;
  }
  __syncthreads();
}

// cuda-lsp: launch grid=(1) block=(4,16)
__global__ void rotate_all(float *out, const float *in, const float *limits, unsigned count) {
  __shared__ float columns[16][16];
  __shared__ float lengths[16][1];
  __shared__ float sums[16][4];
  unsigned f = blockIdx.x * blockDim.y + threadIdx.y;
  float *own = columns[threadIdx.y];
  float *length = lengths[threadIdx.y];
  float *sum = sums[threadIdx.y];
  if (f < count) {
    for (int i = 0; i < 4; i++)
      own[i * 4 + threadIdx.x] = in[f * 16 + i * 4 + threadIdx.x];
    __syncthreads();
    rotate(own, length, sum, limits, 4);
    for (int i = 0; i < 4; i++)
      out[f * 16 + i * 4 + threadIdx.x] = own[i * 4 + threadIdx.x];
  }
}
