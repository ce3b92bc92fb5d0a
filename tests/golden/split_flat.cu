// Conditionals that are put into each other become one, those of the file stay as they are.

// cuda-lsp: launch grid=(2) block=(64)
__global__ void mirror(int *data, const int *skip, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  int i = blockIdx.x * 64 + t;
  if (i >= n) goto done;
  s[t] = data[i];
  if (skip[i]) goto done;
  data[i] = s[63 - t];
done:
  return;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void kept(int *data, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) {
    s[t] = data[t];
    if (data[t] > 0) {
      if (n > 3) {
        data[t] = s[n - 1 - t];
      }
    }
  }
}
