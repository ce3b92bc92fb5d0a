// Accesses of several bytes, at addresses that only their alignment keeps apart.
#include <cstdint>
#include <cuda_runtime.h>

struct Row {
  float* data;
  int width;
  __device__ float* at(int row, int column) const { return data + row * width + column; }
};

// The row length may be odd: then every second row is misaligned for float2, which the hardware does not execute.
__global__ void pairs_of_odd_rows(float* m, int height, int width) {  // expect: race-free
  Row rows{m, width};
  int x = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  if (x >= width) return;
  for (int y = blockIdx.y * 8; y < min(blockIdx.y * 8 + 8, height); ++y) {
    float2* p = (float2*)rows.at(y, x);
    *p = make_float2(p->x + 1.0f, p->y + 1.0f);
  }
}

// Rounding down before the cast gives aligned addresses that two rows share.
__global__ void rounded_pairs_of_odd_rows(float* m, int height, int width) {
  int x = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  ((float2*)m)[(y * width + x) / 2] = make_float2(x, y);  // expect: data-race with self
}

// One thread's four floats and the next one's: four apart, or not aligned.
__global__ void fours_from_anywhere(float* m, int first) {  // expect: race-free
  float4* p = (float4*)(m + first + 4 * threadIdx.x);
  *p = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

__global__ void fours_every_two_floats(float* m) {
  float4* p = (float4*)(m + 4 * (threadIdx.x / 2));
  *p = make_float4(threadIdx.x, 0.0f, 0.0f, 0.0f);  // expect: data-race with self
}

// A scalar inside somebody else's vector.
__global__ void scalar_in_vector(float* m) {
  if (threadIdx.x < 8) {
    ((float4*)m)[threadIdx.x] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);  // expect: data-race with +2
  } else if (threadIdx.x < 16) {
    m[threadIdx.x * 4 - 1] = 1.0f;
  }
}

#pragma pack(push, 1)
struct Packed {
  char tag;
  int value;
};
#pragma pack(pop)

// The members of a packed class have no alignment: bytes move one at a time, and neighbours overlap.
__global__ void packed_members(char* m) {
  Packed* p = (Packed*)(m + 3 * threadIdx.x);
  p->value = threadIdx.x;  // expect: data-race with self
}

__global__ void packed_members_apart(char* m) {  // expect: race-free
  Packed* p = (Packed*)(m + 5 * threadIdx.x);
  p->value = threadIdx.x;
}

// A copy of bytes is aligned to nothing.
__global__ void copied_bytes(char* m, const char* from) {
  memcpy(m + 3 * threadIdx.x, from + threadIdx.x, 4);  // expect: data-race with self
}

// One place, reached as a vector and byte by byte: what the hardware asks of the one does not hold of the other.
__global__ void vector_or_bytes(char* m, const char* from, int bytes) {
  char* p = m + 4 * threadIdx.x;
  if (!bytes) {
    *(float2*)p = make_float2(threadIdx.x, 0.0f);
  } else {
    memcpy(p, from + threadIdx.x, 8);  // expect: data-race with self
  }
}

void launch(float* m, char* bytes, int height, int width, int first) {
  pairs_of_odd_rows<<<dim3((width + 63) / 64, (height + 7) / 8), 32>>>(m, height, width);
  rounded_pairs_of_odd_rows<<<dim3((width + 63) / 64, (height + 7) / 8), dim3(32, 8)>>>(m, height, width);
  fours_from_anywhere<<<1, 64>>>(m, first);
  fours_every_two_floats<<<1, 64>>>(m);
  scalar_in_vector<<<1, 64>>>(m);
  packed_members<<<1, 64>>>(bytes);
  packed_members_apart<<<1, 64>>>(bytes);
  copied_bytes<<<1, 64>>>(bytes, (const char*)m);
  vector_or_bytes<<<1, 64>>>(bytes, (const char*)m, width);
}
