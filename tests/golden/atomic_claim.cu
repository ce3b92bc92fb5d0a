// Whoever sees a node first puts it into the queue: one thread is to get in, and one place is to be its own.
// cuda-lsp: launch grid=(16) block=(128)
__global__ void expand(int *level, const int *edges, int *queue, int *tail, int depth) {
  const int node = edges[blockIdx.x * blockDim.x + threadIdx.x];
  if (level[node] == -1) {
    level[node] = depth + 1;
    queue[(*tail)++] = node;
  }
}
