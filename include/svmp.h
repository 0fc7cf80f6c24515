/* svmp.h: Stein variational message passing for continuous graphical models.
 *
 *     context -> model -> run -> particles -> moments, comparison, files
 *
 * This header is all that most programs need. svmp_tools.h adds functions for commands, reports and bindings, and
 * svmp_parallel.h those for one model in several processes. svmp_plugin.h is for plug-ins, svmp_slam.h for
 * libsvmp_slam.
 *
 * Conventions
 *   - A function that can fail returns an svmp_status; svmp_context_error returns the error as a sentence. Outputs are
 *     undefined after a failure, but a function that creates an object sets its pointer only on success.
 *   - A NULL argument gives SVMP_BAD_CALL, or 0, NaN, NULL or "" from a function that returns no status, unless its
 *     comment says otherwise.
 *   - Arrays are particle-fast: x[i*n + l] is variable i of particle l, so the particles of a variable are contiguous.
 *   - A function that creates an object returns it through its last argument, a pointer to a pointer. The caller owns
 *     the object and frees it with *_free, which accepts NULL. An object must not outlive the context it was created
 *     from, nor a run its model.
 *   - Different threads may use different contexts at the same time, but not the same context.
 *   - A function marked "collective" must be called by all processes when the model is split among several processes
 *     (svmp_parallel.h). With one process the marking has no effect.
 *   - docs/versioning.md says what may change between versions. Structs that the caller fills should be
 *     initialised with zeros ({0}): a field that a later version adds then keeps the old behaviour.
 */
#ifndef SVMP_H
#define SVMP_H

#include <stddef.h>
#include <stdint.h>

#include "svmp_notes.h"

/* The version of this header; svmp_version() is that of the library. */
#define SVMP_VERSION_MAJOR 0
/* The same: the second number. */
#define SVMP_VERSION_MINOR 3
/* The same: the third number. */
#define SVMP_VERSION_PATCH 0

/* Whether this header is of this version or a later one, for the preprocessor. */
#define SVMP_VERSION_AT_LEAST(major, minor, patch)                                                                     \
    (SVMP_VERSION_MAJOR * 1000000 + SVMP_VERSION_MINOR * 1000 + SVMP_VERSION_PATCH >=                                  \
     (major)*1000000 + (minor)*1000 + (patch))

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the library exports. */
#if defined(__GNUC__)
#define SVMP_API __attribute__((visibility("default")))
#else
#define SVMP_API
#endif

/* Marks a function that a later version removes, with what replaces it: a compiler warns where it is used, unless
 * SVMP_NO_DEPRECATION is defined. */
#if defined(__GNUC__) && !defined(SVMP_NO_DEPRECATION)
#define SVMP_DEPRECATED(instead) __attribute__((deprecated(instead)))
#else
#define SVMP_DEPRECATED(instead)
#endif

/* ---- status: did the call succeed? ---------------------------------------------------------- */

/* The numbers never change and are never reused. */
#define SVMP_STATUS_LIST(X)                                                                                            \
    X(OK, 0, "success")                                                                                                \
    X(NO_MEMORY, 1, "out of memory")                                                                                   \
    X(BAD_CALL, 2, "invalid argument")                                                                                 \
    X(BAD_INPUT, 3, "invalid file or data")                                                                            \
    X(CANNOT_READ, 4, "cannot read a file")                                                                            \
    X(CANNOT_WRITE, 5, "cannot write a file")                                                                          \
    X(UNSUPPORTED, 6, "not supported by the method or by this build")                                                  \
    X(NOT_POSITIVE_DEFINITE, 7, "a precision matrix is not positive definite")                                         \
    X(NOT_FINITE, 8, "the density, the score or a particle is not finite")                                             \
    X(CALLBACK_FAILED, 9, "a callback failed")                                                                         \
    X(DEVICE_FAILED, 10, "a GPU failed")

/* Whether a call succeeded, and why not. */
typedef enum svmp_status {
#define SVMP_STATUS_ROW(name, number, text) SVMP_##name = (number),
    SVMP_STATUS_LIST(SVMP_STATUS_ROW)
#undef SVMP_STATUS_ROW
} svmp_status;

/* The text of a status: a constant string, never NULL. */
SVMP_API const char *svmp_status_text(svmp_status status);

/* The version of the library, such as "0.3.0". */
SVMP_API const char *svmp_version(void);

/* ---- context: memory, messages, threads ----------------------------------------------------- */

/* What all calls share: memory, messages, threads. */
typedef struct svmp_context svmp_context;

/* Memory functions; all three are required. `allocate` returns zeroed memory like calloc(1, size), `resize` and
 * `release` work like realloc and free. */
typedef struct svmp_allocator {
    void *(*allocate)(size_t size, void *user_data);
    void *(*resize)(void *pointer, size_t size, void *user_data);
    void (*release)(void *pointer, void *user_data);
    void *user_data;
} svmp_allocator;

/* `allocator` is copied; NULL: calloc, realloc and free. */
SVMP_API svmp_status svmp_context_create(const svmp_allocator *allocator, svmp_context **context);
SVMP_API void svmp_context_free(svmp_context *context); /* collective */

/* Sets the number of threads for everything created afterwards. 0, the default: OMP_NUM_THREADS, or else as many as the
 * process has processors. Threads that wait sleep. */
SVMP_API svmp_status svmp_context_set_threads(svmp_context *context, int threads);

/* How important a message is. */
typedef enum svmp_log_level { SVMP_LOG_DEBUG = 0, SVMP_LOG_INFO = 1, SVMP_LOG_WARNING = 2 } svmp_log_level;

/* Sets the function that receives warnings and other messages. NULL, the default: they are dropped. Here and below,
 * `user_data` must stay valid until another function is set or the object is freed. */
typedef void (*svmp_log_function)(svmp_log_level level, const char *message, void *user_data);
SVMP_API svmp_status svmp_context_set_log(svmp_context *context, svmp_log_function log, void *user_data);

/* Sets the function that receives every error before the failing call returns. It is called several times if a model
 * text has several errors; svmp_context_error then returns the first one. NULL, the default: no function. */
typedef void (*svmp_error_function)(svmp_status status, const char *message, void *user_data);
SVMP_API svmp_status svmp_context_set_error(svmp_context *context, svmp_error_function error, void *user_data);

/* The last error as a sentence; "" if there was none. Valid until the next call with the context. */
SVMP_API const char *svmp_context_error(const svmp_context *context);

/* Advice k of the last error, counted from 0. Returns 0 beyond the last one. */
SVMP_API int svmp_context_note(const svmp_context *context, size_t k, svmp_note *note);

/* Sets how errors, messages and advice write options. NULL, the default: "iterations = 8000". */
SVMP_API svmp_status svmp_context_set_speller(svmp_context *context, svmp_speller spell, void *user_data);

/* Writes a note as a sentence, truncated to `size`. `spell` NULL: "iterations = 8000". Returns `buffer`. */
SVMP_API const char *svmp_note_text(const svmp_note *note, svmp_speller spell, void *user_data, char *buffer,
                                    size_t size);

/* ---- model: nodes and factors, p(x) proportional to exp(sum of factors) --------------------- */

/* A graphical model. */
typedef struct svmp_model svmp_model;

/* An empty model, to which nodes and factors are added. */
SVMP_API svmp_status svmp_model_create(svmp_context *context, svmp_model **model);
SVMP_API void svmp_model_free(svmp_model *model);

/* Adds a node of `dimension` variables. `name` NULL: x.1, x.2, ... in the order of the nodes. If a node has several
 * variables, they are called name.1, name.2, ... `lower` and `upper`, `dimension` numbers each or NULL, define a box
 * onto which every step is projected; bounds may be infinite. All arguments are copied. `node` may be NULL. */
SVMP_API svmp_status svmp_model_add_node(svmp_model *model, const char *name, size_t dimension, const double *lower,
                                         const double *upper, size_t *node);

/* Where the values of a node lie. */
typedef enum svmp_support {
    SVMP_SUPPORT_REAL = 0,       /* anywhere */
    SVMP_SUPPORT_BOUNDED = 1,    /* each value between its bounds, which may be infinite */
    SVMP_SUPPORT_ORDERED = 2,    /* each value above the one before it */
    SVMP_SUPPORT_SIMPLEX = 3,    /* positive values that sum to 1, at least 2 of them */
    SVMP_SUPPORT_CORRELATION = 4 /* a correlation matrix of k*k values */
} svmp_support;

/* Adds a node of `values` values in a support. Unconstrained variables move in their place, as many as the support has
 * dimensions, so that every method runs; callbacks, starts and results have the values, and the density is one of the
 * values. `lower` and `upper`, `values` numbers each or NULL, are the bounds of SVMP_SUPPORT_BOUNDED. Linear-quadratic
 * factors of such a node are refused, and so is splitting the model. Names are as for svmp_model_add_node, and
 * name.1.1, name.1.2, ... for a matrix. `node` may be NULL. */
SVMP_API svmp_status svmp_model_add_supported_node(svmp_model *model, const char *name, svmp_support support,
                                                   size_t values, const double *lower, const double *upper,
                                                   size_t *node);

/* Adds the linear-quadratic factor b'x - x'Ax/2 of the k variables of the given nodes, in the order of the nodes.
 * `precision` is A, k*k numbers, symmetric; `linear` is b, k numbers. Either may be NULL: zeros. */
SVMP_API svmp_status svmp_model_add_gaussian(svmp_model *model, size_t count, const size_t *nodes,
                                             const double *precision, const double *linear);

/* Computes the log value and the gradient of a factor for n particles. x[k][l] is variable k of the factor in particle
 * l, or value k of nodes with a support; they are in the order of the nodes given to svmp_model_add_callback. The
 * function sets value[l] and gradient[k][l] = d value[l] / d x[k][l], and returns 0; any other return value ends the
 * run with SVMP_CALLBACK_FAILED. value[l] is -INFINITY where the density is zero; NaN at a finite x ends the run with
 * SVMP_NOT_FINITE. Different factors are evaluated by different threads at the same time. The chains of NUTS also
 * evaluate the same factor at the same time, unless the context has one thread. */
typedef int (*svmp_factor_function)(size_t n, const double *const *x, double *value, double *const *gradient,
                                    void *user_data);

/* Adds a factor of `count` nodes that a function computes. `user_data` must stay valid until the model is freed. */
SVMP_API svmp_status svmp_model_add_callback(svmp_model *model, size_t count, const size_t *nodes,
                                             svmp_factor_function function, void *user_data);

/* Derives the graph from the factors. The model can then be evaluated and run, but no longer extended. */
SVMP_API svmp_status svmp_model_finish(svmp_model *model);

/* A sample: the values of named variables, particle by particle. */
typedef struct svmp_particles svmp_particles;

/* How a model text is read. Initialise it with {0}. */
typedef struct svmp_reading {
    /* Deterministic nodes that are also reported: their names, separated by commas: "sigma,mu"; NULL: none.
     * svmp_run_particles computes their elements for each particle and puts them after the unknowns. If some elements
     * of a listed array are unknown, only the computed ones are added. */
    const char *monitors;

    /* The coordinates that particles move in. They matter for nodes u whose prior is a location-scale family (dnorm,
     * dlnorm, dt, dlogis, ddexp) with a location m or a scale s that depends on other unknowns. "centred" (also NULL)
     * moves u, "noncentred" moves z = (u - m)/s, and "auto" chooses for each node one of these or a coordinate in
     * between, from the information in the data and in the prior (docs/coordinates.md). Particles and particle files
     * are on the scale of the model text in any case. */
    const char *coordinates;

    /* Statements that are added to model { }, such as "OR <- exp(b)"; what they compute is monitored. NULL: none.
     * Errors name them "<statements>". */
    const char *statements;

    /* Draws to predict from with svmp_model_predict. The unknowns that they name are given; all others are drawn from
     * their distributions. Discrete unknowns are drawn again. Needed only while the model is read. NULL: the model is
     * one to infer. */
    const svmp_particles *given;

    /* 1: the data are not those of the draws, so that what nothing but data depends on, responses and predictions, is
     * drawn again, also if the draws have a value of that name. */
    size_t fresh;

    /* 1: the data's values of stochastic nodes are unknown, too, for svmp_model_simulate. */
    size_t simulated;

    const void *reserved[2]; /* NULL; for later versions (docs/versioning.md) */
} svmp_reading;

/* Reads a model from files; the endings determine their kinds. `how` may be NULL. The model is finished.
 *   - A Gaussian Markov random field: a Matrix Market file (.mtx) with the precision A, symmetric or general, and
 *     optionally a second one with the vector b of exp(b'x - x'Ax/2); the default is zero.
 *   - A text in the model language (.bug, .jags, .txt) and any number of data files (.json, .csv, .R, .txt, .dump). */
SVMP_API svmp_status svmp_model_read(svmp_context *context, size_t count, const char *const *paths,
                                     const svmp_reading *how, svmp_model **model);

/* Data for a model text: named arrays of numbers. */
typedef struct svmp_data svmp_data;

/* Creates an empty data set; frees it. */
SVMP_API svmp_status svmp_data_create(svmp_context *context, svmp_data **data);
SVMP_API void svmp_data_free(svmp_data *data);

/* Adds an array of `rank` dimensions. rank 0 is a single number, and `dimensions` may then be NULL. `values` is
 * row-major: the last index varies fastest. NaN is a missing value. All arguments are copied. Fails if the name already
 * exists, if `rank` exceeds 8, or if all arrays together would have more than 10^8 numbers. */
SVMP_API svmp_status svmp_data_add(svmp_data *data, const char *name, size_t rank, const size_t *dimensions,
                                   const double *values);

/* Adds a vector of text: it becomes codes, 1 for the first of its levels, which are in the order of their bytes. NULL,
 * "" and "NA" are missing values. A model uses it as a subscript, u[g[i]]. A column of text in a CSV file becomes the
 * same. */
SVMP_API svmp_status svmp_data_add_text(svmp_data *data, const char *name, size_t count, const char *const *values);

/* Sets the first levels of an array of text that is added or read afterwards; others come behind them. So new data have
 * the codes of old ones. */
SVMP_API svmp_status svmp_data_set_levels(svmp_data *data, const char *name, size_t count, const char *const *levels);

/* Level `level` of an array, counted from 0; NULL: there are no more. Valid as long as the data. */
SVMP_API const char *svmp_data_level(const svmp_data *data, const char *name, size_t level);

/* Replaces the values of an array, of a file or not; its dimensions stay. `values` are as for svmp_data_add, `count` of
 * them. Fails if there is no array of that name, or if it has another number of values. */
SVMP_API svmp_status svmp_data_replace(svmp_data *data, const char *name, size_t count, const double *values);

/* Adds the arrays of a data file (.json, .csv, .R, .txt or .dump). After a failure the data are unchanged. */
SVMP_API svmp_status svmp_data_read(svmp_data *data, const char *path);

/* The same from the text of such a file in memory. The ending of `path` selects the format; error messages name it. */
SVMP_API svmp_status svmp_data_read_text(svmp_data *data, const char *path, const char *text, size_t length);

/* Reads a model from a text in memory. `name` replaces the path in error messages, "name:line:column: ..."; NULL:
 * "<text>". `data` and `how` may be NULL. The text and the data are not needed afterwards. */
SVMP_API svmp_status svmp_model_read_text(svmp_context *context, const char *name, const char *text,
                                          const svmp_data *data, const svmp_reading *how, svmp_model **model);

/* The same in two steps, for models of one text with different data: parses the text, and reports its errors of form;
 * then makes any number of models of it, one after another. svmp_text_free accepts NULL; models live on without the
 * text. */
typedef struct svmp_text svmp_text;
SVMP_API svmp_status svmp_text_parse(svmp_context *context, const char *name, const char *text, svmp_text **parsed);
SVMP_API svmp_status svmp_text_model(svmp_text *parsed, const svmp_data *data, const svmp_reading *how,
                                     svmp_model **model);
SVMP_API void svmp_text_free(svmp_text *parsed);

/* Bounds a variable by a box. May be called after the model was finished or read, but not after it was split or run.
 * Variables that a model text transforms cannot have a box: the model text defines their bounds. */
SVMP_API svmp_status svmp_model_set_box(svmp_model *model, size_t variable, double lower, double upper);

/* Writes the name of a variable or a node to `buffer`, truncated to `size`; returns `buffer`. */
SVMP_API const char *svmp_model_variable_name(const svmp_model *model, size_t variable, char *buffer, size_t size);
SVMP_API const char *svmp_model_node_name(const svmp_model *model, size_t node, char *buffer, size_t size);

/* Whether the model is jointly Gaussian as written: only linear-quadratic factors, no boxes, no bounded nodes. */
SVMP_API int svmp_model_is_gaussian(const svmp_model *model);

/* Computes log p, up to a constant, and the score d log p / dx for n particles; either output may be NULL. Costs one
 * evaluation of every factor. The result does not depend on the number of threads. */
SVMP_API svmp_status svmp_model_evaluate(const svmp_model *model, size_t n, const double *x, double *log_density,
                                         double *score);

/* The mean and the marginal variances of a Gaussian model, by sparse Cholesky factorisation. Either may be NULL. */
SVMP_API svmp_status svmp_model_exact_moments(const svmp_model *model, double *mean, double *variance);

/* The derivative that differs most from finite differences of the factor's value. */
typedef struct svmp_gradient_check {
    size_t factor;   /* factors are counted from 0 in the order they were added; SIZE_MAX: nothing was checked */
    size_t variable; /* the variable of the derivative */
    size_t point;    /* 0 ... n - 1 */
    double analytic; /* the derivative that the factor returns */
    double numeric;  /* the derivative by finite differences; NaN: the value is not finite near the point */
    double error; /* |analytic - numeric| minus the uncertainty of `numeric`, relative to the larger of both; INFINITY
                   * if one of them is not finite. Correct gradients have errors below 1e-6 */
} svmp_gradient_check;

/* Checks the gradients of all factors at n points x[i*n + l]: those of callbacks, and those of a model text.
 * Linear-quadratic factors are exact and not checked. Evaluates each factor about 40 times for each of its variables
 * and each point. SVMP_NOT_FINITE: a factor has no finite value at one of the points. */
SVMP_API svmp_status svmp_model_check_gradient(const svmp_model *model, size_t n, const double *x,
                                               svmp_gradient_check *worst);

/* ---- graph: derived from the factors, read-only --------------------------------------------- */

/* The graph of a model. */
typedef struct svmp_graph svmp_graph;

/* The graph of a model; NULL before svmp_model_finish. It belongs to the model. */
SVMP_API const svmp_graph *svmp_model_graph(const svmp_model *model);

/* The numbers of nodes, of the variables of all nodes, and of factors. */
SVMP_API size_t svmp_graph_nodes(const svmp_graph *graph);
SVMP_API size_t svmp_graph_variables(const svmp_graph *graph);
SVMP_API size_t svmp_graph_factors(const svmp_graph *graph);

/* ---- particles: a sample with names --------------------------------------------------------- */

/* `values`, variables*count numbers, is copied; NULL: zeros. The variables are called x.1, x.2, ... */
SVMP_API svmp_status svmp_particles_create(svmp_context *context, size_t variables, size_t count, const double *values,
                                           svmp_particles **particles);
SVMP_API void svmp_particles_free(svmp_particles *particles);

/* The numbers of variables and of particles. */
SVMP_API size_t svmp_particles_variables(const svmp_particles *particles);
SVMP_API size_t svmp_particles_count(const svmp_particles *particles);

/* The values, particle-fast; they may be changed in place. Valid as long as the particles. */
SVMP_API double *svmp_particles_values(svmp_particles *particles);

/* Returns or sets the name of a variable. A new name is copied. */
SVMP_API const char *svmp_particles_name(const svmp_particles *particles, size_t variable);
SVMP_API svmp_status svmp_particles_set_name(svmp_particles *particles, size_t variable, const char *name);

/* The number of chains. All chains have the same number of draws and follow one another: particle l belongs to chain
 * l / (count / chains). Particles that are not draws of chains count as one chain. */
SVMP_API size_t svmp_particles_chains(const svmp_particles *particles);
SVMP_API svmp_status svmp_particles_set_chains(svmp_particles *particles, size_t chains);

/* Whether the particles are draws of chains: there are several chains, or a statistic n_leapfrog__ or n_sweeps__. */
SVMP_API int svmp_particles_are_chains(const svmp_particles *particles);

/* The particles that come with draws of the default method: the same answer in fewer, which Stein's transport has made.
 * NULL: there are none. Valid as long as the draws. */
SVMP_API const svmp_particles *svmp_particles_compressed(const svmp_particles *draws);

/* Lets the draws have a copy of such particles; NULL removes them. */
SVMP_API svmp_status svmp_particles_set_compressed(svmp_particles *draws, const svmp_particles *particles);

/* Statistics: one number per particle besides the variables. Their names end in two underscores, as in files of Stan:
 * lp__ (the log density) and, for samplers, accept_stat__, stepsize__, treedepth__, n_leapfrog__, divergent__,
 * energy__ and n_sweeps__. Values may be infinite or NaN. svmp_particles_statistic returns NULL if there is no such
 * statistic. svmp_particles_set_statistic copies `count` values and replaces a statistic of the same name. */
SVMP_API const double *svmp_particles_statistic(const svmp_particles *particles, const char *name);
SVMP_API svmp_status svmp_particles_set_statistic(svmp_particles *particles, const char *name, const double *values);

/* Reads a sample from a file (docs/files.md). The ending .nc is NetCDF-4 in the layout of ArviZ's InferenceData
 * (SVMP_UNSUPPORTED if the build lacks it); everything else is CSV in the format of Stan. Numbers are read back to the
 * same bits. In CSV, the column chain__ determines the chains, and a column whose name ends in two underscores is
 * skipped if it holds anything but numbers. */
SVMP_API svmp_status svmp_particles_read(svmp_context *context, const char *path, svmp_particles **particles);

/* Writes a sample in the same formats. The file appears under its name only when it is complete. An existing file is an
 * error unless `overwrite`. `comments`: whole lines of text, or NULL; in NetCDF, lines "name = value" become
 * attributes. Collective: the first process writes one file with the variables of all processes, CSV only. */
SVMP_API svmp_status svmp_particles_write(const svmp_particles *particles, const char *path, const char *comments,
                                          int overwrite);

/* Moments of one variable. sd divides by n - 1; it is 0 for one particle. */
typedef struct svmp_moments {
    double mean, sd, q05, q50, q95;
} svmp_moments;

/* The moments of one variable. */
SVMP_API svmp_status svmp_particles_moments(const svmp_particles *particles, size_t variable, svmp_moments *moments);

/* How well chains have mixed (Vehtari et al. 2021): rank-normalised split R-hat, bulk and tail effective sample sizes,
 * and the Monte Carlo standard errors of the moments. NaN if nothing varies, if a draw is not finite, with fewer than 6
 * draws per chain, and if the particles are not draws of chains. The error of a quantile is also NaN if no draw lies
 * beyond it. */
typedef struct svmp_mixing {
    double r_hat, bulk_draws, tail_draws;
    svmp_moments error;
} svmp_mixing;

/* Moments and mixing of `count` variables; `variables` NULL: the first ones. Either output may be NULL. Uses all
 * threads. */
SVMP_API svmp_status svmp_particles_summarise(const svmp_particles *particles, size_t count, const size_t *variables,
                                              svmp_moments *moments, svmp_mixing *mixing);

/* The distance of a sample from a reference sample. */
typedef struct svmp_comparison {
    double mse_mean;   /* mean over variables of (E[x] - E_ref[x])^2 */
    double mse_square; /* the same for E[x^2] */
    double mmd; /* biased MMD, RBF kernel with bandwidth med^2 from at most 1,000 points of the reference; NaN: the
                 * bandwidth is undefined */
} svmp_comparison;

/* Variables are matched by name. If the samples have different variables, the error names the differences. */
SVMP_API svmp_status svmp_particles_compare(const svmp_particles *particles, const svmp_particles *reference,
                                            svmp_comparison *comparison);

/* ---- prediction ----------------------------------------------------------------------------- */

/* For each draw, draws all that is not given and computes what is monitored, such as predictions for new data, or a
 * function of the unknowns. The model is of a text that was read with these draws as svmp_reading.given; its data may
 * differ from those of the run. The results have the chains of the draws, and their own random numbers: the same ones
 * for the same seed. In one process. */
SVMP_API svmp_status svmp_model_predict(const svmp_model *model, const svmp_particles *draws, uint64_t seed,
                                        svmp_particles **predicted);

/* Draws all unknowns from their distributions, the parents first: `count` independent draws from the prior if the model
 * was read with svmp_reading.simulated. SVMP_UNSUPPORTED if a prior is improper, or there is a factor(). In one
 * process. */
SVMP_API svmp_status svmp_model_simulate(const svmp_model *model, size_t count, uint64_t seed,
                                         svmp_particles **simulated);

/* ---- options of a run ----------------------------------------------------------------------- */

/* Options are set by name, such as "method", "particles", "iterations", "step" and "seed"; svmp_option_at
 * (svmp_tools.h) lists them all. Every value is text. Numbers are checked when they are set, other values by
 * svmp_run_create. */
typedef struct svmp_options svmp_options;

/* New options with default values. */
SVMP_API svmp_status svmp_options_create(svmp_context *context, svmp_options **options);
SVMP_API void svmp_options_free(svmp_options *options);

/* Sets an option. `value` is copied; NULL restores the default. After a failure the option is unchanged. */
SVMP_API svmp_status svmp_options_set(svmp_options *options, const char *name, const char *value);
SVMP_API svmp_status svmp_options_set_count(svmp_options *options, const char *name, uint64_t value);
SVMP_API svmp_status svmp_options_set_number(svmp_options *options, const char *name, double value);

/* The value of an option as text, from which the same value can be set; "" if the method decides; NULL if there is no
 * such option. Valid until the option is set again or the options are freed. */
SVMP_API const char *svmp_options_get(const svmp_options *options, const char *name);

/* ---- run ------------------------------------------------------------------------------------ */

/* How a run ended. The numbers never change and are never reused. */
#define SVMP_OUTCOME_LIST(X)                                                                                           \
    X(UNFINISHED, 0, "unfinished")                                                                                     \
    X(COMPLETED, 1, "all iterations done")                                                                             \
    X(CONVERGED, 2, "settled, or within the tolerance")                                                                \
    X(STOPPED, 3, "stopped by the monitor")                                                                            \
    X(DIVERGED, 4, "the particles diverged")

/* How a run has ended. */
typedef enum svmp_outcome {
#define SVMP_OUTCOME_ROW(name, number, text) SVMP_##name = (number),
    SVMP_OUTCOME_LIST(SVMP_OUTCOME_ROW)
#undef SVMP_OUTCOME_ROW
} svmp_outcome;

/* The text of an outcome: a constant string, never NULL. */
SVMP_API const char *svmp_outcome_text(svmp_outcome outcome);

/* A run of a method on a model. */
typedef struct svmp_run svmp_run;

/* Creates a run and draws its start. `options` are copied; NULL: the defaults. All memory of the run is allocated here.
 * Collective. */
SVMP_API svmp_status svmp_run_create(const svmp_model *model, const svmp_options *options, svmp_run **run);
SVMP_API void svmp_run_free(svmp_run *run); /* collective */

/* Starts the run from these particles instead. Variables are matched by name. There may be any number of particles. If
 * the run has n particles and more are given, they are divided into n equal parts and the last of each part is used
 * (for chains, the last draws). If fewer are given, they are used in turn, and repeated ones are jittered. Collective:
 * every process is given the same particles, or its part of the result of another run. */
SVMP_API svmp_status svmp_run_start_from(svmp_run *run, const svmp_particles *particles);

/* The same from a particle file. Collective: all processes must have the same file. From CSV, each process reads only
 * its own variables. `path` may also be files with values of unknowns, separated by commas: R dumps (.R, .txt, .dump)
 * or JSON, one start each. Particle l takes the l-th in turn. Unknowns that are not named keep their current start. If
 * there are more particles than files, the additional ones are jittered. Only for model texts, in one process. */
SVMP_API svmp_status svmp_run_start_from_file(svmp_run *run, const char *path);

/* The state of a run after an iteration. */
typedef struct svmp_progress {
    size_t iteration, iterations; /* iterations done and requested */
    double largest;     /* the largest |phi| of the last iteration, or the method's own quantity (svmp_method) */
    double rate;        /* the step size of the last iteration */
    size_t divergences; /* for samplers: trajectories of draws that diverged so far */
} svmp_progress;

/* Called after each iteration. A return value other than 0 stops the run. With several processes each may have its own
 * monitor or none; if one stops, all stop after the same iteration, with the same outcome. A monitor may call a
 * collective function only if the decision depends on the iteration alone, not on a clock; otherwise it stops the run,
 * and all processes make the call after svmp_run_go. */
typedef int (*svmp_monitor)(const svmp_progress *progress, void *user_data);

/* Sets the monitor of a run. NULL: none. */
SVMP_API svmp_status svmp_run_set_monitor(svmp_run *run, svmp_monitor monitor, void *user_data);

/* Iterates to the end. After SVMP_STOPPED, calling it again continues the run. SVMP_NOT_FINITE: the run diverged, and
 * its particles are the last finite ones. SVMP_DEVICE_FAILED: a GPU failed, and its particles are lost; a new run can
 * continue from a checkpoint. Collective. */
SVMP_API svmp_status svmp_run_go(svmp_run *run, svmp_outcome *outcome);

/* Iterations done and requested. */
SVMP_API size_t svmp_run_iteration(const svmp_run *run);
SVMP_API size_t svmp_run_iterations(const svmp_run *run);

/* The particles of the run in its current state, with the names of the model and the statistic lp__. If there is no
 * memory to compute lp__, it is omitted, with a warning. The caller frees the particles.
 *
 * Series (svmp_tools.h) record the course of the run: largest_phi (or largest_score, largest_change) and step_size
 * along iteration, for at most 256 evenly spaced iterations and the last one; ksd (V), ksd_ratio and bandwidth along
 * measured, the iterations at which svmp_run_measure was called.
 *
 * For samplers these are the draws so far, chain after chain; before the first draw, the current states. The particles
 * of "dpmp" and "tpmp" are modes, not a sample of the posterior: particle l holds each node's l-th best value.
 *
 * Leaves of a model text, unknown nodes that nothing observed depends on, are drawn given the other nodes. The draws
 * depend on the seed of the run, and lp__ does not contain leaves. Collective: each process gets the variables of its
 * own nodes, possibly none; the first process also gets the leaves. */
SVMP_API svmp_status svmp_run_particles(const svmp_run *run, svmp_particles **particles);

/* The answer of the run: draws of the posterior. Of the default method these are states of its exact moves, evenly
 * spaced, as many of each particle, which is a chain; once the run has converged they have the means and sds that it
 * averaged over all iterations, and the correlations of few variables. svmp_particles_compressed has the particles. Of
 * other methods, and before the default one has kept a state, this is svmp_run_particles. Collective. */
SVMP_API svmp_status svmp_run_draws(const svmp_run *run, svmp_particles **draws);

/* The option's effective value as text: the value that was set, or the one that the method chose ("rbf@blanket" for the
 * kernel, "adagrad:1" for the step, "cpu-avx2" for the backend); also "threads", and "backend_reason": why the backend
 * "auto" is the CPU, as a clause ("the run is small for a GPU"). Returns NULL if the option does not apply to the run.
 * Otherwise writes to `buffer`, truncated to `size`, and returns it. */
SVMP_API const char *svmp_run_setting(const svmp_run *run, const char *option, char *buffer, size_t size);

/* Saves a checkpoint: another run of the same model, with the same options, start and version of svmp, continues from
 * it to the same bits as an uninterrupted run. An existing checkpoint is replaced only when the new one is complete.
 * May be called from the monitor. Collective: the first process writes. */
SVMP_API svmp_status svmp_run_save(svmp_run *run, const char *path);

/* Continues from a checkpoint; only before the first iteration. If the model, the version, the start or an option
 * differs, the call fails and the error names the difference. The number of iterations (for samplers: of draws) may be
 * larger than before, unless the step size decreases over the run. Callbacks are compared by their values at fixed
 * points. The backend is the one that ran; svmp_options_resume (svmp_tools.h) gives it to options with "auto".
 * Collective: the first process reads. */
SVMP_API svmp_status svmp_run_load(svmp_run *run, const char *path);

/* The kernelised Stein discrepancy of the particles, with the kernel of the run. V is the mean of the Stein kernel over
 * all pairs of particles, the squared norm of the velocity field phi; U is the mean over pairs of different particles,
 * unbiased, with expectation 0 for exact draws. docs/diagnostics.md has the formulas. */
typedef struct svmp_discrepancy {
    double u, v;
    double ratio;    /* V over its expectation for as many exact draws: 1 is as good as exact draws, less is better */
    double limit;    /* the ratio that exact draws rarely exceed */
    double moment_z; /* deviation from Stein's identities E[s] = 0 and E[s (x - mean)] = -1, in standard errors; they
                      * reveal shifts and wrong spreads that the kernel may not see */
    double moment_limit; /* the moment_z that exact draws rarely exceed */
    double bandwidth;    /* at the node, of the first kernel term that has one; in the total, the mean over nodes;
                          * NaN: no term has one */
} svmp_discrepancy;      /* with one particle, all but v are NaN */

/* Measures the discrepancy of the current particles: in total and, unless `nodes` is NULL, for each (own) node. Methods
 * without a kernel are measured with rbf@blanket on their first 1,000 particles. Costs about three iterations of a
 * method with that kernel. SVMP_UNSUPPORTED: the particles do not move towards the posterior. Collective; the total is
 * the same in every process. */
SVMP_API svmp_status svmp_run_discrepancy(const svmp_run *run, svmp_discrepancy *total, svmp_discrepancy *nodes);

/* ---- the verdict ---------------------------------------------------------------------------- */

/* The property that changed when the particles were moved. */
typedef enum svmp_aspect {
    SVMP_ASPECT_MEAN = 0,   /* effect: (mean of the particles - mean afterwards) / sd afterwards */
    SVMP_ASPECT_SPREAD = 1, /* sd of the particles / sd afterwards - 1 */
    SVMP_ASPECT_MEDIAN = 2, /* in sd: the normal quantile of the share of particles below the median afterwards */
    SVMP_ASPECT_TAILS = 3,  /* the share of particles outside the 5 % and 95 % quantiles afterwards, less 10 % */
    SVMP_ASPECT_SCORES = 4, /* RMS score / RMS score afterwards - 1: not 0 if a node is wrong given its neighbours */
    SVMP_ASPECT_LOG_DENSITY = 5, /* (mean log density - mean afterwards) / (number of variables / 2) */
    SVMP_ASPECT_ELSEWHERE = 6, /* in sd: the distance of a mode with too few particles; level: its share of the mass */
    SVMP_ASPECT_SHAPE = 7,     /* in sd: the largest difference between a quantile and the same quantile afterwards */
    SVMP_ASPECT_CORRELATION =
        8 /* the rank correlation of two variables less the same afterwards; "neighbours": all of them, relative */
} svmp_aspect;

/* A change of the particles under exact moves that chance does not explain. */
typedef struct svmp_drift {
    size_t variable; /* of the whole model; SIZE_MAX: a sum of variables, or all together */
    char name[128];  /* of the variable; "b1 - b2" of a sum; "a and b" of a correlation */
    svmp_aspect aspect;
    double effect;
    double z;     /* standard errors for exact draws */
    double level; /* SVMP_ASPECT_SHAPE: 0.05, 0.25, 0.75 or 0.95, of the quantile; SVMP_ASPECT_CORRELATION: afterwards,
                     NaN for all */
} svmp_drift;

/* A verdict on a sample. It is empty when created; the functions below fill it. */
typedef struct svmp_verdict svmp_verdict;

/* Creates an empty verdict; frees it. */
SVMP_API svmp_status svmp_verdict_create(svmp_context *context, svmp_verdict **verdict);
SVMP_API void svmp_verdict_free(svmp_verdict *verdict); /* NULL-safe */

/* Cross-examines the particles: moves each by exact moves of the posterior (node-wise Metropolis moves and, if the
 * whole model is in one process, Hamiltonian trajectories). If the particles are exact draws, no mean, sd, quantile,
 * score or log density changes significantly; docs/diagnostics.md describes the tests. The run is not changed; its
 * monitor is called after every move and may stop the examination. Limits: `seconds` of processor time (0: none),
 * `moves` per particle (0: 1280; at least 30) and 500 particles. Models with boxes are not supported. The result does
 * not depend on the number of threads, unless `seconds` cuts the examination short. Previous contents of the verdict
 * are discarded. If `seconds` is negative, no particle is moved and the verdict records only the information for the
 * advice. Collective. */
SVMP_API svmp_status svmp_run_examine(const svmp_run *run, double seconds, size_t moves, svmp_verdict *verdict);

/* The verdict of a run of a method that gives particles or chains: svmp_run_examine if `seconds` is positive, and the
 * vetoes, from the run and the discrepancy of each own node (`nodes`, or NULL). Chains are judged by
 * svmp_chains_verdict; if they pass, some of their draws are examined. Previous contents are discarded. Collective. */
SVMP_API svmp_status svmp_run_verdict(const svmp_run *run, const svmp_discrepancy *nodes, double seconds,
                                      svmp_verdict *verdict);

/* Adds the convergence diagnostics of chains (R-hat, effective draws, divergences, energy) to a verdict, which is empty
 * or was filled by svmp_run_examine. The chains pass unless there is a veto or the examination failed. */
SVMP_API svmp_status svmp_chains_verdict(const svmp_particles *particles, svmp_verdict *verdict);

/* Whether the particles have passed, by examination or as chains that have mixed, without a veto. */
SVMP_API int svmp_verdict_is_clear(const svmp_verdict *verdict);

/* The verdict in a word or two: "passed", "failed", "undecided", "not examined", or, with a veto, "not converged". */
SVMP_API const char *svmp_verdict_word(const svmp_verdict *verdict);

/* The verdict as one or more sentences on one line: what is wrong, with which variables, and by how much. */
SVMP_API const char *svmp_verdict_sentence(const svmp_verdict *verdict, char *buffer, size_t size);

/* Advice on what to do, on one line; "" if nothing needs to be done. It suggests nothing that the run already did.
 * Options are written by the speller of the context. */
SVMP_API const char *svmp_verdict_advice(const svmp_verdict *verdict, char *buffer, size_t size);

/* Gets drift k of the list: at most ten, in descending order of |z|. Returns 0 beyond the last one. */
SVMP_API int svmp_verdict_drift(const svmp_verdict *verdict, size_t k, svmp_drift *drift);

/* Note k of the verdict: first its result, a refusal if the numbers must not be used; then the evidence, facts,
 * warnings and advice, which svmp_verdict_sentence and svmp_verdict_advice write. Returns 0 beyond the last one. */
SVMP_API int svmp_verdict_note(const svmp_verdict *verdict, size_t k, svmp_note *note);

#ifdef __cplusplus
}
#endif
#endif
