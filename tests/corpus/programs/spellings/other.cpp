#include "kernels.h"

#define RUN(what) run_##what

int other(int *out) {
  int x = 1'000; run_separated(out, 0); run_separated_apart(out, 2); x += 2'000;
  const char *text = R"(it's " one)"; run_behind_raw(out, 0);
  run_spl\
iced(out, 0);
  RUN(pasted)(out, 0);
  return x;
}
#include "part.tpp"
