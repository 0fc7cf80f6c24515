#include "model/posterior_modes.h"

#include <math.h>
#include <string.h>

svmp_status svmp_modes_create(svmp_context *context, size_t count, size_t variables, model_modes **made) {
    svmp_status status;
    model_modes *modes = NULL;
    SVMP_CHECK(SVMP_NEW(context, modes, 1));
    modes->variables = variables;
    SVMP_CHECK(SVMP_NEW(context, modes->mode, count));
    modes->count = count;
    for (size_t k = 0; k < count; k++) {
        SVMP_CHECK(SVMP_NEW(context, modes->mode[k].mean, variables));
        SVMP_CHECK(SVMP_NEW(context, modes->mode[k].root, variables * variables));
        SVMP_CHECK(SVMP_NEW(context, modes->mode[k].inverse, variables * variables));
    }
    *made = modes;
    return SVMP_OK;
done:
    svmp_modes_free(context, modes);
    return status;
}

void svmp_modes_free(svmp_context *context, model_modes *modes) {
    if (modes == NULL) return;
    for (size_t k = 0; k < modes->count; k++) {
        svmp_release(context, modes->mode[k].mean);
        svmp_release(context, modes->mode[k].root);
        svmp_release(context, modes->mode[k].inverse);
    }
    svmp_release(context, modes->mode);
    svmp_release(context, modes);
}

static void exchange_rows(size_t d, double *m, size_t a, size_t b) {
    for (size_t j = 0; a != b && j < d; j++) {
        const double kept = m[a * d + j];
        m[a * d + j] = m[b * d + j];
        m[b * d + j] = kept;
    }
}

/* Gauss and Jordan, with the largest pivot of a column. `m` is overwritten; *log_determinant is that of |m|. */
static bool invert(size_t d, double *m, double *inverse, double *log_determinant) {
    *log_determinant = 0;
    for (size_t i = 0; i < d * d; i++) inverse[i] = i % (d + 1) == 0;
    for (size_t c = 0; c < d; c++) {
        size_t pivot = c;
        for (size_t i = c + 1; i < d; i++)
            if (fabs(m[i * d + c]) > fabs(m[pivot * d + c])) pivot = i;
        exchange_rows(d, m, c, pivot);
        exchange_rows(d, inverse, c, pivot);
        const double by = m[c * d + c];
        if (!(fabs(by) > 0) || !isfinite(by)) return false;
        *log_determinant += log(fabs(by));
        for (size_t j = 0; j < d; j++) {
            m[c * d + j] /= by;
            inverse[c * d + j] /= by;
        }
        for (size_t i = 0; i < d; i++) {
            const double times = m[i * d + c];
            for (size_t j = 0; i != c && times != 0 && j < d; j++) {
                m[i * d + j] -= times * m[c * d + j];
                inverse[i * d + j] -= times * inverse[c * d + j];
            }
        }
    }
    return true;
}

svmp_status svmp_modes_finish(svmp_context *context, model_modes *modes) {
    static const double log_two_pi = 1.83787706640934548356;
    const size_t d = modes->variables;
    bool regular = true;
    double *workspace = NULL;
    SVMP_TRY(SVMP_NEW(context, workspace, d * d));
    for (size_t k = 0; k < modes->count && regular; k++) {
        posterior_mode *mode = &modes->mode[k];
        double log_determinant;
        memcpy(workspace, mode->root, d * d * sizeof *workspace);
        regular = invert(d, workspace, mode->inverse, &log_determinant);
        mode->log_factor = log(mode->share) - log_determinant - 0.5 * (double)d * log_two_pi;
    }
    svmp_release(context, workspace);
    return regular ? SVMP_OK : svmp_fail(context, SVMP_UNSUPPORTED, "The Gaussian of a mode is singular.");
}

size_t svmp_modes_at(const model_modes *modes, double u) {
    size_t k = 0;
    while (k + 1 < modes->count && u >= modes->mode[k].share) u -= modes->mode[k++].share;
    return k;
}

void svmp_modes_place(const model_modes *modes, size_t which, const double *z, size_t stride, double *x) {
    const posterior_mode *mode = &modes->mode[which];
    const size_t d = modes->variables;
    for (size_t i = 0; i < d; i++) {
        double sum = mode->mean[i];
        for (size_t j = 0; j < d; j++) sum += mode->root[i * d + j] * z[j];
        x[i * stride] = sum;
    }
}

double svmp_modes_square(const posterior_mode *mode, size_t d, const double *x, size_t stride, double *z) {
    double squares = 0;
    for (size_t i = 0; i < d; i++) {
        z[i] = 0;
        for (size_t j = 0; j < d; j++) z[i] += mode->inverse[i * d + j] * (x[j * stride] - mode->mean[j]);
        squares += z[i] * z[i];
    }
    return squares;
}

double svmp_modes_log_density(const model_modes *modes, const double *x, size_t stride, double *workspace) {
    double most = -INFINITY, sum = 0;
    for (size_t k = 0; k < modes->count; k++) {
        const posterior_mode *mode = &modes->mode[k];
        const double term = mode->log_factor - 0.5 * svmp_modes_square(mode, modes->variables, x, stride, workspace);
        if (!(term > -INFINITY)) continue; /* too far to count */
        sum = term > most ? 1 + sum * exp(most - term) : sum + exp(term - most);
        most = fmax(most, term);
    }
    return sum > 0 ? most + log(sum) : -INFINITY;
}

static double variance_in(const posterior_mode *mode, size_t d, size_t i) {
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += mode->root[i * d + j] * mode->root[i * d + j];
    return sum;
}

double svmp_modes_least_width(const model_modes *modes) {
    static const double counts = 0.01;
    double least = 1;
    for (size_t i = 0; modes && i < modes->variables; i++) {
        double mean = 0, variance = 0, narrow = INFINITY;
        for (size_t k = 0; k < modes->count; k++) mean += modes->mode[k].share * modes->mode[k].mean[i];
        for (size_t k = 0; k < modes->count; k++) {
            const posterior_mode *mode = &modes->mode[k];
            const double own = variance_in(mode, modes->variables, i), away = mode->mean[i] - mean;
            variance += mode->share * (own + away * away);
            if (mode->share > counts) narrow = fmin(narrow, own);
        }
        least = fmin(least, sqrt(narrow / variance));
    }
    return least;
}

/* The distance between two means in the direction between them, in units of the sd that both have there, on the mean.
 */
static double distance_between(const model_modes *modes, const posterior_mode *a, const posterior_mode *b) {
    const size_t d = modes->variables;
    double of_a = 0, of_b = 0;
    for (size_t i = 0; i < d; i++) {
        double za = 0, zb = 0;
        for (size_t j = 0; j < d; j++) {
            za += a->inverse[i * d + j] * (b->mean[j] - a->mean[j]);
            zb += b->inverse[i * d + j] * (b->mean[j] - a->mean[j]);
        }
        of_a += za * za;
        of_b += zb * zb;
    }
    return of_a > 0 && of_b > 0 ? 2 / (1 / sqrt(of_a) + 1 / sqrt(of_b)) : 0;
}

/* Whether the modes that matter fall into parts: each is near another one of its part, and far from those of other
 * parts. */
svmp_status svmp_modes_are_apart(svmp_context *context, const model_modes *modes, double share, double distance,
                                 bool *apart) {
    bool *reached;
    size_t largest = 0;
    SVMP_TRY(SVMP_NEW(context, reached, modes->count));
    for (size_t k = 1; k < modes->count; k++)
        if (modes->mode[k].share > modes->mode[largest].share) largest = k;
    reached[largest] = true;
    for (bool grown = true; grown;) {
        grown = false;
        for (size_t a = 0; a < modes->count; a++)
            for (size_t b = 0; reached[a] && b < modes->count; b++) {
                if (reached[b] || modes->mode[b].share < share) continue;
                if (distance_between(modes, &modes->mode[a], &modes->mode[b]) > distance) continue;
                reached[b] = grown = true;
            }
    }
    *apart = false;
    for (size_t k = 0; k < modes->count; k++) *apart = *apart || (modes->mode[k].share >= share && !reached[k]);
    svmp_release(context, reached);
    return SVMP_OK;
}
