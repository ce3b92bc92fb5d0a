// Indices and conditions that come from memory: whether threads meet depends on what is stored there.

// cuda-lsp: launch grid=(2) block=(64)
__global__ void scatter(const int *index, const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[index[i]] = in[i];  // expect: possible-data-race with self
}

// Reading through an index is harmless.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void gather(const int *index, const int *in, int *out) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[index[i]];
}

// The data chooses the cell inside a thread's own group of eight.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void scatter_inside_own_group(const unsigned *index, int *out) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * 8 + index[i] % 8] = i;
}

// A remainder of signed data may be negative: -7 ... 7 reaches the group below.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void scatter_signed_remainder(const int *index, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * 8 + 8 + index[i] % 8] = i;  // expect: possible-data-race with self
}

// A row pointer array gives each thread a segment; whether the segments overlap is up to the data.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void segments_written(const int *start, float *values) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = start[row]; k < start[row + 1]; ++k) values[k] = row;  // expect: possible-data-race with self
}

// The segments are only read; each thread writes its row.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void segments_read(const int *start, const int *column, const float *values, const float *x, float *y) {  // expect: race-free
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = start[row]; k < start[row + 1]; ++k) sum += values[k] * x[column[k]];
  y[row] = sum;
}

// The data only decides who writes; the cell is one.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void guarded_by_data(const int *in, int *out) {
  int t = threadIdx.x;
  if (in[t] == 42) out[0] = t;  // expect: possible-data-race with self
}

// The data decides who writes, each to a cell of its own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void guarded_by_data_own_cell(const int *in, int *out) {  // expect: race-free
  int t = threadIdx.x;
  if (in[t] == 42) out[t] = t;
}

// A tree whose links come from memory, updated by one thread per node: the child may be shared.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void follow_link(const int *next, int *mark) {
  int t = threadIdx.x;
  mark[next[t]] = t;  // expect: possible-data-race intra-warp with +1; possible-data-race intra-warp with self
  if (t == 5) mark[5] = -1;
}

// One thread follows all the links.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void follow_links_alone(const int *next, int *mark) {  // expect: race-free
  if (threadIdx.x != 0) return;
  int node = 0;
  for (int k = 0; k < 100; ++k) {
    mark[node] = k;
    node = next[node];
  }
}

// The index was computed by other threads and is read after a barrier; the write goes where it says.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void index_from_shared_memory(const int *in, int *out) {
  __shared__ int where[32];
  int t = threadIdx.x;
  where[t] = in[t];
  __syncthreads();
  out[where[31 - t]] = t;  // expect: possible-data-race intra-warp with self
}

// The loaded offset is the same for all threads.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void common_offset(const int *offset, int *out) {  // expect: race-free
  out[offset[0] + threadIdx.x] = threadIdx.x;
}

// The offset is the block's.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void offset_per_block(const int *offset, int *out) {
  out[offset[blockIdx.x] + threadIdx.x] = threadIdx.x;  // expect: possible-data-race inter-block with self
}

// The common offset is changed by one thread while the others read it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void offset_moved_meanwhile(int *offset, int *out) {
  int t = threadIdx.x;
  int base = *offset;  // expect: data-race with +1
  if (t == 0) *offset = base + 64;
  out[t] = base;
}

// The offset moves after all have read it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void offset_moved_afterwards(int *offset, int *out) {  // expect: race-free
  int t = threadIdx.x;
  int base = *offset;
  __syncthreads();
  if (t == 0) *offset = base + 64;
  out[base + t] = t;
}

// A trip count from memory, own cells.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void trips_from_memory(const int *length, int *out) {  // expect: race-free
  int t = threadIdx.x;
  for (int k = 0; k < length[t]; ++k) out[k * 64 + t] = k;
}

// A float comparison steers the exchange of a thread's own two cells.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void sort_own_pair(float *a) {  // expect: race-free
  int t = threadIdx.x;
  float x = a[2 * t], y = a[2 * t + 1];
  if (x > y) {
    a[2 * t] = y;
    a[2 * t + 1] = x;
  }
}

// The exchanged pair overlaps the neighbour's.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void sort_overlapping_pair(float *a) {
  int t = threadIdx.x;
  float x = a[t], y = a[t + 1];  // expect: possible-data-race intra-warp with +2; possible-data-race intra-warp with +3
  if (x > y) {
    a[t] = y;  // expect: possible-data-race intra-warp with +1
    a[t + 1] = x;
  }
}
