// Process times.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/c_library.h>
struct tms { clock_t tms_utime, tms_stime, tms_cutime, tms_cstime; };
extern "C" clock_t times(struct tms *result);
#include <cuda_lsp/show_macros.h>
