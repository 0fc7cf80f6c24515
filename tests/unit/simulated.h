/* A device of plain loops over the bodies of the device kernels: what the tests of the backend 'cuda' run on where
 * there is no GPU. simulated.c is a plug-in: it includes no header of the library. */
#ifndef SVMP_TESTS_SIMULATED_H
#define SVMP_TESTS_SIMULATED_H

#include "cuda/cuda_backend.h"

/* 'cuda' and 'cuda-f64' on it; 'cuda' on a device that can do an iteration in one launch; and 'cuda-f64' on a device
 * that takes code for the host, which the library of fake_nvrtc.c makes. As backends: simulated_kinds.c. */
extern const svmp_device test_device_simulated, test_device_simulated_f64, test_device_simulated_whole,
    test_device_simulated_generated;
extern const struct backend_kind test_backend_simulated, test_backend_simulated_f64, test_backend_simulated_whole,
    test_backend_simulated_generated;

extern const device_ops *const test_simulated_launches; /* of test_device_simulated_whole */
extern const device_ops *const test_simulated_compiles; /* of test_device_simulated_generated, */
extern size_t test_simulated_generated;                 /* and how many launches of such code there were */

/* The number of the device opened last; and the bytes of memory reported as free, regardless of allocations. */
extern size_t test_simulated_which, test_simulated_room;

/* The launch that fails, counted from 1; 0: none. */
extern size_t test_simulated_failure;

#endif
