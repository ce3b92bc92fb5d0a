// Every thread of a block says where the block begins, and none of them is the one that should.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void begin(int *first, const int *order)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    first[blockIdx.x] = order[i];
}
