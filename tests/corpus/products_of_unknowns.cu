// Rows as long as a number that the host does not say, of which nothing is known: zero makes all of them one place.

__global__ void rows_of_any_length(int *p, unsigned long long n) {
  int t = threadIdx.x;
  unsigned i = (unsigned)threadIdx.x;
  ((long long *)p)[((i * 8u) - 200) * n + 2u * n] = t;  // expect: data-race with +1; data-race with self
  p[((i * 8u) - 4000) * n + 5u * n] = 1;                // expect: data-race with self
}

void run(int *d, unsigned long long n) {
  rows_of_any_length<<<1, 32>>>(d, n);
}
