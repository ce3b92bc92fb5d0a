// Following parent pointers to a root while other threads shorten the paths: both reads meet the write.

__global__ void shorten_paths(int *parent, int vertices) {
  int own = blockIdx.x * blockDim.x + threadIdx.x;
  if (own >= vertices) return;
  int root = own;
  while (parent[root] < root) {  // expect: possible-data-race with +3
    root = parent[root];  // expect: possible-data-race with +2
  }
  parent[own] = root;
}

__device__ int parent_of(int *parent, int vertex) { return atomicOr(&parent[vertex], 0); }

__global__ void shorten_paths_atomically(int *parent, int vertices) {  // expect: race-free
  int own = blockIdx.x * blockDim.x + threadIdx.x;
  if (own >= vertices) return;
  int root = own;
  while (parent_of(parent, root) < root) root = parent_of(parent, root);
  atomicExch(&parent[own], root);
}

void compress(int *parent, int vertices, int threads) {
  if (threads < 1 || threads > 1024 || vertices < 1) return;
  int blocks = (vertices + threads - 1) / threads;
  shorten_paths<<<blocks, threads>>>(parent, vertices);
  shorten_paths_atomically<<<blocks, threads>>>(parent, vertices);
}
