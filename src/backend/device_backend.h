/* Backends on devices, which plug-ins offer (svmp_plugin.h: svmp_device). */
#ifndef SVMP_BACKEND_DEVICE_BACKEND_H
#define SVMP_BACKEND_DEVICE_BACKEND_H

#include "backend/backend.h"
#include "svmp_plugin.h"

/* Device k of the table of plug-ins that this build knows; NULL beyond the last one. The plug-in is loaded when a
 * backend is created. */
const backend_kind *svmp_device_kind(size_t k);

/* Whether this is the name of one. */
bool svmp_device_is_named(const char *name);

/* The names of device k: what it is, "an NVIDIA GPU", and other names for it, separated by spaces. */
const char *svmp_device_words(size_t k);
const char *svmp_device_aliases(size_t k);

svmp_status svmp_device_alloc(backend *b, const kernel *k);
void svmp_device_free(backend *b);
svmp_status svmp_device_score(backend *b);
svmp_status svmp_device_stein(backend *b, const kernel *k, size_t t);
svmp_status svmp_device_move(backend *b, const step *s, double rate, size_t t);
svmp_status svmp_device_diffuse(backend *b, double rate, size_t t);
svmp_status svmp_device_await(backend *b);
svmp_status svmp_device_fetch(backend *b, backend_array which);
svmp_status svmp_device_store(backend *b, backend_array which);
svmp_status svmp_device_fetch_rows(backend *b, size_t first, size_t last);
svmp_status svmp_device_store_rows(backend *b, size_t first, size_t last);
void svmp_device_take_back(backend *b);
svmp_status svmp_device_measure(backend *b, const kernel *k, size_t count, size_t t, svmp_stein_measure *measured);

/* A backend_kind: the device `device_`, or, if that is NULL, the one of this name of the plug-in `plugin_`. */
#define DEVICE_KIND(name_, plugin_, device_)                                                                           \
    {                                                                                                                  \
        .name = name_, .plugin = plugin_, .device = device_, .alloc = svmp_device_alloc, .free = svmp_device_free,     \
        .score = svmp_device_score, .stein = svmp_device_stein, .step = svmp_device_move,                              \
        .diffuse = svmp_device_diffuse, .await = svmp_device_await, .fetch = svmp_device_fetch,                        \
        .store = svmp_device_store, .fetch_rows = svmp_device_fetch_rows, .store_rows = svmp_device_store_rows,        \
        .take_back = svmp_device_take_back, .measure = svmp_device_measure                                             \
    }

#endif
