// Ranges reserved with an atomic addition: by a thread, by a block, by a warp's leader; with steps that only the run knows.

#define N 64

// The block reserves as many slots as it has threads.
__global__ void reserve_block_size(const int *in, int *out, unsigned *size) {  // expect: race-free
  __shared__ unsigned base;
  if (threadIdx.x == 0) base = atomicAdd(size, blockDim.x);
  __syncthreads();
  out[base + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
}

void launch_reserve_block_size(const int *in, int *out, unsigned *size, int blocks, int threads) {
  reserve_block_size<<<blocks, threads>>>(in, out, size);
}

// Half as many slots as threads that write.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void reserve_too_few(const int *in, int *out, int *size) {
  __shared__ int base;
  int t = threadIdx.x;
  if (t == 0) base = atomicAdd(size, 16);
  __syncthreads();
  out[base + t] = in[blockIdx.x * 32 + t];  // expect: possible-data-race inter-block with self
}

// Two cells for each thread.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void reserve_pairs(const int *in, int *out, int *size) {  // expect: race-free
  __shared__ int base;
  int t = threadIdx.x;
  if (t == 0) base = atomicAdd(size, 64);
  __syncthreads();
  out[base + 2 * t] = in[blockIdx.x * 32 + t];
  out[base + 2 * t + 1] = t;
}

// A block whose thread 0 reserves nothing uses what happens to be in shared memory.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void reserve_sometimes(const int *in, int *out, int *size) {
  __shared__ int base;
  int t = threadIdx.x;
  if (t == 0 && in[blockIdx.x] > 0) base = atomicAdd(size, 32);
  __syncthreads();
  out[base + t] = t;  // expect: possible-data-race inter-block with self
}

// The same condition steers both.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void reserve_if_needed(const int *in, int *out, int *size) {  // expect: race-free
  __shared__ int base;
  int t = threadIdx.x;
  if (in[blockIdx.x] > 0) {
    if (t == 0) base = atomicAdd(size, 32);
    __syncthreads();
    out[base + t] = t;
  }
}

// The next piece of work, again and again, until there is none.
// cuda-lsp: launch grid=(4) block=(64) n=1000
__global__ void persistent(const int *in, int *out, int *next, int n) {  // expect: race-free
  __shared__ int first;
  int t = threadIdx.x;
  while (true) {
    if (t == 0) first = atomicAdd(next, 64);
    __syncthreads();
    int mine = first, i = mine + t;
    __syncthreads();
    if (mine >= n) break;
    if (i < n) out[i] = in[i];
  }
}

// The work item is overwritten while slower threads still read it.
// cuda-lsp: launch grid=(4) block=(64) n=1000
__global__ void persistent_unordered(const int *in, int *out, int *next, int n) {
  __shared__ int first;
  int t = threadIdx.x;
  for (int round = 0; round < 4; ++round) {
    if (t == 0) first = atomicAdd(next, 64);  // expect: data-race intra-block with +2, fix: yes
    __syncthreads();
    int i = first + t;
    if (i < n) out[i] = in[i];
  }
}

// A thread reserves as much as it needs, which is not negative.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void reserve_runs(const unsigned *in, unsigned *out, unsigned *size) {  // expect: race-free
  unsigned i = blockIdx.x * 64 + threadIdx.x, count = in[i] & 7;
  unsigned first = atomicAdd(size, count);
  for (unsigned k = 0; k < count; ++k) out[first + k] = i;
}

// One more is written than was reserved.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void reserve_runs_too_short(const unsigned *in, unsigned *out, unsigned *size) {
  unsigned i = blockIdx.x * 64 + threadIdx.x, count = in[i] & 7;
  unsigned first = atomicAdd(size, count);
  for (unsigned k = 0; k <= count; ++k) out[first + k] = i;  // expect: possible-data-race with self
}

// What is added may be negative, and then the same range is given away twice.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void reserve_signed_runs(const int *in, int *out, int *size) {
  int i = blockIdx.x * 64 + threadIdx.x, count = in[i];
  int first = atomicAdd(size, count);
  for (int k = 0; k < count; ++k) out[first + k] = i;  // expect: possible-data-race with self
}

// The counter is set back between the claims of different blocks.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void reserve_and_set_back(int *out, int *size) {
  __shared__ int base;
  int t = threadIdx.x;
  if (t == 0) base = atomicAdd(size, 32);
  __syncthreads();
  out[base + t] = t;                // expect: possible-data-race inter-block with self
  if (t == 0) atomicExch(size, 0);
}

// Somebody else puts a number of his own into the cell.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void reserve_overwritten(int *out, int *size) {
  __shared__ int base;
  int t = threadIdx.x;
  if (t == 0) base = atomicAdd(size, 32);
  __syncthreads();
  if (t == 1) base = 0;
  __syncthreads();
  out[base + t] = t;  // expect: possible-data-race inter-block with self
}

// Each block has a counter of its own, so two blocks get the same numbers.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void reserve_from_own_counter(int *out, int *size) {
  __shared__ int base;
  int t = threadIdx.x;
  if (t == 0) base = atomicAdd(&size[blockIdx.x], 32);
  __syncthreads();
  out[base + t] = t;  // expect: possible-data-race inter-block with self
}

// Two places in the kernel take from one counter.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void two_sorts_of_claims(const int *in, int *out, int *size) {  // expect: race-free
  int i = blockIdx.x * 64 + threadIdx.x;
  int one = atomicAdd(size, 1);
  out[one] = in[i];
  if (in[i] > 0) atomicAdd(size, 2);
}

// Slots inside the block: a counter in shared memory, cleared first.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void compact_in_block(const int *in, int *out) {  // expect: race-free
  __shared__ int kept[N];
  __shared__ int count;
  int t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  int v = in[blockIdx.x * N + t];
  if (v > 0) kept[atomicAdd(&count, 1)] = v;
  __syncthreads();
  if (t < count) out[blockIdx.x * N + t] = kept[t];
}

// Of all that put one value there, the first finds another.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void first_to_exchange(int *lock, int *out) {  // expect: race-free
  if (atomicExch(lock, 1) == 0) *out = threadIdx.x;
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void all_but_the_first(int *lock, int *out) {
  if (atomicExch(lock, 1) == 1) *out = threadIdx.x;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void first_to_set_a_bit(unsigned *flags, int *out) {  // expect: race-free
  if (!(atomicOr(flags, 1u) & 1u)) *out = threadIdx.x;
}

// Another bit is looked at than is set.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void wrong_bit(unsigned *flags, int *out) {
  if (!(atomicOr(flags, 1u) & 2u)) *out = threadIdx.x;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void first_to_clear_a_bit(unsigned *flags, int *out) {  // expect: race-free
  if (atomicAnd(flags, ~4u) & 4u) *out = threadIdx.x;
}

// The counter starts anew in each iteration, between barriers.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void counted_in_each_turn(int *out, int n) {  // expect: race-free
  __shared__ int count;
  for (int i = 0; i < n; i++) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    out[atomicAdd(&count, 1)] = threadIdx.x;
    __syncthreads();
  }
}

// Nothing keeps the cells of one iteration apart from those of the next.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void counted_without_a_second_barrier(int *out, int n) {
  __shared__ int count;
  for (int i = 0; i < n; i++) {
    if (threadIdx.x == 0) count = 0;  // expect: data-race with +2
    __syncthreads();
    int mine = atomicAdd(&count, 1);
    atomicExch(&out[mine], (int)threadIdx.x);
  }
}

// An initialisation that is atomic, and that no barrier follows, may come after the first tickets.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_to_zero_meanwhile(int *out) {
  __shared__ int count;
  if (threadIdx.x == 0) atomicExch(&count, 0);
  out[atomicAdd(&count, 1)] = threadIdx.x;  // expect: possible-data-race with self
}

// 256 tickets of 2^26 each do not fit into 32 bits.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void too_many_tickets(unsigned *next, int *out) {
  unsigned mine = atomicAdd(next, 1u << 26);
  out[mine] = threadIdx.x;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void tickets_that_fit(unsigned *next, int *out) {  // expect: race-free
  unsigned mine = atomicAdd(next, 1u << 20);
  out[mine] = threadIdx.x;
}

// Initialised plainly, and everybody waits for it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void initialised_before(int *out) {  // expect: race-free
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  out[atomicAdd(&count, 1)] = threadIdx.x;
}

// One bit for each block.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void first_of_each_block(unsigned *flags, int *out) {  // expect: race-free
  if (!(atomicOr(flags + blockIdx.x, 1u) & 1u)) out[blockIdx.x] = threadIdx.x;
}

// Each thread tells the block what it reserved; only what the first one did is enough for all.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void reserved_by_one_told_by_all(int *out, int *size) {
  __shared__ int base;
  int old = atomicAdd(size, threadIdx.x == 0 ? 64 : 1);
  *(volatile int *)&base = old;
  __syncthreads();
  out[base + threadIdx.x] = blockIdx.x;  // expect: possible-data-race inter-block with self
}

// The same, told by the thread that knows.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void reserved_and_told_by_one(int *out, int *size) {  // expect: race-free
  __shared__ int base;
  int old = atomicAdd(size, threadIdx.x == 0 ? 64 : 1);
  if (threadIdx.x == 0) *(volatile int *)&base = old;
  __syncthreads();
  out[base + threadIdx.x] = blockIdx.x;
}

// The counter is set anew under the lock under which it is added to: every ticket is zero.
// cuda-lsp: launch grid=(64) block=(32)
__global__ void set_anew_under_a_lock(int *lock, int *count, int *out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    int ticket = atomicAdd(count, 1);
    *count = 0;
    __threadfence();
    atomicExch(lock, 0);
    out[ticket] = blockIdx.x;  // expect: possible-data-race inter-block with self
  }
}

// cuda-lsp: launch grid=(64) block=(32)
__global__ void claim_given_back_under_a_lock(int *lock, int *claim, int *data) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    int found = atomicCAS(claim, 0, 1);
    *claim = 0;
    __threadfence();
    atomicExch(lock, 0);
    if (found == 0) *data = blockIdx.x;  // expect: possible-data-race inter-block with self
  }
}

// A flag lets the second block go on after the counter was set anew.
// cuda-lsp: launch grid=(2) block=(1)
__global__ void set_anew_before_a_flag(volatile int *flag, int *count, int *out) {
  if (blockIdx.x == 1) {
    while (*flag == 0) {}
    __threadfence();
  }
  int ticket = atomicAdd(count, 1);
  if (blockIdx.x == 0) {
    *count = 0;
    __threadfence();
    *flag = 1;
  }
  out[ticket] = blockIdx.x;  // expect: possible-data-race inter-block with self
}

// A counter in shared memory, set before a barrier by a thread that had to wait.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void counter_of_who_waited(int *lock, int *out) {  // expect: race-free
  __shared__ int count;
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    atomicExch(lock, 0);
    count = 0;
  }
  __syncthreads();
  out[atomicAdd(&count, 1)] = threadIdx.x;
}

// Who finds a cell empty puts its own number there, which is never that of an empty one.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void claimed_with_own_number(int *owner, int *data, const int *where, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = where[i];
  if (atomicCAS(&owner[c], -1, i) == -1) data[c] = i;
}

// The first thread leaves the cell as empty as it was.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void claimed_with_the_empty_number(int *owner, int *data, const int *where, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = where[i];
  if (atomicCAS(&owner[c], 0, i) == 0) data[c] = i;  // expect: possible-data-race with self
}

// What is put there comes from memory, and may be that of an empty cell.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void claimed_with_any_key(int *owner, int *data, const int *where, const int *keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = where[i];
  if (atomicCAS(&owner[c], -1, keys[i]) == -1) data[c] = i;  // expect: possible-data-race with self
}

// One bit for each cell says whether it was seen: who sets it is the first.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void first_to_set_the_bit(unsigned *seen, int *data, const int *where, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = where[i];
  unsigned bit = 1u << (c & 31);
  if (!(atomicOr(&seen[c >> 5], bit) & bit)) data[c] = i;
}

// One bit for two cells of the data: two that set different bits meet.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void bit_of_another_cell(unsigned *seen, int *data, const int *where, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = where[i];
  unsigned bit = 1u << (c & 31);
  if (!(atomicOr(&seen[c >> 5], bit) & bit)) data[c / 2] = i;  // expect: possible-data-race with self
}

// The bit is the thread's own, so that several threads are the first.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void bit_of_the_thread(unsigned *seen, int *data, const int *where, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = where[i];
  unsigned bit = 1u << (i & 31);
  if (!(atomicOr(&seen[c >> 5], bit) & bit)) data[c] = i;  // expect: possible-data-race with self
}

// Someone clears bits meanwhile.
// cuda-lsp: launch grid=(2) block=(64) n=100
__global__ void bits_that_are_cleared(unsigned *seen, int *data, const int *where, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = where[i];
  unsigned bit = 1u << (c & 31);
  if (!(atomicOr(&seen[c >> 5], bit) & bit)) data[c] = i;  // expect: possible-data-race with self
  atomicAnd(&seen[c >> 5], ~bit);
}
