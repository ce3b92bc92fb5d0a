// Directories.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/c_library.h>
struct dirent { unsigned long d_ino; unsigned char d_type; char d_name[256]; };
typedef struct __dirstream DIR;
extern "C" DIR *opendir(const char *path);
extern "C" struct dirent *readdir(DIR *directory);
extern "C" int closedir(DIR *directory);
#include <cuda_lsp/show_macros.h>
