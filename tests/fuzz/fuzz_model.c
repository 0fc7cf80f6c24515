/* libFuzzer: any bytes as a model text, with small data. The initial corpus is the texts of models/. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lang/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char dump[] =
        "N <- 3 J <- 2 T <- 4 S <- 3 x <- c(1, NA, 3) y <- c(0, 1, 2, NA) w <- c(0.5, 0.25)\n"
        "from <- c(1, 2) to <- c(2, 3) A <- structure(c(2, 1, 1, 2), .Dim = c(2, 2)) sigma <- 0.5";
    svmp_context *context = NULL;
    text_source source = {0};
    data_set *data = NULL;
    lowered_model *lowered = NULL;
    if (svmp_context_create(NULL, &context) != SVMP_OK) return 0;
    if (svmp_source_copy(context, "fuzz.bug", (const char *)bytes, size, &source) == SVMP_OK &&
        svmp_data_create(context, &data) == SVMP_OK &&
        svmp_data_read_text(data, "fuzz.R", dump, strlen(dump)) == SVMP_OK)
        (void)svmp_lower(context, &source, data, &(lower_request){.centring = 1}, &lowered);
    svmp_lowered_free(lowered);
    svmp_data_free(data);
    svmp_source_free(context, &source);
    svmp_context_free(context);
    return 0;
}
