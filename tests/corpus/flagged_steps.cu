// Variables that a thread steps as long as it has work, in loops that all threads make together.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void until_done(int *out, int n) {  // expect: race-free
  __shared__ int s[64];
  int i = threadIdx.x;
  bool active = true;
  do {
    if (active) s[threadIdx.x] = i;
    __syncthreads();
    if (active) {
      out[i] = s[threadIdx.x ^ 33];
      i += 64;
    }
  } while (__syncthreads_or(active = active && i < n));
}

// A thread whose flag is set again stands where it stood, and another one has come there.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_again(int *out, int n) {
  int i = threadIdx.x;
  bool active = true;
  for (int k = 0; k < n; ++k) {
    if (active) {
      out[i] = k;  // expect: possible-data-race with self
      i += 64;
    }
    active = (threadIdx.x + k) % 3 != 0;
  }
}

// The step is made by threads whose flag is not set, too: what it leads to is not known.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void stepped_otherwise(int *out, const int *in, int n) {
  int i = threadIdx.x;
  bool active = true;
  for (int k = 0; k < n; ++k) {
    if (active) out[i] = k;  // expect: possible-data-race with self
    if (in[threadIdx.x + k] > 3) i += 32;
    active = active && in[threadIdx.x] > k;
  }
}

// What stands behind the loop is where the thread has stopped, which may be anywhere.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void behind(int *out, const int *in, int n) {
  int i = threadIdx.x;
  bool active = true;
  for (int k = 0; k < n; ++k) {
    if (active && in[i] < 0) active = false;
    if (active) i += 32;
  }
  out[i] = threadIdx.x;  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void left_by_break(int *out, const int *in, int n) {  // expect: race-free
  __shared__ int s[64];
  bool active = true;
  for (int i = threadIdx.x; __syncthreads_or(active = active && i < n);) {
    if (active) {
      s[threadIdx.x] = i;
      if (in[i] < 0) active = false;
    }
    __syncthreads();
    if (active) {
      out[i] = s[threadIdx.x ^ 33];
      i += 64;
    }
  }
}

// The flag is asked again under itself.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void asked_again(int *out, const int *in, int n) {  // expect: race-free
  bool active = true;
  for (int i = threadIdx.x; __syncthreads_or(active = active && i < n);) {
    if (active) {
      const bool taken = in[i] != 7;
      if (taken) {
        if (in[i] < 0) active = false;
      }
      if (active) {
        if (taken) {
          out[i] = i;
        }
        i += 64;
      }
    }
  }
}

// What is asked under the flag besides keeps some threads where they are.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void not_always(int *out, const int *in, int n) {
  bool active = true;
  for (int i = threadIdx.x; __syncthreads_or(active = active && i < n);) {
    if (active) {
      out[i] = threadIdx.x;  // expect: possible-data-race with self
      if (in[i] == 7) {
        i += 32;
      }
    }
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void overlapping(int *out, const int *in, int n) {
  bool active = true;
  for (int i = threadIdx.x; __syncthreads_or(active = active && i < n);) {
    if (active) {
      out[i / 2] = i;  // expect: possible-data-race with self
      i += 64;
    }
  }
}

// In strides of a block.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void waiting(int *out, int from, int to) {  // expect: race-free
  __shared__ int s[64];
  for (int i = from + threadIdx.x; __syncthreads_or(i < to);) {
    const bool taken = i < to;
    if (taken) s[threadIdx.x] = i;
    __syncthreads();
    if (taken) {
      out[i] = s[threadIdx.x ^ 33];
      i += blockDim.x;
    }
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void waiting_for_less(int *out, int from, int to) {
  for (int i = from + threadIdx.x; __syncthreads_or(i < to);) {
    if (i < to) {
      out[i] = threadIdx.x;  // expect: possible-data-race with +1
      out[i + 1] = threadIdx.x;
      i += blockDim.x;
    }
  }
}

// Backwards, by a row of the block at a time.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void backwards(int *out, const int *in, int n) {  // expect: race-free
  __shared__ int s[64];
  for (int i = n - 1 - threadIdx.x; __syncthreads_or(i >= 0);) {
    if (i >= 0) s[threadIdx.x] = in[i];
    __syncthreads();
    if (i >= 0) {
      out[i] = s[63 - threadIdx.x];
      i -= blockDim.x;
    }
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void backwards_beside(int *out, int n) {
  for (int i = n - 1 - threadIdx.x; __syncthreads_or(i >= 0);) {
    if (i >= 0) {
      out[i] = threadIdx.x;  // expect: possible-data-race with +1
      out[i + 1] = threadIdx.x;
      i -= blockDim.x;
    }
  }
}
