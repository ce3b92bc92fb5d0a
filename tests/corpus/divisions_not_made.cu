// What a divisor may be where the division by it is not made, or is one by something else than the number it is of.

__global__ void behind_and(int *a, int w, int k) {
  int i = threadIdx.x;
  int c = (w != 0 && i % w == 0);  // not divided where w is zero, and then all write a[0]
  if (c + k > 0) a[i * w] = i;     // expect: data-race with self
}
void host1(int *a, int w, int k) { behind_and<<<1, 256>>>(a, w, k); }

__global__ void either_but_not_both(int *a, int w, int k) {
  int i = threadIdx.x;
  bool c = (w != 0 && i % w == 0);
  if (c ^ (k > 0)) a[i * w] = i;  // expect: data-race with self
}
void host2(int *a, int w, int k) { either_but_not_both<<<1, 256>>>(a, w, k); }

__global__ void divided_in_no_iteration(int *a, int w, int n) {
  int i = threadIdx.x, c = 0;
  for (int j = 0; j < w; ++j) c += i / w;  // no iteration where w is zero
  if (c < n) a[i * w] = i;                 // expect: data-race with self
}
void host3(int *a, int w, int n) { divided_in_no_iteration<<<1, 256>>>(a, w, n); }

__global__ void pointer_not_moved(int *a, int w, int n) {
  int i = threadIdx.x;
  int *p = a;
  for (int j = 0; j < n; ++j) p += i / w;
  p[i * w] = i;  // expect: data-race with self
}
void host4(int *a, int w, int n) { pointer_not_moved<<<1, 256>>>(a, w, n); }

__global__ void divided_by_the_low_byte(int *a, int w) {
  int i = threadIdx.x;
  if (i < -w) a[i % (signed char)w] = i;  // expect: data-race with self
}
void host5(int *a, int w) { divided_by_the_low_byte<<<1, 256>>>(a, w); }  // w = -253: the byte is 3

__global__ void divided_by_what_was_unsigned(int *a, int w) {
  long long i = threadIdx.x;
  if (w == -1) a[i / (long long)(unsigned)w] = i;  // expect: data-race with self
}
void host6(int *a, int w) { divided_by_what_was_unsigned<<<1, 256>>>(a, w); }

__global__ void strides_made_before(int *a, int n, int parts) {  // expect: race-free
  int stride = n / parts, i = threadIdx.x;
  for (int j = 0; j < n; j += stride) {
    if (j + i < n && i < stride) a[j + i] = i;
  }
}
void host7(int *a, int n, int parts) { strides_made_before<<<1, 256>>>(a, n, parts); }

__global__ void mean_of_none(int *a, const float *sums, const int *counts, int n) {
  int count = counts[blockIdx.x];
  float mean = count > 0 ? sums[n / count] : 0.0f;
  if (mean < 0.5f && count == 0) a[0] = threadIdx.x;  // expect: possible-data-race with self
}
void host8(int *a, float *sums, int *counts, int n) { mean_of_none<<<4, 256>>>(a, sums, counts, n); }

__global__ void mean_of_some(int *a, const float *sums, const int *counts, int n) {  // expect: race-free
  int count = counts[blockIdx.x];
  float mean = sums[n / count];
  if (mean < 0.5f && count == 0) a[0] = threadIdx.x;
}
void host9(int *a, float *sums, int *counts, int n) { mean_of_some<<<4, 256>>>(a, sums, counts, n); }

__global__ void place_of_none(int *a, const float *places, int n, int w) {
  int place = (int)(w ? places[n / w] : 0.0f);
  if (w >= 0 && w <= 1) a[place + threadIdx.x * w] = threadIdx.x;  // expect: data-race with self
}
void host10(int *a, float *places, int n, int w) { place_of_none<<<1, 256>>>(a, places, n, w); }

__global__ void hash_of_none(int *a, const unsigned *seeds, int n, int w) {
  unsigned x = 0;
  if (w) x = seeds[n / w];
  x ^= x << 13; x ^= x >> 17; x ^= x << 5;
  x ^= x << 13; x ^= x >> 17; x ^= x << 5;
  x ^= x << 13; x ^= x >> 17; x ^= x << 5;
  x ^= x << 13; x ^= x >> 17; x ^= x << 5;
  if (w >= 0 && w <= 1) a[(x & 1) * 256 + threadIdx.x * w] = threadIdx.x;  // expect: data-race with self
}
void host11(int *a, unsigned *seeds, int n, int w) { hash_of_none<<<1, 256>>>(a, seeds, n, w); }

__global__ void copy_of_none(int *a, const int *b, int n, int w) {
  if (w < 0 || w > 1) return;
  if (threadIdx.x == 0) a[n + w] = w ? b[n / w] : 0;  // expect: data-race with +1
  if (threadIdx.x == 1) a[n + w] = b[n];
}
void host12(int *a, int *b, int n, int w) { copy_of_none<<<1, 32>>>(a, b, n, w); }

__global__ void copy_of_some(int *a, const int *b, int n, int w) {
  if (w < 0 || w > 1) return;
  if (threadIdx.x == 0) a[n + w] = b[n / w];  // expect: benign-race with +1
  if (threadIdx.x == 1) a[n + w] = b[n];
}
void host13(int *a, int *b, int n, int w) { copy_of_some<<<1, 32>>>(a, b, n, w); }
