// Resource usage.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/c_library.h>
struct rusage { struct timeval ru_utime, ru_stime; long ru_maxrss, ru_minflt, ru_majflt; };
struct rlimit { unsigned long rlim_cur, rlim_max; };
#define RUSAGE_SELF 0
#define RLIMIT_STACK 3
#define RLIM_INFINITY (~0ul)
extern "C" int getrusage(int who, struct rusage *result);
extern "C" int getrlimit(int resource, struct rlimit *result);
extern "C" int setrlimit(int resource, const struct rlimit *value);
#include <cuda_lsp/show_macros.h>
