/* svmp.h: Stein variational message passing for continuous graphical models.
 *
 * The only installed header. The way through it:
 *
 *     context -> model -> run -> particles -> summary, comparison, files
 *
 * Conventions
 *   - A function that can fail returns an svmp_status; the sentence that says what went wrong is
 *     svmp_context_error(). Results come out through the last pointers; what a failed call left
 *     there means nothing, except that objects are made whole or not at all.
 *   - Arrays are particle-fast: x[i*n + l] is variable i of particle l, so that a variable's
 *     particles are contiguous.
 *   - Objects are created by *_create or *_read, belong to the caller and end with *_free, which
 *     takes NULL. An object must not outlive the context (or, for a run, the model) it was made from.
 *   - Two threads may use different contexts at the same time, never the same one.
 */
#ifndef SVMP_H
#define SVMP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SVMP_API __attribute__((visibility("default")))
#else
#define SVMP_API
#endif

/* ---- status: did the call work? ------------------------------------------------------------- */

#define SVMP_STATUS_LIST(X)                                                                                            \
    X(OK, "done")                                                                                                      \
    X(NO_MEMORY, "out of memory")                                                                                      \
    X(BAD_CALL, "the call was wrong: a NULL, a size, an option")                                                       \
    X(BAD_INPUT, "a file or the data in it was wrong")                                                                 \
    X(CANNOT_READ, "a file could not be read")                                                                         \
    X(CANNOT_WRITE, "a file could not be written")                                                                     \
    X(UNSUPPORTED, "the method does not apply to the model, or was left out of this build")                            \
    X(NOT_POSITIVE_DEFINITE, "a precision matrix is not positive definite")                                            \
    X(NOT_FINITE, "the score or the particles are no longer finite")                                                   \
    X(CALLBACK_FAILED, "a function given by the caller reported failure")

typedef enum svmp_status {
#define SVMP_STATUS_ROW(name, text) SVMP_##name,
    SVMP_STATUS_LIST(SVMP_STATUS_ROW)
#undef SVMP_STATUS_ROW
} svmp_status;

/* The text of a status; a constant string, never NULL. */
SVMP_API const char *svmp_status_text(svmp_status status);

/* "0.1.0", and one line "part: yes|no, why" for each optional part of this build. */
SVMP_API const char *svmp_version(void);
SVMP_API const char *svmp_build_parts(void);

/* ---- context: who allocates, who listens, how many threads ---------------------------------- */

typedef struct svmp_context svmp_context;

typedef enum svmp_log_level { SVMP_LOG_DEBUG, SVMP_LOG_INFO, SVMP_LOG_WARNING } svmp_log_level;

/* All three are given or none. `allocate` returns zeroed memory, like calloc(1, size); `resize` follows realloc. */
typedef struct svmp_allocator {
    void *(*allocate)(size_t size, void *user_data);
    void *(*resize)(void *pointer, size_t size, void *user_data);
    void (*release)(void *pointer, void *user_data);
    void *user_data;
} svmp_allocator;

typedef struct svmp_context_options {
    int threads;                                                             /* 0: as many as OpenMP offers */
    void (*log)(svmp_log_level level, const char *message, void *user_data); /* NULL: silence */
    void (*error)(svmp_status status, const char *message, void *user_data); /* NULL: svmp_context_error only */
    void *user_data;                                                         /* for log and error */
    svmp_allocator allocator;                                                /* zeros: malloc, realloc, free */
} svmp_context_options;

SVMP_API svmp_context_options svmp_context_options_default(void);

/* `options` may be NULL: the defaults. The options are copied. */
SVMP_API svmp_status svmp_context_create(const svmp_context_options *options, svmp_context **context);
SVMP_API void svmp_context_free(svmp_context *context);

/* The last error as a full sentence, "" before the first one. Valid until the next call. */
SVMP_API const char *svmp_context_error(const svmp_context *context);

/* ---- processes: several of them on one model, docs/distributed.md ----------------------------- */

/* What mpirun, or another launcher, has left in the environment; MPI is not asked. */
typedef struct svmp_launch {
    size_t processes; /* that it says it has started; 0: there is no launcher */
    size_t process;   /* which of them this is, counted from 0 */
    double grace;     /* seconds between its SIGTERM and its SIGKILL */
    const char *name; /* "mpirun", "mpiexec" or "srun"; NULL: there is none */
    int connects;     /* whether it has left what MPI needs to bring them together */
} svmp_launch;

SVMP_API svmp_launch svmp_launched(void);

/* Joins the other processes that mpirun has started, so that they work on one model together: svmp_model_read_split
 * leaves each with its own part of it, and what follows is called by all of them alike. Where mpirun started none, or
 * one, nothing changes. Fails unless all are of one version, with C libraries that round alike, and where several were
 * started but would not find each other: by a launcher of another MPI, by srun without MPI, or of a build without it.
 * The processes part when the context is freed; another one may join then, or at the same time, as long as all of them
 * do it in the same order and from one thread. MPI is started unless the program has started it (for threads:
 * MPI_Init_thread, MPI_THREAD_FUNNELED), and then ends with the program. A program that ends before its context is
 * freed is taken for one that failed: the launcher ends the other processes too. Where neither the context's options
 * nor OMP_NUM_THREADS give a number of threads, processes that may run on the same processors share these. */
SVMP_API svmp_status svmp_context_join(svmp_context *context);

/* Which process this is, counted from 0, and how many there are; 0 and 1 where there is one. */
SVMP_API size_t svmp_context_process(const svmp_context *context);
SVMP_API size_t svmp_context_processes(const svmp_context *context);

/* The bits that any process has set, of the lowest eight. For all processes to call. */
SVMP_API unsigned svmp_context_any(const svmp_context *context, unsigned bits);

/* Fails on all of them with SVMP_BAD_INPUT, "The processes disagree on {what}: ...", which names the first that differs
 * and where it runs, unless all say `mine` alike. For all processes to call. */
SVMP_API svmp_status svmp_context_compare(svmp_context *context, const char *what, const char *mine);

/* `size` bytes of every process, in their order, on all of them. For all processes to call. */
SVMP_API void svmp_context_gather(const svmp_context *context, size_t size, const void *mine, void *all);

/* ---- graph: read-only, derived from the model's factors ------------------------------------- */

typedef struct svmp_graph svmp_graph;

SVMP_API size_t svmp_graph_nodes(const svmp_graph *graph);
SVMP_API size_t svmp_graph_variables(const svmp_graph *graph);
SVMP_API size_t svmp_graph_factors(const svmp_graph *graph);

/* The variables of a node are first ... first + dimension - 1. */
SVMP_API size_t svmp_graph_node_first(const svmp_graph *graph, size_t node);
SVMP_API size_t svmp_graph_node_dimension(const svmp_graph *graph, size_t node);

/* The closed neighbourhood of a node, the Markov blanket and the node itself, as ascending nodes. */
SVMP_API const uint32_t *svmp_graph_neighbourhood(const svmp_graph *graph, size_t node, size_t *count);

/* Of a part (svmp_model_split): how many nodes are its own, the first ones, and which node of the whole a node is, or
 * which variable a variable. Of a whole graph: all, and the same. Neighbourhoods are known of own nodes, in the order
 * of the whole. */
SVMP_API size_t svmp_graph_own(const svmp_graph *graph);
SVMP_API size_t svmp_graph_node_in_whole(const svmp_graph *graph, size_t node);
SVMP_API size_t svmp_graph_variable_in_whole(const svmp_graph *graph, size_t variable);

/* A number for each own node, in the order of the whole graph in `whole` of the first process, which has room for one
 * of each node of all; in others it may be NULL. Of a whole graph: a copy. For all processes to call. */
SVMP_API svmp_status svmp_graph_collect(const svmp_graph *graph, const double *own, double *whole);

/* How many different closed neighbourhoods there are: nodes with equal ones share a kernel matrix. */
SVMP_API size_t svmp_graph_distinct_neighbourhoods(const svmp_graph *graph);

/* ---- model: nodes and factors, p(x) proportional to exp(sum of factors) --------------------- */

typedef struct svmp_model svmp_model;

SVMP_API svmp_status svmp_model_create(svmp_context *context, svmp_model **model);
SVMP_API void svmp_model_free(svmp_model *model);

/* Reads a model from files, told apart by their endings. Now: a Gaussian Markov random field as one
 * Matrix Market file (the precision, coordinate or array, symmetric or general) and optionally a
 * second one (the vector b of exp(b'x - x'Ax/2), zero when left out). Or a text in the model language (.bug, .jags,
 * .txt) and any number of data files (.json, .csv, .R, .txt, .dump): then each error in them is told to the context's
 * error callback, and the first one stays as svmp_context_error. The model comes finished. */
SVMP_API svmp_status svmp_model_read(svmp_context *context, size_t count, const char *const *paths, svmp_model **model);

/* The same, and deterministic nodes of a model text are reported, too: `monitors` are their names with commas between,
 * "sigma,mu", or NULL. svmp_run_particles computes their elements from each particle and has them behind the unknowns.
 * A name of unknowns is allowed, and adds only those elements that are computed. */
SVMP_API svmp_status svmp_model_read_monitoring(svmp_context *context, size_t count, const char *const *paths,
                                                const char *monitors, svmp_model **model);

/* How a model text is read. */
typedef struct svmp_reading {
    const char *monitors;    /* as above, or NULL */
    const char *coordinates; /* "centred" (also NULL), "noncentred", "auto", or a number from 0 to 1: see below */
} svmp_reading;

/* The same, and says what particles move in where a node's prior is a location-scale family (dnorm, dlnorm, dt, dlogis,
 * ddexp) whose location m or scale s depends on other unknowns: the node u itself ("centred"), z = (u - m)/s
 * ("noncentred"), or what is between them for a centring c from 0 to 1: u = m + s^(1 - c) (z - c m). "auto" chooses a c
 * for each node from what the data and the prior say of it (docs/coordinates.md). All that is reported stays on the
 * scale of the text. `how` NULL: nothing is monitored, all is centred. */
SVMP_API svmp_status svmp_model_read_as(svmp_context *context, size_t count, const char *const *paths,
                                        const svmp_reading *how, svmp_model **model);

/* The centring of a node: 1, or what was chosen; NaN where there is no choice, of a node of another kind. */
SVMP_API double svmp_model_centring(const svmp_model *model, size_t node);

/* Whether a variable of that name, "sigma" or "mu.3", follows from others: it is of an array that a model text
 * computes, monitored or not, or is drawn after the run. */
SVMP_API int svmp_model_computes(const svmp_model *model, const char *name);

/* A node of `dimension` variables. `name` NULL: called x.1, x.2, ... after its place. A node of more
 * than one variable has variables name.1, name.2, ... `lower` and `upper` (dimension numbers each, or
 * NULL) are a box that every step is projected onto; infinite bounds are allowed. Everything is copied. */
SVMP_API svmp_status svmp_model_add_node(svmp_model *model, const char *name, size_t dimension, const double *lower,
                                         const double *upper, size_t *node);

/* A linear-quadratic factor b'x - x'Ax/2 over the k variables of the nodes, in the order of the nodes.
 * `precision` is A, k*k numbers, symmetric; `linear` is b, k numbers; either may be NULL: zeros. */
SVMP_API svmp_status svmp_model_add_gaussian(svmp_model *model, size_t count, const size_t *nodes,
                                             const double *precision, const double *linear);

/* A factor's log value and gradient for n particles at once. x[k][l] is variable k of the scope in
 * particle l, the variables in the order of the nodes given to svmp_model_add_callback. It fills
 * value[l] and gradient[k][l] = d value[l] / d x[k][l], and returns 0, or anything else to end the run.
 * Different factors are called from different threads at the same time, and for the chains of NUTS the same one
 * too (unless the context has one thread). */
typedef int (*svmp_factor_function)(size_t n, const double *const *x, double *value, double *const *gradient,
                                    void *user_data);

SVMP_API svmp_status svmp_model_add_callback(svmp_model *model, size_t count, const size_t *nodes,
                                             svmp_factor_function function, void *user_data);

/* Derives the graph. Afterwards the model is fixed: it can be evaluated and run, not added to. */
SVMP_API svmp_status svmp_model_finish(svmp_model *model);

/* Gives a variable a box, also after the model was finished or read, but before it is split and before a
 * run is made of it. Not for variables that a model text has transformed: those have bounds of their own. */
SVMP_API svmp_status svmp_model_set_box(svmp_model *model, size_t variable, double lower, double upper);

/* NULL before svmp_model_finish. */
SVMP_API const svmp_graph *svmp_model_graph(const svmp_model *model);

/* Leaves every process of the context with its part of a finished model: its own nodes, those that they read (the
 * halo), and the factors that touch its own nodes. *model is freed and replaced. Fails on all of them where models
 * differ. Of a context with one process the model stays as it is. The graph of a part has its own nodes first, then
 * those of the halo, and no factors; a run moves its own nodes to the same bits as a run of the whole would. */
typedef struct svmp_split {
    size_t processes, busy;            /* how many, and those that have nodes */
    size_t nodes, own, halo, boundary; /* nodes of the whole; of this process: its own, what it reads of others, and
                                        * those of its own that others read */
    double imbalance;                  /* the most work of a process over the mean work, less 1 */
    size_t cut, edges;                 /* pairs of neighbours in different processes, of all */
} svmp_split;

SVMP_API svmp_status svmp_model_split(svmp_model **model, svmp_split *split);

/* svmp_model_read_monitoring and svmp_model_split at once: no process ever has the whole model. The first one reads the
 * graph, to cut it; then each reads the files for what its own nodes need. Fails on all of them where files differ.
 * `split` may be NULL. */
SVMP_API svmp_status svmp_model_read_split(svmp_context *context, size_t count, const char *const *paths,
                                           const char *monitors, svmp_model **model, svmp_split *split);

/* The same as svmp_model_read_as and svmp_model_split. For "auto" the first process reads the whole model. */
SVMP_API svmp_status svmp_model_read_split_as(svmp_context *context, size_t count, const char *const *paths,
                                              const svmp_reading *how, svmp_model **model, svmp_split *split);

/* Writes the name of a variable or a node, cut to fit `size`, always ended; returns `buffer`. */
SVMP_API const char *svmp_model_variable_name(const svmp_model *model, size_t variable, char *buffer, size_t size);
SVMP_API const char *svmp_model_node_name(const svmp_model *model, size_t node, char *buffer, size_t size);

/* Whether the model is jointly Gaussian as written: linear-quadratic factors only, no boxes, no bounded
 * nodes. */
SVMP_API int svmp_model_is_gaussian(const svmp_model *model);

/* How many observed values of stochastic nodes there are: of a model text, 0 for others. */
SVMP_API size_t svmp_model_observed(const svmp_model *model);

/* What a model text leaves unknown, what its data observe and what it computes from unknowns, array by array in the
 * order of the text: the smallest ranges that hold all such elements, "mu[1:8]", with how many there are if not all of
 * the ranges, "y[1:10] (7 of 10)"; NULL when there is none. False for `which` beyond the last array; a model that is no
 * text has none. The texts live as long as the model. */
typedef struct svmp_array {
    const char *unknown, *observed, *computed;
    size_t unknown_count, observed_count;
    const char *name;         /* "y" */
    size_t rank;              /* how many dimensions, at least 1 */
    const size_t *dimensions; /* of the whole array, */
    const double *values;     /* and its observed elements, NaN elsewhere, the last index running fastest; NULL: none */
    const double *known; /* where a part of it is known, that part: observed, given or constant; NULL: all or none */
    const char *drawn;   /* leaves: unknown, but nothing observed depends on them. They are drawn after the run, */
    size_t drawn_count;  /* and are not among the unknown ones above */
} svmp_array;

SVMP_API int svmp_model_array(const svmp_model *model, size_t which, svmp_array *array);

/* log p up to a constant for n particles, and the score s = d log p / dx; either result may be NULL.
 * Costs one evaluation of every factor. The sums have a fixed order: the same bits for any threads. */
SVMP_API svmp_status svmp_model_evaluate(const svmp_model *model, size_t n, const double *x, double *log_density,
                                         double *score);

/* Mean and marginal variances of a Gaussian model, a whole one, by sparse Cholesky; either may be NULL. */
SVMP_API svmp_status svmp_model_exact_moments(const svmp_model *model, double *mean, double *variance);

/* The graph as text: the factor graph for Graphviz, or nodes, factors and blankets as JSON. */
typedef enum svmp_graph_format { SVMP_GRAPH_DOT, SVMP_GRAPH_JSON } svmp_graph_format;
SVMP_API svmp_status svmp_model_write_graph(const svmp_model *model, svmp_graph_format format, FILE *file);

/* The same to a file that is written beside and renamed; an existing one is an error unless `overwrite`. */
SVMP_API svmp_status svmp_model_save_graph(const svmp_model *model, svmp_graph_format format, const char *path,
                                           int overwrite);

/* ---- files ---------------------------------------------------------------------------------- */

/* Writes a file as svmp_particles_write does: beside its place, and renamed when it is whole and on the disk. An
 * existing file is an error unless `overwrite`. */
SVMP_API svmp_status svmp_file_write(svmp_context *context, const char *path, const void *bytes, size_t size,
                                     int overwrite);

/* ---- particles: a sample with names --------------------------------------------------------- */

typedef struct svmp_particles svmp_particles;

/* `values` is copied, variables*count numbers, or NULL: zeros. Variables are named x.1, x.2, ... */
SVMP_API svmp_status svmp_particles_create(svmp_context *context, size_t variables, size_t count, const double *values,
                                           svmp_particles **particles);
SVMP_API void svmp_particles_free(svmp_particles *particles);

/* How many variables; and how many there are of all processes, where these are the particles of one process's nodes
 * (svmp_model_split). Writing them is for all processes to call, and makes one file, which the first one writes from
 * what it is sent a few particles at a time. */
SVMP_API size_t svmp_particles_variables(const svmp_particles *particles);
SVMP_API size_t svmp_particles_whole(const svmp_particles *particles);

/* New particles with the first variables of all processes, at most `most` of them; the same on each. No statistics. For
 * all processes to call. */
SVMP_API svmp_status svmp_particles_first(const svmp_particles *particles, size_t most, svmp_particles **first);
SVMP_API size_t svmp_particles_count(const svmp_particles *particles);
SVMP_API double *svmp_particles_values(svmp_particles *particles);
SVMP_API const char *svmp_particles_name(const svmp_particles *particles, size_t variable);
SVMP_API svmp_status svmp_particles_set_name(svmp_particles *particles, size_t variable, const char *name);

/* The draws of several chains stand one chain after the other, equally many of each: particle l is of
 * chain l / (count / chains). Particles that are no chains' draws are one chain. */
SVMP_API size_t svmp_particles_chains(const svmp_particles *particles);
SVMP_API svmp_status svmp_particles_set_chains(svmp_particles *particles, size_t chains);

/* Statistics: numbers beside the variables, one a particle, whose names end in two underscores as in Stan's
 * files: lp__ (the log density), and of a sampler accept_stat__, stepsize__, treedepth__, n_leapfrog__,
 * divergent__ and energy__. Values that are not finite are allowed. Setting copies the values, `count` of them,
 * and replaces those of the same name; getting by name returns NULL when there are none. */
SVMP_API size_t svmp_particles_statistics(const svmp_particles *particles);
SVMP_API const char *svmp_particles_statistic_name(const svmp_particles *particles, size_t statistic);
SVMP_API const double *svmp_particles_statistic(const svmp_particles *particles, const char *name);
SVMP_API svmp_status svmp_particles_set_statistic(svmp_particles *particles, const char *name, const double *values);

/* Series: numbers that particles carry along something else than themselves, as along the iterations of the run that
 * made them: "largest_phi" along "iteration". The series whose name is what it runs along has the coordinates; all
 * series along it are as long. Names are at most 63 letters, digits and underscores, but not "chain" and "draw", which
 * particles themselves run along; values that are not finite are allowed. Setting copies the values, and replaces those
 * of the same name. Getting is false for `which` beyond the last one. */
typedef struct svmp_series {
    const char *name, *along;
    size_t count;
    const double *values;
} svmp_series;

SVMP_API int svmp_particles_series(const svmp_particles *particles, size_t which, svmp_series *series);
SVMP_API svmp_status svmp_particles_set_series(svmp_particles *particles, const char *name, const char *along,
                                               size_t count, const double *values);

/* New particles with some of the variables (`count` of them, in this order; `variables` NULL: all) and of each chain
 * every `every`-th draw: the last of each so many. Statistics, series and chains go along, and how many draws there
 * were, how many diverged or were deepest, and the E-BFMI (svmp_particles_sampling). Of several processes, for
 * all to call, each with its own variables, and there need not be any; they stay in the order of the whole. */
SVMP_API svmp_status svmp_particles_select(const svmp_particles *particles, size_t count, const size_t *variables,
                                           size_t every, svmp_particles **chosen);

/* New particles: the draws of one chain, counted from 0, with its statistics and the series. */
SVMP_API svmp_status svmp_particles_chain(const svmp_particles *particles, size_t chain, svmp_particles **draws);

/* New particles: the draws of several samples, as of one with all their chains; variables are matched by name, and
 * chains must be equally long; two samples with the same chain, draw for draw, are refused. Statistics that all have
 * go along; the rest, comments too, is of the first. */
SVMP_API svmp_status svmp_particles_join(size_t count, const svmp_particles *const *parts, svmp_particles **joined);

/* Stan CSV: comment lines, a header, a row a particle; statistics first, among them chain__ (1, 2, ...) where
 * there are several chains. Names have dots before indices alone, and arrays are whole, for the sake of Stan's tools:
 * docs/files.md; comment lines tell what that takes, and reading undoes it. On reading, chain__ gives the chains back,
 * and a column ending in two underscores that holds other things than numbers is skipped. A series is a comment line
 * "name[along] = 1 2 3". Numbers read back to the same bits. A path that ends in .nc is NetCDF-4 instead, in the layout
 * of ArviZ's InferenceData: the variables x.1.1, x.1.2, ... are an array x with the dimensions chain, draw, x_dim_0 and
 * x_dim_1, where they fill one; statistics and series are in sample_stats, and the data that a run's model text has
 * observed in observed_data. SVMP_UNSUPPORTED in a build without it. */
SVMP_API svmp_status svmp_particles_read(svmp_context *context, const char *path, svmp_particles **particles);

/* How many particles a file holds. */
SVMP_API svmp_status svmp_particles_read_count(svmp_context *context, const char *path, size_t *count);

/* The comment lines above the header of the file that the particles were read from, without "# "; "" for none. */
SVMP_API const char *svmp_particles_comments(const svmp_particles *particles);

/* Written beside and renamed: there is never half a file. `comments`: text of whole lines, or NULL; in NetCDF, those
 * of the form "name = value" are attributes.
 * An existing file is an error unless `overwrite`. For all processes to call; several write CSV alone. */
SVMP_API svmp_status svmp_particles_write(const svmp_particles *particles, const char *path, const char *comments,
                                          int overwrite);

/* About how many bytes that takes, but for comments and names. */
SVMP_API double svmp_particles_file_size(const svmp_particles *particles, const char *path);

typedef struct svmp_moments {
    double mean, sd, q05, q50, q95; /* sd divides by n - 1; it is 0 for one particle */
} svmp_moments;

SVMP_API svmp_status svmp_particles_moments(const svmp_particles *particles, size_t variable, svmp_moments *moments);

/* How well chains have mixed (Vehtari and others, 2021): rank-normalised split R-hat, the effective draws in the bulk
 * and in the tails, and the Monte Carlo standard errors of the moments. NaN when nothing varies or a draw is not
 * finite, with fewer than 6 draws a chain, and where particles are no chains' draws; the error of a quantile also when
 * no draw is beyond it. */
typedef struct svmp_mixing {
    double r_hat, bulk_draws, tail_draws;
    svmp_moments error;
} svmp_mixing;

/* Whether the particles are the draws of chains, one after the other: there are several chains, or n_leapfrog__. */
SVMP_API int svmp_particles_are_chains(const svmp_particles *particles);

/* Moments and mixing of `count` variables, or of the first ones when `variables` is NULL; either result may be NULL.
 * All threads share the work. */
SVMP_API svmp_status svmp_particles_summarise(const svmp_particles *particles, size_t count, const size_t *variables,
                                              svmp_moments *moments, svmp_mixing *mixing);

/* What a sampler's statistics say of its draws. A mean is NaN, a count 0 where the particles lack the statistic. */
typedef struct svmp_sampling {
    size_t chains, draws; /* draws of each chain */
    size_t trajectories;  /* of all chains: what the counts and ebfmi below are of. Thinned draws keep those of all */
    double acceptance;    /* mean of accept_stat__ */
    double leapfrogs;     /* mean of n_leapfrog__: evaluations of the score for one draw */
    size_t divergent;     /* draws whose trajectory diverged: the energy was off by more than 1000 */
    size_t deepest;       /* draws whose trajectory was cut off at depth 10, 1,023 leapfrog steps */
    double ebfmi;         /* the smallest over chains of sum (E_t - E_t-1)^2 / sum (E_t - mean E)^2, energy__ */
    size_t ebfmi_chain;   /* the chain of that, counted from 0 */
} svmp_sampling;

SVMP_API svmp_status svmp_particles_sampling(const svmp_particles *particles, svmp_sampling *sampling);

typedef struct svmp_comparison {
    double mse_mean;   /* mean over variables of (E[x] - E_ref[x])^2 */
    double mse_square; /* the same for E[x^2] */
    double mmd; /* biased RBF MMD, bandwidth med^2 on at most 1,000 points of the reference; NaN: there is none */
} svmp_comparison;

/* Variables are matched by name; different sets are an error that names the differences. */
SVMP_API svmp_status svmp_particles_compare(const svmp_particles *particles, const svmp_particles *reference,
                                            svmp_comparison *comparison);

/* The differences of one variable. A z is a difference over its standard error: that of chains from their effective
 * draws, that of other particles as if they were independent, sd/sqrt(n); of few particles it is the normal z that is
 * as far out as Student's t. NaN with one particle. */
typedef struct svmp_difference {
    double mean, reference_mean;     /* E[x] */
    double square, reference_square; /* E[x^2] */
    double z_mean;
    double sd_ratio; /* sd over that of the reference; NaN when both are 0 */
    double z_sd;     /* of log sd */
} svmp_difference;

/* One row for each variable of the particles, in their order. */
SVMP_API svmp_status svmp_particles_differences(const svmp_particles *particles, const svmp_particles *reference,
                                                svmp_difference *rows);

/* The |z| that chance exceeds somewhere among `count` of them once in a hundred comparisons. */
SVMP_API double svmp_difference_limit(size_t count);

/* ---- a start for models of distances -------------------------------------------------------- */

/* Points of which some are known, and measured distances between some of them. */
typedef struct svmp_ranges {
    size_t points, dimension; /* 1 to 3 dimensions */
    const double *known;      /* points*dimension, point by point; NaN where a point is not known */
    size_t count;
    const size_t *from, *to; /* points, counted from 0 */
    const double *range;
} svmp_ranges;

/* Where the points may be, from the distances alone, points*dimension numbers: shortest paths stand for what was not
 * measured, classical multidimensional scaling makes a map, and the similarity that is nearest to the known points lays
 * it onto them (known points stay where they are). A start, not an estimate: paths are longer than the crow flies.
 * SVMP_BAD_INPUT: a point that no chain of ranges joins to the others, or known points that do not fix the map. Takes
 * time of the cube of the points: a hundredth of a second for a hundred. */
SVMP_API svmp_status svmp_localise(svmp_context *context, const svmp_ranges *ranges, double *positions);

/* ---- run ------------------------------------------------------------------------------------ */

#define SVMP_METHODS_OWN SIZE_MAX

typedef struct svmp_run_options {
    const char *method;    /* "graphical", "vanilla", "independent", "random", "combined", "langevin", "mala", "nuts",
                            * "exact", "dpmp", "tpmp" */
    const char *kernel;    /* a sum of terms "0.5*rbf@random:4 + 0.5*rbf@all"; NULL: the method's own */
    const char *bandwidth; /* "median", "median-log", "median-zeros" or a number, for terms that name none */
    const char *step;      /* "rule:rate" or "rule:from..to"; NULL: the method's own */
    const char *init;      /* "normal:SD", "uniform:A,B", "map" or, for models of the language, "prior" */
    const char *backend;   /* "cpu" (also "cpu-baseline", "cpu-avx2", "cpu-avx512"), or "ref": plain loops, slow */
    size_t particles;
    size_t iterations; /* SVMP_METHODS_OWN: as many as the method does when nothing is said */
    double tolerance;  /* stop when the largest |phi| is at most this; 0: never */
    uint64_t seed;
    size_t chains; /* of samplers, in place of particles and iterations: chains, and for each of them the */
    size_t warmup; /* iterations that adapt and are thrown away, */
    size_t draws;  /* and those that are kept; */
    double accept; /* the mean acceptance that their steps adapt to, in (0, 1): nearer 1, smaller steps */
} svmp_run_options;

SVMP_API svmp_run_options svmp_run_options_default(void);

/* One row for each field above, from which a command line, its help and a run's record can be made. */
typedef struct svmp_option {
    const char *name;     /* "particles" */
    char letter;          /* 'n', or 0 */
    const char *argument; /* "N", for the help; NULL: a flag */
    const char *standard; /* the default, as text; NULL: the method decides */
    const char *help;
    const char *group; /* heading in the help */
} svmp_option;

SVMP_API const svmp_option *svmp_run_option_table(size_t *count);

/* Sets a field by its name; the text is checked against the option's bounds. Strings are not copied. */
SVMP_API svmp_status svmp_run_options_set(svmp_context *context, svmp_run_options *options, const char *name,
                                          const char *value);

/* What a method's particles are. */
typedef enum svmp_yield {
    SVMP_PARTICLES, /* on their way to the posterior: whether they have arrived, svmp_run_discrepancy says */
    SVMP_CHAINS, /* the draws of --chains chains: the run takes chains, warmup and draws, not particles, iterations */
    SVMP_DRAWS,  /* independent draws from the posterior, by one iteration */
    SVMP_MODES   /* they stand for modes, and are no sample of the posterior */
} svmp_yield;

typedef struct svmp_method {
    const char *name;
    const char *largest; /* what svmp_progress.largest is of: "|phi|", ...; NULL: there is none, it is NaN */
    svmp_yield yield;
    int parts; /* several processes can run it, each with a part of the model */
} svmp_method;

/* SVMP_BAD_CALL, with an error that lists the names, when there is none of that name. */
SVMP_API svmp_status svmp_method_describe(svmp_context *context, const char *name, svmp_method *method);

/* How a run ended: another question than whether the call worked. */
#define SVMP_OUTCOME_LIST(X)                                                                                           \
    X(UNFINISHED, "not at its end")                                                                                    \
    X(COMPLETED, "all iterations done")                                                                                \
    X(CONVERGED, "the largest |phi| fell below the tolerance")                                                         \
    X(STOPPED, "stopped by the monitor")                                                                               \
    X(DIVERGED, "the particles ran away")

typedef enum svmp_outcome {
#define SVMP_OUTCOME_ROW(name, text) SVMP_##name,
    SVMP_OUTCOME_LIST(SVMP_OUTCOME_ROW)
#undef SVMP_OUTCOME_ROW
} svmp_outcome;

SVMP_API const char *svmp_outcome_text(svmp_outcome outcome);

typedef struct svmp_run svmp_run;

typedef struct svmp_progress {
    size_t iteration, iterations; /* iterations done, and asked for */
    double largest;               /* of the last iteration: |phi|, or what the method has in its place (svmp_method) */
    double rate;                  /* the step size it used */
    size_t divergences;           /* of a sampler's draws so far: trajectories that diverged */
} svmp_progress;

/* Called after each iteration; anything but 0 stops the run there. Of several processes each may have a monitor of its
 * own, or none: where one stops, after that iteration all do, with the same outcome. What all must call alike, as
 * svmp_run_save, a monitor calls by the iteration, not by a clock: there it stops the run, and all go on behind the
 * call. */
typedef int (*svmp_monitor)(const svmp_progress *progress, void *user_data);

/* All that a run allocates is allocated here. Options and their strings are copied. A run of a part of a model is made,
 * started, iterated, saved, loaded, measured, asked for its particles and freed by all processes alike, which get the
 * same status and error; its settings, iteration and last movement each process asks for by itself. */
SVMP_API svmp_status svmp_run_create(const svmp_model *model, const svmp_run_options *options, svmp_run **run);
SVMP_API void svmp_run_free(svmp_run *run);

/* Starts from these particles instead of drawing them: matched by name; the count must be the run's. Several processes
 * are given the same ones, or those of a run of theirs, of which each has its own part. */
SVMP_API svmp_status svmp_run_start_from(svmp_run *run, const svmp_particles *particles);

/* The same from a particle file. Of several processes each reads it for its own variables, unless it ends in .nc; all
 * must have the same file. */
SVMP_API svmp_status svmp_run_start_from_file(svmp_run *run, const char *path);
SVMP_API svmp_status svmp_run_set_monitor(svmp_run *run, svmp_monitor monitor, void *user_data);

/* Iterates to the end. SVMP_NOT_FINITE: the run diverged, and holds its last finite particles. May be
 * called again after SVMP_STOPPED, to go on. For all processes to call. */
SVMP_API svmp_status svmp_run_go(svmp_run *run, svmp_outcome *outcome);

/* A checkpoint: the run as it stands, from which another run of the same model, options and start, of the same
 * version of svmp, goes on to the same bits as if there had been no break. Saved beside and renamed, with a checksum: a
 * checkpoint of that path is replaced by a whole one or stays. May be called from the monitor. For all processes to
 * call; the first one writes. */
SVMP_API svmp_status svmp_run_save(svmp_run *run, const char *path);

/* Goes to where the saved run stood; only before the first iteration. A checkpoint of another model, version, start or
 * option is refused with the difference named; only the iterations (of samplers: the draws) may be more than they
 * were, unless the step falls along them. What a function computes is told by its values at fixed points. For all
 * processes to call; the first one reads. */
SVMP_API svmp_status svmp_run_load(svmp_run *run, const char *path);

/* Iterations done, and asked for. */
SVMP_API size_t svmp_run_iteration(const svmp_run *run);
SVMP_API size_t svmp_run_iterations(const svmp_run *run);

/* The kernelised Stein discrepancy of particles, with the kernel of the run: the mean of the Stein kernel over all
 * pairs, V, and over pairs of different particles, U. V is the squared norm of the velocity field phi; U is unbiased, 0
 * on average for exact draws. `ratio` is V over its expectation for as many exact draws: 1 is as good as those, less is
 * better. `moment_z` is how many standard errors the particles are from Stein's identities E[s] = 0 and
 * E[s (x - mean)] = -1, which tell a shift and a wrong spread where a kernel may not. A node with one of them beyond
 * its limit has not converged; of exact draws, a node or more is in a few samples of a hundred. docs/diagnostics.md has
 * the formulas. `bandwidth` is that of the kernel's first term that has one, at the node; of the whole, the mean over
 * nodes. */
typedef struct svmp_discrepancy {
    double u, v, ratio, limit, moment_z, moment_limit; /* NaN, all but v, for one particle */
    double bandwidth;                                  /* NaN: no term has one */
} svmp_discrepancy;

/* The larger one of ratio/limit and moment_z/moment_limit: above 1, the node has not converged. */
SVMP_API double svmp_discrepancy_excess(const svmp_discrepancy *discrepancy);

/* Of the particles as they are now: the whole, and for every (own) node of the graph its own share (`nodes`, or NULL).
 * A method without a kernel is measured with rbf@blanket, on its first 1,000 particles. Costs about three iterations of
 * a method with that kernel. SVMP_UNSUPPORTED: a method that does not move its particles towards the posterior. For all
 * processes to call; the whole is the same on each. */
SVMP_API svmp_status svmp_run_discrepancy(const svmp_run *run, svmp_discrepancy *total, svmp_discrepancy *nodes);

/* The same, and the run remembers the total as part of its way: a monitor that calls it now and then draws the curve of
 * the discrepancy. Both results may be NULL. For all processes to call. */
SVMP_API svmp_status svmp_run_measure(svmp_run *run, svmp_discrepancy *total, svmp_discrepancy *nodes);

/* What an option came to be in this run, as text: what was said, or what stands for it where nothing was ("rbf@blanket"
 * for the kernel, "adagrad:1" for the step, "cpu-avx2" for the backend); also "threads". NULL: the run has no such
 * thing. Written to `buffer`, cut to fit `size`, always ended. */
SVMP_API const char *svmp_run_setting(const svmp_run *run, const char *option, char *buffer, size_t size);

/* How far the last iteration moved the particles: the largest |displacement|, and the largest in units of the
 * standard deviation of its variable's particles, with that variable, the first of the whole model's. NaN before the
 * first iteration, when the run has diverged, and the second one where no variable has a standard deviation. Of a part
 * of a model: of its own nodes. */
typedef struct svmp_movement {
    double largest, relative;
    size_t variable;
} svmp_movement;

SVMP_API svmp_movement svmp_run_last_movement(const svmp_run *run);

/* The particles as they are now, with the model's names and lp__; the caller's to free. Leaves of a model text, unknown
 * nodes that nothing observed depends on, are drawn given the others, keyed by the run's seed; lp__ is without them.
 * Series tell the way the run has come: largest_phi (or largest_score, largest_change: svmp_method) and step_size along
 * iteration, at most 256 of them evenly spaced and the last one; ksd (the V of the discrepancy), ksd_ratio and
 * bandwidth along measured, the iterations at which svmp_run_measure was called. Of a sampler: the draws made so far,
 * chain after chain, or where the chains are when there are none yet. Those of "dpmp" and "tpmp" stand for modes and
 * are no sample of the posterior: particle l is the l-th choice of every node by itself, the first one the best. For
 * all processes to call: each gets the variables of its own nodes, of which there may be none. */
SVMP_API svmp_status svmp_run_particles(const svmp_run *run, svmp_particles **particles);

/* ---- plan: what several processes would do, on paper ------------------------------------------ */

/* A network: seconds until a message arrives, and bytes a second that a process sends and receives. */
typedef struct svmp_network {
    double latency, bandwidth;
} svmp_network;

/* What one process has and does in an iteration; of all processes, the most or the mean. */
typedef struct svmp_load {
    double nodes, halo, boundary; /* its own, those it reads of others, those of its own that others read */
    double neighbours;            /* processes that it exchanges with */
    double bytes;                 /* that it sends in an iteration */
    double memory;                /* bytes at their highest: its part of the model, and of the run with one thread */
    double compute, exchange;     /* seconds of its nodes by themselves, and of its messages by themselves */
} svmp_load;

typedef struct svmp_plan {
    size_t processes, busy;
    double imbalance; /* the most work of a process over the mean work, less 1 */
    size_t cut, edges;
    size_t heaviest;       /* the node with the most work: it cannot be divided, */
    double heaviest_share; /* and has so much of all work */
    svmp_load most, mean;
    double measured;  /* nodes that the rate was measured on, */
    double rate;      /* and seconds that one thread took for the mean node */
    double alone;     /* seconds of an iteration: in one process, */
    double reduce;    /* in reductions over all processes, */
    double iteration; /* and in all, messages travelling while interiors are computed */
} svmp_plan;

/* Plans a run of a whole model among `processes` of one thread each, without running it: the partition, and what an
 * iteration takes once the particles move little from one to the next. What a node costs is measured, on some of them
 * and for some seconds, late in a run or with particles that hold still; of more than 2,000 particles on so many: how
 * the cost grows with them is known. */
SVMP_API svmp_status svmp_model_plan(const svmp_model *model, const svmp_run_options *options, size_t processes,
                                     svmp_network network, svmp_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
