#define STEP 0
#include "kernels.h"

#include <missing.h>

void (*table[])(int *, int) = {wrapped_by_address, in_template_by_address<int>};
void (*settled_table[])(int *) = {unsettled};

void second(int *out) {
  wrapped(out, 2);
  in_template<int>(out, 2);
  Runner runner{out};
  runner.go(2);
}

struct Later : missing::Base {
  Runner runner;
  void tick() override { missing::defer(runner.go_elsewhere(0)); }
};
