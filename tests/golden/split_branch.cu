// The sides of a conditional collide: it is split at its `else`.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void sides(int *a, int *b) {
  int t = threadIdx.x;
  if (t % 2 == 0) {
    a[t] = b[t];
  } else {
    b[t] = a[t - 1];
  }
}

// What the first side changes does not count for the second.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void condition_changed(int *a) {
  int t = threadIdx.x, left = t % 2;
  if (left)
    a[t] = left = 0;
  else
    a[t + 70] = a[t + 1];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void several(int *a, int *b) {
  int t = threadIdx.x;
  if (t % 3 == 0) {
    a[t] = b[t];
  } else if (t % 3 == 1) {
    b[t] = a[t - 1];
  } else {
    // nothing is read
    b[t] = 0;
  }
}
