// A macro that races, used twice in a row and in a loop: barriers in it and between its uses.
#define MIRROR(a)                          \
    do {                                   \
        int mirrored = (a)[63 - threadIdx.x]; \
        (a)[threadIdx.x] = mirrored;       \
    } while (0)

// cuda-lsp: launch grid=(1) block=(64)
__global__ void twice(int *out, const int *in) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    MIRROR(s);
    MIRROR(s);
    out[threadIdx.x] = s[threadIdx.x];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void repeated(int *out, const int *in, int n) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < n; ++i)
        MIRROR(s);
    out[threadIdx.x] = s[threadIdx.x];
}
