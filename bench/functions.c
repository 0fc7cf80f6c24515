/* The time of an operation per number: its loops for each instruction set, compared with one libm call per number and,
 * if installed, with SLEEF's functions that give the same bits on all processors.
 *
 *     bench_functions [--quick]        prints nanoseconds per number
 *
 * All take turns on the same numbers, 256 at a time, the best of several rounds counts. */
#include <dlfcn.h>
#include <math.h>

#include "bench/bench.h"
#include "expr/operation_loops.h"

enum { LANES = 256 };

static double first[LANES], second[LANES], results[LANES];

/* ---- libm -------------------------------------------------------------------------------------- */

static double libm_log_ilogit(double a, double b) { return (void)b, (a < 0 ? a : 0) - log1p(exp(-fabs(a))); }
static double libm_logistic_tail(double a, double b) { return (void)b, exp(-fabs(a)); }
static double libm_log_ilogit_by_tail(double a, double b) { return (a < 0 ? a : 0) - log1p(b); }
static double libm_ilogit(double a, double b) { return (void)b, 1 / (1 + exp(-a)); }
static double libm_logit(double a, double b) { return (void)b, log(a) - log1p(-a); }
static double libm_phi(double a, double b) { return (void)b, 0.5 * erfc(-a * 0.70710678118654752440); }
static double libm_log_phi(double a, double b) { return log(libm_phi(a, b)); }
static double libm_power(double a, double b) { return pow(a, b); }

#define LIBM_LIST(X)                                                                                                   \
    X(exp, exp)                                                                                                        \
    X(expm1, expm1)                                                                                                    \
    X(log, log)                                                                                                        \
    X(log1p, log1p)                                                                                                    \
    X(sin, sin)                                                                                                        \
    X(cos, cos)                                                                                                        \
    X(tan, tan)                                                                                                        \
    X(arcsin, asin)                                                                                                    \
    X(arccos, acos)                                                                                                    \
    X(arctan, atan)                                                                                                    \
    X(sinh, sinh)                                                                                                      \
    X(cosh, cosh)                                                                                                      \
    X(tanh, tanh)                                                                                                      \
    X(arcsinh, asinh)                                                                                                  \
    X(arccosh, acosh)                                                                                                  \
    X(arctanh, atanh)                                                                                                  \
    X(loggam, lgamma)                                                                                                  \
    X(gamma, tgamma)
#define LIBM(name, function)                                                                                           \
    static double libm_##name(double a, double b) { return (void)b, function(a); }
LIBM_LIST(LIBM)

/* ---- SLEEF ------------------------------------------------------------------------------------- */

#if defined(__x86_64__) && defined(__GNUC__)
typedef double four __attribute__((vector_size(32)));
typedef double eight __attribute__((vector_size(64)));

__attribute__((target("avx2"))) static void run_four(void *symbol) {
    four (*function)(four);
    memcpy(&function, &symbol, sizeof function);
    for (size_t l = 0; l < LANES; l += 4) {
        four a;
        memcpy(&a, first + l, sizeof a);
        a = function(a);
        memcpy(results + l, &a, sizeof a);
    }
}

__attribute__((target("avx512f"))) static void run_eight(void *symbol) {
    eight (*function)(eight);
    memcpy(&function, &symbol, sizeof function);
    for (size_t l = 0; l < LANES; l += 8) {
        eight a;
        memcpy(&a, first + l, sizeof a);
        a = function(a);
        memcpy(results + l, &a, sizeof a);
    }
}
#endif

/* ---- all --------------------------------------------------------------------------------------- */

typedef struct bench_case {
    expr_op op;
    const char *name;
    double low, high; /* of the arguments */
    double (*libm)(double a, double b);
    const char *sleef; /* its function; d%d is the number of lanes */
} bench_case;

#define CASE(name, low, high, libm, sleef)                                                                             \
    { OP_##name, #name, low, high, libm, sleef }
static const bench_case cases[] = {
    CASE(exp, -10, 10, libm_exp, "exp"),
    CASE(expm1, -3, 3, libm_expm1, "expm1"),
    CASE(log, 0.01, 100, libm_log, "log"),
    CASE(log1p, -0.9, 3, libm_log1p, "log1p"),
    CASE(log_ilogit, -5, 5, libm_log_ilogit, NULL),
    CASE(logistic_tail, -5, 5, libm_logistic_tail, NULL),
    CASE(log_ilogit_by_tail, -5, 5, libm_log_ilogit_by_tail, NULL),
    CASE(ilogit_beyond, -5, 5, NULL, NULL),
    CASE(ilogit, -5, 5, libm_ilogit, NULL),
    CASE(logit, 0, 1, libm_logit, NULL),
    CASE(power, 0.1, 5, libm_power, NULL),
    CASE(sin, -10, 10, libm_sin, "sin"),
    CASE(cos, -10, 10, libm_cos, "cos"),
    CASE(tan, -10, 10, libm_tan, "tan"),
    CASE(arcsin, -1, 1, libm_arcsin, "asin"),
    CASE(arccos, -1, 1, libm_arccos, "acos"),
    CASE(arctan, -5, 5, libm_arctan, "atan"),
    CASE(sinh, -3, 3, libm_sinh, "sinh"),
    CASE(cosh, -3, 3, libm_cosh, "cosh"),
    CASE(tanh, -3, 3, libm_tanh, "tanh"),
    CASE(arcsinh, -5, 5, libm_arcsinh, "asinh"),
    CASE(arccosh, 1, 5, libm_arccosh, "acosh"),
    CASE(arctanh, -1, 1, libm_arctanh, "atanh"),
    CASE(loggam, 0.1, 20, libm_loggam, "lgamma"),
    CASE(gamma, 0.1, 20, libm_gamma, "tgamma"),
    CASE(digamma, 0.1, 20, NULL, NULL),
    CASE(trigamma, 0.1, 20, NULL, NULL),
    CASE(phi, -4, 4, libm_phi, NULL),
    CASE(log_phi, -8, 4, libm_log_phi, NULL),
    CASE(normal_hazard, -8, 4, NULL, NULL),
    CASE(probit, 0, 1, NULL, NULL),
    CASE(log1m_exp, 0.1, 5, NULL, NULL),
    CASE(loggam, -2, 20, libm_loggam, NULL),
    CASE(log_gamma_p, 0.5, 5, NULL, NULL),
};

static int rounds = 40, repeats = 100;

static void show(double nanoseconds) {
    if (nanoseconds > 0)
        printf(" %9.2f", nanoseconds);
    else
        printf(" %9s", "");
}

static double per_number(double started) { return (thread_seconds() - started) / repeats / LANES * 1e9; }

static double time_loop(const kernel_set *set, const bench_case *c) {
    const double started = thread_seconds();
    const expr_kernel loop = set->op(c->op, 0);
    for (int k = 0; k < repeats; k++) loop(LANES, results, first, second, second);
    return per_number(started);
}

static double time_libm(const bench_case *c) {
    const double started = thread_seconds();
    for (int k = 0; k < repeats; k++)
        for (size_t l = 0; l < LANES; l++) results[l] = c->libm(first[l], second[l]);
    return per_number(started);
}

static double time_sleef(void *symbol, int lanes) {
    const double started = thread_seconds();
#if defined(__x86_64__) && defined(__GNUC__)
    for (int k = 0; k < repeats; k++) (lanes == 4 ? run_four : run_eight)(symbol);
#endif
    return (void)symbol, (void)lanes, per_number(started);
}

static void *sleef_function(void *library, const bench_case *c, int lanes) {
    char name[64];
    if (library == NULL || c->sleef == NULL) return NULL;
    snprintf(name, sizeof name, "Sleef_finz_%sd%d_u10avx%s", c->sleef, lanes, lanes == 4 ? "2" : "512f");
    return dlsym(library, name);
}

enum { PLAIN, AVX2, AVX512, LIBM_ALONE, SLEEF_FOUR, SLEEF_EIGHT, WAYS };

static void keep_least(double *least, double found) { *least = *least == 0 || found < *least ? found : *least; }

static void measure(const bench_case *c, void *library) {
    double least[WAYS] = {0};
    for (size_t l = 0; l < LANES; l++) {
        first[l] = c->low + (c->high - c->low) * ((double)rand() + 0.5) / ((double)RAND_MAX + 1);
        second[l] = 4 * ((double)rand() / RAND_MAX) - 2;
    }
    if (c->op == OP_log_ilogit_by_tail || c->op == OP_ilogit_beyond)
        for (size_t l = 0; l < LANES; l++) second[l] = exp(-fabs(first[l]));
    if (c->op == OP_log_gamma_p)
        for (size_t l = 0; l < LANES; l++) second[l] = fabs(second[l]);
    void *by_four = NULL, *by_eight = NULL;
#ifdef SVMP_KERNELS_X86
    const int wide = svmp_kernels() == &svmp_kernels_avx512, middle = wide || svmp_kernels() == &svmp_kernels_avx2;
    if (middle) by_four = sleef_function(library, c, 4);
    if (wide) by_eight = sleef_function(library, c, 8);
#endif
    for (int round = 0; round < rounds; round++) {
        keep_least(&least[PLAIN], time_loop(&svmp_kernels_plain, c));
#ifdef SVMP_KERNELS_X86
        if (middle) keep_least(&least[AVX2], time_loop(&svmp_kernels_avx2, c));
        if (wide) keep_least(&least[AVX512], time_loop(&svmp_kernels_avx512, c));
#endif
        if (c->libm) keep_least(&least[LIBM_ALONE], time_libm(c));
        if (by_four) keep_least(&least[SLEEF_FOUR], time_sleef(by_four, 4));
        if (by_eight) keep_least(&least[SLEEF_EIGHT], time_sleef(by_eight, 8));
    }
    char name[64];
    snprintf(name, sizeof name, "%s(%g ... %g)", c->name, c->low, c->high);
    printf("%-26s", name);
    for (int way = 0; way < WAYS; way++) show(least[way]);
    printf("\n");
}

int main(int count, char **arguments) {
    if (is_quick(count, arguments)) rounds = repeats = 1;
    void *library = dlopen("libsleef.so.3", RTLD_NOW);
    if (library == NULL) puts("SLEEF is not here (libsleef.so.3).");
    printf("%-26s %9s %9s %9s %9s %9s %9s\n", "ns a number", "plain", "AVX2", "AVX-512", "libm", "SLEEF", "SLEEF");
    printf("%-26s %9s %9s %9s %9s %9s %9s\n", "", "", "", "", "", "AVX2", "AVX-512");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) measure(&cases[k], library);
    if (library) dlclose(library);
    return 0;
}
