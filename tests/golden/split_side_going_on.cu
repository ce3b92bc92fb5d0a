// One side of a branch may end the iteration, and what follows is for the threads that stay.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void sides(int *out, const int *in, int n)
{
    __shared__ int cell[64];
    const int t = threadIdx.x;
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        if (t & 1) {
            cell[t] = in[i];
            if (in[i] == t)
                continue;
            sum += i;
        } else {
            sum += cell[t ^ 1];
        }
        out[t] = sum;
    }
}
