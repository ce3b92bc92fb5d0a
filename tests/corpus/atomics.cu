// Atomic operations, histograms, counters and tickets.

// cuda-lsp: launch grid=(4) block=(64) n=256
__global__ void histogram_global(const int *bin, int *count, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&count[bin[i]], 1);
}

// Whether two threads meet depends on the data.
// cuda-lsp: launch grid=(4) block=(64) n=256
__global__ void histogram_global_plain(const int *bin, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) count[bin[i]]++;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void histogram_shared(const unsigned char *in, int *count) {  // expect: race-free
  __shared__ int local[256];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int k = 0; k < 4; ++k) atomicAdd(&local[in[(blockIdx.x * 4 + k) * 64 + t]], 1);
  __syncthreads();
  for (int i = t; i < 256; i += blockDim.x) atomicAdd(&count[i], local[i]);
}

// The counters are cleared while faster threads already count.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void histogram_shared_clear_unordered(const unsigned char *in, int *count) {
  __shared__ int local[256];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += blockDim.x) local[i] = 0;  // expect: possible-data-race intra-block with +1, fix: yes
  for (int k = 0; k < 4; ++k) atomicAdd(&local[in[(blockIdx.x * 4 + k) * 64 + t]], 1);
  __syncthreads();
  for (int i = t; i < 256; i += blockDim.x) atomicAdd(&count[i], local[i]);
}

// The counters are read while slower threads still count.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void histogram_shared_read_unordered(const unsigned char *in, int *count) {
  __shared__ int local[256];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int k = 0; k < 4; ++k)
    atomicAdd(&local[in[(blockIdx.x * 4 + k) * 64 + t]], 1);  // expect: possible-data-race intra-block with +1, fix: yes
  for (int i = t; i < 256; i += blockDim.x) atomicAdd(&count[i], local[i]);
}

// A row of counters per thread; the mask keeps each data-dependent index inside its row.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void histogram_private_rows(const int *in, int *count) {  // expect: race-free
  __shared__ int local[32 * 16];
  int t = threadIdx.x;
  for (int k = 0; k < 16; ++k) local[t * 16 + k] = 0;
  for (int k = 0; k < 8; ++k) local[t * 16 + (in[k * 32 + t] & 15)]++;
  __syncthreads();
  int sum = 0;
  if (t < 16) {
    for (int r = 0; r < 32; ++r) sum += local[r * 16 + t];
    count[t] = sum;
  }
}

// The mask lets the index run into the next row.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void histogram_private_rows_too_wide(const int *in, int *count) {
  __shared__ int local[32 * 16 + 16];
  int t = threadIdx.x;
  local[t * 16 + (in[t] & 31)] = t;  // expect: possible-data-race intra-warp with self
  __syncthreads();
  count[t] = local[t * 16];
}

// Index and value from the same byte: one row per warp, atomics inside the row.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void histogram_row_per_warp(const unsigned char *in, int *count) {  // expect: race-free
  __shared__ int local[2][256];
  int t = threadIdx.x;
  for (int i = t; i < 512; i += 64) local[i / 256][i % 256] = 0;
  __syncthreads();
  atomicAdd(&local[t / 32][in[t]], 1);
  __syncthreads();
  for (int i = t; i < 256; i += 64) count[i] = local[0][i] + local[1][i];
}

// An atomic does not protect against a plain access to the same cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void atomic_and_plain_read(int *out) {
  __shared__ int sum;
  int t = threadIdx.x;
  if (t == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, t);  // expect: data-race intra-block with +1, fix: yes
  out[t] = sum;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void atomic_then_barrier_then_read(int *out) {  // expect: race-free
  __shared__ int sum;
  int t = threadIdx.x;
  if (t == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, t);
  __syncthreads();
  out[t] = sum;
}

// The initial store races with the additions.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void atomic_and_plain_init(int *out) {
  __shared__ int sum;
  int t = threadIdx.x;
  if (t == 0) sum = 0;  // expect: data-race intra-block with +1, fix: yes
  atomicAdd(&sum, t);
  __syncthreads();
  out[t] = sum;
}

// Different atomic operations on one cell.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void atomic_mixture(int *cell, const int *in) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMax(cell, in[i]);
  atomicMin(cell + 1, in[i]);
  if (i % 2 == 0)
    atomicOr((unsigned *)cell + 2, 1u << (i % 32));
  else
    atomicXor((unsigned *)cell + 2, 5u);
  atomicExch(cell + 3, i);
}

// Atomic for the block only, on memory that several blocks share.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void scope_too_small(int *count) {
  atomicAdd_block(&count[0], 1);  // expect: data-race inter-block with self
}

// cuda-lsp: launch grid=(2) block=(32)
__global__ void scope_large_enough(int *count) {  // expect: race-free
  atomicAdd_block(&count[blockIdx.x], 1);
}

// An addition returns a different value to each thread, so the slots are distinct.
// cuda-lsp: launch grid=(2) block=(64) n=128
__global__ void append(const int *in, int *out, int *size, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) {
    int slot = atomicAdd(size, 1);
    out[slot] = in[i];
  }
}

// A slot of two cells needs a step of two.
// cuda-lsp: launch grid=(2) block=(64) n=128
__global__ void append_pairs(const int *in, int *out, int *size, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int slot = atomicAdd(size, 2);
    out[slot] = in[i];
    out[slot + 1] = i;
  }
}

// With a step of one the second cell of a pair is the first of the next.
// cuda-lsp: launch grid=(2) block=(64) n=128
__global__ void append_pairs_overlapping(const int *in, int *out, int *size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int slot = atomicAdd(size, 1);
    out[slot] = in[i];  // expect: possible-data-race with +1
    out[slot + 1] = i;
  }
}

// The counter is read and stored back without an atomic: slots come out twice.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void append_plain_counter(const int *in, int *out, int *size) {
  int t = threadIdx.x;
  int slot = *size;  // expect: data-race with +1
  *size = slot + 1;  // expect: data-race with self
  out[t] = slot;
}

// Space is reserved once per block, shared by broadcast, and filled by all threads.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void reserve_per_block(const int *in, int *out, int *size) {  // expect: race-free
  __shared__ int base;
  int t = threadIdx.x;
  if (t == 0) base = atomicAdd(size, 32);
  __syncthreads();
  out[base + t] = in[blockIdx.x * 32 + t];
}

// A compare-and-swap on a cell that nobody sets back has one winner.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void one_winner(int *claimed, int *out) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (atomicCAS(claimed, 0, 1) == 0) out[0] = i;
}

// A counter that wraps at 7 gives the same ticket again.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void wrapping_ticket(unsigned *next, int *out) {
  unsigned ticket = atomicInc(next, 7);
  out[ticket] = threadIdx.x;  // expect: possible-data-race with self
}

// A maximum through a compare-and-swap loop; the plain first read may be out of date, and then the swap fails.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void float_max(float *cell, const float *in) {
  float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  int old = *(int *)cell, assumed;  // expect: benign-race with +3
  do {
    assumed = old;
    old = atomicCAS((int *)cell, assumed, __float_as_int(fmaxf(v, __int_as_float(assumed))));
  } while (old != assumed);
}

// The first value comes from an atomic as well.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void float_max_all_atomic(float *cell, const float *in) {  // expect: race-free
  float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  int old = atomicAdd((int *)cell, 0), assumed;
  do {
    assumed = old;
    old = atomicCAS((int *)cell, assumed, __float_as_int(fmaxf(v, __int_as_float(assumed))));
  } while (old != assumed);
}

// Nothing is added: all get the same number.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void ticket_of_nothing(int *counter, int *out) {
  int k = atomicAdd(counter, 0);
  out[k] = threadIdx.x;  // expect: possible-data-race with self
}

// Atomics that the hardware lacks, built from compare-and-swap: the first, plain read may be out of date, and then the
// swap fails.
__device__ float largest(float *cell, float value) {
  int *bits = (int *)cell;
  int seen = *bits, expected;
  do {
    expected = seen;
    seen = atomicCAS(bits, expected, __float_as_int(fmaxf(value, __int_as_float(expected))));
  } while (expected != seen);
  return __int_as_float(seen);
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void largest_of_all(float *result, const float *in) {  // expect: benign-race at -9 with -6
  largest(result, in[blockIdx.x * 64 + threadIdx.x]);
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void tripled_by_all(int *cell) {
  int now = *cell, before;  // expect: benign-race with +1
  while ((before = atomicCAS(cell, now, now * 3)) != now) now = before;
}

// The value read goes elsewhere, too.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void first_value_kept(int *cell, int *out) {
  int first = *cell, now = first, before;  // expect: data-race with +1
  while ((before = atomicCAS(cell, now, now * 3)) != now) now = before;
  out[blockIdx.x * 64 + threadIdx.x] = first;
}

// The cell that is swapped is not the one that was read.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void read_from_another_cell(int *cell, int *other) {
  int now = *other, before;  // expect: data-race with +2
  while ((before = atomicCAS(cell, now, now * 3)) != now) now = before;
  atomicAdd(other, 1);
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void largest_of_each(float *result, const float *in) {  // expect: race-free
  int i = blockIdx.x * 64 + threadIdx.x;
  largest(result + i, in[i]);
}

// The first value is read atomically as well.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void tripled_without_plain_read(int *cell) {  // expect: race-free
  int now = atomicAdd(cell, 0), before;
  while ((before = atomicCAS(cell, now, now * 3)) != now) now = before;
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void swapped_after_a_guess(int *cell) {  // expect: race-free
  int now = 0, before;
  while ((before = atomicCAS(cell, now, now + 2)) != now) now = before;
}

// The read and the swaps are a barrier apart, and each block has its cell.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void read_before_the_barrier(int *cell, int *out) {  // expect: race-free
  int first = cell[blockIdx.x];
  __syncthreads();
  int now = first, before;
  while ((before = atomicCAS(cell + blockIdx.x, now, now * 3)) != now) now = before;
  out[blockIdx.x * 64 + threadIdx.x] = first;
}

// A compare-and-swap that fails only reads: it takes a cell with 7 in it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void swapped_if_it_is_seven(int *cell, int *out) {
  atomicCAS(cell, 7, 9);  // expect: possible-data-race intra-block with +1
  out[threadIdx.x] = *cell;
}

// To write while others compare is a race in any case.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void compared_while_written(int *cell) {
  atomicCAS(cell, 7, 9);  // expect: data-race intra-block with +1
  if (threadIdx.x == 40) *cell = 3;
}

// Tried until it succeeds.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void swapped_in_the_end(int *cell, int *out) {
  int seen = 0, before;
  while ((before = atomicCAS(cell, seen, seen + 1)) != seen) seen = before;  // expect: data-race intra-block with +1
  out[threadIdx.x] = *cell;
}

// Of a vector each element is added to by itself.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void vector_and_element(float4 *p) {  // expect: race-free
  if (threadIdx.x)
    atomicAdd(p, make_float4(1, 2, 3, 4));
  else
    atomicAdd(&p[0].w, 1.0f);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void vector_and_plain(float2 *p) {
  if (threadIdx.x)
    atomicAdd(p, make_float2(1, 2));  // expect: data-race with +2
  else
    p[0].y = 3;
}

// What is found there, element by element.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void vectors_give_what_was_there(float4 *p, float *out) {  // expect: race-free
  float4 old = atomicAdd(p + threadIdx.x % 2, make_float4(1, 2, 3, 4));
  out[blockIdx.x * 64 + threadIdx.x] = old.x + old.w;
}
