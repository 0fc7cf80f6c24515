/* The docs name every entry of every table, so that a new entry must be documented. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/distributions.h"
#include "lang/functions/language_functions.h"
#include "support.h"

/* The text of a file of the project. */
static char *read_page(const char *name) {
    char path[512];
    snprintf(path, sizeof path, SVMP_MODELS "/../%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}

static int is_letter(char c) { return strchr("abcdefghijklmnopqrstuvwxyz", c) && c; }

/* Whether `word` occurs as a whole word, not next to letters, digits, dots or hyphens that would make it another name.
 * */
static int has_word(const char *text, const char *word) {
    static const char more[] = "0123456789_.-";
    const size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        const char before = at > text ? at[-1] : ' ', after = at[length];
        const int alone = !is_letter(before) && !strchr(more, before);
        if (alone && !is_letter(after) && (!strchr("0123456789_-", after) || after == '\0')) return 1;
    }
    return 0;
}

/* Returns whether the page lacks the name, and says so. */
static int lacks(const char *page, const char *text, const char *name) {
    if (!is_letter(*name) || has_word(text, name)) return 0; /* operators are in a table of their own */
    print_error("%s does not name %s\n", page, name);
    return 1;
}

static void test_language(void **state) {
    (void)state;
    static const char page[] = "docs/language.md";
    char *text = read_page(page);
    size_t count;
    int missing = 0;
    const distribution *families = svmp_distribution_table(&count);
    for (size_t k = 0; k < count; k++) missing += lacks(page, text, families[k].name);
    const language_function *functions = svmp_function_table(&count);
    for (size_t k = 0; k < count; k++) missing += lacks(page, text, functions[k].name);
    for (size_t k = 0; svmp_link_name(k); k++) missing += lacks(page, text, svmp_link_name(k));
    free(text);
    assert_int_equal(missing, 0);
}

/* The name in "adam:RATE" is the part before the colon. */
static void test_options(void **state) {
    (void)state;
    static const char *const pages[][2] = {{"method", "docs/methods.md"},    {"kernel", "docs/kernels.md"},
                                           {"bandwidth", "docs/methods.md"}, {"step", "docs/kernels.md"},
                                           {"init", "docs/start.md"},        {"backend", "docs/methods.md"}};
    int missing = 0;
    for (size_t p = 0; p < sizeof pages / sizeof *pages; p++) {
        char *text = read_page(pages[p][1]), name[64];
        const char *choice;
        for (size_t k = 0; (choice = svmp_option_choice(pages[p][0], k)) != NULL; k++) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(choice, ":"), choice);
            missing += lacks(pages[p][1], text, name);
        }
        free(text);
    }
    assert_int_equal(missing, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_language), cmocka_unit_test(test_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
