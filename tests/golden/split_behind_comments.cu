// Conditionals behind comments, in their line and between an `else` and its `if`.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_front(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, x = 0;
    /* odd ones */ if (t & 1) {
        s[t] = t;
    } else {
        x = s[63 - t];
    }
    out[t] = x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void behind_else(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, x = 0;
    if (t < 8) {
        x = 3;
    } else
    // the odd ones of the rest
    if (t & 1) {
        s[t] = t;
    } else {
        x = s[63 - t];
    }
    out[t] = x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_the_line_of_else(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, x = 0;
    if (t < 8) {
        x = 3;
    } else /* of the rest */ if (t & 1) { // odd
        s[t] = t;
    } else { // even
        x = s[63 - t];
    }
    out[t] = x;
}
