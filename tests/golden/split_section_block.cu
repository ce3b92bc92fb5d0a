// A section in braces, which some threads leave early.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void stage(int *out, const int *in)
{
    __shared__ int cell[64];
    const int t = threadIdx.x;
    switch (in[t] & 3) {
    case 0: {
        int value = in[t + 64];
        cell[t] = value; // for the neighbour
        if (value == 7)
            break;
        out[t] = value + cell[t ^ 1];
        break;
    }
    case 1:
        out[t] = 3;
        break;
    }
}
