/* The simulated devices as backends of the library. */
#include "backend/device_backend.h"
#include "simulated.h"

const backend_kind test_backend_simulated = DEVICE_KIND("cuda", NULL, &test_device_simulated),
                   test_backend_simulated_f64 = DEVICE_KIND("cuda-f64", NULL, &test_device_simulated_f64),
                   test_backend_simulated_whole = DEVICE_KIND("cuda", NULL, &test_device_simulated_whole),
                   test_backend_simulated_generated = DEVICE_KIND("cuda-f64", NULL, &test_device_simulated_generated);
