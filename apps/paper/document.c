#include "document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/csv_cells.h"
#include "front/error_output.h"
#include "front/memory_file.h"
#include "paper_files.h"

enum { WORDS_MOST = 8, WORD = 64 };
static const char *const figure_names[] = {"fig1", "fig2", "fig3", "fig4", "fig5", "fig6"};

typedef struct document {
    const paper *paper;
    const char *own; /* what was run, of a run of one's own; or NULL */
    FILE *file;
} document;

/* A file of DIR/paper; 0 when it is not there, or cannot be read, which has been said then. */
static int open_part(const document *d, const char *name, const char *ending, csv *t) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/paper/%s%s.csv", d->paper->options.folder, name, ending);
    *t = (csv){0};
    if (file_there(path) && csv_read(path, t) == 0) return 1;
    csv_free(t);
    return 0;
}

static int is_there(const document *d, const char *name) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/paper/%s.csv", d->paper->options.folder, name);
    return file_there(path);
}

/* ---- claims -------------------------------------------------------------------------------------------------------*/

enum { CLAIM, VERDICT, P_VALUE, TEXT, NUMBERS };

/* A vertical bar would end a cell. */
static void write_cell(FILE *file, const char *text) {
    for (; *text; text++) fputs(*text == '|' ? "\\|" : (char[]){*text, '\0'}, file);
}

static void show_claim(const document *d, const csv *t, size_t row, int with_numbers) {
    fprintf(d->file, "| %s | ", csv_cell(t, row, CLAIM));
    write_cell(d->file, csv_cell(t, row, TEXT));
    fprintf(d->file, " | **%s** |", csv_cell(t, row, VERDICT));
    if (with_numbers) {
        fputs(" ", d->file);
        write_cell(d->file, csv_cell(t, row, NUMBERS));
        fputs(" |", d->file);
    }
    fputs("\n", d->file);
}

static void write_claims(document *d, char words[][WORD], size_t count) {
    (void)count;
    csv t = {0};
    if (!open_part(d, words[1], "_claims", &t)) return;
    fputs("| claim | | verdict | numbers |\n|---|---|---|---|\n", d->file);
    for (size_t r = 0; r < t.rows; r++) show_claim(d, &t, r, 1);
    csv_free(&t);
}

static void write_verdicts(document *d, char words[][WORD], size_t count) {
    enum { FIGURES = sizeof figure_names / sizeof *figure_names };
    (void)words, (void)count;
    size_t shown = 0, missing = 0;
    for (size_t k = 0; k < FIGURES; k++) {
        csv t = {0};
        if (!open_part(d, figure_names[k], "_claims", &t)) continue;
        if (shown++ == 0) fputs("| claim | | verdict |\n|---|---|---|\n", d->file);
        for (size_t r = 0; r < t.rows; r++) show_claim(d, &t, r, 0);
        csv_free(&t);
    }
    for (size_t k = 0; k < FIGURES; k++)
        if (!is_there(d, figure_names[k])) fprintf(d->file, missing++ ? ", %s" : "\nNot run: %s", figure_names[k]);
    if (missing) fputs(".\n", d->file);
}

/* The claims on the default method, of all figures. */
static void write_default(document *d, char words[][WORD], size_t count) {
    (void)words, (void)count;
    size_t shown = 0;
    for (size_t k = 0; k < sizeof figure_names / sizeof *figure_names; k++) {
        csv t = {0};
        if (!open_part(d, figure_names[k], "_default", &t)) continue;
        if (shown++ == 0) fputs("| claim | | verdict | numbers |\n|---|---|---|---|\n", d->file);
        for (size_t r = 0; r < t.rows; r++) show_claim(d, &t, r, 1);
        csv_free(&t);
    }
}

/* ---- numbers ------------------------------------------------------------------------------------------------------*/

enum { SERIES, METHOD, STEP, X, METRIC, MEAN, ERROR, TRIALS };

static int is_new(const csv *t, size_t row, size_t first, size_t last) {
    for (size_t r = 0; r < row; r++) {
        int same = strcmp(csv_cell(t, r, METRIC), csv_cell(t, row, METRIC)) == 0;
        for (size_t c = first; c <= last && same; c++) same = strcmp(csv_cell(t, r, c), csv_cell(t, row, c)) == 0;
        if (same) return 0;
    }
    return 1;
}

static int is_metric(const csv *t, size_t row, const char *metric) {
    return strcmp(csv_cell(t, row, METRIC), metric) == 0 && strcmp(csv_cell(t, row, X), "0") != 0;
}

/* A row for each series and method, a column for each x. */
static void write_numbers(document *d, char words[][WORD], size_t count) {
    csv t = {0};
    char metric[WORD];
    snprintf(metric, sizeof metric, count > 3 ? "log10 %.50s" : "%.60s", words[count > 3 ? 3 : 2]);
    if (!open_part(d, words[1], "", &t)) return;
    size_t columns = 0;
    for (size_t r = 0; r < t.rows; r++)
        if (is_metric(&t, r, metric) && strcmp(csv_cell(&t, r, SERIES), "radius") != 0 && is_new(&t, r, X, X))
            fprintf(d->file, columns++ ? " %s |" : "| method | %s |", csv_cell(&t, r, X));
    fprintf(d->file, columns ? "\n|---|" : "*(%s.csv has no %s)*\n", words[1], metric);
    for (size_t c = 0; c < columns; c++) fputs(c + 1 < columns ? "---|" : "---|\n", d->file);
    for (size_t r = 0; r < t.rows; r++) {
        if (!is_metric(&t, r, metric) || !is_new(&t, r, SERIES, METHOD)) continue;
        if (strcmp(csv_cell(&t, r, SERIES), "radius") == 0) continue;
        const char *series = csv_cell(&t, r, SERIES);
        fprintf(d->file, "| %s%s%s |", csv_cell(&t, r, METHOD), *series ? ", " : "", series);
        for (size_t k = r; k < t.rows; k++)
            if (is_metric(&t, k, metric) && strcmp(csv_cell(&t, k, SERIES), series) == 0 &&
                strcmp(csv_cell(&t, k, METHOD), csv_cell(&t, r, METHOD)) == 0)
                fprintf(d->file, " %.3g ± %.1g |", strtod(csv_cell(&t, k, MEAN), NULL),
                        strtod(csv_cell(&t, k, ERROR), NULL));
        fputs("\n", d->file);
    }
    csv_free(&t);
}

/* The key of a figure's trials, where those are: seed, size, data and steps. */
static void write_key(const document *d, const char *name) {
    char path[PATH_SIZE], line[512];
    snprintf(path, sizeof path, "%s/%s.csv", d->paper->options.folder, name);
    FILE *file = fopen(path, "r");
    if (file && fgets(line, sizeof line, file) && strncmp(line, "# ", 2) == 0)
        fprintf(d->file, " `%.*s`", (int)strcspn(line + 2, "\n"), line + 2);
    if (file) fclose(file);
}

static void write_trials(document *d, char words[][WORD], size_t count) {
    (void)count;
    csv t = {0};
    unsigned long most[2] = {0}; /* of the paper's methods, and of the default */
    if (!open_part(d, words[1], "", &t)) return;
    for (size_t r = 0; r < t.rows; r++) {
        const unsigned long n = strtoul(csv_cell(&t, r, TRIALS), NULL, 10);
        unsigned long *of = &most[strcmp(csv_cell(&t, r, METHOD), DEFAULT_METHOD) == 0];
        *of = n > *of ? n : *of;
    }
    fprintf(d->file, "Trials: %lu", most[0]);
    if (most[1]) fprintf(d->file, "; of the default method, %s: %lu", DEFAULT_METHOD, most[1]);
    fputs(".", d->file);
    write_key(d, words[1]);
    fputs("\n", d->file);
    csv_free(&t);
}

/* What the reference itself adds to an MSE of E[x]. */
static void write_noise(document *d, char words[][WORD], size_t count) {
    (void)count;
    csv t = {0};
    if (!open_part(d, words[1], "", &t)) return;
    for (size_t r = 0; r < t.rows; r++)
        if (strcmp(csv_cell(&t, r, METRIC), "log10 noise") == 0)
            fprintf(d->file,
                    "The reference's own error is a floor under the MSE of E[x]: log10 of its squared MCSE is %.3g ± "
                    "%.1g.\n",
                    strtod(csv_cell(&t, r, MEAN), NULL), strtod(csv_cell(&t, r, ERROR), NULL));
    csv_free(&t);
}

static void write_steps(document *d, char words[][WORD], size_t count) {
    (void)count;
    enum { FIGURE, NAME, CANDIDATE, SCORE, CHOSEN };
    csv t = {0};
    if (!open_part(d, words[1], "_steps", &t)) {
        fputs("The step sizes are those of the full run: `--quick` does not search for any.\n", d->file);
        return;
    }
    fputs("| method | step | out of (score: mean log10 of the metrics on the validation problems) |\n|---|---|---|\n",
          d->file);
    for (size_t r = 0; r < t.rows; r++) {
        if (strcmp(csv_cell(&t, r, CHOSEN), "yes") != 0) continue;
        fprintf(d->file, "| %s | `%s` |", csv_cell(&t, r, NAME), csv_cell(&t, r, CANDIDATE));
        for (size_t k = 0; k < t.rows; k++)
            if (strcmp(csv_cell(&t, k, NAME), csv_cell(&t, r, NAME)) == 0)
                fprintf(d->file, " %s (%.2f)", strchr(csv_cell(&t, k, CANDIDATE), ':') + 1,
                        strtod(csv_cell(&t, k, SCORE), NULL));
        fputs(" |\n", d->file);
    }
    csv_free(&t);
}

static void write_pictures(document *d, char words[][WORD], size_t count) {
    for (size_t k = 1; k < count; k++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%s/paper/%s.svg", d->paper->options.folder, words[k]);
        if (file_there(path)) fprintf(d->file, "<img src=\"paper/%s.svg\" alt=\"%s\">\n", words[k], words[k]);
    }
}

static void write_real(document *d, char words[][WORD], size_t count) {
    (void)words, (void)count;
    csv t = {0};
    if (!open_part(d, "real", "", &t)) return;
    fputs("| data | method | step | error | coverage of 90 % intervals | mean width | R-hat | nodes not "
          "converged |\n|---|---|---|---|---|---|---|---|\n",
          d->file);
    for (size_t r = 0; r < t.rows; r++) {
        if (strstr(csv_cell(&t, r, METRIC), "error") == NULL) continue;
        double coverage = NAN, width = NAN, r_hat = NAN, beyond = NAN;
        for (size_t k = r; k < t.rows && k < r + 4; k++) {
            if (strcmp(csv_cell(&t, k, METHOD), csv_cell(&t, r, METHOD)) != 0) continue;
            const double mean = strtod(csv_cell(&t, k, MEAN), NULL);
            if (strcmp(csv_cell(&t, k, METRIC), "coverage") == 0) coverage = mean;
            if (strstr(csv_cell(&t, k, METRIC), "width")) width = pow(10, mean);
            if (strcmp(csv_cell(&t, k, METRIC), "rhat") == 0) r_hat = mean;
            if (strcmp(csv_cell(&t, k, METRIC), "beyond") == 0) beyond = mean;
        }
        fprintf(d->file, "| %s | %s | %s | %.3g | %.2f | %.3g |", csv_cell(&t, r, SERIES), csv_cell(&t, r, METHOD),
                csv_cell(&t, r, STEP), pow(10, strtod(csv_cell(&t, r, MEAN), NULL)), coverage, width);
        fprintf(d->file, isnan(r_hat) ? " |" : " %.3f |", r_hat);
        fprintf(d->file, isnan(beyond) ? " |\n" : " %.0f %% |\n", 100 * beyond);
    }
    csv_free(&t);
}

/* Which run the page is of. */
static void write_run(document *d, char words[][WORD], size_t count) {
    (void)words, (void)count;
    const paper_options *o = &d->paper->options;
    if (d->own == NULL) return;
    fprintf(d->file, "\n**This page shows your own run**, most recently `svmp-paper %s`: seed %llu, %s", d->own,
            (unsigned long long)o->seed, o->quick ? "the quick version (`--quick`)" : "the full protocol");
    if (o->trials) fprintf(d->file, ", %zu trial%s of each figure (`--trials`)", o->trials, plural(o->trials));
    if (o->answers) fprintf(d->file, "; figure 6 with the tables `%s` and `%s`", o->answers, o->truth);
    if (o->data) fprintf(d->file, "; real data of `%s`", o->data);
    fputs(". The key of each figure says what its trials depend on. Runs are made with commands like these:\n",
          d->file);
}

/* ---- the text -----------------------------------------------------------------------------------------------------*/

/* A part that is left out, and all parts in it, ends with the @end of its own depth. */
typedef struct nesting {
    size_t depth, left_out; /* the depth of the part that is left out; 0: none is */
} nesting;

static size_t split(const char *line, size_t length, char words[WORDS_MOST][WORD]) {
    size_t count = 0;
    for (size_t at = 0; at < length && count < WORDS_MOST;) {
        const size_t word = strcspn(line + at, " \n");
        if (word) snprintf(words[count++], WORD, "%.*s", (int)word, line + at);
        at += word + 1;
    }
    return count;
}

/* 1: the line began or ended a part. */
static int nest(const document *d, nesting *n, char words[][WORD]) {
    const int record = strcmp(words[0], "@record") == 0, part = strcmp(words[0], "@figure") == 0;
    if (strcmp(words[0], "@end") == 0) {
        if (n->left_out == n->depth--) n->left_out = 0;
        return 1;
    }
    if (!record && !part) return 0;
    n->depth++;
    if (n->left_out == 0 && (record ? d->own != NULL : !is_there(d, words[1]))) n->left_out = n->depth;
    return 1;
}

static void write_directive(document *d, char words[][WORD], size_t count) {
    static const struct {
        const char *name;
        void (*write)(document *d, char words[][WORD], size_t count);
    } directives[] = {{"@claims", write_claims},  {"@verdicts", write_verdicts}, {"@numbers", write_numbers},
                      {"@steps", write_steps},    {"@trials", write_trials},     {"@pictures", write_pictures},
                      {"@real", write_real},      {"@noise", write_noise},       {"@run", write_run},
                      {"@default", write_default}};
    for (size_t k = 0; k < sizeof directives / sizeof *directives; k++)
        if (strcmp(directives[k].name, words[0]) == 0) directives[k].write(d, words, count);
}

int write_document(const paper *p, const char *own) {
    char path[PATH_SIZE], *text = NULL, words[WORDS_MOST][WORD] = {{0}};
    size_t size = 0;
    nesting n = {0};
    svmp_context *context = NULL;
    document d = {.paper = p, .own = own, .file = open_written(&text, &size)};
    if (d.file == NULL || svmp_context_create(NULL, &context) != SVMP_OK) return task_no_memory();
    for (const char *line = embedded_text(&document_text); *line;) {
        const size_t length = strcspn(line, "\n");
        const size_t count = *line == '@' ? split(line, length, words) : 0;
        if (count && !nest(&d, &n, words) && !n.left_out) write_directive(&d, words, count);
        if (count == 0 && !n.left_out) fprintf(d.file, "%.*s\n", (int)length, line);
        line += length + (line[length] != '\0');
    }
    snprintf(path, sizeof path, "%s/paper.md", p->options.folder);
    const int status = close_written(d.file, &text) ? write_output(path, text, size, 1) : task_no_memory();
    if (status == 0) printf("%s\n", path);
    free(text);
    svmp_context_free(context);
    return status;
}
