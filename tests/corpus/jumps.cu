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

// --- look like mistakes, and are none ------------------------------------------------------------------------

// The jump goes past a barrier, but nobody of this block takes it.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void a_jump_nobody_takes(int *a) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t >= 32) goto done;
  s[t] = t;
  __syncthreads();
  a[t] = s[31 - t];
done:;
}

// Everybody takes it.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void a_jump_everybody_takes(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (t < 32) goto done;
  a[0] = t;
done:
  a[t] = 1;
}

// A whole block jumps, the other stays.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void a_jump_of_one_block(int *a) {  // expect: race-free
  int t = threadIdx.x, b = blockIdx.x * 64;
  if (blockIdx.x == 1) goto done;
  a[t] = 1;
  __syncthreads();
  a[63 - t] = 2;
done:
  a[b + t + 128] = 3;
}

// The loop ends by goto when the parameter says so, for all threads at once.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void an_endless_loop_that_all_leave(int *a, int n) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int k = 0;; ++k) {
    if (k >= n) goto done;
    s[t] = k;
    __syncthreads();
    a[t] = s[63 - t];
    __syncthreads();
  }
done:
  a[t + 64] = n;
}

// Each thread counts down its own number of turns; only its own cells are touched.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void own_turns_own_cells(int *a) {  // expect: race-free
  int t = threadIdx.x, k = t % 4;
again:
  a[t * 4 + k] = k;
  if (k-- > 0) goto again;
  __syncthreads();
  a[t] += 1;
}

// Sections of different threads fall into one that has a cell for each.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void falling_into_one_section(int *a) {  // expect: race-free
  int t = threadIdx.x;
  switch (t & 3) {
    case 3: a[t + 64] = 3;
    case 1: a[t] = 1; break;
    case 2: a[t + 128] = 2;
    default: a[t] = 0;
  }
}

// `default` stands first, and is taken last.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void default_first(int *a) {  // expect: race-free
  int t = threadIdx.x;
  switch (t % 3) {
    default: a[t] = 0; break;
    case 1: a[t + 64] = 1; break;
    case 0: a[t + 128] = 2;
  }
}

// `continue` out of a switch goes on with the loop, before the barrier of the section and behind that of the loop.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void continue_out_of_a_switch(int *a) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    s[t] = k;
    __syncthreads();
    int v = s[t ^ 1];
    __syncthreads();
    switch ((t + k) & 3) {
      case 0: continue;
      case 1: a[t] = v; break;
      default: a[t + 64] = v;
    }
    a[t + 128] = k;
  }
}

// The body runs once for each thread, whatever the test says.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void do_exactly_once(int *a) {  // expect: race-free
  int t = threadIdx.x;
  do {
    a[t] = 1;
    __syncthreads();
    a[63 - t] = 2;
  } while (t < 0);
}

// Four turns for each thread, counted from its own start.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void do_from_an_own_start(int *a) {  // expect: race-free
  int t = threadIdx.x, k = t;
  do {
    a[k] = t;
    __syncthreads();
  } while (++k < t + 4);
}

// The break of the inner loop leaves the outer one going, for all threads alike.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void inner_break_by_the_block(int *a) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      if (j > i) break;
      s[t] = i;
      __syncthreads();
      a[t] = s[t ^ 3];
      __syncthreads();
    }
}

// Threads leave a loop without barriers one by one, and meet behind it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void leaving_one_by_one(int *a) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x, k = 0;
  while (true) {
    if (k * k >= t) break;
    ++k;
  }
  s[t] = k;
  __syncthreads();
  a[t] = s[63 - t];
}

// Returning in the middle of a loop ends the thread; those behind do not read what it would have written.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void return_out_of_two_loops(int *a) {  // expect: race-free
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j) {
      if (i * 2 + j > t % 8) return;
      a[t * 8 + i * 2 + j] = t;
    }
}

// Out of a function by goto, and on in the kernel: the thread is not gone.
__device__ int first_multiple(int t) {
  int k = 1;
again:
  if (k % 3 == t % 3) goto found;
  if (++k < 4) goto again;
found:
  return k;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void goto_in_a_function(int *a) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = first_multiple(t);
  __syncthreads();
  a[t] = s[63 - t];
}

// Half of the warps go one way and half the other; each way has its own cells.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_ways_by_warp(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (t / 32) goto second;
  a[t * 2] = 1;
  goto done;
second:
  a[(t - 32) * 2 + 1] = 2;
done:
  __syncthreads();
  a[t] += 1;
}

// The label ends the block.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void label_at_the_end(int *a) {  // expect: race-free
  int t = threadIdx.x;
  if (t > 40) goto done;
  {
    if (t > 30) goto done;
    a[t] = 1;
  }
  a[t + 64] = 2;
done:;
}

// A switch on what the loop counts: the same section for all threads in each turn.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void section_by_turn(int *a) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int k = 0; k < 6; ++k) {
    switch (k % 3) {
      case 0: s[t] = k; break;
      case 1: __syncthreads(); a[t] = s[63 - t]; break;
      case 2: __syncthreads();
    }
  }
}

// `break` in a section of a switch leaves the switch, not the loop.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void break_of_the_switch(int *a) {  // expect: race-free
  int t = threadIdx.x;
  for (int k = 0; k < 3; ++k) {
    switch (t % 2) {
      case 0:
        if (k == 1) break;
        a[t * 3 + k] = k;
    }
    __syncthreads();
  }
  a[t] = 1;
}

// Two labels at one place.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_names_for_one_place(int *a, int n) {  // expect: race-free
  int t = threadIdx.x;
  if (n == 1) goto one;
  if (n == 2) goto two;
  a[t] = 0;
one:
two:
  a[t] = 1;
}
