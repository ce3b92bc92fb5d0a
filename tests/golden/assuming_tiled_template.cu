// A counter without a sign and the size of a tile as a template's parameter.
template <typename T, int kTile>
__global__ void tiled_product(const T *left, const T *right, T *out, unsigned rows, unsigned inner, unsigned columns) {
	__shared__ T a[kTile][kTile], b[kTile][kTile];
	const unsigned row = blockIdx.y * kTile + threadIdx.y;
	const unsigned column = blockIdx.x * kTile + threadIdx.x;
	if (row < rows && column < columns) {
		// What this thread computes.
		T sum = 0;
		for (unsigned tile = 0; tile < inner; tile += kTile) {
			a[threadIdx.y][threadIdx.x] = left[row * inner + tile + threadIdx.x];
			b[threadIdx.y][threadIdx.x] = right[(tile + threadIdx.y) * columns + column];
			__syncthreads();
			for (int k = 0; k < kTile; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
			__syncthreads();
		}
		out[row * columns + column] = sum;
	}
}

void multiply(const float *left, const float *right, float *out, unsigned rows, unsigned inner, unsigned columns) {
	tiled_product<float, 16><<<dim3(4, 3), dim3(16, 16)>>>(left, right, out, rows, inner, columns);
	tiled_product<float, 32><<<dim3(4, 3), dim3(32, 32)>>>(left, right, out, rows, inner, columns);
}
