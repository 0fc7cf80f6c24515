#include "sample/files/netcdf_file.h"

#ifdef SVMP_HAVE_NETCDF

#include <dlfcn.h>
#include <pthread.h>

netcdf_calls svmp_nc;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns 0, or -1, and then dlerror says why. The library stays loaded until the program ends, as if it were
 * linked. */
static int load(void) {
    void *library = dlopen(SVMP_NETCDF_LIBRARY, RTLD_NOW | RTLD_NODELETE), *symbol;
    if (library == NULL) return -1;
#define CALL(name)                                                                                                     \
    if ((symbol = dlsym(library, "nc_" #name)) == NULL) return -1;                                                     \
    memcpy(&svmp_nc.name, &symbol, sizeof symbol); /* C has no cast from an object's address to a function's */
#include "sample/files/netcdf_calls.def"
#undef CALL
    return 0;
}

svmp_status svmp_nc_enter(svmp_context *context, const char *path) {
    static int loaded;
    pthread_mutex_lock(&lock);
    loaded = loaded || load() == 0;
    if (loaded) return SVMP_OK;
    const char *why = dlerror();
    const svmp_status status =
        svmp_fail(context, SVMP_UNSUPPORTED, "The file '%s' needs NetCDF, which cannot be loaded: %s.", path,
                  why ? why : SVMP_NETCDF_LIBRARY);
    pthread_mutex_unlock(&lock);
    return status;
}

void svmp_nc_leave(void) { pthread_mutex_unlock(&lock); }

#endif
