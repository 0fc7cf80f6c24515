#include "crowd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/csv_cells.h"
#include "front/error_output.h"
#include "front/memory_file.h"
#include "paper_measure.h"

enum { WORKERS = 60, LEAST = 3, MOST_ANSWERS = 5 };

static int allocate(crowd *c, size_t questions, size_t workers, size_t count) {
    *c = (crowd){.questions = questions, .workers = workers};
    c->question = calloc(count, sizeof *c->question);
    c->worker = calloc(count, sizeof *c->worker);
    c->answer = calloc(count, sizeof *c->answer);
    c->truth = calloc(questions, sizeof *c->truth);
    c->control = calloc(questions, 1);
    if (c->question && c->worker && c->answer && c->truth && c->control) return 0;
    return task_no_memory();
}

void crowd_free(crowd *c) {
    void *const arrays[] = {c->question, c->worker, c->answer, c->truth, c->control, c->bias, c->lnu};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) free(arrays[k]);
}

static void swap(size_t *a, size_t *b) {
    const size_t keep = *a;
    *a = *b;
    *b = keep;
}

static void shuffle(dice *d, size_t count, size_t *items) {
    for (size_t k = count; k > 1; k--) swap(&items[k - 1], &items[dice_below(d, k)]);
}

void crowd_choose_controls(dice *d, crowd *c, size_t controls) {
    memset(c->control, 0, c->questions);
    for (size_t left = controls < c->questions ? controls : c->questions - 1; left;) {
        const size_t q = dice_below(d, c->questions);
        if (c->control[q]) continue;
        c->control[q] = 1;
        left--;
    }
}

static int asked_twice(const crowd *c, size_t k) {
    for (size_t j = 0; j < c->count; j++)
        if (j != k && c->question[j] == c->question[k] && c->worker[j] == c->worker[k]) return 1;
    return 0;
}

/* Places on the list of answers, 1 to 5 a question, are dealt out: 3 to each worker, the rest to anyone. Whoever got a
 * question twice swaps it for another at random, until no worker has the same question twice. */
static void assign(dice *d, crowd *c) {
    for (size_t q = 0; q < c->questions; q++)
        for (size_t k = 1 + dice_below(d, MOST_ANSWERS); k; k--) c->question[c->count++] = q;
    if (c->workers > c->count / LEAST) c->workers = c->count / LEAST;
    for (size_t k = 0; k < c->count; k++)
        c->worker[k] = k < LEAST * c->workers ? k % c->workers : dice_below(d, c->workers);
    shuffle(d, c->count, c->worker);
    for (int again = 1; again;) {
        again = 0;
        for (size_t k = 0; k < c->count; k++)
            if (asked_twice(c, k)) {
                swap(&c->worker[k], &c->worker[dice_below(d, c->count)]);
                again = 1;
            }
    }
}

int crowd_draw(dice *d, size_t questions, size_t controls, crowd *made) {
    int status = allocate(made, questions, WORKERS, MOST_ANSWERS * questions);
    made->bias = calloc(WORKERS, sizeof *made->bias);
    made->lnu = calloc(WORKERS, sizeof *made->lnu);
    if (status) return status;
    if (made->bias == NULL || made->lnu == NULL) return task_no_memory();
    assign(d, made);
    for (size_t q = 0; q < questions; q++) made->truth[q] = 5 * dice_normal(d);
    for (size_t j = 0; j < made->workers; j++) {
        made->bias[j] = 5 * dice_normal(d);
        made->lnu[j] = -log(dice_gamma(d, 3)); /* 1/nu ~ Gamma(3, 1) */
    }
    for (size_t k = 0; k < made->count; k++) {
        const size_t j = made->worker[k];
        made->answer[k] = made->truth[made->question[k]] + made->bias[j] + exp(0.5 * made->lnu[j]) * dice_normal(d);
    }
    crowd_choose_controls(d, made, controls);
    return 0;
}

/* ---- tables of others ---------------------------------------------------------------------------------------------*/

/* The number of a name among those seen so far; a new name gets the next one. */
static size_t number_of(const char *name, const char **names, size_t *count) {
    size_t k = 0;
    while (k < *count && (names[k] == NULL || strcmp(names[k], name) != 0)) k++;
    if (k == *count) names[(*count)++] = name;
    return k;
}

/* `names`: those of the questions, and room for those of the workers behind them. */
static int fill_answers(const csv *a, const char *path, const char *value_column, crowd *c, const char **names) {
    const char *const items[] = {"item", "question", NULL}, *const people[] = {"worker", "judge", NULL};
    const char *const values[] = {value_column ? value_column : "value", "value", "estimate", NULL};
    size_t item, person, value;
    int status = csv_column(a, path, items, &item);
    if (status == 0) status = csv_column(a, path, people, &person);
    if (status == 0) status = csv_column(a, path, values, &value);
    for (size_t r = 0; r < a->rows && status == 0; r++) {
        size_t q = 0;
        while (q < c->questions && (names[q] == NULL || strcmp(csv_cell(a, r, item), names[q]) != 0)) q++;
        if (q == c->questions)
            return report_error(EXIT_WRONG, "%s:%zu: the item '%s' has no truth.", path, r + 2, csv_cell(a, r, item));
        c->question[r] = q;
        c->worker[r] = number_of(csv_cell(a, r, person), names + c->questions, &c->workers);
        status = csv_number(a, path, r, value, &c->answer[r]);
        c->count++;
    }
    return status;
}

int crowd_read(const char *answers, const char *truth, const char *value_column, crowd *made) {
    const char *const items[] = {"item", "question", NULL}, *const values[] = {"value", "truth", NULL};
    csv a = {0}, t = {0};
    const char **names = NULL; /* of the questions, and behind them of the workers */
    size_t item = 0, value = 0;
    *made = (crowd){0};
    int status = csv_read(truth, &t);
    if (status == 0) status = csv_column(&t, truth, items, &item);
    if (status == 0) status = csv_column(&t, truth, values, &value);
    if (status == 0) status = csv_read(answers, &a);
    if (status == 0) status = allocate(made, t.rows, 0, a.rows);
    if (status == 0 && (names = calloc(t.rows + a.rows, sizeof *names)) == NULL) status = task_no_memory();
    for (size_t q = 0; q < t.rows && status == 0; q++) {
        size_t count = q;
        names[q] = csv_cell(&t, q, item);
        const size_t before = number_of(names[q], names, &count);
        status = csv_number(&t, truth, q, value, &made->truth[q]);
        if (status == 0 && before < q)
            status = report_error(EXIT_WRONG, "%s:%zu: the truth of item '%s' is already given on line %zu.", truth,
                                  q + 2, names[q], before + 2);
    }
    if (status == 0) status = fill_answers(&a, answers, value_column, made, names);
    free(names);
    csv_free(&a);
    csv_free(&t);
    return status;
}

/* The line of an answer that a worker gave to a question before, counted from 0 behind the header; else `k`. */
static size_t earlier_answer(const crowd *c, size_t k) {
    for (size_t j = 0; j < k; j++)
        if (c->question[j] == c->question[k] && c->worker[j] == c->worker[k]) return j;
    return k;
}

static int has_answers(const crowd *c, size_t least) {
    size_t *answers = calloc(c->workers + 1, sizeof *answers), most = 0;
    if (answers == NULL) return 1; /* what comes next will say so */
    for (size_t k = 0; k < c->count; k++) {
        const size_t mine = ++answers[c->worker[k]];
        most = mine > most ? mine : most;
    }
    free(answers);
    return most >= least;
}

int crowd_suits(const crowd *c, const char *path, size_t controls) {
    const double mean_most = 10, sd_least = 0.5, sd_most = 25; /* of x + b ~ N(0, 2 * 5^2) and noise around 1 */
    double mean = 0, squares = 0;
    for (size_t k = 0; k < c->count; k++) {
        const size_t before = earlier_answer(c, k);
        if (before < k)
            return report_error(EXIT_WRONG, "%s:%zu: this worker already answered this item on line %zu.", path, k + 2,
                                before + 2);
        mean += c->answer[k] / (double)c->count;
    }
    for (size_t k = 0; k < c->count; k++) squares += (c->answer[k] - mean) * (c->answer[k] - mean);
    const double sd = sqrt(squares / (double)c->count);
    if (c->questions < controls + 2)
        return report_error(EXIT_WRONG, "The crowd of '%s' is too small: at least two unknown items are needed.", path);
    if (!has_answers(c, LEAST))
        return report_error(EXIT_WRONG, "The crowd of '%s' is too small: no worker has at least %d answers.", path,
                            LEAST);
    if (fabs(mean) <= mean_most && sd >= sd_least && sd <= sd_most) return 0;
    return report_error(
        EXIT_WRONG,
        "The answers of '%s' have mean %.4g and standard deviation %.4g, but the model needs answers "
        "around 0: a mean within %g of 0 and a standard deviation from %g to %g. Centre and scale answers "
        "and truth in the same way, or take logarithms of positive values and centre these.",
        path, mean, sd, mean_most, sd_least, sd_most);
}

/* The workers that are left get numbers without gaps. */
static int renumber(crowd *c) {
    size_t *number = calloc(c->workers, sizeof *number), next = 0;
    if (number == NULL) return task_no_memory();
    for (size_t k = 0; k < c->count; k++) {
        size_t *mine = &number[c->worker[k]];
        if (*mine == 0) *mine = ++next;
        c->worker[k] = *mine - 1;
    }
    c->workers = next;
    free(number);
    return 0;
}

/* Takes 3 of a worker's answers, drawn at random among those to questions that want more, or none. */
static void take_worker(dice *d, const crowd *all, size_t worker, size_t *wanted, size_t *open, crowd *part) {
    size_t count = 0;
    for (size_t k = 0; k < all->count; k++)
        if (all->worker[k] == worker && wanted[all->question[k]] > 0) open[count++] = k;
    if (count < LEAST) return;
    shuffle(d, count, open);
    for (size_t k = 0; k < LEAST; k++) {
        part->question[part->count] = all->question[open[k]];
        part->worker[part->count] = worker;
        part->answer[part->count++] = all->answer[open[k]];
        wanted[all->question[open[k]]]--;
    }
}

int crowd_part(dice *d, const crowd *all, size_t controls, crowd *part) {
    const size_t longest = all->workers > all->count ? all->workers : all->count;
    size_t *wanted = calloc(all->questions, sizeof *wanted), *open = calloc(longest, sizeof *open);
    size_t *order = calloc(longest, sizeof *order);
    int status = allocate(part, all->questions, all->workers, all->count);
    if (status == 0 && (wanted == NULL || open == NULL || order == NULL)) status = task_no_memory();
    if (status == 0) {
        memcpy(part->truth, all->truth, all->questions * sizeof *part->truth);
        for (size_t q = 0; q < all->questions; q++) wanted[q] = 1 + dice_below(d, MOST_ANSWERS);
        for (size_t w = 0; w < all->workers; w++) order[w] = w;
        shuffle(d, all->workers, order);
        for (size_t w = 0; w < all->workers; w++) take_worker(d, all, order[w], wanted, open, part);
        crowd_choose_controls(d, part, controls);
        status = renumber(part);
    }
    free(wanted);
    free(open);
    free(order);
    return status;
}

/* ---- the model ----------------------------------------------------------------------------------------------------*/

static void dump_numbers(FILE *file, const char *name, size_t count, const size_t *numbers) {
    fprintf(file, "%s <- c(", name);
    for (size_t k = 0; k < count; k++) fprintf(file, "%s%zu", k ? ", " : "", numbers[k] + 1);
    fputs(")\n", file);
}

static char *crowd_data(const crowd *c, size_t *size) {
    char *text = NULL;
    FILE *file = open_written(&text, size);
    if (file == NULL) return NULL;
    fprintf(file, "questions <- %zu\nworkers <- %zu\nx <- c(", c->questions, c->workers);
    for (size_t q = 0; q < c->questions; q++) {
        fputs(q ? ", " : "", file);
        if (c->control[q])
            fprintf(file, "%.17g", c->truth[q]);
        else
            fputs("NA", file);
    }
    fputs(")\n", file);
    dump_numbers(file, "question", c->count, c->question);
    dump_numbers(file, "worker", c->count, c->worker);
    dump_vector(file, "answer", c->count, c->answer, 1);
    close_written(file, &text);
    return text;
}

/* The paper clips log nu; what is clipped is never far out: the prior has 2e-5 of its mass beyond. */
static int set_boxes(const task *t, svmp_model *model) {
    char name[64];
    for (size_t i = 0; i < svmp_graph_variables(svmp_model_graph(model)); i++) {
        if (strncmp(svmp_model_variable_name(model, i, name, sizeof name), "lnu", 3) != 0) continue;
        const svmp_status status = svmp_model_set_box(model, i, -3, 3);
        if (status != SVMP_OK) return task_failed(t, status);
    }
    return 0;
}

int crowd_model(const task *t, const crowd *c, int boxed, svmp_model **model) {
    char path[PATH_SIZE];
    size_t size = 0;
    task_path(t, "problems", NULL, "R", path);
    char *text = crowd_data(c, &size);
    int status = text ? write_output(path, text, size, 1) : task_no_memory();
    free(text);
    if (status == 0) status = task_model(t, "crowd_log", path, model);
    return status == 0 && boxed ? set_boxes(t, *model) : status;
}

size_t crowd_unknown(const crowd *c, const svmp_particles *particles, size_t *variable, double *truth) {
    size_t count = 0;
    for (size_t i = 0; i < svmp_particles_variables(particles); i++) {
        const char *name = svmp_particles_name(particles, i);
        if (strncmp(name, "x.", 2) != 0) continue;
        variable[count] = i;
        truth[count++] = c->truth[strtoul(name + 2, NULL, 10) - 1];
    }
    return count;
}
