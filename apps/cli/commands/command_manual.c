/* The manual page, made of the tables that make the help. */
#include <string.h>

#include "command_table.h"
#include "front/option_rows.h"

/* Text for roff: hyphens stay hyphens, and no line begins with a control character. */
static void print_text(const char *text) {
    if (*text == '.' || *text == '\'') fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else
            putchar(*text);
    }
}

static int is_automatic(const svmp_method *method) { return strcmp(method->coordinates, "auto") == 0; }
static int has_modes(const svmp_method *method) { return method->yield == SVMP_YIELD_MODES; }
static int has_chains(const svmp_method *method) { return method->yield == SVMP_YIELD_CHAINS && !method->sweeps; }
static int has_shares(const svmp_method *method) { return method->shares; }
static int has_sweeps(const svmp_method *method) { return method->yield == SVMP_YIELD_CHAINS && method->sweeps; }

/* The words {chains} in the text of a command stand for the methods of that kind: "a, b and c". */
static const struct method_kind {
    const char *word;
    int (*is)(const svmp_method *method);
} method_kinds[] = {{"{auto}", is_automatic},
                    {"{modes}", has_modes},
                    {"{chains}", has_chains},
                    {"{sweeps}", has_sweeps},
                    {"{shared}", has_shares}};

static void print_methods(svmp_context *context, const struct method_kind *kind) {
    const char *names[64], *name;
    size_t count = 0;
    svmp_method method;
    for (size_t k = 1; (name = svmp_option_choice("method", k)) != NULL; k++) /* behind auto, which is one of them */
        if (svmp_method_describe(context, name, &method) == SVMP_OK && kind->is(&method) &&
            count < sizeof names / sizeof *names)
            names[count++] = name;
    for (size_t k = 0; k < count; k++) printf("%s\\fB%s\\fR", k == 0 ? "" : k + 1 < count ? ", " : " and ", names[k]);
}

/* The text of a command is roff. */
static void print_description(svmp_context *context, const char *text) {
    while (*text) {
        const struct method_kind *kind = NULL;
        for (size_t k = 0; k < sizeof method_kinds / sizeof *method_kinds; k++)
            if (strncmp(text, method_kinds[k].word, strlen(method_kinds[k].word)) == 0) kind = &method_kinds[k];
        if (kind)
            print_methods(context, kind);
        else
            putchar(*text);
        text += kind ? strlen(kind->word) : 1;
    }
}

static void print_heading(const char *group) { (void)group; }

static void print_row(const option_row *option) {
    fputs(".TP\n", stdout);
    if (option->letter) printf("\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", stdout);
    print_text(option->name);
    fputs("\\fR", stdout);
    if (option->argument) {
        fputs(" \\fI", stdout);
        print_text(option->argument);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_text(option->help);
    if (option->argument && *option->standard) {
        fputs(". Default: ", stdout);
        print_text(option->standard);
    }
    fputs(".\n", stdout);
}

static void print_command(svmp_context *context, const command *which) {
    option_set set = {0};
    command_options(which, &set);
    printf(".SS \"svmp %s", which->name);
    if (*which->operands) printf(" %s", which->operands);
    puts("\"");
    print_text(which->summary);
    puts(".\n.PP");
    print_description(context, which->text);
    for_each_option(&set, print_heading, print_row);
}

static const char closing[] =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nDone.\n"
    ".TP\n.B 1\nThe run failed, or a file or standard output could not be written.\n"
    ".TP\n.B 2\nThe input or the command line was invalid.\n"
    ".TP\n.B 130\nInterrupted; the results so far are written.\n"
    ".SH ENVIRONMENT\n"
    "If a variable whose name begins with SVMP_ is set but empty, svmp does without what the variable names.\n"
    ".TP\n.B SVMP_PLUGINS\nA folder in which plug-ins (svmp_cuda.so) are sought first; then beside the library, and "
    "where the "
    "system looks.\n"
    ".TP\n.B SVMP_CUDA\n"
    "The path of the plug-in for GPUs, svmp_cuda.so, which must be of the same build; a name without a slash is "
    "looked for in\n"
    "the current folder. By default it is looked for as SVMP_PLUGINS says\n"
    "above. Empty: GPUs are not used.\n"
    ".TP\n.B SVMP_NVRTC\n"
    "NVIDIA's compiler, libnvrtc.so, which compiles a model's programs for a GPU. By default it is looked for where\n"
    "the system looks for libraries, then in the folder lib64 of CUDA_PATH, of /usr/local/cuda and of /opt/cuda.\n"
    "Empty: programs are interpreted, which takes longer.\n"
    ".TP\n.B SVMP_CACHE\n"
    "The folder in which compiled programs are kept, as an absolute path. By default it is XDG_CACHE_HOME/svmp, or\n"
    "HOME/.cache/svmp if XDG_CACHE_HOME is not set. It must belong to the user, and no other user may have permission\n"
    "to write to it. Empty: programs are compiled in each run. See docs/gpu.md.\n"
    ".TP\n.BR CUDA_PATH \", \" XDG_CACHE_HOME \", \" HOME\n"
    "As above.\n"
    ".TP\n.B CUDA_VISIBLE_DEVICES\n"
    "The GPUs that NVIDIA's driver shows to svmp.\n"
    ".TP\n.B OMP_NUM_THREADS\n"
    "The number of threads, unless\n.B \\-\\-threads\nis given. By default it is the number of processors, which\n"
    "processes on the same machine divide among themselves.\n"
    ".TP\n.BR OMPI_COMM_WORLD_SIZE \", \" OMPI_COMM_WORLD_RANK \", \" PMI_SIZE \", \" PMI_RANK \", \" PMIX_RANK \", "
    "\" MPI_LOCALNRANKS \", \" MPI_LOCALRANKID \", \" SLURM_STEP_NUM_TASKS \", \" SLURM_PROCID\n"
    "Set by mpirun, mpiexec or srun: how many processes it has started, and which of them this one is.\n"
    ".TP\n.B OMPI_MCA_odls_base_sigkill_timeout\n"
    "The seconds that mpirun waits between SIGTERM and SIGKILL, in which svmp writes what it has.\n"
    ".SH FILES\n"
    "Particle files are Stan CSV: comment lines that begin with # record the whole configuration of the run, then\n"
    "come a header of names and one row per particle. Numbers read back to the same bits. Columns whose names end in\n"
    "two underscores are not variables: lp__ is the log density, others are a sampler's statistics. Comments of the\n"
    "form name[along] = 1 2 3 record the history of the run, such as its largest |phi| along the iterations. A file\n"
    "that ends in .nc is NetCDF\\-4 in the layout of ArviZ's InferenceData.\n"
    ".PP\n"
    "A checkpoint can be read only by the version of svmp that wrote it. It has a checksum, and a run with another\n"
    "model, start or option rejects it. Files are written under a temporary name and then renamed, so a file is never\n"
    "half written.\n"
    ".PP\n"
    "The pages docs/*.md that this manual names are installed with svmp, in share/doc/svmp.\n"
    ".SH EXAMPLES\n"
    ".nf\n"
    "svmp run grid.mtx grid_b.mtx \\-n 50 \\-o particles.csv\n"
    "svmp run grid.mtx grid_b.mtx \\-m exact \\-n 1000 \\-o exact.csv\n"
    "svmp compare particles.csv exact.csv\n"
    ".fi\n";

static int run(const option_set *set) {
    svmp_context *context = NULL;
    size_t count;
    const int status = open_context(set, &context);
    if (status) return status;
    const command *const *all = commands(&count);
    printf(".TH SVMP 1 \"\" \"svmp %s\" \"User Commands\"\n", svmp_version());
    fputs(".SH NAME\nsvmp \\- inference in continuous graphical models by Stein variational message passing\n"
          ".SH SYNOPSIS\n",
          stdout);
    for (size_t k = 0; k < count; k++)
        printf("%s.B svmp %s\n[\\fIOPTION\\fR...]%s%s\n", k ? ".br\n" : "", all[k]->name, *all[k]->operands ? " " : "",
               all[k]->operands);
    fputs(".SH DESCRIPTION\n"
          "svmp reads a model and writes particles that represent its posterior. Options and operands may come in any\n"
          "order;\n.B \\-\\-\nends the options.\n"
          ".SH COMMANDS\n",
          stdout);
    for (size_t k = 0; k < count; k++) print_command(context, all[k]);
    fputs(closing, stdout);
    svmp_context_free(context);
    return EXIT_DONE;
}

const command command_manual = {
    .name = "manual",
    .operands = "",
    .summary = "Print the manual page, for man(1)",
    .text = "To read it:\n.B svmp manual | man \\-l \\-\n",
    .common = 1,
    .run = run,
};
