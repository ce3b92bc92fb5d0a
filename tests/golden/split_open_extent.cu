// An array whose extent a template leaves open: the type of its elements is known all the same.
template <typename T, int N>
__global__ void transposed(T *a) {
  __shared__ T tile[N][N + 1];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = a[y * N + x];
  __syncthreads();
  if (x < N - 1)
    tile[y][x] = tile[x][y];
  a[y * N + x] = tile[y][x];
}

template <int N>
__global__ void scanned(const int *in, int *out) {
  __shared__ int s[N];
  const int t = threadIdx.x;
  s[t] = in[t];
  for (int offset = 1; offset < N; offset <<= 1) {
    __syncthreads();
    if (t >= offset) {
      s[t] += s[t - offset];
    }
  }
  out[t] = s[t];
}

void run(float *a, const int *in, int *out) {
  transposed<float, 8><<<1, dim3(8, 8)>>>(a);
  scanned<64><<<1, 64>>>(in, out);
  scanned<256><<<1, 256>>>(in, out);
}
