/* svmp_tools.h: additional functions for commands, reports and bindings: descriptions of options, methods, model arrays
 * and graphs; details of samples, runs and verdicts and their files. The numbers of constants never change and are
 * never reused. */
#ifndef SVMP_TOOLS_H
#define SVMP_TOOLS_H

#include "svmp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- this build and this machine ------------------------------------------------------------ */

/* The optional parts of this build, one line each: "part: yes", "part: yes, details" or "part: no, reason". */
SVMP_API const char *svmp_build_parts(void);

/* Whether this build has an optional part, such as "netcdf". */
SVMP_API int svmp_build_has(const char *part);

/* Describes the GPU of this machine, if a backend can use it: "gpu: NVIDIA H200", or "gpu: no. " and the reason. Where
 * the build has the part "cuda", or its library is there, a second line is about NVRTC, the compiler for models:
 * "nvrtc: yes, 13.0" or "nvrtc: no, " and the reason. Truncated to `size`. Returns `buffer`. */
SVMP_API const char *svmp_gpu_found(char *buffer, size_t size);

/* ---- options and methods -------------------------------------------------------------------- */

/* The description of an option of a run. */
typedef struct svmp_option {
    const char *name;     /* "particles" */
    const char *argument; /* "N", a placeholder for the value in help texts */
    const char *standard; /* the default value as text; NULL: the method decides */
    const char *group;    /* "Size", a heading in help texts */
    char letter;          /* 'n', a short name; 0: none */
} svmp_option;

/* New options with the same values. */
SVMP_API svmp_status svmp_options_copy(const svmp_options *options, svmp_options **copy);

/* Prepares the options of a run that svmp_run_load will continue from a checkpoint: the backend "auto" becomes that of
 * the checkpoint. Fails if the options ask for a GPU and the checkpoint is of another backend, before a GPU is looked
 * for. Collective. */
SVMP_API svmp_status svmp_options_resume(svmp_options *options, const char *path);

/* Describes option `which`, counted from 0. Returns 0 beyond the last one. */
SVMP_API int svmp_option_at(size_t which, svmp_option *option);

/* Writes a line that explains an option and its values, truncated to `size`. Returns `buffer`, or NULL if there is no
 * such option. */
SVMP_API const char *svmp_option_help(const char *name, char *buffer, size_t size);

/* Value `which` of an option, counted from 0: "nuts", or "normal:SD", where words in capitals stand for values. NULL
 * beyond the last one, and for options without a list of values. */
SVMP_API const char *svmp_option_choice(const char *name, size_t which);

/* The meaning of a method's particles. */
typedef enum svmp_yield {
    SVMP_YIELD_PARTICLES = 0, /* they move towards the posterior; svmp_run_discrepancy tells how close they are */
    SVMP_YIELD_CHAINS = 1,    /* draws of chains; the run has the options chains, warmup and draws */
    SVMP_YIELD_DRAWS = 2,     /* independent draws from the posterior, after one iteration */
    SVMP_YIELD_MODES = 3      /* modes, not a sample of the posterior */
} svmp_yield;

/* The description of a method. */
typedef struct svmp_method {
    const char *name;
    const char *largest; /* the quantity in svmp_progress.largest, such as "|phi|"; NULL: none, it is NaN */
    svmp_yield yield;
    int parts;    /* whether it runs on parts of a model, in several processes */
    int sweeps;   /* for SVMP_YIELD_CHAINS: each particle is a chain; the options are particles, iterations, warmup and
                     draws */
    size_t draws; /* for SVMP_YIELD_CHAINS: the default number of draws per chain, or an upper bound of it; for
                     SVMP_YIELD_PARTICLES: of draws in all (svmp_run_draws), 0 if the particles are the answer */
    /* The svmp_reading.coordinates that suits the method: "auto", or "centred" for the model as written. */
    const char *coordinates;
    int fits;           /* whether it always fits a Gaussian on the graph first */
    size_t arrays;      /* numbers per variable and particle that it stores, besides position, score and velocity */
    double examination; /* the time that svmp_run_examine takes, as a share of the time of the iterations */
    int shares;         /* whether several processes share its chains, each with the whole model */
    double reserved[7]; /* 0; for later versions */
} svmp_method;

/* Describes a method. SVMP_BAD_CALL: there is no such method; the error lists the names. */
SVMP_API svmp_status svmp_method_describe(svmp_context *context, const char *name, svmp_method *method);

/* ---- models and graphs ---------------------------------------------------------------------- */

/* An array of a model text. The first three fields describe its unknown, observed and computed elements by the smallest
 * ranges that contain them, "mu[1:8]", and their number if the ranges contain others, "y[1:10] (7 of 10)"; NULL: none.
 * Pointers are valid as long as the model. */
typedef struct svmp_array {
    const char *unknown, *observed, *computed;
    size_t unknown_count, observed_count;
    const char *name;         /* "y" */
    size_t rank;              /* number of dimensions, at least 1 */
    const size_t *dimensions; /* of the whole array */
    const double *values;     /* the observed elements, row-major, NaN elsewhere; NULL: none */
    const double *known;      /* if some elements are known: observed, given or constant; NULL: all or none are known */
    const char *drawn;        /* like `unknown`, for leaves, which are drawn after the run; `unknown` excludes them */
    size_t drawn_count;
    const char *summed; /* like `unknown`, for discrete unknowns, which are summed out; `unknown` excludes them */
    size_t summed_count;
    const void *reserved[8]; /* NULL; for later versions */
} svmp_array;

/* Describes array `which`, counted from 0 in the order of the text. Returns 0 beyond the last one; models that are not
 * read from a text have none. */
SVMP_API int svmp_model_array(const svmp_model *model, size_t which, svmp_array *array);

/* The label of index `index`, from 1, of a dimension of an array, from 0, that text in the data subscripts: u[g[i]].
 * For index 0 the name of that text, "g". NULL: there is none. Valid as long as the model. */
SVMP_API const char *svmp_model_label(const svmp_model *model, const char *array, size_t dimension, size_t index);

/* The number of observed values of stochastic nodes in a model text; 0 for other models. */
SVMP_API size_t svmp_model_observed(const svmp_model *model);

/* Whether a name, such as "sigma" or "mu.3", is something that runs of the model can report besides its unknowns: an
 * element of a deterministic or discrete array (monitored or not), a leaf, the deviance, a log likelihood or a new
 * observation. */
SVMP_API int svmp_model_computes(const svmp_model *model, const char *name);

/* The number of values of the unknowns, on the scale of the model text. svmp_run_particles reports them for each
 * particle before the monitored values. Models without a text report their variables. */
SVMP_API size_t svmp_model_values(const svmp_model *model);

/* Writes the name of a value to `buffer`, truncated to `size`; returns `buffer`. */
SVMP_API const char *svmp_model_value_name(const svmp_model *model, size_t value, char *buffer, size_t size);

/* Computes the values of n particles from the variables x, in which particles move and which svmp_model_evaluate takes.
 * Particle-fast; `values` has room for svmp_model_values * n numbers. NaN: no variable determines the value. */
SVMP_API svmp_status svmp_model_to_values(const svmp_model *model, size_t n, const double *x, double *values);

/* Computes the variables from the values, which must be finite; those that no variable determines are not read. A value
 * on the edge of its support or outside is first moved inside. SVMP_BAD_INPUT: a matrix is not positive definite. */
SVMP_API svmp_status svmp_model_from_values(const svmp_model *model, size_t n, const double *values, double *x);

/* A sparse symmetric precision A and a vector b. Give each off-diagonal entry once, in either triangle; diagonal
 * entries may be repeated; repeats are added. */
typedef struct svmp_field {
    size_t entries;
    const size_t *rows, *columns; /* counted from 0 */
    const double *values;
    const double *linear; /* b; NULL: zeros */
} svmp_field;

/* Adds the factors of exp(b'x - x'Ax/2) for the `count` nodes from `first` on, which have one variable each: one for
 * each row, then one for each pair that is not zero. The model is the one that svmp_model_read makes of the same matrix
 * in a file. After a failure some of the factors may have been added. */
SVMP_API svmp_status svmp_model_add_field(svmp_model *model, size_t first, size_t count, const svmp_field *field);

/* The coordinate that a node moves in (svmp_reading): 1 is centred, 0 is not centred; values in between
 * are the fraction of the information about the node that comes from the data (docs/coordinates.md). NaN if there is no
 * choice, because the node has another kind of prior. */
SVMP_API double svmp_model_centring(const svmp_model *model, size_t node);

/* The variables of a node are first ... first + dimension - 1. */
SVMP_API size_t svmp_graph_node_first(const svmp_graph *graph, size_t node);
SVMP_API size_t svmp_graph_node_dimension(const svmp_graph *graph, size_t node);

/* The closed neighbourhood of a node, its Markov blanket and itself, in ascending order. */
SVMP_API const uint32_t *svmp_graph_neighbourhood(const svmp_graph *graph, size_t node, size_t *count);

/* The number of different closed neighbourhoods; nodes with the same one share a kernel matrix. */
SVMP_API size_t svmp_graph_distinct_neighbourhoods(const svmp_graph *graph);

/* The factor graph for Graphviz, or nodes, factors and Markov blankets as JSON. */
typedef enum svmp_graph_format { SVMP_GRAPH_DOT = 0, SVMP_GRAPH_JSON = 1 } svmp_graph_format;

/* Receives a text piece by piece. Returns 0; another value ends the call with SVMP_CANNOT_WRITE. */
typedef int (*svmp_text_function)(const char *text, void *user_data);

/* Gives the graph to a function as text. */
SVMP_API svmp_status svmp_model_write_graph(const svmp_model *model, svmp_graph_format format, svmp_text_function write,
                                            void *user_data);

/* ---- samples -------------------------------------------------------------------------------- */

/* New particles with `count` of the variables, in the given order (`variables` NULL: all), and one draw out
 * of every `every` in each chain, the last of each group. Statistics, series and chains are kept, and so are the counts
 * and the E-BFMI of svmp_particles_sampling, which still describe all draws. Collective: each process selects among its
 * own variables, possibly none; they keep the order of the whole model. */
SVMP_API svmp_status svmp_particles_select(const svmp_particles *particles, size_t count, const size_t *variables,
                                           size_t every, svmp_particles **chosen);

/* New particles with the chains of several samples. Variables are matched by name. All chains must be equally long, and
 * two samples with an identical chain are refused. Statistics that all samples have are kept; everything else, such as
 * comments, comes from the first sample. */
SVMP_API svmp_status svmp_particles_join(size_t count, const svmp_particles *const *parts, svmp_particles **joined);

/* The number of statistics, and the name of one, counted from 0. */
SVMP_API size_t svmp_particles_statistics(const svmp_particles *particles);
SVMP_API const char *svmp_particles_statistic_name(const svmp_particles *particles, size_t statistic);

/* A series of numbers stored with particles, such as "largest_phi" along "iteration". A series whose name equals its
 * `along` holds the coordinates; all series along it have the same length. Names have at most 63 letters, digits, dots
 * and underscores; "chain" and "draw" are reserved. Values may be infinite or NaN. */
typedef struct svmp_series {
    const char *name, *along;
    size_t count;
    const double *values;
} svmp_series;

/* Gets series `which`, counted from 0. Returns 0 beyond the last one. */
SVMP_API int svmp_particles_series(const svmp_particles *particles, size_t which, svmp_series *series);

/* Copies the values and replaces a series of the same name. */
SVMP_API svmp_status svmp_particles_set_series(svmp_particles *particles, const char *name, const char *along,
                                               size_t count, const double *values);

/* Stores the observed values of a model's arrays with the particles, and the known elements of arrays that are unknown
 * in part: NetCDF files hold both. svmp_run_particles does this itself. Fails if the particles have such data already.
 */
SVMP_API svmp_status svmp_particles_add_data(svmp_particles *particles, const svmp_model *model);

/* New particles with the draws of one chain, counted from 0, its statistics and all series. */
SVMP_API svmp_status svmp_particles_chain(const svmp_particles *particles, size_t chain, svmp_particles **draws);

/* A summary of a sampler's statistics. If a statistic is missing, its mean is NaN and its counts are 0. */
typedef struct svmp_sampling {
    size_t chains, draws; /* number of chains, and of draws per chain */
    size_t trajectories;  /* in all chains, before thinning; the following counts and ebfmi refer to them */
    double acceptance;    /* mean of accept_stat__ */
    double leapfrogs;     /* mean of n_leapfrog__: score evaluations per draw */
    size_t divergent;     /* trajectories that diverged: the energy error exceeded 1000 */
    size_t deepest;       /* trajectories that reached the maximum depth 10, 1,023 leapfrog steps */
    double ebfmi;         /* the smallest over chains of sum (E_t - E_t-1)^2 / sum (E_t - mean E)^2, from energy__ */
    size_t ebfmi_chain;   /* the chain with that value, counted from 0 */
} svmp_sampling;

/* Fills this from the statistics of the chains. */
SVMP_API svmp_status svmp_particles_sampling(const svmp_particles *particles, svmp_sampling *sampling);

/* Criteria for models, from what svmp_reading.monitors "log_lik,deviance" adds to particles (docs/diagnostics.md). NaN:
 * the variables are missing, or there is one particle. The errors of DIC and WAIC are those of their estimates: the
 * Monte Carlo error of a finite sample, and the spread of the observations. */
typedef struct svmp_criteria {
    size_t observations;    /* the number of variables log_lik.1, log_lik.2, ... */
    double waic;            /* -2 sum over the observations of log mean exp(log_lik) - var(log_lik) */
    double waic_error;      /* its standard error, as a sum over the observations */
    double waic_parameters; /* the effective number of parameters, the sum of var(log_lik) */
    double dic;             /* the mean deviance + its variance / 2 */
    double dic_error;       /* its Monte Carlo standard error */
    double deviance;        /* the mean deviance */
    double dic_parameters;  /* the effective number of parameters, the variance of the deviance / 2 */
    double loo;             /* -2 sum of the log densities of svmp_particles_loo */
    double loo_error;       /* its standard error, as a sum over the observations */
    double loo_parameters;  /* the effective number of parameters: what the observations gain by being there */
    size_t loo_beyond;      /* observations whose shape is above svmp_loo_limit */
} svmp_criteria;

/* Computes them from the variables of these particles. */
SVMP_API svmp_status svmp_particles_criteria(const svmp_particles *particles, svmp_criteria *criteria);

/* Leave-one-out cross-validation by Pareto-smoothed importance sampling (Vehtari et al. 2024). For each of the
 * variables log_lik.1, log_lik.2, ..., in their order: the log density of the observation given the others, and the
 * shape of the weights' tail, above svmp_loo_limit if the estimate cannot be trusted. NaN: a log likelihood is not
 * finite. */
SVMP_API svmp_status svmp_particles_loo(const svmp_particles *particles, double *density, double *shape);

/* The largest shape at which `count` draws suffice: 1 - 1/log10(count), at most 0.7. */
SVMP_API double svmp_loo_limit(size_t count);

/* The differences of one variable from a reference sample. A z is a difference divided by its standard error. The
 * standard error uses the effective sample size of chains and treats other particles as independent; for few particles,
 * z is the normal quantile that corresponds to Student's t. NaN with one particle. */
typedef struct svmp_difference {
    double mean, reference_mean;     /* E[x] */
    double square, reference_square; /* E[x^2] */
    double z_mean;
    double sd_ratio; /* sd over that of the reference; NaN if both are 0 */
    double z_sd;     /* of log sd */
    double z_low;    /* of the quantile 5 %: positive where it is above that of the reference */
    double z_high;   /* of the quantile 95 % */
} svmp_difference;

/* One row for each variable of the particles, in their order. Variables are matched by name. */
SVMP_API svmp_status svmp_particles_differences(const svmp_particles *particles, const svmp_particles *reference,
                                                svmp_difference *rows);

/* The limit that the largest of `count` values |z| exceeds by chance in 1 % of comparisons. */
SVMP_API double svmp_difference_limit(size_t count);

/* Whether the paths, separated by commas, are files with values of unknowns, as svmp_run_start_from_file takes them. */
SVMP_API int svmp_start_is_values(const char *paths);

/* The number of particles in a file. */
SVMP_API svmp_status svmp_particles_read_count(svmp_context *context, const char *path, size_t *count);

/* The comment lines above the header of the file from which the particles were read, without "# "; "" if none. */
SVMP_API const char *svmp_particles_comments(const svmp_particles *particles);

/* The approximate size in bytes of the file that svmp_particles_write would write, without comments and names. */
SVMP_API double svmp_particles_file_size(const svmp_particles *particles, const char *path);

/* Whether a NetCDF file ends in the checksum that svmp_particles_write adds and svmp_particles_read compares. Reading a
 * file without it can crash HDF5 if the file is damaged. 0 if the file cannot be read or this build has no NetCDF. */
SVMP_API int svmp_particles_file_sealed(const char *path);

/* ---- runs ----------------------------------------------------------------------------------- */

/* Lets the monitor receive `largest` of an iteration at most `iterations` before the last one, or NaN if none is known
 * yet. 0, the default: that of the last one. A GPU then need not wait for the host after each iteration. If the run
 * diverges, the monitor may have been called for some iterations after the one that failed; they are undone, and
 * svmp_run_iteration returns where the run ended. */
SVMP_API svmp_status svmp_run_set_lag(svmp_run *run, size_t iterations);

/* The expected number of iterations at the end of the run. For a method that stops by itself it is estimated from the
 * progress so far and may be lower than requested. */
SVMP_API size_t svmp_run_expected(const svmp_run *run);

/* The larger of ratio/limit and moment_z/moment_limit. Above 1 the node has not converged; with exact draws, some node
 * exceeds 1 in a few percent of samples. */
SVMP_API double svmp_discrepancy_excess(const svmp_discrepancy *discrepancy);

/* Like svmp_run_discrepancy; the run also records the total, so that svmp_run_particles returns the discrepancy as a
 * series. Both outputs may be NULL. May be called from the monitor. Collective. */
SVMP_API svmp_status svmp_run_measure(svmp_run *run, svmp_discrepancy *total, svmp_discrepancy *nodes);

/* How far the last iteration moved the particles. NaN before the first iteration and after the run has diverged. For a
 * part of a model: its own nodes. */
typedef struct svmp_movement {
    double largest;  /* the largest |displacement| */
    double relative; /* the same in standard deviations of the variable's particles; NaN: none is defined */
    size_t variable; /* the variable with the value `relative`; the first one if several have it */
} svmp_movement;

/* The movement of the last iteration. */
SVMP_API svmp_status svmp_run_last_movement(const svmp_run *run, svmp_movement *movement);

/* ---- verdicts ------------------------------------------------------------------------------- */

/* Like svmp_run_examine, but with local moves only, as with several processes: sums of variables are not tested, and
 * other modes are not searched for. The same bits for any number of processes. */
SVMP_API svmp_status svmp_run_examine_locally(const svmp_run *run, double seconds, size_t moves, svmp_verdict *verdict);

/* The limits for `chains` chains of `each` draws: R-hat at most *r_hat, and at least *draws effective draws. Either may
 * be NULL. */
SVMP_API void svmp_chains_limits(size_t chains, size_t each, double *r_hat, double *draws);

/* Adds a veto of the caller, one of the codes from SVMP_NOTE_DIVERGED on. An earlier veto is kept. */
SVMP_API void svmp_verdict_veto(svmp_verdict *verdict, svmp_code veto, double amount, const char *name);

/* The lines of a verdict in the record of a file, "verdict = ...", "verdict_text = ..." and so on (docs/files.md), as
 * the `comments` of svmp_particles_write. If `buffer` is too small, only whole lines are written; 8 KiB is enough. */
SVMP_API const char *svmp_verdict_record(const svmp_verdict *verdict, char *buffer, size_t size);

/* Adds the information that a file records about its run in its comments: the method and the start (needed for the
 * advice), how the run ended, and its veto, which takes precedence over any other. */
SVMP_API void svmp_verdict_recall(svmp_verdict *verdict, const char *comments);

/* A checksum of the names and values, by which a recorded verdict belongs to the numbers of its file: the line
 * "verdict_numbers = ..." has it as 16 hexadecimal digits. */
SVMP_API uint64_t svmp_particles_checksum(const svmp_particles *particles);

/* The advice in the comments of a file, in which svmp_verdict_record keeps it as notes: "" if there is none. */
SVMP_API const char *svmp_recorded_advice(const svmp_context *context, const char *comments, char *buffer, size_t size);

/* The word for an aspect in tables and files: "mean", "sd", "quantile", ... */
SVMP_API const char *svmp_aspect_word(svmp_aspect aspect);

/* Numbers of an examination. */
typedef struct svmp_examination {
    size_t particles, variables; /* that were examined */
    size_t leaves;               /* variables that are drawn after the run, and not examined */
    size_t moves;                /* of each particle; 0: not examined */
    double seconds;              /* of processor time */
    double limit;                /* for |z|, given the number of tests; NaN: unknown */
    size_t unmixed;              /* variables that have not mixed */
    double slowest; /* the largest share of variance between particles; a variable has mixed if it is at most 0.3 */
    size_t drifting, small; /* variables that fail, and those whose changes are too small to matter */
    int searched, local;    /* whether other modes were searched for, and whether only local moves were used */
    size_t chains, every;   /* of chains: how many, and every how many draws one is examined */
    double r_hat, draws;    /* of chains: the largest R-hat, and the fewest effective draws; NaN: unknown */
} svmp_examination;

/* Gets the numbers behind a verdict. */
SVMP_API svmp_status svmp_verdict_examination(const svmp_verdict *verdict, svmp_examination *numbers);

#ifdef __cplusplus
}
#endif
#endif
