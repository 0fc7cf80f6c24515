/* Distributions of vectors and matrices, each with its formula; p is the number of rows. */
#include "dist/densities.h"

#include "dist/formula_words.h"
#include "expr/expr_vectors.h"

static const double log_2 = 0.69314718055994530942;
static const double log_pi = 1.1447298858494001741;

/* Temporary memory for `count` expressions; NULL, with an error in the builder, if there is no memory. */
static expr *temporary(program_builder *b, size_t count) {
    expr *made = NULL;
    svmp_context *context = svmp_builder_context(b);
    if (svmp_builder_status(b) != SVMP_OK) return NULL;
    svmp_status status = SVMP_NEW(context, made, count);
    if (status != SVMP_OK) svmp_builder_fail(b, status, "Out of memory.");
    return made;
}

/* ---- dmnorm: |Omega|^(1/2) (2 pi)^(-p/2) exp(-(x - mu)' Omega (x - mu) / 2) ---- */

expr svmp_dmnorm_density(program_builder *b, expr_array value, const expr_array *arguments) {
    size_t p = value.rows;
    expr *difference = temporary(b, p);
    if (difference == NULL) return NUMBER(0);
    for (size_t k = 0; k < p; k++) difference[k] = SUB(value.items[k], arguments[0].items[k]);
    expr logdet = svmp_exprs_logdet(b, p, arguments[1].items);
    expr front = HALF(SUB(logdet, NUMBER((double)p * (log_2 + log_pi))));
    expr density = SUB(front, HALF(svmp_exprs_quadratic(b, p, arguments[1].items, difference)));
    svmp_release(svmp_builder_context(b), difference);
    return density;
}

/* ---- dmnorm.vcov: the same with Omega = V^-1 ---- */

expr svmp_dmnorm_vcov_density(program_builder *b, expr_array value, const expr_array *arguments) {
    size_t p = value.rows;
    expr *omega = temporary(b, p * p);
    if (omega == NULL) return NUMBER(0);
    svmp_exprs_inverse(b, p, arguments[1].items, omega);
    const expr_array inverted[2] = {arguments[0], {p, p, omega}};
    expr density = svmp_dmnorm_density(b, value, inverted);
    svmp_release(svmp_builder_context(b), omega);
    return density;
}

/* ---- dmt: gamma((k + p)/2) / gamma(k/2) |Omega|^(1/2) (k pi)^(-p/2) (1 + (x - mu)' Omega (x - mu) / k)^(-(k + p)/2)
 * ---- */

expr svmp_dmt_density(program_builder *b, expr_array value, const expr_array *arguments) {
    size_t p = value.rows;
    expr k = arguments[2].items[0], half = HALF(ADD(k, NUMBER((double)p)));
    expr *difference = temporary(b, p);
    if (difference == NULL) return NUMBER(0);
    for (size_t i = 0; i < p; i++) difference[i] = SUB(value.items[i], arguments[0].items[i]);
    expr distance = svmp_exprs_quadratic(b, p, arguments[1].items, difference);
    expr scale =
        HALF(SUB(svmp_exprs_logdet(b, p, arguments[1].items), MUL(NUMBER((double)p), ADD(LOG(k), NUMBER(log_pi)))));
    expr front = ADD(SUB(LOGGAM(half), LOGGAM(HALF(k))), scale);
    svmp_release(svmp_builder_context(b), difference);
    return SUB(front, MUL(half, LOG1P(DIV(distance, k))));
}

/* ---- ddirch: gamma(sum alpha) prod x_k^(alpha_k - 1) / gamma(alpha_k), with respect to all x_k but one ---- */

expr svmp_ddirch_density(program_builder *b, expr_array value, const expr_array *arguments) {
    size_t p = value.rows;
    const expr *alpha = arguments[0].items;
    expr front = LOGGAM(svmp_exprs_sum(b, p, alpha)), sum = NUMBER(0);
    for (size_t k = 0; k < p; k++) {
        front = SUB(front, LOGGAM(alpha[k]));
        sum = ADD(sum, XLOGY(SUB(alpha[k], NUMBER(1)), value.items[k]));
    }
    return ADD(sum, front);
}

/* ---- dwish: |x|^((k-p-1)/2) |R|^(k/2) exp(-tr(R x)/2) / (2^(pk/2) pi^(p(p-1)/4) prod_j gamma((k+1-j)/2)),
 * with respect to the entries on and below the diagonal ---- */

expr svmp_dwish_density(program_builder *b, expr_array value, const expr_array *arguments) {
    size_t p = value.rows;
    const expr *x = value.items, *r = arguments[0].items;
    expr k = ARGUMENT(1), order = NUMBER((double)p), trace = NUMBER(0);
    expr normaliser = ADD(MUL(HALF(k), NUMBER((double)p * log_2)), NUMBER((double)(p * (p - 1)) / 4 * log_pi));
    for (size_t j = 0; j < p; j++) {
        normaliser = ADD(normaliser, LOGGAM(HALF(SUB(k, NUMBER((double)j)))));
        trace = ADD(trace, MUL(HALF(r[j + p * j]), x[j + p * j])); /* half the trace: both are symmetric */
        for (size_t i = j + 1; i < p; i++) trace = ADD(trace, MUL(r[i + p * j], x[i + p * j]));
    }
    expr front = SUB(MUL(HALF(k), svmp_exprs_logdet(b, p, r)), normaliser);
    expr power = HALF(SUB(SUB(k, order), NUMBER(1)));
    return ADD(SUB(MUL(power, svmp_exprs_logdet(b, p, x)), trace), front);
}

/* ---- dscaled.wishart (Huang and Wand): x ~ dwish(2 v diag(1/a), v + p - 1) with a_i ~ dinvgamma(1/2, 1/s_i^2), which
 * are integrated out: |x|^((v-2)/2) prod_i (v x_ii + 1/s_i^2)^(-(v+p)/2). Each 1/sqrt(x_ii) alone is half-t. ---- */

expr svmp_dscaled_wishart_density(program_builder *b, expr_array value, const expr_array *arguments) {
    const size_t p = value.rows;
    const expr *x = value.items, *s = arguments[0].items;
    expr v = ARGUMENT(1), k = ADD(v, NUMBER((double)p - 1)), power = HALF(ADD(k, NUMBER(1)));
    expr sum = NUMBER(-(double)(p * (p + 1)) / 4 * log_pi);
    for (size_t j = 0; j < p; j++) {
        expr inner = ADD(MUL(v, x[j + p * j]), DIV(NUMBER(1), SQUARE(s[j])));
        expr front = SUB(SUB(MUL(HALF(k), LOG(v)), LOG(s[j])), LOGGAM(HALF(SUB(k, NUMBER((double)j)))));
        sum = ADD(sum, ADD(SUB(LOGGAM(power), MUL(power, LOG(inner))), front));
    }
    return ADD(sum, MUL(HALF(SUB(v, NUMBER(2))), svmp_exprs_logdet(b, p, x)));
}
