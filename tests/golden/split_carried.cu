// What is declared in one half of a conditional and used in the other keeps what it may point to.

// cuda-lsp: launch grid=(1) block=(64) n=48
__global__ void pointer_to_const(const int *in, int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) {
    const int *const mine = in + t;
    const int k = mine[0];
    s[t] = k;
    out[t] = s[n - 1 - t] + mine[1] + k;
  }
}

// Two places are made at once, each with a name of its own.

// cuda-lsp: launch grid=(1) block=(64) n=48
__global__ void two_conditionals(int *out, int n) {
  __shared__ int s[64], r[64];
  int t = threadIdx.x;
  if (t < n) {
    s[t] = 1;
    out[t] = s[n - 1 - t];
  }
  if (t < n - 1) {
    r[t] = 2;
    out[t + 64] = r[n - 2 - t];
  }
}

// A name that is taken in front of the second conditional is declared in both of its halves.

// cuda-lsp: launch grid=(1) block=(64) n=48
__global__ void one_name_twice(const int *in, int *out, int n) {
  __shared__ int s[72];
  int t = threadIdx.x, far = 2;
  if (t < n) {
    const int j = t + 1;
    s[t] = in[j];
    out[t] = s[j];
  }
  if (t > 3) {
    const int j = t - far;
    s[t] = in[j] * 2;
    out[t] += s[j];
    far = 5;
  }
  int k = far;
  __syncthreads();
  if (t > 4) {
    int k = t + 2;  // the cell behind the next
    int twice = 2 * k;
    s[t] = in[k];
    out[t] -= s[k] + twice;
  }
  out[t] += k;
}
