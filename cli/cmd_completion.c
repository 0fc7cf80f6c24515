/* What a shell needs to complete a line, made of the tables that make the help. */
#include <ctype.h>
#include <string.h>

#include "command.h"

/* Prints the words that a value can be, blanks between them: those of an argument "dot|json", or of a help that is
 * nothing but a list, "a, b or c". Returns how many there are; `print` 0 only counts. */
static size_t choices(const char *argument, const char *help, int print) {
    const char *list = argument && strchr(argument, '|') ? argument : help;
    const char *const separators[] = {"|", ", ", " or "};
    size_t count = 0;
    while (*list) {
        size_t length = 0, skipped = 0;
        while (islower((unsigned char)list[length]) || isdigit((unsigned char)list[length]) || list[length] == '-')
            length++;
        for (size_t k = 0; k < sizeof separators / sizeof *separators; k++)
            if (strncmp(list + length, separators[k], strlen(separators[k])) == 0) skipped = strlen(separators[k]);
        if (length == 0 || (skipped == 0 && list[length])) return 0;
        if (print) printf("%s%.*s", count ? " " : "", (int)length, list);
        count++;
        list += length + skipped;
    }
    return count > 1 ? count : 0;
}

static void print_command_names(void) {
    size_t count;
    const command *const *all = commands(&count);
    for (size_t k = 0; k < count; k++) printf("%s%s", k ? " " : "", all[k]->name);
}

/* The same of the operands of a command: "bash|zsh", or the name of a command. */
static size_t operand_choices(const command *which, int print) {
    if (strcmp(which->operands, "[COMMAND]") != 0) return choices(which->operands, "", print);
    if (print) print_command_names();
    return 1;
}

/* Values that begin with a word of a few, by the argument's name; what ends in a colon goes on. */
static const char *beginnings(const svmp_option *row) {
    static const char *const known[][2] = {{"START", "normal: uniform: prior map"},
                                           {"STEP", "adagrad: rmsprop: adam: adam-sd: fixed: decay:"},
                                           {"RULE", "median median-log median-zeros"}};
    for (size_t k = 0; row->argument && k < sizeof known / sizeof *known; k++)
        if (strcmp(row->argument, known[k][0]) == 0) return known[k][1];
    return NULL;
}

static int is_file(const svmp_option *row) {
    return row->argument && (strcmp(row->argument, "FILE") == 0 || strcmp(row->argument, "START") == 0);
}

/* ---- bash -------------------------------------------------------------------------------------------------------- */

/* What follows an option: nothing that could be known, words, or a file. */
static void print_bash_value(const command *which, const svmp_option *row) {
    printf("    %s:--%s", which->name, row->name);
    if (row->letter) printf(" | %s:-%c", which->name, row->letter);
    fputs(") ", stdout);
    if (beginnings(row)) {
        printf("words='%s'%s ;;\n", beginnings(row), is_file(row) ? " files=1" : "");
    } else if (is_file(row)) {
        puts("files=1 ;;");
    } else if (choices(row->argument, row->help, 0)) {
        fputs("words='", stdout);
        choices(row->argument, row->help, 1);
        puts("' ;;");
    } else {
        puts("return ;;");
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
static void print_zsh_row(const svmp_option *row) {
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
        if (beginnings(row)) {
            printf("_svmp_%s", row->name);
        } else if (is_file(row)) {
            fputs("_files", stdout);
        } else if (choices(row->argument, row->help, 0)) {
            putchar('(');
            choices(row->argument, row->help, 1);
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
        if (beginnings(&set.rows[k]) == NULL) continue;
        printf(
            "_svmp_%s() {\n    local -a all=(%s)\n    compadd -S '' -- ${(M)all:#*:}\n    compadd -- ${all:#*:}\n%s}\n",
            set.rows[k].name, beginnings(&set.rows[k]), is_file(&set.rows[k]) ? "    _files\n" : "");
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
