// Races and traps whose outcome hangs on the conditions around the accesses.

// Writers and readers are different threads, and nothing orders them.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void halves_of_a_branch(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;  // expect: data-race intra-block with +2
  } else {
    out[t] = s[t - 32];
  }
}

// The same split into two branches with a barrier between them.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void halves_with_barrier(int *out) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) s[t] = t;
  __syncthreads();
  if (t >= 32) out[t] = s[t - 32];
}

// Conditions that exclude each other for one block, on a value all threads share.
// cuda-lsp: launch grid=(1) block=(64) mode=1
// cuda-lsp: launch grid=(1) block=(64) mode=0
__global__ void uniform_alternative(int *out, int mode) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  if (mode == 0) {
    s[t] = t;
  } else {
    s[63 - t] = t;
  }
  __syncthreads();
  out[t] = s[t ^ 1];
}

// Two separate tests of one uniform value still exclude each other.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void correlated_tests(int *out, int mode) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  if (mode > 3) s[t] = t;
  if (mode <= 3) s[63 - t] = t;
  out[t] = t;
}

// The same tests overlap for mode == 3.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void overlapping_tests(int *out, int mode) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (mode >= 3) s[t] = t;  // expect: data-race intra-block with +1
  if (mode <= 3) s[63 - t] = -t;
  out[t] = t;
}

// Only even threads write, only odd threads are read from: the cells never meet.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void parity(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if ((t & 1) == 0) a[t] = a[t + 1];
}

// Every third thread writes what its neighbour's neighbour owns.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void every_third(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (t % 3 == 0) a[t] = a[t + 1] + a[t + 2];
}

// ... and with an offset of three the cells do meet.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void every_third_reaching_three(int *a) {
  int t = threadIdx.x;
  if (t % 3 == 0) a[t] = a[t + 1] + a[t + 3];  // expect: data-race with self
}

// Different threads leave through different arms, each on its own cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void three_arms(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (t < 16) {
    a[t] = 1;
  } else if (t < 48) {
    a[t + 16] = 2;
  } else {
    a[t - 32] = 3;
  }
}

// The last arm is off by one: thread 48 writes cell 15, which thread 15 writes too.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void three_arms_off_by_one(int *a) {
  int t = threadIdx.x;
  if (t < 16) {
    a[t] = 1;  // expect: data-race intra-block with +4
  } else if (t < 48) {
    a[t + 16] = 2;
  } else {
    a[t - 33] = 3;
  }
}

// A switch over the thread's residue; each case has residues of its own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void switch_by_residue(int *a) {  // expect: race-free
  int t = threadIdx.x;
  switch (t % 4) {
    case 0: a[t] = 10; break;
    case 1: a[t + 1] = 11; break;
    case 2: a[t - 1] = 12; break;
    default: a[t] = 13;
  }
}

// Case 0 falls through into case 1, so thread 4k writes cell 4k + 1 as well.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void switch_fall_through(int *a) {
  int t = threadIdx.x;
  switch (t % 4) {
    case 0: a[t] = 10;
    case 1: a[(t | 1)] = 20 + t; break;  // expect: data-race intra-warp with self
    case 2: a[t] = 12; break;
    default: a[t] = 13;
  }
}

// The index is chosen by a conditional expression; both choices are the thread's own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void ternary_index(int *a) {  // expect: race-free
  int t = threadIdx.x;
  a[t < 32 ? t + 32 : t - 32] = t;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void ternary_index_clamped(int *a) {
  int t = threadIdx.x;
  a[t < 62 ? t : 62] = t;  // expect: data-race with self
}

// The right operand of && reads only where the left one holds.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void short_circuit(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if ((t & 1) == 0 && a[t + 1] > 0) a[t] = 0;
}

// Without the guard on its left, the same read meets the neighbour's write.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void short_circuit_swapped(int *a) {
  int t = threadIdx.x;
  if (a[t + 1] > 0 && (t & 1) == 0)  // expect: possible-data-race intra-block with +1
    a[t] = 0;
}

// A guard that keeps one thread only.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void single_thread(int *a) {  // expect: race-free
  if (threadIdx.x == 17) {
    a[0] = a[1];
    a[1] = a[2];
    a[2] = 5;
  }
}

// One thread per block is still several threads.
// cuda-lsp: launch grid=(3) block=(64)
__global__ void single_thread_per_block(int *a) {
  if (threadIdx.x == 17) a[0] = blockIdx.x;  // expect: data-race inter-block with self, fix: no
}

// cuda-lsp: launch grid=(3) block=(64)
__global__ void single_thread_of_the_grid(int *a) {  // expect: race-free
  if (threadIdx.x == 17 && blockIdx.x == 2) a[0] = blockIdx.x;
}
