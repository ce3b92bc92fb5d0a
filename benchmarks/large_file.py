"""A generated CUDA file: kernels of about twenty lines with the host code that launches them. 200 make 6,000 lines.

The kernels rotate through ten shapes of everyday code; constants and names differ so that no two are equal to a
cache. Every fortieth has a missing barrier.
"""

from __future__ import annotations

SHAPES = ("map", "stride", "stencil", "reduce", "transpose", "histogram", "scan", "matmul", "pingpong", "rows")
BROKEN_EVERY = 40


def kernel(number: int) -> str:
    """Kernel ``number`` as text."""
    shape = SHAPES[number % len(SHAPES)]
    barrier = "" if number % BROKEN_EVERY == 3 else "__syncthreads();"
    return (
        _TEXT[shape].replace("@N", str(number)).replace("@B", barrier).replace("@C", str(3 + number % 11)).strip("\n")
    )


def launch(number: int) -> str:
    """The host code that launches it."""
    shape = SHAPES[number % len(SHAPES)]
    return _HOST[shape].replace("@N", str(number))


def large_file(kernels: int = 200) -> str:
    """The whole file."""
    parts = [f"#include <{name}>" for name in ("cuda_runtime.h", "cassert", "cstdio", "cstdlib")] + [""]
    for number in range(kernels):
        parts += [kernel(number), "", launch(number), ""]
    return "\n".join(parts)


_TEXT = {
    "map": """
// Kernel @N scales and shifts a vector.
__device__ float curve@N(float v, float gain) {
  float r = v * gain;
  r = r > 1.0f ? 1.0f : r;
  r = r < -1.0f ? -1.0f : r;
  return r + 0.@C f;
}

__global__ void map@N(float *out, const float *in, float gain, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  float v = in[i];
  for (int k = 0; k < @C; k++) {
    v = curve@N(v, gain);
  }
  out[i] = v;
}
""".replace("0.@C f", "0.@Cf"),
    "stride": """
// Kernel @N adds two vectors with a grid-stride loop.
__global__ void stride@N(float *y, const float *x, float a, int n) {
  int first = blockIdx.x * blockDim.x + threadIdx.x;
  int step = blockDim.x * gridDim.x;
  for (int i = first; i < n; i += step) {
    float v = x[i];
    if (v > 0.0f) {
      v = a * v;
    } else {
      v = v / @C.0f;
    }
    y[i] = y[i] + v;
  }
}
""",
    "stencil": """
// Kernel @N smooths a signal through a tile with a halo.
__global__ void stencil@N(float *out, const float *in, int n) {
  __shared__ float tile[256 + 2 * @C];
  int t = threadIdx.x;
  int i = blockIdx.x * 256 + t;
  tile[t + @C] = i < n ? in[i] : 0.0f;
  if (t < @C) {
    int left = i - @C;
    int right = i + 256;
    tile[t] = left >= 0 ? in[left] : 0.0f;
    tile[t + 256 + @C] = right < n ? in[right] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int k = -@C; k <= @C; k++) {
    sum += tile[t + @C + k];
  }
  if (i < n) {
    out[i] = sum / (2 * @C + 1);
  }
}
""",
    "reduce": """
// Kernel @N sums a vector block by block.
__global__ void reduce@N(float *out, const float *in, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  int i = blockIdx.x * 512 + t;
  float v = 0.0f;
  if (i < n) {
    v = in[i];
  }
  if (i + 256 < n) {
    v += in[i + 256] * @C.0f;
  }
  s[t] = v;
  @B
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) {
      s[t] += s[t + d];
    }
    __syncthreads();
  }
  if (t == 0) {
    out[blockIdx.x] = s[0];
  }
}
""",
    "transpose": """
// Kernel @N transposes a matrix through a padded tile.
__global__ void transpose@N(float *out, const float *in, int width, int height) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x;
  int y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) {
    tile[threadIdx.y][threadIdx.x] = in[y * width + x] + @C.0f;
  }
  __syncthreads();
  int tx = blockIdx.y * 16 + threadIdx.x;
  int ty = blockIdx.x * 16 + threadIdx.y;
  if (tx < height && ty < width) {
    out[ty * height + tx] = tile[threadIdx.x][threadIdx.y];
  }
}
""",
    "histogram": """
// Kernel @N counts bytes in shared memory first.
__global__ void histogram@N(unsigned *bins, const unsigned char *data, int n) {
  __shared__ unsigned local[256];
  int t = threadIdx.x;
  local[t] = 0;
  __syncthreads();
  int step = blockDim.x * gridDim.x;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += step) {
    unsigned char v = data[i];
    atomicAdd(&local[v], @Cu);
  }
  __syncthreads();
  if (local[t] != 0) {
    atomicAdd(&bins[t], local[t]);
  }
}
""",
    "scan": """
// Kernel @N is an inclusive scan of one block.
__global__ void scan@N(int *out, const int *in) {
  __shared__ int s[256];
  int t = threadIdx.x;
  int base = blockIdx.x * 256;
  s[t] = in[base + t] * @C;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    int v = 0;
    if (t >= d) {
      v = s[t - d];
    }
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[base + t] = s[t];
}
""",
    "matmul": """
// Kernel @N multiplies matrices tile by tile.
__global__ void matmul@N(float *c, const float *a, const float *b, int n) {
  __shared__ float ta[16][16];
  __shared__ float tb[16][16];
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty;
  int col = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int m = 0; m < n / 16; m++) {
    ta[ty][tx] = a[row * n + m * 16 + tx];
    tb[ty][tx] = b[(m * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; k++) {
      sum += ta[ty][k] * tb[k][tx];
    }
    __syncthreads();
  }
  if (row < n && col < n) {
    c[row * n + col] = sum / @C.0f;
  }
}
""",
    "pingpong": """
// Kernel @N relaxes a ring in two buffers.
__global__ void pingpong@N(float *out, const float *in, int rounds) {
  __shared__ float buffer[2][256];
  int t = threadIdx.x;
  int now = 0;
  buffer[now][t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int k = 0; k < rounds; k++) {
    float left = buffer[now][(t + 255) % 256];
    float right = buffer[now][(t + 1) % 256];
    buffer[1 - now][t] = 0.5f * (left + right) + @C.0f;
    now = 1 - now;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = buffer[now][t];
}
""",
    "rows": """
// Kernel @N normalises the rows of a matrix.
__global__ void rows@N(float *m, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float *p = m + row * cols;
    float largest = 0.0f;
    for (int k = 0; k < cols; k++) {
      float v = p[k];
      largest = v > largest ? v : largest;
    }
    for (int k = 0; k < cols; k++) {
      p[k] = p[k] / (largest + @C.0f);
    }
  }
}
""",
}

_LINEAR = """
void run_@S@N(float *out, const float *in, int n) {
  assert(n > 0);
  int blocks = (n + 255) / 256;
  @S@N<<<blocks, 256>>>(@A);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    fprintf(stderr, "@S@N: %s\\n", cudaGetErrorString(status));
    exit(EXIT_FAILURE);
  }
}
"""

_SQUARE = """
void run_@S@N(float *out, const float *a, const float *b, int w, int h) {
  assert(w > 0 && h > 0);
  dim3 block(16, 16);
  dim3 grid((w + 15) / 16, (h + 15) / 16);
  @S@N<<<grid, block>>>(@A);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    fprintf(stderr, "@S@N: %s\\n", cudaGetErrorString(status));
    exit(EXIT_FAILURE);
  }
}
"""


def _host(text: str, shape: str, arguments: str) -> str:
    return text.replace("@S", shape).replace("@A", arguments).strip("\n")


_HOST = {
    "map": _host(_LINEAR, "map", "out, in, 2.0f, n"),
    "stride": _host(_LINEAR, "stride", "out, in, 2.0f, n"),
    "stencil": _host(_LINEAR, "stencil", "out, in, n"),
    "reduce": _host(_LINEAR, "reduce", "out, in, n"),
    "transpose": _host(_SQUARE, "transpose", "out, a, w, h"),
    "histogram": _host(_LINEAR, "histogram", "(unsigned *)out, (const unsigned char *)in, n"),
    "scan": _host(_LINEAR, "scan", "(int *)out, (const int *)in"),
    "matmul": _host(_SQUARE, "matmul", "out, a, b, w"),
    "pingpong": _host(_LINEAR, "pingpong", "out, in, n"),
    "rows": _host(_LINEAR, "rows", "out, n, 64"),
}


if __name__ == "__main__":
    print(large_file())
