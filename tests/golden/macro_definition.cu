// Barriers that belong into macros: in one line, and in several.
#define EXCHANGE(i) do { s[threadIdx.x] = in[i]; out[i] = s[63 - threadIdx.x]; } while (0)

#define ROTATE(n)                                  \
    do {                                           \
        int next = s[(threadIdx.x + (n)) % 64];    \
        s[threadIdx.x] = next; /* in place; */     \
    } while (0)

// cuda-lsp: launch grid=(1) block=(64)
__global__ void exchange(int *out, const int *in) {
    __shared__ int s[64];
    EXCHANGE(threadIdx.x);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void rotate(int *out, const int *in, int n) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int i = 1; i < n; ++i) {
        ROTATE(i);
        __syncthreads();
    }
    out[threadIdx.x] = s[threadIdx.x];
}

#define SHIFT(a) a[threadIdx.x] = a[threadIdx.x + 1]

// cuda-lsp: launch grid=(1) block=(64)
__global__ void shift(float *out) {
    SHIFT(out);
}
