/* What a shell needs to complete a line, made of the tables that make the help. */
#include <ctype.h>
#include <string.h>

#include "command.h"

/* Prints the words of an argument "dot|json", blanks between them. Returns how many there are; `print` 0 only counts.
 */
static size_t alternatives(const char *argument, int print) {
    size_t count = 0;
    if (argument == NULL || strchr(argument, '|') == NULL) return 0;
    for (const char *word = argument; *word; word += *word == '|') {
        const size_t length = strcspn(word, "|");
        if (print) printf("%s%.*s", count ? " " : "", (int)length, word);
        count++;
        word += length;
    }
    return count;
}

static void print_command_names(void) {
    size_t count;
    const command *const *all = commands(&count);
    for (size_t k = 0; k < count; k++) printf("%s%s", k ? " " : "", all[k]->name);
}

/* The same of the operands of a command: "bash|zsh", or the name of a command. */
static size_t operand_choices(const command *which, int print) {
    if (strcmp(which->operands, "[COMMAND]") != 0) return alternatives(which->operands, print);
    if (print) print_command_names();
    return 1;
}

/* Where the words of a choice end that stand as they are: "normal:" of "normal:SD", nothing of "NUMBER". */
static size_t plain_length(const char *choice) {
    size_t length = 0;
    while (choice[length] && !isupper((unsigned char)choice[length])) length++;
    return length;
}

/* Whether an option takes values that go on behind such words. */
static int goes_on(const option_row *row) {
    const char *choice;
    for (size_t k = 0; row->argument && (choice = svmp_option_choice(row->name, k)) != NULL; k++)
        if (choice[plain_length(choice)]) return 1;
    return 0;
}

/* Prints the words that a value can be, or begin with, blanks between them. Returns how many there are; `print` 0 only
 * counts. */
static size_t choices(const option_row *row, int print) {
    const char *choice;
    size_t count = 0;
    for (size_t k = 0; (choice = svmp_option_choice(row->name, k)) != NULL; k++) {
        const size_t length = plain_length(choice);
        if (length == 0) continue;
        if (print) printf("%s%.*s", count ? " " : "", (int)length, choice);
        count++;
    }
    return count ? count : alternatives(row->argument, print);
}

static int is_file(const option_row *row) {
    return row->argument && (strcmp(row->argument, "FILE") == 0 || strcmp(row->argument, "START") == 0);
}

/* ---- bash -------------------------------------------------------------------------------------------------------- */

/* What follows an option: nothing that could be known, words, or a file. */
static void print_bash_value(const command *which, const option_row *row) {
    printf("    %s:--%s", which->name, row->name);
    if (row->letter) printf(" | %s:-%c", which->name, row->letter);
    fputs(") ", stdout);
    if (choices(row, 0)) {
        fputs("words='", stdout);
        choices(row, 1);
        puts(is_file(row) ? "' files=1 ;;" : "' ;;");
    } else {
        puts(is_file(row) ? "files=1 ;;" : "return ;;");
    }
}

static void print_bash_command(const command *which) {
    option_set set = {0};
    command_options(which, &set);
    for (size_t k = 0; k < set.count; k++)
        if (set.rows[k].argument) print_bash_value(which, &set.rows[k]);
    printf("    %s:*)\n        [[ $current == -* ]] && words='", which->name);
    for (size_t k = 0; k < set.count; k++) printf("%s--%s", k ? " " : "", set.rows[k].name);
    fputs("' ||", stdout);
    if (operand_choices(which, 0)) {
        fputs(" words='", stdout);
        operand_choices(which, 1);
        puts("' ;;");
    } else {
        puts(which->most ? " files=1 ;;" : " return ;;");
    }
}

/* bash splits a line at '=' and ':', too: --method=nu is three words, and what stands behind a colon is not known. What
 * is taken for a file name gets slashes behind folders, but also a backslash before colons, which words are to have. */
static void print_bash(void) {
    size_t count;
    const command *const *all = commands(&count);
    puts("# Completion of svmp for bash. Made by: svmp completion bash\n"
         "_svmp() {\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1)) before= words= files=\n"
         "    COMPREPLY=()\n"
         "    if [[ $current == = ]]; then current=\n"
         "    elif [[ ${COMP_WORDS[at]} == = ]]; then ((at--)); fi\n"
         "    before=${COMP_WORDS[at]}\n"
         "    [[ $current != : && $before != : ]] || return\n"
         "    ((COMP_CWORD > 1)) && before=${COMP_WORDS[1]}:$before\n"
         "    case $before in");
    for (size_t k = 0; k < count; k++) print_bash_command(all[k]);
    fputs("    *) words='", stdout);
    print_command_names();
    puts(" --help --version' ;;\n"
         "    esac\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "    if [[ ${COMPREPLY[0]-} == *: ]]; then compopt -o nospace 2>/dev/null\n"
         "    elif [[ $files && ! ${COMPREPLY[0]-} ]]; then compopt -o filenames 2>/dev/null; fi\n"
         "    [[ ! $files ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$current\")\n"
         "}\n"
         "complete -F _svmp svmp");
}

/* ---- zsh --------------------------------------------------------------------------------------------------------- */

/* Text within '...' of an _arguments specification. */
static void print_zsh_text(const char *text) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

/* A value stands behind its option, --method nuts and -m nuts, or is attached to it: --method=nuts, -mnuts. */
static void print_zsh_row(const option_row *row) {
    const char *attach = row->argument ? "+" : "", *equal = row->argument ? "=" : "";
    if (row->letter)
        printf(" \\\n            '(-%c --%s)'{-%c%s,--%s%s}'[", row->letter, row->name, row->letter, attach, row->name,
               equal);
    else
        printf(" \\\n            '--%s%s[", row->name, equal);
    print_zsh_text(row->help);
    putchar(']');
    if (row->argument) {
        putchar(':');
        print_zsh_text(row->argument);
        putchar(':');
        if (goes_on(row)) {
            printf("_svmp_%s", row->name);
        } else if (is_file(row)) {
            fputs("_files", stdout);
        } else if (choices(row, 0)) {
            putchar('(');
            choices(row, 1);
            putchar(')');
        }
    }
    putchar('\'');
}

/* A function for values that begin with words: those that go on get no blank behind them. */
static void print_zsh_beginnings(const command *which) {
    option_set set = {0};
    command_options(which, &set);
    for (size_t k = 0; k < set.count; k++) {
        if (!goes_on(&set.rows[k])) continue;
        printf("_svmp_%s() {\n    local -a all=(", set.rows[k].name);
        choices(&set.rows[k], 1);
        printf(")\n    compadd -S '' -- ${(M)all:#*:}\n    compadd -- ${all:#*:}\n%s}\n",
               is_file(&set.rows[k]) ? "    _files\n" : "");
    }
}

static void print_zsh_command(const command *which) {
    option_set set = {0};
    command_options(which, &set);
    printf("    %s)\n        _arguments -s", which->name);
    for (size_t k = 0; k < set.count; k++) print_zsh_row(&set.rows[k]);
    if (operand_choices(which, 0)) {
        fputs(" \\\n            ':word:(", stdout);
        operand_choices(which, 1);
        fputs(")'", stdout);
    } else if (which->most) {
        fputs(" \\\n            '*:file:_files'", stdout);
    }
    puts("\n        ;;");
}

static void print_zsh(void) {
    size_t count;
    const command *const *all = commands(&count);
    puts("#compdef svmp\n"
         "# Completion of svmp for zsh. Made by: svmp completion zsh");
    print_zsh_beginnings(&command_run);
    puts("_svmp() {\n"
         "    local -a commands\n"
         "    commands=(");
    for (size_t k = 0; k < count; k++) {
        printf("        '%s:", all[k]->name);
        print_zsh_text(all[k]->summary);
        puts("'");
    }
    puts("    )\n"
         "    if ((CURRENT == 2)); then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    local command=$words[2]\n"
         "    shift words\n"
         "    ((CURRENT--))\n"
         "    case $command in");
    for (size_t k = 0; k < count; k++) print_zsh_command(all[k]);
    puts("    esac\n"
         "}\n"
         "_svmp \"$@\"");
}

static int run(const option_set *set) {
    const char *shell = set->operands[0];
    if (strcmp(shell, "bash") == 0) return print_bash(), EXIT_DONE;
    if (strcmp(shell, "zsh") == 0) return print_zsh(), EXIT_DONE;
    return complain(EXIT_WRONG, "There is completion for bash and zsh, not for '%s'.", shell);
}

const command command_completion = {
    .name = "completion",
    .operands = "bash|zsh",
    .least = 1,
    .most = 1,
    .summary = "Print completion for a shell",
    .text = "An installed svmp has it in place. To try it:\n.B source <(svmp completion bash)\n",
    .common = 1,
    .run = run,
};
