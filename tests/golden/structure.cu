// A structure that is copied without code goes through a variable.

struct Best {
  int at;
  float found;
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void structures(Best *a) {
  if (a[100].at > 0)
    a[threadIdx.x] = a[threadIdx.x + 1];
}
