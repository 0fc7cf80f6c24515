/* libFuzzer: any bytes as a model text, with small data, compiled twice from one parse, with other choices. The initial
 * corpus is the texts of models/. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lang/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void compile(svmp_context *context, const char *text, const svmp_data *data) {
    static const choices made[] = {{.centring = 1, .short_sums = true, .small_tables = true}, {.totals = true}};
    const model_files files = {.name = "fuzz.bug", .text = text, .data = data};
    parsed_model *parsed = NULL;
    if (svmp_parse(context, &files, &parsed) != SVMP_OK) return;
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
        lowered_model *lowered = NULL;
        (void)svmp_compile_nodes(parsed, &made[k], NULL, NULL, NULL, &lowered);
        svmp_lowered_free(lowered);
    }
    svmp_parsed_free(parsed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char dump[] =
        "N <- 3 J <- 2 T <- 4 S <- 3 x <- c(1, NA, 3) y <- c(0, 1, 2, NA) w <- c(0.5, 0.25)\n"
        "from <- c(1, 2) to <- c(2, 3) A <- structure(c(2, 1, 1, 2), .Dim = c(2, 2)) sigma <- 0.5";
    svmp_context *context = NULL;
    svmp_data *data = NULL;
    char *text = malloc(size + 1);
    if (text == NULL || svmp_context_create(NULL, &context) != SVMP_OK) return free(text), 0;
    if (size > 0) memcpy(text, bytes, size);
    text[size] = '\0';
    if (svmp_data_create(context, &data) == SVMP_OK &&
        svmp_data_read_text(data, "fuzz.R", dump, strlen(dump)) == SVMP_OK)
        compile(context, text, data);
    svmp_data_free(data);
    svmp_context_free(context);
    free(text);
    return 0;
}
