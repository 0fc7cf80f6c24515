/* Data of the paper's models, and larger ones of the same kind: sensors of the same density, workers with the same
 * number of questions. */
#ifndef SVMP_BENCH_PAPER_H
#define SVMP_BENCH_PAPER_H

#include <math.h>

#include "bench/bench.h"

static inline double uniform(void) { return rand() / (RAND_MAX + 1.0); }

static inline double normal(void) { return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform()); }

static inline void write_array(FILE *file, const char *name, size_t count, const double *values) {
    fprintf(file, "\"%s\": [", name);
    for (size_t k = 0; k < count; k++) fprintf(file, "%s%.10g", k ? ", " : "", values[k]);
    fprintf(file, "],\n");
}

static inline void *room_for(size_t count) {
    void *room = malloc(count * sizeof(double));
    if (room) return room;
    fprintf(stderr, "out of memory\n");
    exit(1);
}

/* A hundred sensors in [-1, 1]^2, four anchors in the corners; pairs closer than 0.5 are measured. More sensors are in
 * a larger square with a lattice of anchors. */
static inline void write_sensors(FILE *file, size_t sensors) {
    size_t lattice = 2, edges = 0, most = 0;
    while (4 * 25 * (lattice + 1) * (lattice + 1) <= 4 * sensors) lattice++;
    const size_t anchors = lattice * lattice, all = sensors + anchors;
    const double half = sqrt((double)sensors / 100);
    double(*x)[2] = room_for(2 * all), *from = NULL, *to = NULL, *r = NULL;
    for (size_t i = 0; i < all; i++) {
        const double spacing = 2 * half / (double)(lattice - 1);
        x[i][0] = i < anchors ? (double)(i % lattice) * spacing - half : half * (2 * uniform() - 1);
        x[i][1] = i < anchors ? (double)(i / lattice) * spacing - half : half * (2 * uniform() - 1);
        for (size_t j = 0; j < i && i >= anchors; j++) {
            const double distance = hypot(x[i][0] - x[j][0], x[i][1] - x[j][1]);
            if (distance > 0.5) continue;
            if (edges == most) {
                most = 2 * most + 1000;
                from = realloc(from, most * sizeof *from);
                to = realloc(to, most * sizeof *to);
                r = realloc(r, most * sizeof *r);
                if (!from || !to || !r) exit(1);
            }
            from[edges] = (double)i + 1, to[edges] = (double)j + 1, r[edges++] = fabs(distance + 0.05 * normal());
        }
    }
    fprintf(file, "{\"S\": %zu, \"sigma\": 0.05,\n", all);
    write_array(file, "from", edges, from);
    write_array(file, "to", edges, to);
    write_array(file, "r", edges, r);
    fprintf(file, "\"x\": [");
    for (size_t i = 0; i < all; i++)
        if (i < anchors)
            fprintf(file, "%s[%.10g, %.10g]", i ? ", " : "", x[i][0], x[i][1]);
        else
            fprintf(file, ", [null, null]");
    fprintf(file, "]}\n");
    free(x), free(from), free(to), free(r);
}

/* Questions, each answered by five workers; there are five workers for eight questions. */
static inline void write_crowd(FILE *file, size_t questions) {
    enum { EACH = 5 };
    const size_t workers = questions * 5 / 8, answers = questions * EACH;
    double *question = room_for(answers), *worker = room_for(answers), *answer = room_for(answers);
    double *x = room_for(questions), *bias = room_for(workers);
    for (size_t i = 0; i < questions; i++) x[i] = 5 * normal();
    for (size_t j = 0; j < workers; j++) bias[j] = 5 * normal();
    for (size_t k = 0; k < answers; k++) {
        const size_t i = k / EACH, j = (7 * i + 11 * (k % EACH)) % workers;
        question[k] = (double)i + 1, worker[k] = (double)j + 1, answer[k] = x[i] + bias[j] + 0.7 * normal();
    }
    fprintf(file, "{\"questions\": %zu, \"workers\": %zu,\n", questions, workers);
    write_array(file, "question", answers, question);
    write_array(file, "worker", answers, worker);
    write_array(file, "answer", answers, answer);
    fprintf(file, "\"controls\": 0}\n");
    free(question), free(worker), free(answer), free(x), free(bias);
}

/* A model with data of `count` sensors or questions. */
static inline svmp_model *read_with(const char *path, void (*write)(FILE *file, size_t count), size_t count) {
    char folder[] = "/tmp/bench_models_XXXXXX", data[64];
    svmp_model *model = NULL;
    FILE *file = NULL;
    if (mkdtemp(folder)) {
        snprintf(data, sizeof data, "%s/data.json", folder);
        file = fopen(data, "w");
    }
    if (file == NULL) {
        perror("the data cannot be written");
        exit(1);
    }
    write(file, count);
    fclose(file);
    const svmp_status status = svmp_model_read(context, 2, (const char *[]){path, data}, NULL, &model);
    remove(data);
    remove(folder);
    must(status);
    return model;
}

#endif
