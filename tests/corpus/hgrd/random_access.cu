// Each thread of one block owns a generator and updates a table at random places with it.

constexpr int STREAMS = 128;
typedef unsigned long long Word;

__global__ void start_streams(Word *state) {  // expect: race-free
  int own = threadIdx.x;
  state[own] = 1 + 7 * own;
}

__global__ void update_table(Word *table, Word *state, Word size) {  // expect: race-free
  int own = threadIdx.x;
  for (Word i = 0; i < 4 * size / STREAMS; i++) {
    state[own] = (state[own] << 1) ^ ((long long)state[own] < 0 ? 7 : 0);
    atomicXor(&table[state[own] & (size - 1)], state[own]);
  }
}

// Every block has the same generators.
__global__ void update_table_from_two_blocks(Word *table, Word *state, Word size) {
  int own = threadIdx.x;
  for (Word i = 0; i < 4 * size / STREAMS; i++) {
    Word next = state[own] << 1;  // expect: data-race inter-block with +1
    state[own] = next;  // expect: data-race inter-block with self
    atomicXor(&table[next & (size - 1)], next);
  }
}

int main() {
  Word size = 1 << 20, *table, *state;
  cudaMalloc(&table, size * sizeof(Word));
  cudaMalloc(&state, STREAMS * sizeof(Word));
  start_streams<<<1, STREAMS>>>(state);
  update_table<<<1, STREAMS>>>(table, state, size);
  update_table_from_two_blocks<<<2, STREAMS>>>(table, state, size);
  return 0;
}
