/* A simulated device of plain loops over the bodies of the device kernels: tests of the backend 'cuda' run on it
 * without a GPU. */
#ifndef SVMP_TESTS_SIMULATED_H
#define SVMP_TESTS_SIMULATED_H

#include "cuda/cuda_backend.h"

/* Backends 'cuda' and 'cuda-f64' on it. */
extern const backend_kind test_backend_simulated, test_backend_simulated_f64;

/* 'cuda' on a device that can run an iteration in one launch; and that device. */
extern const backend_kind test_backend_simulated_whole;
extern const device_ops *const test_simulated_launches;

/* 'cuda-f64' on a device that runs host code compiled by the library of fake_nvrtc.c; and the number of launches of
 * such code. */
extern const backend_kind test_backend_simulated_generated;
extern size_t test_simulated_generated;
extern const device_ops *const test_simulated_compiles; /* that device */

/* The number of the device opened last; and the bytes of memory reported as free, regardless of allocations. */
extern size_t test_simulated_which, test_simulated_room;

/* The launch that fails, counted from 1; 0: none. */
extern size_t test_simulated_failure;

#endif
