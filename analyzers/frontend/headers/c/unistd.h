// POSIX: processes, files and command lines.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/c_library.h>
typedef int pid_t;
typedef unsigned uid_t;
typedef unsigned gid_t;
typedef unsigned mode_t;
extern "C" {
extern char *optarg;
extern int optind, opterr, optopt;
int getopt(int argc, char *const argv[], const char *options);
pid_t getpid();
pid_t getppid();
pid_t fork();
uid_t getuid();
int access(const char *path, int mode);
int close(int descriptor);
ssize_t read(int descriptor, void *to, size_t size);
ssize_t write(int descriptor, const void *from, size_t size);
off_t lseek(int descriptor, off_t offset, int origin);
int unlink(const char *path);
int rmdir(const char *path);
int chdir(const char *path);
char *getcwd(char *to, size_t size);
int gethostname(char *to, size_t size);
int ftruncate(int descriptor, off_t size);
long sysconf(int name);
int isatty(int descriptor);
int dup2(int from, int to);
int pipe(int descriptors[2]);
int execv(const char *path, char *const argv[]);
int execvp(const char *path, char *const argv[]);
}
#define F_OK 0
#define R_OK 4
#define W_OK 2
#define X_OK 1
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define _SC_PAGESIZE 30
#define _SC_PAGE_SIZE 30
#define _SC_NPROCESSORS_ONLN 84
#define _SC_NPROCESSORS_CONF 83
#include <cuda_lsp/show_macros.h>
