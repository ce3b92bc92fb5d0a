// Kernels of one name: the lens over each runs that one.
__global__ void shift(float *data, int n) {
  __shared__ float tile[256];
  int t = threadIdx.x;
  tile[t] = data[t];
  data[t] = tile[(t + 1) % 256] * n;
}

__global__ void shift(double *data, int n) {
  __shared__ double tile[256];
  int t = threadIdx.x;
  tile[t] = data[t];
  __syncthreads();
  data[t] = tile[(t + 1) % 256] * n;
}

template <typename T, int N>
__global__ void turn(T *data) {
  __shared__ T tile[N];
  int t = threadIdx.x;
  tile[t] = data[t];
  if (N > 128) __syncthreads();
  data[t] = tile[N - 1 - t];
}

void launch(float *f, double *d) {
  shift<<<1, 256>>>(f, 3);
  shift<<<1, 256>>>(d, 3);
  turn<float, 256><<<1, 256>>>(f);
  turn<double, 128><<<1, 128>>>(d);
}
