// The system's name.
#pragma once
#include <cuda_lsp/hide_macros.h>
struct utsname { char sysname[65], nodename[65], release[65], version[65], machine[65]; };
extern "C" int uname(struct utsname *result);
#include <cuda_lsp/show_macros.h>
