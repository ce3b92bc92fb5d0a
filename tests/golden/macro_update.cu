// Updates that macros write: atomic in the definition, and where one use forbids that, at the other one.
#define TALLY(bin)              \
    do {                        \
        (bin) += 1; /* more */  \
    } while (0)
#define TAKE(cell, by) ((cell) -= (by))

// cuda-lsp: launch grid=(4) block=(64)
__global__ void histogram(unsigned *bins, const unsigned *in) {
    TALLY(bins[in[blockIdx.x * blockDim.x + threadIdx.x] % 16]);
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void budget(int *left, const int *costs) {
    int cost = costs[blockIdx.x * blockDim.x + threadIdx.x];
    TAKE(cost, 1);
    if (cost > 0)
        TAKE(*left, cost);
}
