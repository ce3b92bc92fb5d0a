// Updates that more depends on than the cell.

// cuda-lsp: launch grid=(8) block=(64) n=512
__global__ void relax(int *best, const int *length, const int *to, bool *changed, int n) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= n) return;
  int v = to[e];
  if (best[v] > length[e]) {
    best[v] = length[e];
    changed[e] = true;
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=64
__global__ void longest(long long *most, const long long *length, int *won, int n) {
  int e = threadIdx.x;
  long long twice = length[e] * 2;
  if (twice >= *most)  // ties count
  {
    *most = twice;  // for now
    won[e] = 1;
  }
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void unsigned_words(size_t *least, const size_t *length, int *won) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  size_t own = length[e];
  if (own < least[e / 8]) {
    least[e / 8] = own;
    won[e] = 2;
  }
}
