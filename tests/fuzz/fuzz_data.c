/* libFuzzer: any bytes as a data file; the first byte chooses the format. The initial corpus is the data of models/. */
#include <stddef.h>
#include <stdint.h>

#include "data/data_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const names[] = {"fuzz.json", "fuzz.csv", "fuzz.R"};
    svmp_context *context = NULL;
    data_set *data = NULL;
    if (size == 0 || svmp_context_create(NULL, &context) != SVMP_OK) return 0;
    if (svmp_data_create(context, &data) == SVMP_OK)
        (void)svmp_data_read_text(data, names[bytes[0] % 3], (const char *)bytes + 1, size - 1);
    svmp_data_free(data);
    svmp_context_free(context);
    return 0;
}
