// Conditional expressions that are statements, whose sides collide.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void statement(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, x = 0;
    (t & 1) ? (s[t] = t) : (x = s[63 - t]); // odd ones write
    out[t] = x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_a_branch(int *out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, x = 0;
    if (n > 2)
        t < 32 ? (void)(s[t] = t)
               : (void)(x = s[63 - t]);
    out[t] = x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void nested(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, x = 0;
    t < 32 ? t < 16 ? s[t] = t : s[t] = 2 : x = s[63 - t];
    out[t] = x;
}
