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
#define S_IFMT 0170000
#define S_IFREG 0100000
#define S_IFDIR 0040000
#define S_IFLNK 0120000
#define S_IFIFO 0010000
#define S_IFCHR 0020000
#define S_IFBLK 0060000
#define S_IRUSR 0400
#define S_IXUSR 0100
#define S_IRGRP 040
#define S_IWGRP 020
#define S_IXGRP 010
#define S_IWOTH 02
#define S_IRWXO 07
#define S_IWUSR 0200
#define S_IRWXU 0700
#define S_IRWXG 070
#define S_IROTH 04
#define S_IXOTH 01
#include <cuda_lsp/show_macros.h>
