/* A device of plain loops over the bodies of the device kernels: what the tests of the backend 'cuda' run on where
 * there is no GPU. */
#ifndef SVMP_TESTS_SIMULATED_H
#define SVMP_TESTS_SIMULATED_H

#include "cuda/cuda_backend.h"

/* Backends 'cuda' and 'cuda-f64' on it. */
extern const backend_kind test_backend_simulated, test_backend_simulated_f64;

/* 'cuda' on a device that can do an iteration in one launch; and that device. */
extern const backend_kind test_backend_simulated_whole;
extern const device_ops *const test_simulated_launches;

/* 'cuda-f64' on a device that takes code for the host, which the library of fake_nvrtc.c makes; and how many launches
 * of such code there were. */
extern const backend_kind test_backend_simulated_generated;
extern size_t test_simulated_generated;
extern const device_ops *const test_simulated_compiles; /* that device */

/* The number of the device that was opened last; and the bytes of memory that are free, whatever was taken. */
extern size_t test_simulated_which, test_simulated_room;

/* Launches until one fails, that one included; 0: none does. */
extern size_t test_simulated_failure;

#endif
