/* The functions of a distribution, by its name: dnorm(x, ...) is its density at x, pnorm its distribution function,
 * qnorm its quantiles, logdensity.norm the logarithm of the density. */
#include "lang/functions/language_functions.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "dist/formula_words.h"

typedef enum distribution_function { DENSITY, LOG_DENSITY, PROBABILITY, QUANTILE } distribution_function;

/* Which function of which distribution a name is; false: none. */
static bool split(const char *name, distribution_function *kind, const distribution **family) {
    static const struct {
        const char *prefix;
        distribution_function kind;
    } kinds[] = {{"logdensity.", LOG_DENSITY}, {"d", DENSITY}, {"p", PROBABILITY}, {"q", QUANTILE}};
    char spelled[64];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t length = strlen(kinds[k].prefix);
        if (strncmp(name, kinds[k].prefix, length) != 0 || strlen(name) - length + 2 > sizeof spelled) continue;
        snprintf(spelled, sizeof spelled, "d%s", name + length);
        *kind = kinds[k].kind;
        *family = svmp_distribution_find(spelled);
        if (*family && (*family)->proper && (*kind == LOG_DENSITY || (*family)->rank == RANK_SCALAR)) return true;
    }
    return false;
}

/* ---- the formulas --------------------------------------------------------------------------- */

/* 0 below the support, 1 above it; of whole numbers, that of the largest one that is not above x. The ends of an
 * infinite support are asked for too unless x is `finite`: a distribution function has no derivative there. */
static expr probability(program_builder *b, const distribution *family, expr x, bool finite,
                        const expr_array *arguments) {
    expr lower, upper, zero = NUMBER(0);
    svmp_distribution_bounds(b, family, arguments, NULL, &lower, &upper);
    if (family->discrete) x = svmp_expr_integer_divide(b, x, NUMBER(1));
    expr result = EXP(family->log_cdf(b, x, arguments));
    double end;
    if (!(finite && svmp_expr_is_literal(b, upper, &end) && isinf(end)))
        result = IFELSE(BELOW(x, upper), result, NUMBER(1));
    if (!(finite && svmp_expr_is_literal(b, lower, &end) && isinf(end)))
        result = family->discrete ? IFELSE(BELOW(x, lower), zero, result) : IFELSE(BELOW(lower, x), result, zero);
    return result;
}

#define GAMMA_QUANTILE(p, a)   svmp_expr_gamma_quantile(b, p, a)
#define BETA_QUANTILE(p, x, y) svmp_expr_beta_quantile(b, p, x, y)

/* The x with P(X <= x) = p of a relative of the gamma, beta or t distribution. */
static bool relative_quantile(program_builder *b, const char *name, expr p, const expr_array *arguments, expr *x) {
    if (strcmp(name, "dgamma") == 0)
        *x = DIV(GAMMA_QUANTILE(p, ARGUMENT(0)), ARGUMENT(1));
    else if (strcmp(name, "dchisqr") == 0)
        *x = MUL(NUMBER(2), GAMMA_QUANTILE(p, HALF(ARGUMENT(0))));
    else if (strcmp(name, "dinvgamma") == 0)
        *x = DIV(ARGUMENT(1), GAMMA_QUANTILE(SUB(NUMBER(1), p), ARGUMENT(0)));
    else if (strcmp(name, "dgen.gamma") == 0) /* (lambda x)^b has a gamma distribution */
        *x = DIV(svmp_expr_power(b, GAMMA_QUANTILE(p, ARGUMENT(0)), svmp_expr_reciprocal(b, ARGUMENT(2))), ARGUMENT(1));
    else if (strcmp(name, "dbeta") == 0)
        *x = BETA_QUANTILE(p, ARGUMENT(0), ARGUMENT(1));
    else if (strcmp(name, "df") == 0) { /* n x / (m + n x) has a beta distribution */
        expr share = BETA_QUANTILE(p, HALF(ARGUMENT(0)), HALF(ARGUMENT(1)));
        expr other = BETA_QUANTILE(SUB(NUMBER(1), p), HALF(ARGUMENT(1)), HALF(ARGUMENT(0))); /* 1 - share, all digits */
        *x = DIV(MUL(ARGUMENT(1), share), MUL(ARGUMENT(0), other));
    } else if (strcmp(name, "dt") == 0)
        *x = ADD(ARGUMENT(0), DIV(svmp_expr_t_quantile(b, p, ARGUMENT(2)), SQRT(ARGUMENT(1))));
    else
        return false;
    return true;
}

/* The quantile of a discrete distribution with known arguments: the least x with P(X <= x) >= p, as in R but for
 * rounding. */
static bool count_quantile(program_builder *b, const distribution *family, expr p, const expr_array *arguments,
                           expr *x) {
    enum { MOST = 1000000 };
    double wanted, there = 0;
    if (!family->discrete || family->log_cdf == NULL || !svmp_expr_is_literal(b, p, &wanted)) return false;
    if (!(wanted >= 0 && wanted < 1)) return false;
    for (int k = 0; k < MOST; k++) {
        *x = NUMBER(k);
        if (!svmp_expr_is_literal(b, probability(b, family, *x, true, arguments), &there)) return false;
        if (there >= wanted * (1 - 64 * DBL_EPSILON)) return true;
    }
    return false;
}

/* The x with P(X <= x) = p, if there is a formula. */
static bool quantile(program_builder *b, const distribution *family, expr p, const expr_array *arguments, expr *x) {
    const char *name = family->name;
    expr one = NUMBER(1), survival = NEG(LOG1P(NEG(p))); /* -log(1 - p) */
    if (strcmp(name, "dnorm") == 0)
        *x = ADD(ARGUMENT(0), DIV(svmp_expr_probit(b, p), SQRT(ARGUMENT(1))));
    else if (strcmp(name, "dlnorm") == 0)
        *x = EXP(ADD(ARGUMENT(0), DIV(svmp_expr_probit(b, p), SQRT(ARGUMENT(1)))));
    else if (strcmp(name, "dlogis") == 0)
        *x = ADD(ARGUMENT(0), DIV(svmp_expr_logit(b, p), ARGUMENT(1)));
    else if (strcmp(name, "dexp") == 0)
        *x = DIV(survival, ARGUMENT(0));
    else if (strcmp(name, "dweib") == 0)
        *x = svmp_expr_power(b, DIV(survival, ARGUMENT(1)), DIV(one, ARGUMENT(0)));
    else if (strcmp(name, "dpar") == 0)
        *x = MUL(ARGUMENT(1), EXP(DIV(survival, ARGUMENT(0))));
    else if (strcmp(name, "dunif") == 0)
        *x = ADD(ARGUMENT(0), MUL(p, SUB(ARGUMENT(1), ARGUMENT(0))));
    else if (strcmp(name, "ddexp") == 0)
        *x = ADD(ARGUMENT(0),
                 DIV(IFELSE(BELOW(p, NUMBER(0.5)), LOG(MUL(NUMBER(2), p)), NEG(LOG(MUL(NUMBER(2), SUB(one, p))))),
                     ARGUMENT(1)));
    else
        return relative_quantile(b, name, p, arguments, x) || count_quantile(b, family, p, arguments, x);
    return true;
}

/* ---- the call ------------------------------------------------------------------------------- */

static svmp_status build(model_lowering *lowering, const ast_expression *call, distribution_function kind,
                         const distribution *family, program_builder *b, const expr *operands, bool finite,
                         expr *result) {
    expr_array arguments[DISTRIBUTION_ARGUMENTS] = {{0}};
    for (size_t k = 0; k < family->arguments; k++) arguments[k] = (expr_array){1, 1, operands + 1 + k};
    const char *name = lowering->ast->functions.text[call->symbol];
    switch (kind) {
    case DENSITY:
    case LOG_DENSITY:
        *result = svmp_distribution_log_density(b, family, (expr_array){1, 1, operands}, arguments, NULL, false);
        if (kind == DENSITY) *result = EXP(*result);
        break;
    case PROBABILITY:
        if (family->log_cdf == NULL)
            return svmp_lowering_error(lowering, call->offset, "unknown function '%s': %s has only a density", name,
                                       family->name);
        *result = probability(b, family, operands[0], finite, arguments);
        break;
    case QUANTILE:
        if (!quantile(b, family, operands[0], arguments, result))
            return svmp_lowering_error(lowering, call->offset,
                                       family->discrete ? "'%s' needs known arguments: write x ~ %s(...) for its values"
                                                        : "unknown function '%s': there are no quantiles of %s",
                                       name, family->name);
    }
    return svmp_builder_status(b);
}

static bool has_arrays(const distribution *family) {
    if (family->rank != RANK_SCALAR) return true;
    for (size_t k = 0; k < family->arguments; k++)
        if (family->argument[k].rank != RANK_SCALAR) return true;
    return false;
}

static svmp_status call_distribution(model_lowering *lowering, const ast_expression *call, value *result) {
    distribution_function kind = DENSITY;
    const distribution *family = NULL;
    const char *name = lowering->ast->functions.text[call->symbol];
    size_t first = lowering->item_count;
    model_item operands[DISTRIBUTION_ARGUMENTS + 1];
    array_call work;
    split(name, &kind, &family);
    if (kind == LOG_DENSITY && has_arrays(family)) return svmp_call_density(lowering, call, family, result);
    for (size_t k = 0; k < call->count; k++) SVMP_TRY(svmp_expand_scalar(lowering, call->operands[k], &operands[k]));
    for (size_t k = 1; k < call->count; k++)
        if (family->argument[k - 1].rank != RANK_SCALAR)
            return svmp_lowering_error(lowering, call->offset, "unknown function '%s': an argument of %s is a vector",
                                       name, family->name);
    for (size_t k = 1; k < call->count; k++) {
        char sentence[200];
        number_array known = {1, 1, &operands[k].number};
        if (svmp_item_known(operands[k]) && !svmp_distribution_accepts(family, k - 1, known, sentence, sizeof sentence))
            return svmp_lowering_error(lowering, call->operands[k]->offset, "%s: %s", name, sentence);
    }
    for (size_t k = 0; k < call->count; k++) SVMP_TRY(svmp_push(lowering, operands[k]));
    SVMP_TRY(svmp_array_call_begin(lowering, first, 1, &work));
    const bool finite = svmp_item_known(operands[0]) && isfinite(operands[0].number);
    const svmp_status status =
        work.builder ? build(lowering, call, kind, family, work.builder, work.operands, finite, work.results) : SVMP_OK;
    const svmp_status finished = svmp_array_call_finish(lowering, call, &work, svmp_vector_shape(1), result);
    return status == SVMP_OK ? finished : status;
}

const language_function *svmp_distribution_function(const char *name, size_t *arguments) {
    static const language_function function = {"a function of a distribution", 2, DISTRIBUTION_ARGUMENTS + 1,
                                               call_distribution, OP_literal};
    distribution_function kind;
    const distribution *family;
    if (!split(name, &kind, &family)) return NULL;
    *arguments = family->arguments + 1;
    return &function;
}
