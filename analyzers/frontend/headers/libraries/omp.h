// OpenMP's library.
#pragma once
#include <cuda_lsp/hide_macros.h>
typedef struct omp_lock { void *state; } omp_lock_t;
extern "C" {
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
int omp_get_num_procs();
void omp_set_num_threads(int n);
void omp_set_dynamic(int on);
void omp_set_nested(int on);
double omp_get_wtime();
double omp_get_wtick();
int omp_in_parallel();
void omp_init_lock(omp_lock_t *lock);
void omp_set_lock(omp_lock_t *lock);
void omp_unset_lock(omp_lock_t *lock);
void omp_destroy_lock(omp_lock_t *lock);
}
#include <cuda_lsp/show_macros.h>
