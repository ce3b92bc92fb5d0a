// Waiting for processes.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <unistd.h>
extern "C" pid_t wait(int *status);
extern "C" pid_t waitpid(pid_t process, int *status, int options);
#define WIFEXITED(status) (((status)&0x7f) == 0)
#define WEXITSTATUS(status) (((status)&0xff00) >> 8)
#define WNOHANG 1
#include <cuda_lsp/show_macros.h>
