// Surfaces: memory that is reached through handles. The first coordinate is in bytes.

// cuda-lsp: launch grid=(4,4) block=(16,16) image=1
__global__ void doubled_in_place(cudaSurfaceObject_t image) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float v;
  surf2Dread(&v, image, x * 4, y);
  surf2Dwrite(v * 2, image, x * 4, y);
}

// The neighbour may have written already.
// cuda-lsp: launch grid=(4,4) block=(16,16) image=1
__global__ void shifted_in_place(cudaSurfaceObject_t image) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float v = surf2Dread<float>(image, (x + 1) * 4, y);  // expect: data-race with +1
  surf2Dwrite(v * 2, image, x * 4, y);
}

// From one surface into another.
// cuda-lsp: launch grid=(4,4) block=(16,16) in=1 out=2
__global__ void blurred(cudaSurfaceObject_t in, cudaSurfaceObject_t out) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float v = surf2Dread<float>(in, (x + 1) * 4, y) + surf2Dread<float>(in, x * 4, y + 1, cudaBoundaryModeClamp);
  surf2Dwrite(v * 2, out, x * 4, y);
}

// The coordinate counts elements where it should count bytes.
// cuda-lsp: launch grid=(4,4) block=(16,16) out=2
__global__ void elements_for_bytes(cudaSurfaceObject_t out) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  surf2Dwrite((float)x, out, x, y);  // expect: data-race with self
}

// Texels of 16 bytes, 8 bytes apart.
// cuda-lsp: launch grid=(4,4) block=(16,16) out=2
__global__ void half_a_texel_apart(cudaSurfaceObject_t out) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  surf2Dwrite(make_float4(x, y, 1.0f, 0), out, x * 8, y);  // expect: data-race with self
}

// cuda-lsp: launch grid=(4,4) block=(16,16) out=2
__global__ void whole_texels(cudaSurfaceObject_t out) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  surf2Dwrite(make_float4(x, y, 1.0f, 0), out, x * 16, y);
}

// Two threads write each cell of a slice.
// cuda-lsp: launch grid=(2) block=(64) volume=1
__global__ void two_per_cell(cudaSurfaceObject_t volume, int n) {
  int x = blockIdx.x * 64 + threadIdx.x;
  for (int z = 0; z < n; ++z) surf3Dwrite(x + z, volume, x / 2 * 4, z, 0);  // expect: data-race with self
}

// Slices and rows keep apart what columns do not.
// cuda-lsp: launch grid=(2) block=(64) volume=1
__global__ void column_by_thread(cudaSurfaceObject_t volume, int n) {  // expect: race-free
  int x = blockIdx.x * 64 + threadIdx.x;
  for (int z = 1; z < n; ++z) {
    surf3Dwrite((float)z, volume, x * 4, 0, z);
    float before = surf3Dread<float>(volume, x * 4, 0, z - 1);
    surf3Dwrite(before, volume, x * 4, 1, z);
  }
}

// What is clamped may go to the cell at the border, and where that is nobody says.
// cuda-lsp: launch grid=(2) block=(64) row=1
__global__ void clamped_writes(cudaSurfaceObject_t row) {
  int x = blockIdx.x * 64 + threadIdx.x;
  surf1Dwrite(x, row, x * 4, cudaBoundaryModeClamp);  // expect: possible-data-race with self
}

// Outside of the surface nothing is written.
// cuda-lsp: launch grid=(2) block=(64) row=1
__global__ void left_of_the_surface(cudaSurfaceObject_t row) {  // expect: race-free
  int x = blockIdx.x * 64 + threadIdx.x;
  surf1Dwrite(x, row, x < 100 ? x * 4 : -4, cudaBoundaryModeZero);
}

// cuda-lsp: launch grid=(2,3) block=(64) layers=1
__global__ void layer_by_block(cudaSurfaceObject_t layers) {  // expect: race-free
  int x = blockIdx.x * 64 + threadIdx.x;
  surf1DLayeredwrite(x, layers, x * 4, blockIdx.y);
}

// Blocks 0 and 1 share a layer.
// cuda-lsp: launch grid=(2,3) block=(64) layers=1
__global__ void layer_by_two_blocks(cudaSurfaceObject_t layers) {
  int x = blockIdx.x * 64 + threadIdx.x;
  surf1DLayeredwrite(x + (int)blockIdx.y, layers, x * 4, blockIdx.y / 2);  // expect: data-race inter-block with self
}

// cuda-lsp: launch grid=(1) block=(64) row=1
__global__ void turned_around(cudaSurfaceObject_t row) {  // expect: race-free
  int x = threadIdx.x;
  surf1Dwrite(x, row, x * 4);
  __syncthreads();
  int v = surf1Dread<int>(row, (63 - x) * 4);
  __syncthreads();
  surf1Dwrite(v, row, x * 4);
}

// cuda-lsp: launch grid=(1) block=(64) row=1
__global__ void turned_around_too_early(cudaSurfaceObject_t row) {
  int x = threadIdx.x;
  surf1Dwrite(x, row, x * 4);
  __syncthreads();
  int v = surf1Dread<int>(row, (63 - x) * 4);  // expect: data-race with +1
  surf1Dwrite(v, row, x * 4);
}

// The host passes one surface twice.
__global__ void one_surface_twice(cudaSurfaceObject_t a, cudaSurfaceObject_t b) {
  int v = surf1Dread<int>(a, (threadIdx.x + 1) * 4);  // expect: data-race with +1
  surf1Dwrite(v, b, threadIdx.x * 4);
}

__global__ void two_surfaces(cudaSurfaceObject_t a, cudaSurfaceObject_t b) {  // expect: race-free
  int v = surf1Dread<int>(a, (threadIdx.x + 1) * 4);
  surf1Dwrite(v, b, threadIdx.x * 4);
}

void host(cudaArray_t one, cudaArray_t two) {
  cudaResourceDesc first = {}, second = {};
  first.res.array.array = one;
  second.res.array.array = two;
  cudaSurfaceObject_t a, b;
  cudaCreateSurfaceObject(&a, &first);
  cudaCreateSurfaceObject(&b, &second);
  one_surface_twice<<<1, 64>>>(a, a);
  two_surfaces<<<1, 64>>>(a, b);
}

// Handles in memory: which surfaces they are nobody knows.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void handles_in_memory(const cudaSurfaceObject_t *all) {
  int v = surf1Dread<int>(all[0], (threadIdx.x + 1) * 4);  // expect: possible-data-race with +1
  surf1Dwrite(v, all[1], threadIdx.x * 4);
}

surface<void, cudaSurfaceType2D> image_reference;
surface<void, cudaSurfaceType2D> other_reference;

// cuda-lsp: launch grid=(1) block=(64)
__global__ void reference_in_place() {
  int v;
  surf2Dread(&v, image_reference, (threadIdx.x + 1) * 4, 0);  // expect: data-race with +1
  surf2Dwrite(v, image_reference, threadIdx.x * 4, 0);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void reference_to_other() {  // expect: race-free
  int v;
  surf2Dread(&v, other_reference, (threadIdx.x + 1) * 4, 0);
  surf2Dwrite(v, image_reference, threadIdx.x * 4, 0);
}

// What a texture shows is assumed not to be written meanwhile, and the proof says so.
// cuda-lsp: launch grid=(1) block=(64) row=1 shown=2
__global__ void from_a_texture(cudaSurfaceObject_t row, cudaTextureObject_t shown) {  // expect: race-free
  surf1Dwrite(tex1D<float>(shown, threadIdx.x + 0.5f), row, threadIdx.x * 4);
}

// --- twins

// cuda-lsp: launch grid=(4,4) block=(16,16) image=1
__global__ void shifted_through_shared(cudaSurfaceObject_t image) {  // expect: race-free
  __shared__ float s[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  s[threadIdx.y][threadIdx.x] = surf2Dread<float>(image, x * 4, y);
  __syncthreads();
  surf2Dwrite(s[threadIdx.y][(threadIdx.x + 1) % 16], image, x * 4, y);
}

// cuda-lsp: launch grid=(4,4) block=(16,16) out=2
__global__ void bytes_of_elements(cudaSurfaceObject_t out) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  surf2Dwrite((unsigned char)x, out, x, y);
}

// cuda-lsp: launch grid=(2) block=(64) volume=1
__global__ void one_per_cell(cudaSurfaceObject_t volume, int n) {  // expect: race-free
  int x = blockIdx.x * 64 + threadIdx.x;
  for (int z = 0; z < n; ++z) surf3Dwrite(x + z, volume, x * 4, z, 0);
}

// cuda-lsp: launch grid=(2) block=(64) row=1
__global__ void clamped_reads(cudaSurfaceObject_t row, int *out) {  // expect: race-free
  int x = blockIdx.x * 64 + threadIdx.x;
  out[x] = surf1Dread<int>(row, (x - 1) * 4, cudaBoundaryModeClamp);
}

// cuda-lsp: launch grid=(2,3) block=(64) layers=1
__global__ void even_and_odd_layers(cudaSurfaceObject_t layers) {  // expect: race-free
  int x = blockIdx.x * 64 + threadIdx.x;
  surf1DLayeredwrite(x, layers, x * 4, 2 * blockIdx.y);
  surf1DLayeredwrite(x, layers, x * 4, 2 * blockIdx.y + 1);
}

// cuda-lsp: launch grid=(1) block=(64) faces=1
__global__ void face_by_face(cudaSurfaceObject_t faces) {  // expect: race-free
  for (int f = 0; f < 6; ++f) surfCubemapwrite((int)threadIdx.x, faces, threadIdx.x * 4, 0, f);
}

// cuda-lsp: launch grid=(1) block=(64) faces=1
__global__ void face_of_the_neighbour(cudaSurfaceObject_t faces) {
  for (int f = 0; f < 6; ++f) surfCubemapwrite((int)threadIdx.x, faces, (threadIdx.x + f) * 4, 0, 0);  // expect: data-race with self
}

// Every second row by each block.
// cuda-lsp: launch grid=(2) block=(64) image=1
__global__ void rows_in_turn(cudaSurfaceObject_t image, int n) {  // expect: race-free
  for (int y = blockIdx.x; y < n; y += 2) surf2Dwrite(y, image, threadIdx.x * 4, y);
}

// cuda-lsp: launch grid=(2) block=(64) image=1
__global__ void rows_not_in_turn(cudaSurfaceObject_t image, int n) {
  for (int y = blockIdx.x; y < n; y += 1) surf2Dwrite(y + (int)blockIdx.x, image, threadIdx.x * 4, y);  // expect: data-race inter-block with self
}

// Written as words, read as one texel of four by the same thread.
// cuda-lsp: launch grid=(2) block=(64) row=1
__global__ void words_of_a_texel(cudaSurfaceObject_t row, int4 *out) {  // expect: race-free
  int x = blockIdx.x * 64 + threadIdx.x;
  for (int w = 0; w < 4; ++w) surf1Dwrite(w, row, x * 16 + w * 4);
  out[x] = surf1Dread<int4>(row, x * 16);
}

// cuda-lsp: launch grid=(1) block=(64) row=1
__global__ void once_per_warp(cudaSurfaceObject_t row) {  // expect: race-free
  if (threadIdx.x % 32 == 0) surf1Dwrite((int)threadIdx.x, row, threadIdx.x / 32 * 4);
}

// cuda-lsp: launch grid=(1) block=(64) row=1
__global__ void by_the_first(cudaSurfaceObject_t row, int *out) {  // expect: race-free
  if (threadIdx.x == 0)
    for (int i = 0; i < 64; ++i) surf1Dwrite(i, row, i * 4);
  __syncthreads();
  out[threadIdx.x] = surf1Dread<int>(row, (63 - threadIdx.x) * 4);
}
