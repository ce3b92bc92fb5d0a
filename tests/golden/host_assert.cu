// Two elements per thread of rows whose length may be odd: right if it is even, which the host does not say.
#include <cstdio>

__global__ void pairs(float *a, int width) {
	int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
	int y = blockIdx.y;
	if (x < width) {
		a[y * width + x] = 1.0f;
		a[y * width + x + 1] = 2.0f;
	}
}

void launch(float *a, int columns, int rows) {
	dim3 grid((columns / 2 + 127) / 128, rows);
	pairs<<<grid, 128>>>(a, columns);
}
