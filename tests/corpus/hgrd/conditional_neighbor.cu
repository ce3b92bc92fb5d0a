// Counting the vertices whose first neighbour has a higher number, in one cell.

__global__ void count_uphill(const int *first_edge, const int *neighbor, int *count, int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  int edge = first_edge[v], end = first_edge[v + 1];
  if (edge < end && neighbor[edge] > v) count[0] += 1;  // expect: possible-data-race with self
}

__global__ void count_uphill_atomically(const int *first_edge, const int *neighbor, int *count,
                                        int vertices) {  // expect: race-free
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  int edge = first_edge[v], end = first_edge[v + 1];
  if (edge < end && neighbor[edge] > v) atomicAdd(&count[0], 1);
}

void count(const int *first_edge, const int *neighbor, int *result, int vertices) {
  if (vertices < 1) return;
  int blocks = (vertices + 255) / 256;
  count_uphill<<<blocks, 256>>>(first_edge, neighbor, result, vertices);
  count_uphill_atomically<<<blocks, 256>>>(first_edge, neighbor, result, vertices);
}
