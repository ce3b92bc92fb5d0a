// open() and its flags.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <unistd.h>
extern "C" int open(const char *path, int flags, ...);
extern "C" int fcntl(int descriptor, int command, ...);
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_EXCL 0200
#define O_TRUNC 01000
#define O_APPEND 02000
#include <cuda_lsp/show_macros.h>
