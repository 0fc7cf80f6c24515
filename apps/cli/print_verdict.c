#include "print_verdict.h"

#include <stdio.h>
#include <string.h>

#include "base/comment_lines.h"
#include "front/program_context.h"

/* At most 118 columns a line, broken at blanks. */
static void print_wrapped(const char *first, const char *second) {
    enum { WIDTH = 118 };
    const char *const texts[] = {first, second};
    size_t column = 0;
    for (size_t k = 0; k < 2; k++)
        for (const char *word = texts[k]; *word; word += strspn(word, " ")) {
            const size_t length = strcspn(word, " ");
            if (column > 0 && column + 1 + length > WIDTH) {
                putchar('\n');
                column = 0;
            }
            column += (size_t)printf("%s%.*s", column ? " " : "", (int)length, word);
            word += length;
        }
    putchar('\n');
}

void verdict_print(const svmp_verdict *verdict) {
    char sentence[VERDICT_TEXT], advice[VERDICT_TEXT];
    print_wrapped(svmp_verdict_sentence(verdict, sentence, sizeof sentence),
                  svmp_verdict_advice(verdict, advice, sizeof advice));
}

int verdict_is_recorded(const char *comments) {
    char sentence[2];
    return svmp_comment_find(comments, "verdict_text", sentence, sizeof sentence);
}

/* Chains of several files have a checksum each, and are not compared. */
static int was_changed(const svmp_particles *particles) {
    char recorded[32], here[32];
    const char *comments = svmp_particles_comments(particles);
    if (!svmp_comment_find(comments, "verdict_numbers", recorded, sizeof recorded)) return 0;
    snprintf(here, sizeof here, "%016llx", (unsigned long long)svmp_particles_checksum(particles));
    return strcmp(recorded, here) != 0;
}

int verdict_print_recorded(const svmp_context *context, const svmp_particles *particles, int whole) {
    char sentence[VERDICT_TEXT], advice[VERDICT_TEXT];
    const char *comments = svmp_particles_comments(particles);
    if (!svmp_comment_find(comments, "verdict_text", sentence, sizeof sentence)) return 0;
    if (whole && was_changed(particles)) {
        print_wrapped("The file was changed: its numbers are not those that its recorded verdict is about.",
                      "To examine them: svmp verify FILE MODEL [DATA...].");
        return 1;
    }
    print_wrapped(sentence, svmp_recorded_advice(context, comments, advice, sizeof advice));
    return 1;
}

void verdict_print_drifts(const svmp_verdict *verdict) {
    int width = (int)strlen("variable");
    size_t listed = 0;
    svmp_drift d;
    for (; svmp_verdict_drift(verdict, listed, &d); listed++)
        if ((int)strlen(d.name) > width) width = (int)strlen(d.name);
    if (listed == 0) return;
    printf("%-*s  %-11s %9s %9s\n", width, "variable", "what", "effect", "z");
    for (size_t k = 0; svmp_verdict_drift(verdict, k, &d); k++)
        printf("%-*s  %-11s %+9.2g %+9.3g\n", width, d.name, svmp_aspect_word(d.aspect), d.effect, d.z);
    svmp_examination numbers = {0};
    svmp_verdict_examination(verdict, &numbers);
    if (numbers.drifting > listed) printf("%zu more\n", numbers.drifting - listed);
    putchar('\n');
}

svmp_note verdict_result(const svmp_verdict *verdict) {
    svmp_note result = {0};
    svmp_verdict_note(verdict, 0, &result);
    return result;
}

int verdict_print_refusal(svmp_context *context, const svmp_particles *particles) {
    svmp_verdict *verdict = NULL;
    svmp_status status = svmp_verdict_create(context, &verdict);
    if (status == SVMP_OK) status = svmp_chains_verdict(particles, verdict);
    if (status == SVMP_OK && verdict_result(verdict).kind == SVMP_REFUSAL) verdict_print(verdict);
    svmp_verdict_free(verdict);
    return status == SVMP_OK ? 0 : failed(context, status);
}
