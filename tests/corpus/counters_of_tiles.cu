// One counter for each tile of the result: the block that is the last of its tile adds up what the others left.

// The blocks along y share the work of a tile.
__global__ void last_of_tile(const float *in, float *part, float *out, unsigned *done) {  // expect: race-free
  __shared__ bool last;
  int t = threadIdx.x, tile = blockIdx.x;
  part[(tile * gridDim.y + blockIdx.y) * 256 + t] = in[(blockIdx.y * gridDim.x + tile) * 256 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(&done[tile], 1) == gridDim.y - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  float sum = 0;
  for (int i = 0; i < gridDim.y; ++i) sum += part[(tile * gridDim.y + i) * 256 + t];
  out[tile * 256 + t] = sum;
}

// The counter is set back for the next launch.
__global__ void last_of_tile_sets_back(const float *in, float *part, float *out, unsigned *done) {  // expect: race-free
  __shared__ bool last;
  int t = threadIdx.x, tile = blockIdx.x;
  part[(tile * gridDim.y + blockIdx.y) * 256 + t] = in[(blockIdx.y * gridDim.x + tile) * 256 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) {
    unsigned before = atomicAdd(&done[tile], 1);
    last = before == gridDim.y - 1;
    if (before == gridDim.y - 1) done[tile] = 0;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  float sum = 0;
  for (int i = 0; i < gridDim.y; ++i) sum += part[(tile * gridDim.y + i) * 256 + t];
  out[tile * 256 + t] = sum;
}

// That of another tile: it may be counted in at the moment.
__global__ void last_of_tile_sets_another_back(const float *in, float *part, float *out, unsigned *done) {
  __shared__ bool last;
  int t = threadIdx.x, tile = blockIdx.x;
  part[(tile * gridDim.y + blockIdx.y) * 256 + t] = in[(blockIdx.y * gridDim.x + tile) * 256 + t];  // expect: possible-data-race inter-block with +12
  __threadfence();
  __syncthreads();
  if (t == 0) {
    unsigned before = atomicAdd(&done[tile], 1);  // expect: possible-data-race inter-block with +2
    last = before == gridDim.y - 1;
    if (before == gridDim.y - 1) done[tile + 1] = 0;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  float sum = 0;
  for (int i = 0; i < gridDim.y; ++i) sum += part[(tile * gridDim.y + i) * 256 + t];
  out[tile * 256 + t] = sum;  // expect: possible-data-race inter-block with self
}

// Tiles in two dimensions, parts along z.
__global__ void last_of_flat_tile(const float *in, float *part, float *out, unsigned *done) {  // expect: race-free
  __shared__ bool last;
  int t = threadIdx.x, tile = blockIdx.y * gridDim.x + blockIdx.x;
  part[(tile * gridDim.z + blockIdx.z) * 256 + t] = in[(tile * gridDim.z + blockIdx.z) * 256 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(&done[tile], 1) == gridDim.z - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  float sum = 0;
  for (int i = 0; i < gridDim.z; ++i) sum += part[(tile * gridDim.z + i) * 256 + t];
  out[tile * 256 + t] = sum;
}

// Tiles that have a counter in common: its number says nothing of one of them.
__global__ void tiles_share_a_counter(const float *in, float *part, float *out, unsigned *done) {
  __shared__ bool last;
  int t = threadIdx.x, tile = blockIdx.x;
  part[(tile * gridDim.y + blockIdx.y) * 256 + t] = in[(blockIdx.y * gridDim.x + tile) * 256 + t];  // expect: possible-data-race inter-block with +8
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(&done[tile / 2], 1) == gridDim.y - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  float sum = 0;
  for (int i = 0; i < gridDim.y; ++i) sum += part[(tile * gridDim.y + i) * 256 + t];
  out[tile * 256 + t] = sum;  // expect: possible-data-race inter-block with self
}

// The last but one.
__global__ void not_the_last_of_tile(const float *in, float *part, float *out, unsigned *done) {
  __shared__ bool last;
  int t = threadIdx.x, tile = blockIdx.x;
  part[(tile * gridDim.y + blockIdx.y) * 256 + t] = in[(blockIdx.y * gridDim.x + tile) * 256 + t];  // expect: possible-data-race inter-block with +8
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(&done[tile], 1) == gridDim.y - 2;
  __syncthreads();
  if (!last) return;
  __threadfence();
  float sum = 0;
  for (int i = 0; i < gridDim.y; ++i) sum += part[(tile * gridDim.y + i) * 256 + t];
  out[tile * 256 + t] = sum;
}

// The fence in front of the counter is missing.
__global__ void last_of_tile_without_fence(const float *in, float *part, float *out, unsigned *done) {
  __shared__ bool last;
  int t = threadIdx.x, tile = blockIdx.x;
  part[(tile * gridDim.y + blockIdx.y) * 256 + t] = in[(blockIdx.y * gridDim.x + tile) * 256 + t];  // expect: possible-data-race inter-block with +7
  __syncthreads();
  if (t == 0) last = atomicAdd(&done[tile], 1) == gridDim.y - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  float sum = 0;
  for (int i = 0; i < gridDim.y; ++i) sum += part[(tile * gridDim.y + i) * 256 + t];
  out[tile * 256 + t] = sum;
}

void launch_tiles(const float *in, float *part, float *out, unsigned *done, int tiles, int rows, int parts) {
  last_of_tile<<<dim3(tiles, parts), 256>>>(in, part, out, done);
  last_of_tile_sets_back<<<dim3(tiles, parts), 256>>>(in, part, out, done);
  last_of_tile_sets_another_back<<<dim3(tiles, parts), 256>>>(in, part, out, done);
  last_of_flat_tile<<<dim3(tiles, rows, parts), 256>>>(in, part, out, done);
  tiles_share_a_counter<<<dim3(tiles, parts), 256>>>(in, part, out, done);
  not_the_last_of_tile<<<dim3(tiles, parts), 256>>>(in, part, out, done);
  last_of_tile_without_fence<<<dim3(tiles, parts), 256>>>(in, part, out, done);
}
