// Variables that a loop carries, and what they take in each iteration: a value that is found anew in every iteration is
// that of the iteration, and neither that of the one before nor the same in all.

// The inner loop goes on where it ended: it runs twice at first, and once in each later iteration.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void catches_up(int *cells, int n) {
  int filled = 0;
  for (int i = 0; i < n; ++i) {
    for (; filled < i + 2; ++filled) cells[1000 + threadIdx.x] = filled;  // expect: possible-data-race with +1
    if (i >= 1) cells[filled - 3] = threadIdx.x;  // expect: data-race with self
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void catches_up_apart(int *cells, int *counts, int n) {  // expect: race-free
  int filled = 0;
  for (int i = 0; i < n; ++i) {
    for (; filled < i + 2; ++filled) cells[threadIdx.x] = filled;
    counts[threadIdx.x] = filled;
  }
}

// What an atomic gave before is not what it gives now.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void another_number(int *cells, int *next, int n) {
  int before = -1;
  for (int i = 0; i < n; ++i) {
    int mine = atomicAdd(next, 1);
    if (i > 0 && before != mine) cells[0] = threadIdx.x;  // expect: possible-data-race with self
    before = mine;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void another_number_apart(int *cells, int *next, int n) {  // expect: race-free
  int before = -1;
  for (int i = 0; i < n; ++i) {
    int mine = atomicAdd(next, 1);
    if (i > 0 && before != mine) cells[threadIdx.x] = mine;
    before = mine;
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void summed(int *cells, int *cell, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    int found = atomicExch(cell, i);
    if (i == 1 && sum != found) cells[0] = threadIdx.x;  // expect: possible-data-race with self
    sum += found;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void summed_apart(int *cells, int *cell, int n) {  // expect: race-free
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    int found = atomicExch(cell, i);
    if (i == 1 && sum != found) cells[threadIdx.x] = sum;
    sum += found;
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void summed_from_memory(int *cells, const volatile int *cell, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    int found = *cell;
    if (i == 1 && sum != found) cells[0] = threadIdx.x;  // expect: possible-data-race with self
    sum += found;
  }
}

// A count that is another one in each iteration.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void fewer_each_time(int *cells, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    int k = 0;
    while (k < 5 - i) ++k;
    if (i == 1 && sum == 5) cells[0] = threadIdx.x;  // expect: data-race with self
    sum += k;
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void fewer_each_time_apart(int *cells, int n) {  // expect: race-free
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    int k = 0;
    while (k < 5 - i) ++k;
    if (i == 1 && sum == 5) cells[threadIdx.x] = sum;
    sum += k;
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void as_many_as_before(int *cells, int n) {
  int before = 0;
  for (int i = 0; i < n; ++i) {
    int k = 0;
    while (k < 5 + i) ++k;
    if (i == 1 && before == 5) cells[0] = threadIdx.x;  // expect: data-race with self
    before = k;
  }
}

// It is six in the second iteration, and was five before.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void never_as_many(int *cells, int n) {  // expect: race-free
  int before = 0;
  for (int i = 0; i < n; ++i) {
    int k = 0;
    while (k < 5 + i) ++k;
    if (i == 1 && before == 6) cells[0] = threadIdx.x;
    before = k;
  }
}

// The inner loop has as many iterations each time: what it adds up is known.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void as_many_each_time(int *cells, int n) {  // expect: race-free
  int at = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) ++at;
    cells[at * 64 + threadIdx.x] = i;
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void as_many_each_time_too_narrow(int *cells, int n) {
  int at = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) ++at;
    cells[at * 15 + threadIdx.x] = i;  // expect: data-race with self
  }
}

// The value before last, of what all threads agree on.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_back(int *cells, int n) {  // expect: race-free
  int last = 0, before = 0;
  for (int i = 0; i < n; ++i) {
    cells[before * 64 + threadIdx.x] = i;
    before = last;
    last = i + 1;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void pointer_steps(int *cells, int n) {  // expect: race-free
  int *at = cells;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 2; ++k) at += 64;
    at[threadIdx.x] = i;
  }
}

// A step that is read in each iteration anew.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void steps_from_memory(int *cells, volatile int *step, int n) {
  int at = 0;
  for (int i = 0; i < n; ++i) {
    cells[at + threadIdx.x] = i;  // expect: possible-data-race with self
    at += *step;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void steps_with_barriers(int *cells, volatile int *step, int n) {  // expect: race-free
  int at = 0;
  for (int i = 0; i < n; ++i) {
    cells[threadIdx.x] = at;
    __syncthreads();
    at += cells[63 - threadIdx.x] + *step;
    __syncthreads();
  }
}

// --- steps that only some threads make

// Each warp fills its own rows; the even ones every time, the odd ones never.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void some_step(int *cells, int n) {  // expect: race-free
  int at = 0;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x < 32) at += 64;
    cells[at + threadIdx.x] = i;
  }
}

// The two halves of the block come to the same rows.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void some_step_into_others(int *cells, int n) {
  int at = 0;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x < 32) at += 32;
    cells[at + threadIdx.x] = i;  // expect: data-race with self
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void halves_step_differently(int *cells, int n) {  // expect: race-free
  int at = 0;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x % 2)
      at += 128;
    else
      at += 64;
    cells[at + threadIdx.x] = i;
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void halves_step_apart(int *cells, int n) {
  int at = 0;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x % 2)
      at += 127;
    else
      at += 64;
    cells[at + threadIdx.x] = i;  // expect: data-race with self
  }
}

// A flag of the launch decides, the same for all.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void stepped_by_flag(int *cells, int n, bool moves) {  // expect: race-free
  int at = 0;
  for (int i = 0; i < n; ++i) {
    cells[at + threadIdx.x] = i;
    if (moves) at += 64;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void counts_down_where_odd(int *cells, int n) {  // expect: race-free
  int at = 4096;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x & 1) at -= 64;
    cells[at + threadIdx.x] = i;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void columns_by_parity(int *cells, int n) {  // expect: race-free
  int even = 0, odd = 0;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x & 1)
      ++odd;
    else
      ++even;
    cells[(even + odd) * 64 + threadIdx.x] = i;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void rounds_of_a_warp(int *cells, int n) {  // expect: race-free
  __shared__ int s[64];
  int round = 0;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x < 32) ++round;
    s[threadIdx.x] = round;
    __syncthreads();
    cells[i * 64 + threadIdx.x] = s[63 - threadIdx.x];
    __syncthreads();
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void rounds_of_a_warp_one_barrier(int *cells, int n) {
  __shared__ int s[64];
  int round = 0;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x < 32) ++round;
    s[threadIdx.x] = round;  // expect: data-race with +2
    __syncthreads();
    cells[i * 64 + threadIdx.x] = s[63 - threadIdx.x];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void doubled_rows(int *cells, int n) {  // expect: race-free
  int row = 0;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x < 16) row += 2;
    if (threadIdx.x >= 16) row += 1;
    cells[row * 64 + threadIdx.x] = i;
  }
}

// A variable that waits once it has come to its limit, in a loop that all threads make.
// cuda-lsp: launch grid=(1) block=(64) n=1000
__global__ void waits_at_the_limit(int *a, int n) {  // expect: race-free
  int i = 2 * threadIdx.x;
  while (__syncthreads_or(i < n)) {
    if (i < n) {
      a[i] = threadIdx.x;
      i += 128;
    }
  }
}

// Where it waits, another thread has been.
// cuda-lsp: launch grid=(1) block=(64) n=1000
__global__ void written_where_it_waits(int *a, int n) {
  int i = threadIdx.x;
  for (int k = 0; k < 16; k++) {
    if (i < n) {
      i += 64;
    }
    a[i] = threadIdx.x;  // expect: data-race with +2
  }
  a[i + 1] = 0;
}

// The steps of the threads are not of one length.
// cuda-lsp: launch grid=(1) block=(64) n=1000
__global__ void waits_behind_the_limit(int *a, int n) {
  int i = threadIdx.x;
  for (int k = 0; k < 2; k++) {
    if (i <= n) i += 7;
  }
  a[i] = threadIdx.x;  // expect: data-race with +1
  a[i + 14] = 1;
}

// Each round of a loop that all go round sets a variable that the loop itself does not ask for.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_in_each_round(const int *p, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x, last = t;
  for (int k = 0; k < 2; ++k) last = p[k];
  if (last == 1) {
    s[t] = t;
    __syncthreads();
    out[t] = s[63 - t];
  }
}

// A loop that some do not go round leaves them what they had.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_in_some_rounds(const int *p, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, last = t;
  for (int k = 0; k < t / 32; ++k) last = p[0];
  if (last == 1) {
    s[t] = t;
    __syncthreads();  // expect: barrier-divergence
    out[t] = s[63 - t];
  }
}

// The flag that ends the loop is set in an inner one; nobody comes to the barrier.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void ends_at_once(int *out) {
  int t = threadIdx.x;
  bool done = true;
  while (true) {
    if (done) break;
    for (int j = 0; j < 2; ++j) done = t > j;
    __syncthreads();  // expect: redundant-barrier
  }
  out[t] = 1;
}

// The place that the last round of an unknown number of them has set, and what it was before the first.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void place_of_the_last_round(int *out, int n) {  // expect: race-free
  int t = threadIdx.x, at = t;
  for (int k = 0; k < n; ++k) at = 64 * (k + 1) + t;
  out[at] = t;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void place_of_half_a_thread(int *out, int n) {
  int t = threadIdx.x, at = t;
  for (int k = 0; k < n; ++k) at = 64 * (k + 1) + t / 2;
  out[at] = t;  // expect: data-race with self
}

// How often the loop goes round is a division that is made only where it can be; else all write one cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void rounds_by_a_division(int *out, int n, int m) {
  int t = threadIdx.x, v = 0;
  if (m != 1) {
    v = 1;
    for (int i = 0; i < n / (m - 1); ++i) v += 2;
  }
  out[v == 0 ? 0 : t] = t;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void rounds_by_a_division_in_a_loop(int *out, int n, int m) {
  int t = threadIdx.x, v = 0;
  for (int i = 0; i < 3; ++i) {
    if (m != 1) {
      v = 1;
      for (int j = 0; j < n / (m - 1); ++j) v += 2;
    }
  }
  out[v == 0 ? 0 : t] = t;  // expect: data-race with self
}

// Where no division is made the cells are each thread's own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void no_rounds_at_all(int *out, int n, int m) {  // expect: race-free
  int t = threadIdx.x, v = 0;
  if (m != 0) {
    v = 1;
    for (int i = 0; i < n / m; ++i) v += 2;
  }
  out[v == 0 ? 64 + t : t] = t;
}
