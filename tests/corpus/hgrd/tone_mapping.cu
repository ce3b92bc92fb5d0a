// Pixels of several channels, one thread for each: the grid and the row length come from one number.
#include <fstream>

__global__ void map_tones(const float *in, float *out, float level, unsigned width,
                          unsigned channels) {  // expect: race-free
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float luminance = 0;
  for (int c = 0; c < 3; c++) luminance += in[width * channels * y + (x * channels + c)] / 3;
  float scale = luminance / (luminance + level);
  out[width * channels * y + (x * channels + 0)] = scale * in[width * channels * y + (x * channels + 0)];
  out[width * channels * y + (x * channels + 3)] = in[width * channels * y + (x * channels + 3)];
}

// The same with signed numbers.
__global__ void map_signed_tones(const float *in, float *out, float level, int width,
                                 int channels) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float value = in[width * channels * y + x * channels];
  out[width * channels * y + x * channels] = value / (value + level);
}

// Rows of pixels, but a row length in words of three channels, of which four are written.
__global__ void map_overlapping_tones(float *out, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[width * 3 * y + x * 3] = x;  // expect: data-race with +1
  out[width * 3 * y + x * 3 + 3] = y;
}

void launch(float *in, float *out, unsigned width, unsigned height) {
  dim3 block(16, 16), grid(width / 16, height / 16);
  map_tones<<<grid, block>>>(in, out, 0.5f, width, 4);
  int columns = width, rows = height;
  dim3 signed_grid(columns / 16, rows / 16);
  map_signed_tones<<<signed_grid, block>>>(in, out, 0.5f, columns, 4);
  map_overlapping_tones<<<signed_grid, block>>>(out, columns);
}

int main(int argc, char **argv) {
  std::ifstream file(argv[1]);
  unsigned width, height;
  file >> width;
  file >> height;
  float *in, *out;
  cudaMalloc(&in, sizeof(float) * width * height * 4);
  cudaMalloc(&out, sizeof(float) * width * height * 4);
  for (int i = 0; i < 3; i++) launch(in, out, width, height);
  return 0;
}
