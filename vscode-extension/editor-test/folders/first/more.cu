__global__ void more(int *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 0; }
