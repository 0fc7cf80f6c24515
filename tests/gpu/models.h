/* The models of models/, each with its data. */
#ifndef SVMP_TESTS_MODELS_H
#define SVMP_TESTS_MODELS_H

#include <stddef.h>
#include <string.h>

enum { MODEL_FILES = 4 };

static const char *const all_models[][MODEL_FILES] = {
    {"car.bug", "car.json"},
    {"crowd.bug", "crowd.csv", "crowd.json"},
    {"crowd_log.bug", "crowd.csv", "crowd.json"},
    {"gaussian_grid.bug", "gaussian_grid.json"},
    {"growth.bug", "growth.json"},
    {"hierarchical.bug", "hierarchical.csv", "hierarchical.json"},
    {"linear.bug", "linear.csv"},
    {"logistic.bug", "logistic.csv"},
    {"mixture.bug", "mixture.csv"},
    {"network.bug", "network.json", "network.csv"},
    {"normal.bug", "normal.R"},
    {"poisson.bug", "poisson.R"},
    {"ranges.bug", "ranges.R"},
    {"robust.bug", "robust.csv"},
    {"rss.bug", "rss.R"},
    {"schools.bug", "schools.R"},
    {"schools_centred.bug", "schools.R"},
    {"sensors.bug", "sensors.json"},
    {"state_space.bug", "state_space.R"},
    {"survival.bug", "survival.csv", "survival.R"},
    {"votes.bug", "votes.json"},
};
enum { ALL_MODELS = sizeof all_models / sizeof *all_models };

/* True if this build can read all of the files. */
static inline int can_read_model(const char *const *files) {
#ifndef SVMP_HAVE_JANSSON
    for (size_t k = 0; k < MODEL_FILES && files[k]; k++)
        if (strstr(files[k], ".json")) return 0;
#endif
    return files[0] != NULL;
}

#endif
