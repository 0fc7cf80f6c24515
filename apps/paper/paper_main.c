/* The program `svmp-paper`: the paper's experiments. Reads its options and runs what they name. */
#include <stdio.h>
#include <unistd.h>

#include "experiments.h"
#include "front/command_options.h"
#include "front/error_output.h"
#include "front/option_rows.h"
#include "front/program_frame.h"

static const option_row rows[] = {
    {"quick", 0, NULL, "", "few trials, with the step sizes of the full run", "Size"},
    {"default", 0, NULL, "", "only svmp's default method: add it to the results in DIR/paper", "Size"},
    {"trials", 0, "K", "0", "trials of each figure; 0: the protocol's", "Size"},
    {"seed", 0, "S", "1", "random seed of all problems and runs", "Size"},
    {"threads", 0, "N", "0", "parallel trials; 0: one per processor", "Size"},
    {"output", 'o', "DIR", "paper-output", "folder for all results; finished trials are kept", "Output"},
    {"answers", 0, "FILE", "", "a crowd for fig6: item,worker,value", "Data"},
    {"truth", 0, "FILE", "", "its true values: item,value", "Data"},
    {"data", 0, "DIR", "", "folder of measured networks and crowds, for real", "Data"},
    {"help", 'h', NULL, "", "show this help", "Help"},
    {"version", 'V', NULL, "", "show the version", "Help"},
};

static const char operands[] = "FIGURE|all|real|page";

static const char about[] = "Run the experiments of the paper on Stein variational message passing.\n"
                            "\n"
                            "  fig1 ... fig6   one figure: search its step sizes on separate problems, run\n"
                            "                  the trials that the folder lacks, write them as CSV, draw the\n"
                            "                  panels with gnuplot, judge the paper's claims by paired tests;\n"
                            "                  then the same for svmp's default method, in fewer trials\n"
                            "  all             all six figures, and the measured data if --data is given:\n"
                            "                  a few hours on two cores, minutes with --quick\n"
                            "  real            the measured networks and crowds in --data\n"
                            "  page            write DIR/paper.md from the files in DIR/paper, run nothing\n"
                            "\n"
                            "The same command continues an interrupted run. A folder that has trials of\n"
                            "another seed, size or table is rejected. With --quick the exit status is 1 if a\n"
                            "claim that holds in the full run does not hold; this is not checked for your own\n"
                            "tables, or with fewer trials than the quick version has.\n";

static int read_options(const option_set *set, paper_options *o) {
    size_t seed = 1;
    int status = read_count("trials", options_value(set, "trials"), 0, 100000, &o->trials);
    if (status == 0) status = read_count("seed", options_value(set, "seed"), 0, SIZE_MAX / 16, &seed);
    if (status == 0) status = read_count("threads", options_value(set, "threads"), 0, 256, &o->threads);
    if (status) return status;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (o->threads == 0) o->threads = processors > 0 ? (size_t)processors : 1;
    o->seed = seed;
    o->quick = options_given(set, "quick") != NULL;
    o->default_alone = options_given(set, "default") != NULL;
    o->folder = options_value(set, "output");
    o->answers = options_given(set, "answers");
    o->truth = options_given(set, "truth");
    o->data = options_given(set, "data");
    if ((o->answers == NULL) != (o->truth == NULL))
        return report_error(EXIT_WRONG, "The options '--answers' and '--truth' must be used together.");
    return 0;
}

static int run(int count, char **arguments) {
    option_set set = {.command = "svmp-paper"};
    paper_options o = {0};
    options_add(&set, sizeof rows / sizeof *rows, rows);
    int status = options_parse(&set, count, arguments);
    if (status) return status;
    if (options_given(&set, "help")) {
        printf("Usage: svmp-paper [OPTION...] %s\n\n%s\n", operands, about);
        print_options(&set);
        return EXIT_DONE;
    }
    if (options_given(&set, "version")) return printf("svmp-paper %s\n", svmp_version()), EXIT_DONE;
    status = options_check_operands(&set, 1, 1, operands);
    if (status == 0) status = read_options(&set, &o);
    return status ? status : experiments_run(set.operands[0], &o);
}

int main(int count, char **arguments) {
    program_begin("svmp-paper");
    return program_end(run(count - 1, arguments + 1));
}
