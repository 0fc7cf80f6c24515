#include "document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "csv.h"
#include "embedded.h"

enum { WORDS_MOST = 8, WORD = 64 };
static const char *const figure_names[] = {"fig1", "fig2", "fig3", "fig4", "fig5", "fig6"};

typedef struct document {
    const paper *paper;
    FILE *file;
    size_t missing;
} document;

/* A file of DIR/paper; 0 when it is not there, which the text says. */
static int open_part(document *d, const char *name, const char *ending, csv *t) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/paper/%s%s.csv", d->paper->options.folder, name, ending);
    if (file_there(path)) return csv_read(path, t) == 0;
    fprintf(d->file, "*(%s has not been run)*\n", name);
    d->missing++;
    return 0;
}

/* ---- claims -------------------------------------------------------------------------------------------------------*/

/* The fields of a row but for p, cut in place: texts have commas, so csv.h does not read them. */
static int cut_claim(char *line, char *fields[4]) {
    fields[0] = line;
    fields[1] = strchr(line, ',');
    char *p_value = fields[1] ? strchr(fields[1] + 1, ',') : NULL;
    fields[2] = p_value ? strchr(p_value + 1, ',') : NULL;
    fields[3] = fields[2] ? strstr(fields[2], "\",\"") : NULL;
    if (fields[3] == NULL) return 0;
    *fields[1]++ = '\0';
    *p_value = '\0';
    fields[2] += 2;
    *fields[3] = '\0';
    fields[3] += 3;
    fields[3][strcspn(fields[3], "\"")] = '\0';
    return 1;
}

static void each_claim(document *d, const char *name, void (*show)(document *d, char *fields[4])) {
    char path[PATH_SIZE], line[4096], *fields[4];
    snprintf(path, sizeof path, "%s/paper/%s_claims.csv", d->paper->options.folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fprintf(d->file, "*(%s has not been run)*\n", name);
        d->missing++;
        return;
    }
    while (fgets(line, sizeof line, file))
        if (cut_claim(line, fields)) show(d, fields);
    fclose(file);
}

/* A vertical bar would end a cell. */
static void write_cell(FILE *file, const char *text) {
    for (; *text; text++) fputs(*text == '|' ? "\\|" : (char[]){*text, '\0'}, file);
}

static void show_claim(document *d, char *fields[4]) {
    fprintf(d->file, "| %s | ", fields[0]);
    write_cell(d->file, fields[2]);
    fprintf(d->file, " | **%s** | ", fields[1]);
    write_cell(d->file, fields[3]);
    fputs(" |\n", d->file);
}

static void show_verdict(document *d, char *fields[4]) {
    fprintf(d->file, "| %s | ", fields[0]);
    write_cell(d->file, fields[2]);
    fprintf(d->file, " | **%s** |\n", fields[1]);
}

static void write_claims(document *d, char words[][WORD], size_t count) {
    (void)count;
    fputs("| claim | | verdict | numbers |\n|---|---|---|---|\n", d->file);
    each_claim(d, words[1], show_claim);
}

static void write_verdicts(document *d, char words[][WORD], size_t count) {
    (void)words, (void)count;
    fputs("| claim | | verdict |\n|---|---|---|\n", d->file);
    for (size_t k = 0; k < sizeof figure_names / sizeof *figure_names; k++)
        each_claim(d, figure_names[k], show_verdict);
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
    fputs("| method |", d->file);
    size_t columns = 0;
    for (size_t r = 0; r < t.rows; r++)
        if (is_metric(&t, r, metric) && strcmp(csv_cell(&t, r, SERIES), "radius") != 0 && is_new(&t, r, X, X)) {
            fprintf(d->file, " %s |", csv_cell(&t, r, X));
            columns++;
        }
    fputs("\n|---|", d->file);
    for (size_t c = 0; c < columns; c++) fputs("---|", d->file);
    fputs("\n", d->file);
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

static void write_trials(document *d, char words[][WORD], size_t count) {
    (void)count;
    csv t = {0};
    unsigned long most = 0;
    if (!open_part(d, words[1], "", &t)) return;
    for (size_t r = 0; r < t.rows; r++) {
        const unsigned long n = strtoul(csv_cell(&t, r, TRIALS), NULL, 10);
        most = n > most ? n : most;
    }
    fprintf(d->file, "Trials: %lu.\n", most);
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
    if (!open_part(d, words[1], "_steps", &t)) return;
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

/* ---- the text -----------------------------------------------------------------------------------------------------*/

static void write_directive(document *d, const char *line, size_t length) {
    static const struct {
        const char *name;
        void (*write)(document *d, char words[][WORD], size_t count);
    } directives[] = {{"@claims", write_claims}, {"@verdicts", write_verdicts}, {"@numbers", write_numbers},
                      {"@steps", write_steps},   {"@trials", write_trials},     {"@pictures", write_pictures},
                      {"@real", write_real},     {"@noise", write_noise}};
    char words[WORDS_MOST][WORD];
    size_t count = 0;
    for (size_t at = 0; at < length && count < WORDS_MOST;) {
        const size_t word = strcspn(line + at, " \n");
        if (word) snprintf(words[count++], WORD, "%.*s", (int)word, line + at);
        at += word + 1;
    }
    for (size_t k = 0; k < sizeof directives / sizeof *directives; k++)
        if (strcmp(directives[k].name, words[0]) == 0) directives[k].write(d, words, count);
}

int write_document(const paper *p) {
    char path[PATH_SIZE], *text = NULL;
    size_t size = 0;
    svmp_context *context = NULL;
    document d = {.paper = p, .file = open_memstream(&text, &size)};
    if (d.file == NULL || svmp_context_create(NULL, &context) != SVMP_OK) return task_no_memory();
    for (const char *line = embedded_text(&document_text); *line;) {
        const size_t length = strcspn(line, "\n");
        if (*line == '@')
            write_directive(&d, line, length);
        else
            fprintf(d.file, "%.*s\n", (int)length, line);
        line += length + (line[length] != '\0');
    }
    snprintf(path, sizeof path, "%s/paper.md", p->options.folder);
    const int status = fclose(d.file) == 0 ? write_text(context, path, text, size) : task_no_memory();
    if (status == 0) printf("%s%s\n", path, d.missing ? ": some figures have not been run" : "");
    free(text);
    svmp_context_free(context);
    return status;
}
