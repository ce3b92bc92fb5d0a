#define STEP 1
#include "kernels.h"

void first(int *out) {
  wrapped(out, 1);
  wrapped_by_address(out, 1);
  in_template(out, 1);
  in_template_by_address(out, 1);
  Runner runner{out};
  runner.go(1);
  runner.go_elsewhere(1);
  settled(out);
  unsettled(out);
}
