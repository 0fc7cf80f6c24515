#include <math.h>
#include <string.h>

#include "command_table.h"

static void print_shape(const svmp_model *model) {
    const svmp_graph *graph = svmp_model_graph(model);
    size_t nodes = svmp_graph_nodes(graph), total = 0, largest = 0;
    for (size_t v = 0; v < nodes; v++) {
        size_t count;
        svmp_graph_neighbourhood(graph, v, &count);
        total += count - 1;
        if (count - 1 > largest) largest = count - 1;
    }
    printf("nodes                     %zu\n", nodes);
    printf("variables                 %zu\n", svmp_graph_variables(graph));
    printf("factors                   %zu\n", svmp_graph_factors(graph));
    printf("observed values           %zu\n", svmp_model_observed(model));
    printf("mean Markov blanket       %.4g\n", (double)total / (double)nodes);
    printf("largest Markov blanket    %zu\n", largest);
    printf("distinct neighbourhoods   %zu\n", svmp_graph_distinct_neighbourhoods(graph));
    const int gaussian = svmp_model_is_gaussian(model);
    printf("jointly Gaussian          %s\n", gaussian ? "yes" : "no");
    if (!gaussian) return;
    const svmp_status proper =
        svmp_model_exact_moments(model, NULL, NULL); /* by a Cholesky factor, where there is one */
    if (proper == SVMP_OK || proper == SVMP_NOT_POSITIVE_DEFINITE)
        printf("positive definite         %s\n", proper == SVMP_OK ? "yes" : "no: not a proper density");
}

/* The next of a list behind its label. */
static void print_next(const char *label, const char *text, int *any) {
    if ((*any)++ == 0)
        printf("%-25s %s", label, text);
    else
        printf(", %s", text);
}

/* "unknown   mu, theta[1:8]": what there is of each array. */
static void print_arrays(const svmp_model *model, const char *label, size_t which) {
    svmp_array array;
    int any = 0;
    for (size_t k = 0; svmp_model_array(model, k, &array); k++) {
        const char *const texts[] = {array.unknown, array.observed, array.computed, array.drawn, array.summed};
        if (texts[which]) print_next(label, texts[which], &any);
    }
    if (any) printf("\n");
}

/* "y[4,5]", of the place in an array whose last index runs fastest. */
static void spell_element(const svmp_array *array, size_t place, char *text, size_t size) {
    size_t stride = 1, length = (size_t)snprintf(text, size, "%.80s", array->name);
    for (size_t k = 0; k < array->rank; k++) stride *= array->dimensions[k];
    for (size_t k = 0; k < array->rank && length < size; k++) {
        stride /= array->dimensions[k];
        length += (size_t)snprintf(text + length, size - length, "%c%zu%s", k ? ',' : '[',
                                   place / stride % array->dimensions[k] + 1, k + 1 < array->rank ? "" : "]");
    }
}

static int is_scattered(const char *elements) { return elements && strstr(elements, " of "); }

/* The missing elements of an array, which "y[8:41] (4 of 34)" does not list. */
static void print_missing(const svmp_model *model) {
    enum { MOST = 20 };
    svmp_array array;
    char text[512];
    int any = 0;
    size_t missing = 0;
    for (size_t k = 0; svmp_model_array(model, k, &array); k++) {
        size_t count = 1;
        for (size_t d = 0; d < array.rank; d++) count *= array.dimensions[d];
        const int scattered = array.values && array.known && (is_scattered(array.unknown) || is_scattered(array.drawn));
        for (size_t m = 0; scattered && m < count; m++) {
            if (!isnan(array.known[m]) || ++missing > MOST) continue;
            spell_element(&array, m, text, sizeof text);
            print_next("NA in the data", text, &any);
        }
    }
    if (missing > MOST) printf(", ... (%zu in all)", missing);
    if (any) printf("\n");
}

/* The coordinates of an array's nodes, of those that have a choice. */
typedef struct array_centring {
    char name[128];
    double least, most;
} array_centring;

/* The array of a node: theta for "theta[3]". */
static void name_array(const svmp_model *model, size_t node, char name[128]) {
    svmp_model_node_name(model, node, name, 128);
    name[strcspn(name, "[")] = '\0';
}

/* Finds up to `most` arrays; returns their number. */
static size_t find_centrings(const svmp_model *model, size_t most, array_centring *found) {
    size_t count = 0;
    char name[128];
    for (size_t v = 0; v < svmp_graph_nodes(svmp_model_graph(model)); v++) {
        const double c = svmp_model_centring(model, v);
        size_t k = 0;
        if (isnan(c)) continue;
        name_array(model, v, name);
        while (k < count && k < most && strcmp(found[k].name, name) != 0) k++;
        if (k == most) return count;
        if (k == count) {
            found[count++] = (array_centring){.least = c, .most = c};
            memcpy(found[k].name, name, sizeof name);
        }
        found[k].least = fmin(found[k].least, c);
        found[k].most = fmax(found[k].most, c);
    }
    return count;
}

/* "coordinates   theta not centred, b 0.2 to 0.6 centred" */
static void print_coordinates(const svmp_model *model) {
    enum { MOST = 100 };
    array_centring found[MOST];
    const size_t count = find_centrings(model, MOST, found);
    int any = 0;
    for (size_t k = 0; k < count; k++) {
        char text[200];
        const double least = found[k].least, most = found[k].most;
        char low[32], high[32];
        snprintf(low, sizeof low, "%.2g", least);
        snprintf(high, sizeof high, "%.2g", most);
        if (least == most && (least == 0 || least == 1))
            snprintf(text, sizeof text, "%.120s %s", found[k].name, least == 1 ? "centred" : "not centred");
        else if (strcmp(low, high) == 0)
            snprintf(text, sizeof text, "%.120s %s centred", found[k].name, low);
        else
            snprintf(text, sizeof text, "%.120s %s to %s centred", found[k].name, low, high);
        print_next("coordinates", text, &any);
    }
    if (any) printf("\n");
}

static void options(option_set *set) {
    options_add_run(set, 1, (const char *const[]){"method"});
    options_add(set, 1, &coordinates_option);
}

static int run(const option_set *set) {
    svmp_context *context = NULL;
    svmp_model *model = NULL;
    int status = open_context(set, &context);
    if (status == 0) status = read_model(set, context, &model);
    if (status == 0) {
        print_shape(model);
        print_arrays(model, "unknown", 0);
        print_coordinates(model);
        print_arrays(model, "discrete, summed out", 4);
        print_arrays(model, "drawn after the run", 3);
        print_missing(model);
        print_arrays(model, "observed", 1);
        print_arrays(model, "computed (--monitor)", 2);
    }
    svmp_model_free(model);
    svmp_context_free(context);
    return status;
}

const command command_check = {
    .name = "check",
    .operands = "MODEL [DATA...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Check a model and describe its graph",
    .text = "Reads the model as\n.B svmp run\ndoes and prints the numbers of nodes, variables and factors, the sizes "
            "of the Markov blankets, the\nnumber of distinct closed neighbourhoods (nodes with equal neighbourhoods "
            "share a kernel matrix), and\nwhether the model is jointly Gaussian. For a model in the model language it "
            "also lists which arrays or\nelements are unknown, with their coordinates; which are unknown, have no "
            "observed descendants and are\ntherefore drawn after the run; which are observed; and which are computed "
            "from unknowns and can be reported\nwith\n.BR \\-\\-monitor .\n",
    .options = options,
    .run = run,
};
