// Bodies without braces get them when a barrier has to go inside.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void rotate(int *a, int n) {
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k)
    a[(t + k) % 64] = k;  // one row for all
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void rotate_if(int *a, int n) {
  int t = threadIdx.x;
  if (n > 3)
    for (int k = 0; k < 4; ++k) a[(t + k) % 64] = k;
  else
    a[t] = 0;
}
