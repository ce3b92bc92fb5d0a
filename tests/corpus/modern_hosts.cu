// Host code of this century: structured bindings, designated initialisers, loops over arrays and lists.
#include <cuda_runtime.h>

#include <array>
#include <utility>

struct Dims {
  int w, pitch;
};
Dims dims(int n) { return {n, n + 8}; }
std::pair<int, int> sizes(int n) { return {n, n + 8}; }
int common_pitch;
std::pair<bool, int> shrink() {
  common_pitch = common_pitch / 2;
  return {true, 0};
}
void change(int *value);
void touch(float *a, int i);

__global__ void bound_members(float *a, int w, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;
}
void run_bound_members(float *a, int n, int rows) {
  auto [w, p] = dims(n);
  bound_members<<<dim3((w + 255) / 256, rows), 256>>>(a, w, p);
}

__global__ void bound_reference(float *a, int w, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;
}
void run_bound_reference(float *a, int n, int rows) {
  Dims d{n, n + 8};
  const auto &[w, p] = d;
  bound_reference<<<dim3((w + 255) / 256, rows), 256>>>(a, w, p);
}

__global__ void bound_pair(float *a, int w, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;
}
void run_bound_pair(float *a, int n, int rows) {
  auto [w, p] = sizes(n);
  bound_pair<<<dim3((w + 255) / 256, rows), 256>>>(a, w, p);
}

__global__ void bound_copy(float *a, int w, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;
}
void run_bound_copy(float *a, int n, int rows) {
  Dims d{n, n + 8};
  auto [w, p] = d;
  d.w = 4 * n;
  bound_copy<<<dim3((w + 255) / 256, rows), 256>>>(a, w, p);
}

__global__ void bound_before_loop(float *a, int w, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;
}
void run_bound_before_loop(float *a, int n, int rows) {
  auto [w, p] = dims(n);
  for (int i = 0; i < 3; i++) touch(a, i);
  bound_before_loop<<<dim3((w + 255) / 256, rows), 256>>>(a, w, p);
}

__global__ void designated(float *a, int w, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;
}
void run_designated(float *a, int n, int rows) {
  Dims d{.w = n, .pitch = n + 8};
  designated<<<dim3((d.w + 255) / 256, rows), 256>>>(a, d.w, d.pitch);
}

__global__ void designated_rest_zero(float *a, int w, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;
}
void run_designated_rest_zero(float *a, int n, int rows) {
  Dims d = {.pitch = n};
  designated_rest_zero<<<dim3((d.w + 8 + 255) / 256, rows), 256>>>(a, d.w + 8, 8);
}

__global__ void visited_array(float *a, int w, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;
}
void run_visited_array(float *a, int n, int rows) {
  const int widths[] = {64, 100};
  for (int w : widths)
  visited_array<<<dim3((w + 255) / 256, rows), 256>>>(a, w, 128);
}

__global__ void visited_list(float *a, int w, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;
}
void run_visited_list(float *a, int n, int rows) {
  for (int w : {64, 100, 128})
  visited_list<<<dim3((w + 255) / 256, rows), 256>>>(a, w, 128);
}

__global__ void visited_long(float *a, int w, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;
}
void run_visited_long(float *a, int n, int rows) {
  long widths[3] = {1, 2, 3};
  for (auto w : widths)
  visited_long<<<dim3((w + 255) / 256, rows), 256>>>(a, w, 3);
}

__global__ void sized_array(float *a, int w, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;
}
void run_sized_array(float *a, int n, int rows) {
  std::array<int, 64> all{};
  sized_array<<<dim3((all.size() + 255) / 256, rows), 256>>>(a, all.size(), 64);
}

__global__ void bound_effect(float *a, int w, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;  // expect: data-race with self
}
void run_bound_effect(float *a, int n, int rows) {
  if (common_pitch < n) return;
  auto [done, code] = shrink();
  bound_effect<<<dim3((n + 255) / 256, rows), 256>>>(a, n, common_pitch);
}

__global__ void bound_written(float *a, int w, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;  // expect: data-race with self
}
void run_bound_written(float *a, int n, int rows) {
  Dims d{n, n + 8};
  auto &[w, p] = d;
  p = 1;
  bound_written<<<dim3((d.w + 255) / 256, rows), 256>>>(a, d.w, d.pitch);
}

__global__ void bound_array_written(float *a, int w, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;  // expect: data-race with self
}
void run_bound_array_written(float *a, int n, int rows) {
  int d[2] = {n, n + 8};
  auto &[w, p] = d;
  p = 1;
  bound_array_written<<<dim3((d[0] + 255) / 256, rows), 256>>>(a, d[0], d[1]);
}

__global__ void bound_handed(float *a, int w, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;  // expect: data-race with self
}
void run_bound_handed(float *a, int n, int rows) {
  Dims d{n, n + 8};
  auto &[w, p] = d;
  change(&p);
  bound_handed<<<dim3((d.w + 255) / 256, rows), 256>>>(a, d.w, d.pitch);
}

__global__ void bound_original(float *a, int w, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;  // expect: data-race with self
}
void run_bound_original(float *a, int n, int rows) {
  Dims d{n, n + 8};
  auto [w, p] = d;
  p = 1;
  bound_original<<<dim3((w + 255) / 256, rows), 256>>>(a, w, p);
}

__global__ void designated_other(float *a, int w, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;  // expect: data-race with self
}
void run_designated_other(float *a, int n, int rows) {
  Dims d{.pitch = n};
  d.w = 4;
  designated_other<<<dim3((n + 255) / 256, rows), 256>>>(a, n, d.w);
}

__global__ void visited_too_wide(float *a, int w, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;  // expect: data-race with self
}
void run_visited_too_wide(float *a, int n, int rows) {
  const int widths[] = {64, 129};
  for (int w : widths)
  visited_too_wide<<<dim3((w + 255) / 256, rows), 256>>>(a, w, 128);
}

__global__ void visited_changed(float *a, int w, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;  // expect: data-race with self
}
void run_visited_changed(float *a, int n, int rows) {
  int widths[] = {64, 100};
  for (int w : widths) widths[1] = 4 * w;
  for (int w : widths)
  visited_changed<<<dim3((w + 255) / 256, rows), 256>>>(a, w, 128);
}

__global__ void visited_written(float *a, int w, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;  // expect: data-race with self
}
void run_visited_written(float *a, int n, int rows) {
  int widths[] = {64, 100};
  for (int &w : widths) w = 200;
  for (int w : widths)
  visited_written<<<dim3((w + 255) / 256, rows), 256>>>(a, w, 128);
}

__global__ void partly_given(float *a, int w, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x - blockIdx.y;  // expect: data-race with self
}
void run_partly_given(float *a, int n, int rows) {
  std::array<int, 64> all = {1, 2};
  partly_given<<<dim3((64 + 255) / 256, rows), 256>>>(a, 64, all.size() / 2);
}

// Pointers in arrays of a parameter: taken as different objects, where the host does not show that they are not.
struct Rows {
  float *p[4];
};

__global__ void different_rows(Rows rows, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) rows.p[blockIdx.y][i] = blockIdx.y;
}

__global__ void own_rows(Rows rows, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 4; k++)
    if (i < n) rows.p[k][i] = k;
}

__global__ void same_rows(Rows rows, int n) {  // expect: unknown
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) rows.p[blockIdx.y][i] = blockIdx.y;
}

__global__ void row_of_its_own_too(Rows rows, float *one, int n) {  // expect: unknown
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) rows.p[blockIdx.y][i] = one[n - i];
}

void run_rows(float *a, float *b, float *c, float *d, int n) {
  dim3 grid((n + 255) / 256, 4);
  different_rows<<<grid, 256>>>(Rows{{a, b, c, d}}, n);
  own_rows<<<(n + 255) / 256, 256>>>(Rows{{a, b, c, d}}, n);
  Rows twice{{a, b, a, b}};
  same_rows<<<grid, 256>>>(twice, n);
  row_of_its_own_too<<<grid, 256>>>(Rows{{a, b, c, d}}, b, n);
}
