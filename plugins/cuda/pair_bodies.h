/* Kernels over pairs of particles, in single or double precision: the includer defines REAL, the type of matrices and
 * coordinates, and PAIR(name), which names the functions. Sums over particles are in double either way. */

/* Sums over the rows of a domain, up to 10^5 and more: in single precision MATRIX_ROWS of them are added up by
 * themselves, and then to the others with what rounding has lost so far (Kahan); in double it is one chain. The device
 * has several kernels for this, and the number of units decides which: the order and the roundings are the same. */
BODY REAL PAIR(first_of_rows)(REAL sum) { return sizeof(REAL) == sizeof(float) ? 0 : sum; }

BODY REAL PAIR(add_row)(int shape, REAL here, REAL there, REAL rows) {
    const REAL apart = here - there;
    return shape == SVMP_SHAPE_LINEAR ? REAL_FMA(here, there, rows) : REAL_FMA(apart, apart, rows);
}

BODY REAL PAIR(add_rows)(REAL sum, REAL rows, REAL *lost) {
    if (sizeof(REAL) != sizeof(float)) return rows;
    const REAL more = rows - *lost, all = sum + more;
    *lost = isfinite(all) ? (all - sum) - more : 0;
    return all;
}

/* Thread ((p*units + u)*n + l)*n + m: piece p of the squared distance of l and m on the domain of unit u, or of their
 * product. */
BODY void PAIR(matrix)(const pair_args *a, size_t thread) {
    const size_t n = a->n, line = over(thread, n), m = thread - line * n, matrix = over(line, n), l = line - matrix * n;
    const size_t p = over(matrix, a->units), u = matrix - p * a->units;
    const size_t begin = a->begin[u], count = a->end[u] - begin, size = (count + a->pieces - 1) / a->pieces;
    const size_t from = begin + (p * size < count ? p * size : count), most = begin + count;
    const size_t to = from + size < most ? from + size : most;
    const REAL *z = (const REAL *)a->z;
    REAL sum = 0, lost = 0;
    for (size_t e = from; e < to; e += MATRIX_ROWS) {
        const size_t end = e + MATRIX_ROWS < to ? e + MATRIX_ROWS : to;
        REAL rows = PAIR(first_of_rows)(sum);
        for (size_t k = e; k < end; k++) {
            const REAL *row = z + a->domain[k] * n;
            rows = PAIR(add_row)(a->shape, row[l], row[m], rows);
        }
        sum = PAIR(add_rows)(sum, rows, &lost);
    }
    ((REAL *)a->matrix)[thread] = sum;
}

/* Thread: a number of the matrices; the pieces behind the first are added to it. */
BODY void PAIR(add_pieces)(const pair_args *a, size_t thread) {
    REAL *matrix = (REAL *)a->matrix, sum = matrix[thread];
    const size_t size = a->units * a->n * a->n;
    size_t p = 1;
    for (; p + TOGETHER <= a->pieces; p += TOGETHER) {
        REAL piece[TOGETHER];
        UNROLL for (size_t j = 0; j < TOGETHER; j++) piece[j] = matrix[(p + j) * size + thread];
        UNROLL for (size_t j = 0; j < TOGETHER; j++) sum += piece[j];
    }
    for (; p < a->pieces; p++) sum += matrix[p * size + thread];
    matrix[thread] = sum;
}

/* k of a squared distance, or 1 + product / v. */
BODY REAL PAIR(kernel)(int shape, REAL distance, double h) {
    if (shape == SVMP_SHAPE_LINEAR) return h > 0 ? 1 + distance / (REAL)h : (REAL)1;
    if (h == 0) return distance == 0;
    if (!isfinite(h)) return (REAL)NAN; /* the particles ran away; the step will say so */
    return shape == SVMP_SHAPE_RBF ? REAL_EXP(-distance / (REAL)h) : 1 / REAL_SQRT(1 + distance / (REAL)h);
}

BODY void PAIR(value)(const pair_args *a, size_t thread) {
    REAL *at = (REAL *)a->matrix + thread;
    *at = PAIR(kernel)(a->shape, *at, a->scale[over(thread, a->n * a->n)]);
}

/* Thread e*n + m: phi_i[m] += weight/n sum_l ( k s_i[l] - r (x_i[l] - x_i[m]) ), i = variable[e]; the repulsion is
 * r = 2k/h of rbf and k^3/h of imq; of linear, z_i[m]/v is added once. */
BODY void PAIR(velocity)(const pair_args *a, size_t thread) {
    const size_t n = a->n, e = over(thread, n), m = thread - e * n, i = a->variable[e], u = a->unit_of[e] - a->first;
    const REAL *k = (const REAL *)a->matrix + u * n * n + m, *z = (const REAL *)a->z + i * n;
    const double *s = a->score + i * n, by = a->in_sd ? a->inverse[i] : 1, h = a->scale[u];
    const double ratio = h > 0 ? 1 / h : 0, here = z[m];
    double sum = 0, repulsion = 0;
    for (size_t l = 0; l < n; l++) {
        const double value = k[l * n];
        sum += value * s[l];
        if (a->shape == SVMP_SHAPE_RBF) repulsion += value * (here - z[l]);
        if (a->shape == SVMP_SHAPE_IMQ) repulsion += value * value * value * (here - z[l]);
    }
    if (a->shape == SVMP_SHAPE_RBF) repulsion *= 2;
    if (a->shape == SVMP_SHAPE_LINEAR) repulsion = (double)n * here;
    const double before = a->adds ? a->phi[i * n + m] : 0;
    a->phi[i * n + m] = before + a->weight / (double)n * (sum + ratio * repulsion * by);
}

/* Team e, linear: phi_i[m] = mean(s_i) + ( sum_j z_j[m] mean(z_j s_i) + z_i[m] ) / v; in units of the sd, v is 1 and
 * dz_i/dx_i = 1/sd_i. */
BODY void PAIR(moments)(const pair_args *a, size_t e) {
    const size_t n = a->n, i = a->variable[e], u = a->unit_of[e] - a->first;
    const REAL *z = (const REAL *)a->z;
    const double *s = a->score + i * n, v = unit_scale(a, u), by = a->in_sd ? a->inverse[i] : 1;
    double *phi = a->phi + i * n, mean = 0;
    EACH(l, n) mean += s[l];
    mean = team_sum(mean) / (double)n;
    EACH(m, n) phi[m] = (a->adds ? phi[m] : 0) + a->weight * (v > 0 ? mean + (double)z[i * n + m] * by / v : mean);
    if (!(v > 0)) return; /* all particles are one */
    for (size_t d = a->begin[u]; d < a->end[u]; d++) {
        const REAL *row = z + a->domain[d] * n;
        double slope = 0;
        EACH(l, n) slope += (double)row[l] * s[l];
        slope = a->weight * team_sum(slope) / (double)n / v;
        EACH(m, n) phi[m] += slope * (double)row[m];
    }
}
