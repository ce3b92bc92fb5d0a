// Each thread goes down a column of its own, by rows whose number per step is another one in each loop.

__global__ void by_three_and_five(unsigned *words, int columns, int first, int second) {  // expect: race-free
  int n = blockIdx.x * 32 + threadIdx.x;
  if (n >= columns) return;
  unsigned *at = words + n;
  int k = 0;
  while (k < first) {
    unsigned a = at[0], b = at[columns];
    at[0] = a ^ b;
    at[columns] = a + b;
    at += 3 * columns;
    k += 16;
  }
  while (k < second) {
    at[0] = ~at[columns];
    at += 5 * columns;
    k += 32;
  }
}

__global__ void into_the_next_column(unsigned *words, int columns, int first, int second) {
  int n = blockIdx.x * 32 + threadIdx.x;
  if (n >= columns) return;
  unsigned *at = words + n;
  int k = 0;
  while (k < first) {
    at[0] ^= 1;
    at += 3 * columns;
    k += 16;
  }
  while (k < second) {
    at[1] = at[0];  // expect: data-race with 33
    at += 5 * columns;
    k += 32;
  }
}

void launch(unsigned *words, int columns, int first, int second) {
  by_three_and_five<<<(columns + 31) / 32, 32>>>(words, columns, first, second);
  into_the_next_column<<<(columns + 31) / 32, 32>>>(words, columns, first, second);
}
