// Each vertex pushes its label to its first neighbour; two vertices may have the same one.

__global__ void push_labels(const int *first_edge, const int *neighbor, int *lowest, const int *label, int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  int edge = first_edge[v];
  if (edge < first_edge[v + 1]) {
    int target = neighbor[edge];
    lowest[target] = min(lowest[target], label[v]);  // expect: possible-data-race with self
  }
}

__global__ void push_labels_atomically(const int *first_edge, const int *neighbor, int *lowest, const int *label,
                                       int vertices) {  // expect: race-free
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  int edge = first_edge[v];
  if (edge < first_edge[v + 1]) atomicMin(&lowest[neighbor[edge]], label[v]);
}

void push(const int *first_edge, const int *neighbor, int *lowest, const int *label, int vertices) {
  if (vertices < 1) return;
  int blocks = (vertices + 127) / 128;
  push_labels<<<blocks, 128>>>(first_edge, neighbor, lowest, label, vertices);
  push_labels_atomically<<<blocks, 128>>>(first_edge, neighbor, lowest, label, vertices);
}
