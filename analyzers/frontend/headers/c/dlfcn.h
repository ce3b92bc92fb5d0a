// Dynamic libraries.
#pragma once
#include <cuda_lsp/hide_macros.h>
extern "C" void *dlopen(const char *path, int mode);
extern "C" void *dlsym(void *library, const char *name);
extern "C" int dlclose(void *library);
extern "C" char *dlerror();
#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_GLOBAL 256
#include <cuda_lsp/show_macros.h>
