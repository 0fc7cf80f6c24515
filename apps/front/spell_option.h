/* How users of the command write options, for the library's advice. */
#ifndef SVMP_FRONT_SPELL_OPTION_H
#define SVMP_FRONT_SPELL_OPTION_H

#include "svmp.h"

/* An svmp_speller: "-t 8000", "--init prior". */
void spell_option(const char *option, const char *value, void *user_data, char *buffer, size_t size);

#endif
