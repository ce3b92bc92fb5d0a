// File status.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <unistd.h>
struct stat { unsigned long st_dev, st_ino, st_nlink; unsigned st_mode, st_uid, st_gid; long st_size, st_blksize, st_blocks; time_t st_mtime, st_atime, st_ctime; };
extern "C" int stat(const char *path, struct stat *result);
extern "C" int fstat(int descriptor, struct stat *result);
extern "C" int mkdir(const char *path, mode_t mode);
extern "C" int chmod(const char *path, mode_t mode);
#define S_ISDIR(mode) (((mode)&0170000) == 0040000)
#define S_ISREG(mode) (((mode)&0170000) == 0100000)
#define S_IRUSR 0400
#define S_IWUSR 0200
#define S_IRWXU 0700
#define S_IRWXG 070
#define S_IROTH 04
#define S_IXOTH 01
#include <cuda_lsp/show_macros.h>
