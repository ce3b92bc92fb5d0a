// Planes one behind the other: what a first loop has added up is where a second one goes on.

__global__ void planes(float *out, int dimx, int dimy, int dimz) {  // expect: race-free
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int row = dimx + 8, plane = row * (dimy + 8);
  if (x >= dimx || y >= dimy) return;
  int at = y * row + x;
  for (int i = 0; i < 3; i++) at += plane;
  for (int z = 0; z < dimz; z++) {
    at += plane;
    out[at] = z;
  }
}

__global__ void planes_too_close(float *out, int dimx, int dimy, int dimz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int row = dimx + 8, plane = row * (dimy - 1);
  if (x >= dimx || y >= dimy || dimy < 3) return;
  int at = y * row + x;
  for (int i = 0; i < 3; i++) at += plane;
  for (int z = 0; z < dimz; z++) {
    at += plane;
    out[at] = z;  // expect: data-race with self
  }
}

void launch(float *out, int x, int y, int z) {
  planes<<<dim3((x + 15) / 16, (y + 15) / 16), dim3(16, 16)>>>(out, x, y, z);
  planes_too_close<<<dim3((x + 15) / 16, (y + 15) / 16), dim3(16, 16)>>>(out, x, y, z);
}
