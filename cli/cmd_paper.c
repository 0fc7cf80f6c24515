#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "experiments.h"

static const option_row rows[] = {
    {"quick", 0, NULL, "", "few trials, with the step sizes of the full run", "Size"},
    {"trials", 0, "K", "0", "trials of each figure; 0: the protocol's", "Size"},
    {"seed", 0, "S", "1", "of every problem and every run", "Size"},
    {"threads", 0, "N", "0", "trials side by side; 0: one a processor", "Size"},
    {"output", 'o', "DIR", "paper-output", "for all results; finished trials stay", "Output"},
    {"answers", 0, "FILE", "", "a crowd for fig6: item,worker,value", "Data"},
    {"truth", 0, "FILE", "", "what is true of it: item,value", "Data"},
    {"data", 0, "DIR", "", "measured networks and crowds, for real", "Data"},
};

static void options(option_set *set) { options_add(set, sizeof rows / sizeof *rows, rows); }

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
    o->folder = options_value(set, "output");
    o->answers = options_given(set, "answers");
    o->truth = options_given(set, "truth");
    o->data = options_given(set, "data");
    if ((o->answers == NULL) != (o->truth == NULL))
        return complain(EXIT_WRONG, "The options '--answers' and '--truth' belong together.");
    return 0;
}

static int run(const option_set *set) {
    paper_options o = {0};
    const int status = read_options(set, &o);
    return status ? status : experiments_run(set->operands[0], &o);
}

const command command_paper = {
    .name = "paper",
    .operands = "FIGURE|all|real|page",
    .least = 1,
    .most = 1,
    .summary = "Run the paper's experiments",
    .help = "FIGURE is fig1, ..., fig6: its trials, claims and pictures. all: all six;\n"
            "the full protocol takes a few hours on two cores, with --quick minutes.\n"
            "real: measured data, of --data. page: DIR/paper.md of what is there, no runs.\n",
    .text =
        "A figure,\n.B fig1\nto\n.BR fig6 :\n"
        "searches step sizes on problems of their own, runs the trials that the folder of\n.B \\-o\n"
        "lacks, writes every trial as CSV, draws the figure's panels (with gnuplot, where it is there) and judges the\n"
        "paper's claims by paired tests over the trials.\n.B all\nis the six figures one after the other: the full\n"
        "protocol takes a few hours on two cores, goes on where it was interrupted, and is refused in a folder that "
        "has\n"
        "trials of another seed, size or table.\n"
        ".B real\nlocates measured networks and joins measured crowds, where\n.B \\-\\-data\nhas them.\n"
        ".B page\nmakes\n.I DIR/paper.md\nof the files in\n.IR DIR/paper ,\nand runs nothing.\n"
        ".PP\nWith\n.BR \\-\\-quick ,\n"
        "the exit status is 1 when a claim that holds in the full run does not hold; of tables of one's own, or of\n"
        "fewer trials than the quick version has, that is not asked.\n",
    .options = options,
    .run = run,
};
