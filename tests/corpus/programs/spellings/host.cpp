#include "kernels.h"

void host(int *out) {
  run_separated(out, 1);
  run_separated_apart(out, 1);
  run_behind_raw(out, 1);
  run_spliced(out, 1);
  run_pasted(out, 1);
  run_from_c(out, 1);
  run_from_part(out, 1);
}
