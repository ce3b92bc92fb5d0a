#pragma once
void run_wrapped(int *out, int step);
void run_wrapped_by_address(int *out, int step);
void run_template(int *out, int step);
void run_template_by_address(int *out, int step);
void run_method(int *out, int step);
void run_method_elsewhere(int *out, int step);
void run_settled(int *out, int step);
void run_unsettled(int *out, int step);

inline void wrapped(int *out, int step) { run_wrapped(out, step); }
inline void wrapped_by_address(int *out, int step) { run_wrapped_by_address(out, step); }

template <class T>
void in_template(T *out, int step) {
  run_template(out, step);
}
template <class T>
void in_template_by_address(T *out, int step) {
  run_template_by_address(out, step);
}

struct Runner {
  int *out;
  void go(int step) { run_method(out, step); }
  void go_elsewhere(int step) { run_method_elsewhere(out, step); }
};

#ifdef STEP
static inline void settled(int *out) { run_settled(out, STEP); }
static inline void unsettled(int *out) { run_unsettled(out, STEP); }
#endif
