// Path names by pattern.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/c_library.h>
#define GLOB_ERR 1
#define GLOB_MARK 2
#define GLOB_NOSORT 4
#define GLOB_NOSPACE 1
#define GLOB_ABORTED 2
#define GLOB_NOMATCH 3
#define GLOB_TILDE 4096
typedef struct { size_t gl_pathc; char **gl_pathv; size_t gl_offs; int gl_flags; } glob_t;
extern "C" int glob(const char *pattern, int flags, int (*on_error)(const char *path, int error), glob_t *found);
extern "C" void globfree(glob_t *found);
#include <cuda_lsp/show_macros.h>
