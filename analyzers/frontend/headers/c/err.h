// Error messages of BSD.
#pragma once
#include <cuda_lsp/hide_macros.h>
extern "C" void err(int status, const char *format, ...) __attribute__((noreturn));
extern "C" void errx(int status, const char *format, ...) __attribute__((noreturn));
extern "C" void warn(const char *format, ...);
extern "C" void warnx(const char *format, ...);
#include <cuda_lsp/show_macros.h>
