// Signals.
#pragma once
#include <cuda_lsp/hide_macros.h>
typedef void (*sighandler_t)(int);
extern "C" sighandler_t signal(int number, sighandler_t handler);
extern "C" int raise(int number);
extern "C" int kill(int process, int number);
#define SIGABRT 6
#define SIGFPE 8
#define SIGINT 2
#define SIGSEGV 11
#define SIGTERM 15
#define SIGKILL 9
#define SIG_DFL ((sighandler_t)0)
#define SIG_IGN ((sighandler_t)1)
#include <cuda_lsp/show_macros.h>
