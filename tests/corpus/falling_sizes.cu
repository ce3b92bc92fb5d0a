// Sizes that a loop makes smaller without a closed form: no value is greater than the first.

// cuda-lsp: launch grid=(2) block=(256)
// cuda-lsp: launch grid=(2) block=(256) rows=100 cols=8 stride=8 lanes=4
// Several threads add up one row; what is left is halved, the odd one out goes along.
__global__ void rows_summed(float *v, int rows, const float *m, int cols, int stride, int lanes) {
  __shared__ float partial[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int row = i / lanes, lane = i % lanes;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int j = lane; j < cols; j += lanes)
    sum += m[row * stride + j];
  partial[threadIdx.x] = sum;
  __syncthreads();  // expect: barrier-after-exit
  int left = lanes;
  while (left > 1) {
    int half = (1 + left) >> 1;
    if (lane < half) {
      float other = 0.0f;
      if (lane + half < left)
        other = partial[threadIdx.x + half];
      partial[threadIdx.x] += other;
    }
    __syncthreads();  // expect: barrier-after-exit
    left = half;
  }
  if (lane == 0)
    v[row] = partial[threadIdx.x];
}

// cuda-lsp: launch grid=(1) block=(128)
// A third of what is left in each turn: the first rows of a table with rows of `first` numbers.
__global__ void thirds(float *a, unsigned first) {  // expect: race-free
  __shared__ float s[128];
  unsigned t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  unsigned n = first;
  while (n > 2) {
    unsigned third = n / 3;
    if (t % first < third)
      s[t] += s[t + (n - third)];
    __syncthreads();
    n = n - third;
  }
  a[t] = s[t];
}

// cuda-lsp: launch grid=(2) block=(256)
// A lane takes what is two places too far.
__global__ void not_falling(float *v, const float *m, int lanes) {
  __shared__ float partial[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = i % lanes;
  partial[threadIdx.x] = m[i];
  __syncthreads();
  int left = lanes;
  while (left > 1) {
    int half = (3 + left) >> 1;
    if (lane < half) {
      float other = 0.0f;
      if (lane + half < left + 2)
        other = partial[threadIdx.x + half];  // expect: possible-data-race intra-block with +1
      partial[threadIdx.x] += other;
    }
    __syncthreads();
    left = half - 2;
  }
  v[i] = partial[threadIdx.x];
}
