// Control flow that no structured statement describes, and statements that leave others early: each shape with a race
// or a missed barrier, and without.

// --- goto ----------------------------------------------------------------------------------------------------

// Jumping forward, past the barrier, by all threads of the block or by none.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void forward_past_a_barrier_together(int *a, int n) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  if (n > 4) goto done;
  s[t] = t;
  __syncthreads();
  a[t] = s[t ^ 1];
done:;
}

// Only half of the threads jump.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void forward_past_a_barrier_by_some(int *a, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t & 1) goto done;
  s[t] = t;
  __syncthreads();  // expect: barrier-divergence
  a[t] = s[t ^ 2];
done:;
}

// The jump takes the threads past the write; those that write are alone in their cells.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void forward_past_a_write(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (t >= 32) goto done;
  a[t + 32] = a[t];
done:;
}

// The other half jumps: cells 32 to 63 are written by the lower half and read by the upper one.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void forward_past_another_write(int *a) {
  int t = threadIdx.x;
  if (t >= 32) goto upper;
  a[t + 32] = 1;  // expect: data-race with +3
  goto done;
upper:
  a[t] += 2;
done:;
}

// A loop made of goto, one barrier in each turn.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void backward_with_a_barrier(int *a) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x, k = 0, v = t;
again:
  s[t] = v;
  __syncthreads();
  v += s[t ^ 1];
  __syncthreads();
  if (++k < 4) goto again;
  a[t] = v;
}

// Without the second barrier the next turn's write meets this turn's read.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void backward_without_a_barrier(int *a) {
  __shared__ int s[64];
  int t = threadIdx.x, k = 0, v = t;
again:
  s[t] = v;  // expect: data-race intra-block with +2
  __syncthreads();
  v += s[t ^ 1];
  if (++k < 4) goto again;
  a[t] = v;
}

// The number of turns is the thread's own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void backward_so_often_as_each_wants(int *a) {
  int t = threadIdx.x, k = 0;
again:
  a[t] = k;
  __syncthreads();  // expect: barrier-divergence
  if (++k < t % 3 + 1) goto again;
}

// What follows the loop is no part of it: all threads come to its barrier.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_behind_a_goto_loop(int *a) {  // expect: race-free
  int t = threadIdx.x, k = 0;
again:
  a[t] = k;
  if (++k < t % 3 + 1) goto again;
  __syncthreads();
  a[63 - t] = t;
}

// Two ways into one tail, and one around it: in the tail each thread has its own cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void into_a_common_tail(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (t % 3 == 0) goto tail;
  a[t] = 1;
  if (t % 3 == 1) goto out;
tail:
  a[t + 64] = 2;
out:
  a[t + 128] = 3;
}

// The tail's cell is the neighbour's, which comes to the tail as well.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void into_a_common_tail_off_by_one(int *a) {
  int t = threadIdx.x;
  if (t % 3 == 0) goto tail;
  a[t] = 1;  // expect: data-race with +3
  if (t % 3 == 1) goto out;
tail:
  a[t + 1] = 2;
out:
  a[t + 128] = 3;
}

// A barrier in the tail, which some threads go around.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_in_the_tail(int *a) {
  int t = threadIdx.x;
  if (t < 8) goto tail;
  a[t] = 1;
  if (t > 40) goto out;
tail:
  __syncthreads();  // expect: barrier-divergence
out:
  a[t + 64] = 3;
}

// All come to it, from two sides.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_where_ways_meet(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (t < 8) goto tail;
  a[t] = 1;
tail:
  __syncthreads();
  a[63 - t] = 3;
}

// Out of two loops at once.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void out_of_two_loops(int *a) {  // expect: race-free
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      if (i * j > t % 4) goto done;
      a[t * 16 + i * 4 + j] = 1;
    }
done:
  __syncthreads();
  a[512 - t] = 2;
}

// The same, and the cells of neighbours overlap.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void out_of_two_overlapping_loops(int *a) {
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      if (i * j > t % 4) goto done;
      a[t * 8 + i * 4 + j] = 1;  // expect: benign-race with self
    }
done:;
}

// Two loops of goto, one in the other.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void nested_goto_loops(int *a) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x, i = 0;
outer:
  int j = 0;
inner:
  s[t] = i + j;
  __syncthreads();
  a[t] = s[63 - t];
  __syncthreads();
  if (++j < 3) goto inner;
  if (++i < 2) goto outer;
}

// A jump into the middle of a loop that has an entry of its own: two ways in, so it is not reducible.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void into_the_middle_of_a_loop(int *a, int n) {  // expect: unknown(goto)
  int t = threadIdx.x, k = 0;
  if (n > 2) goto middle;
again:
  a[t] = 1;
middle:
  a[t + 64] = 2;
  if (++k < 4) goto again;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void into_a_while(int *a, int n) {  // expect: unknown(goto)
  int t = threadIdx.x, k = 0;
  if (n > 2) goto inside;
  while (k < 3) {
    a[t] = k;
  inside:
    ++k;
  }
}

// --- switch --------------------------------------------------------------------------------------------------

// Sections that fall through, each into cells of its own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void falling_through(int *a) {  // expect: race-free
  int t = threadIdx.x;
  switch (t % 4) {
    case 0: a[t] = 1;
    case 1: a[t + 64] = 2;
    case 2: a[t + 128] = 3; break;
    default: a[t + 192] = 4;
  }
}

// Falling into the next section, a thread writes where another one reads.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void falling_into_a_race(int *a) {
  int t = threadIdx.x;
  switch (t % 4) {
    case 0: a[t] = 1;
    case 1: a[t + 2] = 2; break;  // expect: data-race with +1
    case 2: a[t + 64] = a[t];
  }
}

// The selector is the block's: the barrier in the section is reached by all or by none.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void barrier_in_a_section(int *a) {  // expect: race-free
  int t = threadIdx.x, b = blockIdx.x * 64;
  switch (blockIdx.x) {
    case 0: a[b + t] = 1;
    case 1: __syncthreads(); a[b + 63 - t] = 2;
  }
}

// A thread leaves the section before the barrier.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void leaving_a_section(int *a, int mode) {
  int t = threadIdx.x;
  switch (mode) {
    case 1:
      if (t == 5) break;
      a[t] = 1;
      __syncthreads();  // expect: barrier-divergence
    default: a[t + 64] = 2;
  }
}

// --- break, continue, do -------------------------------------------------------------------------------------

// Each thread leaves when it wants; the barrier stands behind the loop.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void break_by_thread(int *a) {  // expect: race-free
  int t = threadIdx.x;
  for (int k = 0; k < 8; ++k) {
    if (k > t % 5) break;
    a[t * 8 + k] = k;
  }
  __syncthreads();
  a[t] = 1;
}

// The write behind the loop meets the cells of others.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void break_by_thread_unordered(int *a) {
  int t = threadIdx.x;
  for (int k = 0; k < 8; ++k) {
    if (k > t % 5) break;
    a[t * 8 + k] = k;  // expect: data-race with +2
  }
  a[t] = 1;
}

// `continue` skips the write in some turns, never the barrier.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void continue_behind_the_barrier(int *a) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    s[t] = k;
    __syncthreads();
    int v = s[t ^ 1];
    __syncthreads();
    if ((t + k) % 3) continue;
    a[t * 4 + k] = v;
  }
}

// It skips the second barrier.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void continue_past_the_barrier(int *a) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    s[t] = k;
    __syncthreads();
    if ((t + k) % 3) continue;
    a[t * 4 + k] = s[t ^ 1];
    __syncthreads();  // expect: barrier-divergence
  }
}

// The body runs once at least, and as often for all.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void do_once_at_least(int *a, int n) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x, k = 0;
  do {
    s[t] = k;
    __syncthreads();
    a[t] = s[63 - t];
    __syncthreads();
  } while (++k < n);
}

// Two turns for some threads, one for the others.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void do_once_or_twice(int *a) {
  int t = threadIdx.x, k = t & 1;
  do {
    a[t] = k;
    __syncthreads();  // expect: barrier-divergence
  } while (++k < 2);
}

// --- barriers that some threads pass more often than others --------------------------------------------------

// The trip count depends on the thread, but is the same for the whole block.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void trips_that_agree(int *a) {  // expect: race-free
  int t = threadIdx.x;
  for (int k = t / 64; k < 3; ++k) {
    a[t] = k;
    __syncthreads();
    a[63 - t] = k;
    __syncthreads();
  }
}

// Here it is not.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void trips_that_differ(int *a) {
  int t = threadIdx.x;
  for (int k = t / 32; k < 3; ++k) {
    a[t] = k;
    __syncthreads();  // expect: barrier-divergence
  }
}

// The inner loop ends early, the same way in all threads.
// cuda-lsp: launch grid=(1) block=(64) n=3
__global__ void inner_loop_ends_early(int *a, int n) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      if (i + j > n) break;
      s[t] = i * j;
      __syncthreads();
      a[t] = s[63 - t];
      __syncthreads();
    }
    if (i == n) return;
  }
}

// And in some threads only.
// cuda-lsp: launch grid=(1) block=(64) n=3
__global__ void inner_loop_ends_early_for_some(int *a, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      if (i + j > n + t % 2) break;
      s[t] = i * j;
      __syncthreads();  // expect: barrier-divergence
    }
    a[t] = i;
  }
}
