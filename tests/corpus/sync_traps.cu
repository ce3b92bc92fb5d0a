// Locks and flags that look right, and a few that are right although they do not look it.

__device__ int mutex;
__device__ int flag;

__device__ void lock(int *m) {
  while (atomicCAS(m, 0, 1) != 0) {
  }
  __threadfence();
}

__device__ void unlock(int *m) {
  __threadfence();
  atomicExch(m, 0);
}

// Released before the access on some way.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void released_sometimes(int *sum, const int *early) {
  if (threadIdx.x == 0) {
    lock(&mutex);
    if (early[0]) unlock(&mutex);
    *sum += 1;  // expect: possible-data-race inter-block with self
    if (!early[0]) unlock(&mutex);
  }
}

// A fence on some way only.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void fenced_sometimes(int *sum, const int *careful) {
  if (threadIdx.x == 0) {
    lock(&mutex);
    *sum += 1;  // expect: possible-data-race inter-block with self
    if (careful[0]) __threadfence();
    atomicExch(&mutex, 0);
  }
}

// A fence on each way.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void fenced_either_way(int *sum, const int *everywhere) {  // expect: race-free
  if (threadIdx.x == 0) {
    lock(&mutex);
    *sum += 1;
    if (everywhere[0])
      __threadfence_system();
    else
      __threadfence();
    atomicExch(&mutex, 0);
  }
}

// A loop that may be left before it has a fence.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void fenced_in_a_loop(int *sum, int n) {
  if (threadIdx.x == 0) {
    lock(&mutex);
    *sum += 1;  // expect: possible-data-race inter-block with self
    for (int i = 0; i < n; ++i) __threadfence();
    atomicExch(&mutex, 0);
  }
}

// A barrier in the section lets somebody else open the lock in an orderly way.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void opened_between_barriers(int *sum) {  // today: possible-data-race at +11 with +11; possible-data-race at +11 with +12; possible-data-race at +12 with +12 because claims before and after a plain write are not told apart
  __shared__ int door;
  if (threadIdx.x == 0) door = 0;
  __syncthreads();
  bool first = atomicCAS(&door, 0, 1) == 0;
  __threadfence_block();
  __syncthreads();
  if (threadIdx.x == 5) door = 0;
  __syncthreads();
  bool second = atomicCAS(&door, 0, 1) == 0;
  __threadfence_block();
  if (first) *sum += 1;  // expect: possible-data-race with +1
  if (second) *sum += 2;
}

// The flag holds another value before the data are there.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void any_value_will_do(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    atomicExch(&flag, 2);
    *data = 1;  // expect: possible-data-race inter-block with +8
    __threadfence();
    atomicExch(&flag, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

// The right one is waited for.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void one_value_only(int *data, int *out) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    atomicExch(&flag, 2);
    *data = 1;
    __threadfence();
    atomicExch(&flag, 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&flag, 0) != 1) {
    }
    __threadfence();
    *out = *data;
  }
}

// The value names the thread that wrote it.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void value_names_the_writer(int *data, int *out) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x > 0) {
    data[blockIdx.x] = 1;
    __threadfence();
    atomicExch(&flag, blockIdx.x);
  }
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    while (atomicAdd(&flag, 0) != 2) {
    }
    __threadfence();
    *out = data[2];
  }
}

// Whichever came last.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void value_of_somebody(int *data, int *out) {
  if (threadIdx.x == 0 && blockIdx.x > 0) {
    data[blockIdx.x] = 1;  // expect: possible-data-race inter-block with +8
    __threadfence();
    atomicExch(&flag, blockIdx.x);
  }
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    __threadfence();
    *out = data[1];
  }
}

// There and back: the cell is used again after the answer.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void answered(int *data, int *out, int *answer) {  // expect: race-free
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    atomicExch(&flag, 1);
    while (atomicAdd(answer, 0) == 0) {
    }
    __threadfence();
    *data = 2;
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&flag, 0) != 1) {
    }
    __threadfence();
    *out = *data;
    __threadfence();
    atomicExch(answer, 1);
  }
}

// The answer comes before the cell is read.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void answered_too_early(int *data, int *out, int *answer) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    atomicExch(&flag, 1);
    while (atomicAdd(answer, 0) == 0) {
    }
    __threadfence();
    *data = 2;  // expect: possible-data-race inter-block with +7
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    while (atomicAdd(&flag, 0) != 1) {
    }
    __threadfence();
    atomicExch(answer, 1);
    *out = *data;
  }
}

// The first thread does not always wait, and the others rely on it.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void waits_sometimes(int *data, int *out, const int *patient) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 1;  // expect: possible-data-race inter-block with +11
      __threadfence();
      atomicExch(&flag, 1);
    }
  } else {
    if (threadIdx.x == 0 && patient[0]) {
      while (atomicAdd(&flag, 0) != 1) {
      }
      __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = *data;
  }
}

// A counter for two rounds: in the second one nobody is waited for.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void counted_for_two_rounds(int *data, int *out, int *count) {
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) {
      data[blockIdx.x] = round;  // expect: possible-data-race inter-block with +6
      __threadfence();
      atomicAdd(count, 1);
      while (atomicAdd(count, 0) < gridDim.x) {
      }
      __threadfence();
      out[blockIdx.x] = data[3 - blockIdx.x];
    }
  }
}
