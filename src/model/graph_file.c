#include "base/output_file.h"
#include "model/model.h"

svmp_status svmp_model_save_graph(const svmp_model *model, svmp_graph_format format, const char *path, int overwrite) {
    if (model == NULL) return SVMP_BAD_CALL;
    svmp_context *context = model->context;
    if (path == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_model_save_graph: the path is NULL.");
    output_file output = {0};
    svmp_status status;
    SVMP_CHECK(svmp_output_open(context, path, overwrite, &output));
    SVMP_CHECK(svmp_model_write_graph(model, format, output.file));
    SVMP_CHECK(svmp_output_finish(&output));
done:
    svmp_output_close(&output);
    return status;
}
