#include "svmp_tools.h"

const char *svmp_version(void) { return SVMP_VERSION; }

const char *svmp_build_parts(void) { return SVMP_PARTS; }
