// Memory maps.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <unistd.h>
#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 16
#define MAP_ANON 32
#define MAP_ANONYMOUS 32
#define MAP_FAILED ((void *)-1)
#define MADV_HUGEPAGE 14
extern "C" {
void *mmap(void *at, size_t size, int protection, int flags, int descriptor, off_t offset);
int munmap(void *at, size_t size);
int madvise(void *at, size_t size, int advice);
int mlock(const void *at, size_t size);
int shm_open(const char *name, int flags, mode_t mode);
int shm_unlink(const char *name);
}
#include <cuda_lsp/show_macros.h>
