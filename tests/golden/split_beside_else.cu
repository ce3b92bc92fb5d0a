// What only one branch of a conditional does: the other one stays, before the second half.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void shift(float *out, const float *in, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = in[t];
        out[t] = s[t ^ 40];
    } // no more
    else {
        out[t] = 0;
    }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void loops(float *out, const float *in, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
    if (t < n) {
        sum = 1;
    } else {
        #pragma unroll 4
        for (int k = 0; k < 8; ++k) {
            s[t] = in[k];
            sum += s[t ^ 40];
        }
    }
    out[t] = sum;
}
