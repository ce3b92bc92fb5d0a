// A feature for each row of the block: barriers under the bounds check, and in a function that is called there twice.

__device__ void normalize(float *bins, float *sums, int count)
{
	int x = threadIdx.x;
	sums[x] = bins[x] * bins[x];
	__syncthreads();
	if (x < 4)
		sums[x] += sums[x + 4];
	__syncthreads();
	if (x < 2)
		sums[x] += sums[x + 2];
	__syncthreads();
	if (x < 1)
		sums[x] += sums[x + 1];
	__syncthreads();

	float length = sums[0];
	for (int i = x; i < count; i += 8)
		bins[i] /= length;
	__syncthreads();
}

// cuda-lsp: launch grid=(2) block=(8,4)
__global__ void describe(float *out, const float *angles, const float *sizes, const int features)
{
	__shared__ float all_bins[4][8];
	__shared__ float all_sums[4][8];
	const int x = threadIdx.x;
	const int row = threadIdx.y;
	const int f = blockIdx.x * 4 + row;
	float *bins = all_bins[row];
	float *sums = all_sums[row];

	if (f < features) {
		float angle = angles[f];
		angle = angle < 0.0f ? -angle : angle;
		const float size = sizes[f];
		const int count = 8;

		bins[x] = 0.0f;
		__syncthreads();

		// Each thread adds to two bins.
		atomicAdd(&bins[(x + 1) % count], size);
		atomicAdd(&bins[(x + 2) % count], angle);
		__syncthreads();

		if (x < 4) bins[x] += bins[x + 4];
		__syncthreads();

		normalize(bins, sums, count);
		bins[x] = min(bins[x], 0.2f);
		__syncthreads();
		normalize(bins, sums, count);

		out[f * 8 + x] = bins[x];
	}
}
