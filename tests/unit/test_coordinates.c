/* Nodes of location-scale families in other coordinates: the density changes by the Jacobian only, natural values are
 * the same, and the chosen coordinates make a Gaussian posterior standard normal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model/natural_values.h"
#include "model/text_scale.h"
#include "prepare/coordinate_choice.h"
#include "sample/particles.h"
#include "unit/compile_text.h"
#include "unit/files.h"
#include "unit/simulated_processes.h"

/* ---- compiled models --------------------------------------------------------------------------------------------- */

static lowered_model *lower(svmp_context *context, const char *text, const char *dump, const choices *made) {
    return compile_dump(context, text, dump, NULL, made);
}

/* The log density at one point, and its gradient. */
static double log_density(const lowered_model *model, const double *x, double *slope) {
    double total = 0;
    for (size_t i = 0; i < model->variables; i++) slope[i] = 0;
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        double *value = calloc(group->instances, sizeof *value);
        double *gradient = calloc(group->instances * group->slots + 1, sizeof *gradient);
        void *scratch = malloc(group->kind->scratch(group, 1) + 1);
        assert_int_equal(group->kind->evaluate(group, 0, group->instances, 1, x, scratch, value, gradient), 0);
        for (size_t k = 0; k < group->instances; k++) {
            total += value[k];
            for (size_t j = 0; j < group->slots; j++)
                slope[group->variables[k * group->slots + j]] += gradient[k * group->slots + j];
        }
        free(value);
        free(gradient);
        free(scratch);
    }
    return total;
}

enum { MOST = 16 };

static void assert_gradient(const lowered_model *model, double *x) {
    double slope[MOST], ignored[MOST];
    log_density(model, x, slope);
    for (size_t i = 0; i < model->variables; i++) {
        const double at = x[i], h = 1e-5 * (1 + fabs(at));
        x[i] = at + h;
        const double above = log_density(model, x, ignored);
        x[i] = at - h;
        const double below = log_density(model, x, ignored);
        x[i] = at;
        assert_near((above - below) / (2 * h), slope[i], 1e-6);
    }
}

/* Sets `wanted` for all nodes that can have other coordinates; the rest are centred. */
static void fill(const lowered_model *centred, node_coordinates wanted, node_coordinates *all) {
    for (size_t k = 0; k < centred->node_count; k++)
        all[k] = centred->nodes[k].location_scale ? wanted : (node_coordinates){.centring = 1};
}

/* du/dz of all nodes with other coordinates, by differences of the natural values. */
static double log_jacobian(const lowered_model *model, const double *z) {
    double sum = 0, point[MOST], values[2][MOST];
    memcpy(point, z, model->variables * sizeof *z);
    for (size_t k = 0; k < model->node_count; k++) {
        const lowered_node *node = &model->nodes[k];
        for (size_t j = 0; node->coordinates.centring < 1 && j < node->variables; j++) {
            const size_t i = node->variable + j, output = node->output + j;
            const double h = 1e-4 * (1 + fabs(z[i]));
            for (int side = 0; side < 2; side++) {
                point[i] = z[i] + (side ? h : -h);
                assert_ok(svmp_lowered_natural(model, 1, point, values[side]));
                if (node->transform == TRANSFORM_ABOVE) values[side][output] = log(values[side][output]);
            }
            point[i] = z[i];
            sum += log((values[1][output] - values[0][output]) / (2 * h)); /* u is linear in z */
        }
    }
    return sum;
}

static const struct {
    const char *text, *dump;
    size_t moved; /* nodes that can have other coordinates */
} models[] = {
    {"model { m ~ dnorm(0, 1)\n t ~ dgamma(2, 1)\n x ~ dnorm(m, t)\n y ~ dnorm(x, 2) }", "y <- 0.7", 1},
    {"model { m ~ dnorm(0, 1)\n t ~ dgamma(2, 1)\n x ~ dlnorm(m, t)\n y ~ dnorm(x, 2) }", "y <- 0.7", 1},
    {"model { m ~ dnorm(0, 1)\n t ~ dgamma(2, 1)\n x ~ dt(m, t, k)\n k ~ dgamma(3, 1)\n y ~ dnorm(x, 2) }", "y <- 0.7",
     1},
    {"model { m ~ dnorm(0, 1)\n t ~ dgamma(2, 1)\n x ~ dlogis(m, t)\n y ~ dnorm(x, 2) }", "y <- 0.7", 1},
    {"model { m ~ dnorm(0, 1)\n t ~ dgamma(2, 1)\n x ~ ddexp(m, t)\n y ~ dnorm(x, 2) }", "y <- 0.7", 1},
    /* one of the two is known; through formulas; a node above a node; data in between */
    {"model { s ~ dunif(0, 3)\n x ~ dnorm(0.4, 1 / pow(s, 2))\n y ~ dpois(exp(x)) }", "y <- 3", 1},
    {"model { m ~ dnorm(0, 1)\n x ~ dnorm(2 * m + 1, 4)\n y ~ dnorm(x, 2) }", "y <- 3", 1},
    {"model { m ~ dnorm(0, 1)\n t ~ dgamma(2, 1)\n g ~ dnorm(m, t)\n for (i in 1:2) { x[i] ~ dnorm(g * w[i], t * t)\n"
     " y[i] ~ dnorm(x[i], 2) } }",
     "y <- c(0.7, 1) w <- c(1, 3)", 3},
    /* a vector whose elements are independent */
    {"model { m ~ dnorm(0, 1)\n t ~ dgamma(2, 1)\n x[1:3] ~ dnorm(m * w[], t)\n for (i in 1:3) { y[i] ~ dnorm(x[i], 2) "
     "} }",
     "y <- c(0.7, 1, 2) w <- c(1, 3, 2)", 1},
    /* not these: bounds, chains, known arguments, other families, given elements */
    {"model { m ~ dnorm(0, 1)\n x ~ dnorm(m, 1) T(0,)\n y ~ dnorm(x, 2) }", "y <- 1", 0},
    {"model { m ~ dnorm(0, 1)\n x ~ dlnorm(m, 1) T(,4)\n y ~ dnorm(x, 2) }", "y <- 1", 0},
    {"model { t ~ dgamma(2, 1)\n x[1] ~ dnorm(0, 1)\n for (i in 2:4) { x[i] ~ dnorm(x[i-1], t) }\n y ~ dnorm(x[4], 1) "
     "}",
     "y <- 1", 0},
    {"model { x ~ dnorm(0, 1)\n g ~ dgamma(2, exp(x))\n y ~ dnorm(g, 2) }", "y <- 1", 0},
    {"model { m ~ dnorm(0, 1)\n x[1:2] ~ dnorm(m, 1)\n y ~ dnorm(x[1] + x[2], 1) }", "y <- 1 x <- c(1, NA)", 0},
    {"model { m ~ dnorm(0, 1)\n t ~ dnorm(m, 1)\n y ~ dinterval(t, 0) }", "y <- 1", 0},
};

/* log p(z) = log p(u) + log |du/dz| in all coordinates, the gradient agrees with differences, and natural values are
 * recovered. */
static void the_same_density(void **unused) {
    (void)unused;
    static const node_coordinates ways[] = {{0, 0, 0}, {0.5, 1.7, 0.9}, {0.3, 0.2, -1.5}, {0.9, 30, 0.6}};
    svmp_context *context = test_context(1);
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        const choices as_written = {.centring = 1};
        lowered_model *centred = lower(context, models[k].text, models[k].dump, &as_written);
        size_t count = 0;
        for (size_t v = 0; v < centred->node_count; v++) count += centred->nodes[v].location_scale;
        if (count != models[k].moved) fail_msg("%s: %zu nodes can be moved", models[k].text, count);
        for (size_t w = 0; count > 0 && w < sizeof ways / sizeof *ways; w++) {
            node_coordinates all[MOST];
            double z[MOST], u[MOST], natural[MOST], again[MOST], slope[MOST];
            fill(centred, ways[w], all);
            for (size_t v = 0; v < centred->node_count; v++)
                if (centred->nodes[v].variables > 1) all[v] = ways[0]; /* a vector has one centring for all elements */
            const choices made = {.coordinates = all};
            lowered_model *moved = lower(context, models[k].text, models[k].dump, &made);
            assert_int_equal(moved->variables, centred->variables);
            for (int point = 0; point < 3; point++) {
                for (size_t i = 0; i < moved->variables; i++) z[i] = 0.8 * sin((double)(5 * i + 7 * (size_t)point + 2));
                assert_ok(svmp_lowered_natural(moved, 1, z, natural));
                assert_ok(svmp_lowered_inverse(centred, 1, natural, u));
                assert_ok(svmp_lowered_natural(centred, 1, u, again));
                for (size_t i = 0; i < moved->outputs; i++) assert_near(again[i], natural[i], 1e-13);
                assert_ok(svmp_lowered_inverse(moved, 1, natural, again));
                for (size_t i = 0; i < moved->variables; i++) assert_near(again[i], z[i], 1e-12);
                assert_near(log_density(moved, z, slope), log_density(centred, u, slope) + log_jacobian(moved, z),
                            1e-8); /* the Jacobian's differences */
                assert_gradient(moved, z);
            }
            svmp_lowered_free(moved);
        }
        svmp_lowered_free(centred);
    }
    svmp_context_free(context);
}

/* With the exact precision and mean of the data a node is standard normal for any location and scale: the score is -z.
 * */
static void data_make_nodes_standard_normal(void **unused) {
    (void)unused;
    svmp_context *context = test_context(1);
    const char *text =
        "model { m ~ dnorm(0, 1)\n t ~ dgamma(2, 1)\n x ~ dnorm(m, t)\n for (i in 1:3) { y[i] ~ dnorm(x, "
        "w[i]) } }";
    const char *dump = "y <- c(1, 2, 4) w <- c(1, 0.5, 2)";
    const double J = 3.5, e = (1 + 0.5 * 2 + 2 * 4) / J;
    const node_coordinates all[] = {{.centring = 1}, {.centring = 1}, {0.5, J, e}};
    const choices made = {.coordinates = all};
    lowered_model *model = lower(context, text, dump, &made);
    for (int point = 0; point < 5; point++) {
        double z[3], slope[3];
        for (size_t i = 0; i < 3; i++) z[i] = 2 * sin((double)(5 * i + 7 * (size_t)point + 2));
        log_density(model, z, slope);
        assert_near(slope[2], -z[2], 1e-12);
    }
    svmp_lowered_free(model);
    svmp_context_free(context);
}

/* Not centred, a node's own factor touches it alone, and its children depend on the parents of its location and scale.
 * */
static void scopes_of_noncentred_nodes(void **unused) {
    (void)unused;
    svmp_context *context = test_context(1);
    const choices made = {.centring = 0};
    lowered_model *model = lower(context, models[0].text, models[0].dump, &made);
    size_t alone = 0, all = 0;
    for (size_t g = 0; g < model->group_count; g++) {
        alone += model->groups[g].slots == 1; /* m, t, x */
        all += model->groups[g].slots == 3;   /* y */
    }
    assert_int_equal(alone, 3);
    assert_int_equal(all, 1);
    svmp_lowered_free(model);
    svmp_context_free(context);
}

/* Draws from the priors do not depend on the coordinates. */
static void prior_draws(void **unused) {
    (void)unused;
    enum { N = 20000 };
    svmp_context *context = test_context(1);
    const choices made = {.coordinates = (const node_coordinates[]){{.centring = 1}, {0.5, 2, 1}}};
    lowered_model *model =
        lower(context, "model { m ~ dnorm(1, 4)\n x ~ dnorm(2 * m, 1)\n y ~ dnorm(x, 1) }", "y <- 0", &made);
    double *x = calloc(2 * N, sizeof *x), *natural = calloc(2 * N, sizeof *natural), mean = 0, square = 0;
    assert_ok(svmp_lowered_draw(model, 5, N, x));
    assert_ok(svmp_lowered_natural(model, N, x, natural));
    for (size_t l = 0; l < N; l++) mean += natural[N + l] / N;
    for (size_t l = 0; l < N; l++) square += (natural[N + l] - 2) * (natural[N + l] - 2) / N;
    assert_true(fabs(mean - 2) <= 4.5 * sqrt(2. / N));
    assert_true(fabs(square - 2) <= 4.5 * sqrt(2. / N) * 2);
    free(x);
    free(natural);
    svmp_lowered_free(model);
    svmp_context_free(context);
}

/* ---- what is chosen ---------------------------------------------------------------------------------------------- */

static svmp_model *read_as(svmp_context *context, const char *text, const char *dump, const char *coordinates) {
    const svmp_reading how = {.coordinates = coordinates};
    svmp_model *model = NULL;
    write_text("m.bug", text);
    write_text("m.R", dump);
    if (svmp_model_read(context, 2, (const char *[]){"m.bug", "m.R"}, &how, &model) != SVMP_OK)
        fail_msg("%s: %s", text, svmp_context_error(context));
    return model;
}

static const char *const schools = "model { for (i in 1:8) { theta[i] ~ dnorm(mu, 1 / pow(tau, 2))\n"
                                   " y[i] ~ dnorm(theta[i], 1 / pow(sigma[i], 2)) }\n mu ~ dnorm(0, 0.04)\n"
                                   " tau ~ dhalfcauchy(5) }\n";
static const char *const schools_data =
    "y <- c(28, 8, -3, 7, -1, 1, 18, 12)\nsigma <- c(15, 10, 16, 11, 9, 11, 10, 18)\n";

/* For Gaussian data the chosen precision and mean are those of the data, wherever the particles are; with two levels,
 * those through the lower one: y ~ N(x, v), x ~ N(g, 1/t) gives y ~ N(g, v + 1/t). */
static void chosen_data_precision(void **unused) {
    (void)unused;
    enum { N = 4 };
    svmp_context *context = test_context(1);
    svmp_model *model = read_as(context, schools, schools_data, "centred");
    double x[MOST * N];
    node_coordinates chosen[MOST];
    for (size_t k = 0; k < 10 * N; k++) x[k] = sin((double)(3 * k + 1));
    assert_true(svmp_model_has_centring_choice(model));
    assert_ok(svmp_centring_choose(model, N, x, chosen));
    const double y[] = {28, 8, -3, 7, -1, 1, 18, 12}, sigma[] = {15, 10, 16, 11, 9, 11, 10, 18};
    for (size_t i = 0; i < 8; i++) {
        if (chosen[i].centring == 0) continue;
        assert_true(chosen[i].centring > 0 && chosen[i].centring < 1);
        assert_near(chosen[i].information, 1 / (sigma[i] * sigma[i]), 1e-9);
        assert_near(chosen[i].centre, y[i], 1e-6);
    }
    assert_true(chosen[8].centring == 1 && chosen[9].centring == 1);
    svmp_model_free(model);

    model =
        read_as(context,
                "model { g ~ dnorm(m, s)\n m ~ dnorm(0, 1)\n s ~ dgamma(2, 1)\n for (i in 1:3) { x[i] ~ dnorm(g, t)\n"
                " y[i] ~ dnorm(x[i], 4) }\n t ~ dgamma(2, 1) }",
                "y <- c(1, 2, 3)", "centred");
    for (size_t k = 0; k < 7 * N; k++) x[k] = sin((double)(3 * k + 1));
    for (size_t l = 0; l < N; l++) x[6 * N + l] = log(2); /* t */
    assert_ok(svmp_centring_choose(model, N, x, chosen));
    assert_near(chosen[3].information, 4, 1e-9);
    assert_near(chosen[3].centring, 4. / 6, 1e-9);
    assert_near(chosen[0].information, 3 / (1. / 4 + 1. / 2), 1e-6);
    svmp_model_free(model);

    model = read_as(context, "model { m ~ dnorm(0, 1)\n x ~ dnorm(m, 1)\n y ~ dnorm(x, 1) }", "y <- 1", "auto");
    assert_true(svmp_model_is_gaussian(model)); /* with an exact answer */
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A node is centred if the data determine it, and not centred if they say nothing. */
static void chosen_coordinates(void **unused) {
    (void)unused;
    svmp_context *context = test_context(1);
    svmp_model *model = read_as(context, schools, schools_data, "auto");
    for (size_t i = 0; i < 8; i++) assert_true(svmp_model_centring(model, i) < 0.3);
    assert_true(isnan(svmp_model_centring(model, 8)) && isnan(svmp_model_centring(model, 9)));
    svmp_model_free(model);
    model =
        read_as(context, schools,
                "y <- c(28, 8, -3, 7, -1, 1, 18, 12)\nsigma <- c(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)\n", "auto");
    for (size_t i = 0; i < 8; i++) assert_true(svmp_model_centring(model, i) == 1);
    svmp_model_free(model);
    model = read_as(context, "model { v ~ dnorm(0, 0.1)\n for (i in 1:3) { x[i] ~ dnorm(0, exp(-v)) } }", "", "auto");
    for (size_t i = 1; i < 4; i++) assert_true(svmp_model_centring(model, i) == 0);
    svmp_model_free(model);
    assert_int_equal(svmp_model_read(context, 2, (const char *[]){"m.bug", "m.R"},
                                     &(svmp_reading){.coordinates = "sideways"}, &model),
                     SVMP_BAD_CALL);
    svmp_context_free(context);
}

/* A text in memory gives the same model. */
static void from_memory(void **unused) {
    (void)unused;
    svmp_context *context = test_context(1);
    svmp_data *data = NULL;
    svmp_model *model = NULL, *from_files = read_as(context, schools, schools_data, "auto");
    const size_t eight = 8;
    const double y[] = {28, 8, -3, 7, -1, 1, 18, 12}, sigma[] = {15, 10, 16, 11, 9, 11, 10, 18};
    double x[10], density[2], score[2][10];
    for (size_t i = 0; i < 10; i++) x[i] = sin((double)i);
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_add(data, "y", 1, &eight, y));
    assert_ok(svmp_data_add(data, "sigma", 1, &eight, sigma));
    assert_ok(svmp_model_read_text(context, NULL, schools, data, &(svmp_reading){.coordinates = "auto"}, &model));
    for (size_t i = 0; i < 8; i++)
        assert_true(svmp_model_centring(model, i) == svmp_model_centring(from_files, i) &&
                    svmp_model_centring(model, i) < 1);
    assert_ok(svmp_model_evaluate(model, 1, x, &density[0], score[0]));
    assert_ok(svmp_model_evaluate(from_files, 1, x, &density[1], score[1]));
    assert_true(density[0] == density[1]);
    assert_memory_equal(score[0], score[1], sizeof score[0]);
    assert_int_equal(svmp_model_read_text(context, NULL, NULL, data, NULL, &model), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_read_text(context, NULL, schools, data, NULL, NULL), SVMP_BAD_CALL);
    svmp_model_free(model);
    svmp_model_free(from_files);
    svmp_data_free(data);
    svmp_context_free(context);
}

/* On the scale of the text a real node is its natural value, and a node with dlnorm is the logarithm; its parents may
 * have other coordinates, too. */
static void scale_of_the_text(void **unused) {
    (void)unused;
    enum { N = 3, D = 8 };
    static const char text[] = "model { s ~ dgamma(2, 1)\n g ~ dlnorm(0, s)\n for (i in 1:3) { x[i] ~ dnorm(g, s)\n"
                               " y[i] ~ dnorm(x[i], 1) }\n w[1:3] ~ dt(g, s, 4)\n z ~ dnorm(sum(w[]), 1) }";
    svmp_context *context = test_context(1);
    svmp_model *model = read_as(context, text, "y <- c(1, 2, 3)\nz <- 1\n", "noncentred");
    text_scale *t = NULL;
    double x[D * N], natural[D * N], u[(D - 1) * N];
    for (size_t k = 0; k < D * N; k++) x[k] = sin((double)(2 * k + 1));
    assert_ok(svmp_text_scale_create(model, N, &t));
    assert_int_equal(svmp_text_scale_rows(t), D - 1);
    svmp_text_scale_find(t, x, u);
    assert_ok(svmp_model_natural(model, N, x, natural));
    for (size_t l = 0; l < N; l++) assert_near(u[l], log(natural[N + l]), 1e-14); /* g, a parent, is first */
    for (size_t k = N; k < (D - 1) * N; k++) assert_near(u[k], natural[N + k], 1e-14);
    for (size_t r = 0; r < D - 1; r++) assert_int_equal(svmp_text_scale_row(t, r, x).variable, r + 1);
    svmp_text_scale_free(t);
    svmp_model_free(model);
    model = read_as(context, text, "y <- c(1, 2, 3)\nz <- 1\n", "centred");
    assert_ok(svmp_text_scale_create(model, N, &t));
    assert_null(t);
    assert_int_equal(svmp_text_scale_rows(t), 0);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static svmp_particles *run(const svmp_model *model, const svmp_particles *start, size_t iterations) {
    run_options options = svmp_run_options_default();
    svmp_run *made = NULL;
    svmp_particles *particles = NULL;
    svmp_outcome outcome;
    options.method = "graphical";
    options.particles = 7;
    options.iterations = iterations;
    options.init = "prior";
    assert_ok(svmp_run_make(model, &options, &made));
    if (start) assert_ok(svmp_run_start_from(made, start));
    assert_ok(svmp_run_go(made, &outcome));
    assert_ok(svmp_run_particles(made, &particles));
    svmp_run_free(made);
    return particles;
}

/* A run starts from natural values in any coordinates and returns them; draws from the priors are the same. */
static void starts_are_natural(void **unused) {
    (void)unused;
    svmp_context *context = test_context(1);
    static const char *const ways[] = {"centred", "noncentred", "auto"};
    svmp_particles *first = NULL;
    for (size_t k = 0; k < 3; k++) {
        svmp_model *model = read_as(context, schools, schools_data, ways[k]);
        if (k == 0) first = run(model, NULL, 0);
        svmp_particles *again = run(model, first, 0), *drawn = run(model, NULL, 0);
        for (size_t i = 0; i < 10 * 7; i++) {
            assert_near(svmp_particles_values(again)[i], svmp_particles_values(first)[i], 1e-9);
            assert_near(svmp_particles_values(drawn)[i], svmp_particles_values(first)[i], 1e-9);
        }
        for (size_t i = 0; i < 10; i++)
            assert_string_equal(svmp_particles_name(again, i), svmp_particles_name(first, i));
        svmp_particles_free(again);
        svmp_particles_free(drawn);
        svmp_model_free(model);
    }
    svmp_particles_free(first);
    svmp_context_free(context);
}

static int stop_at(const svmp_progress *progress, void *user_data) {
    return progress->iteration == *(const size_t *)user_data;
}

/* Runs a method in the coordinates that svmp chooses; at iteration `stop` another run continues from a file. SIZE_MAX:
 * it does not stop. */
static svmp_particles *run_in_two(const svmp_model *model, const char *by, size_t stop) {
    run_options options = svmp_run_options_default();
    svmp_run *first = NULL, *second = NULL;
    svmp_particles *particles = NULL;
    svmp_outcome outcome;
    options.method = by;
    options.particles = 8;
    options.iterations = 150;
    options.chains = 2;
    options.warmup = 30;
    options.draws = 20;
    assert_ok(svmp_run_make(model, &options, &first));
    assert_ok(svmp_run_set_monitor(first, stop_at, &stop));
    assert_ok(svmp_run_go(first, &outcome));
    if (stop != SIZE_MAX) {
        assert_int_equal(outcome, SVMP_STOPPED);
        assert_ok(svmp_run_save(first, "run.ckpt"));
        assert_ok(svmp_run_make(model, &options, &second));
        assert_ok(svmp_run_load(second, "run.ckpt"));
        assert_ok(svmp_run_go(second, &outcome));
    }
    assert_ok(svmp_run_particles(second ? second : first, &particles));
    svmp_run_free(first);
    svmp_run_free(second);
    return particles;
}

/* Resuming from a checkpoint gives the same bits, within the windows of transport and after them. */
static void continued(void **unused) {
    (void)unused;
    static const struct {
        const char *method;
        size_t stop;
    } cases[] = {{"transport", 30}, {"transport", 120}, {"graphical", 40}, {"nuts", 35}};
    svmp_context *context = test_context(1);
    svmp_model *model = read_as(context, schools, schools_data, "auto");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        svmp_particles *whole = run_in_two(model, cases[k].method, SIZE_MAX);
        svmp_particles *parts = run_in_two(model, cases[k].method, cases[k].stop);
        const size_t numbers = svmp_particles_variables(whole) * svmp_particles_count(whole);
        assert_int_equal(svmp_particles_count(parts), svmp_particles_count(whole));
        assert_memory_equal(svmp_particles_values(parts), svmp_particles_values(whole), numbers * sizeof(double));
        svmp_particles_free(whole);
        svmp_particles_free(parts);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* transport averages the values in the text. If it averaged the coordinates of a non-centred mild funnel x_i = exp(v/2)
 * z_i, 100 particles would have the noise of products z_i exp(v/2): the sds of exact draws have an error of about 9 %,
 * and the largest of 20 exceeds 15 %. E[x_i^2] = E[exp(v)] = exp(1/2). */
static void averages_of_the_text(void **unused) {
    (void)unused;
    enum { VARIABLES = 21, N = 100 };
    svmp_context *context = test_context(2);
    run_options options = svmp_run_options_default();
    svmp_run *made = NULL;
    svmp_particles *particles = NULL;
    svmp_outcome outcome;
    svmp_model *model =
        read_as(context, "model { v ~ dnorm(0, 1)\n for (i in 1:20) { x[i] ~ dnorm(0, exp(-v)) } }", "", "auto");
    options.method = "transport";
    options.particles = N;
    options.iterations = 2000;
    assert_ok(svmp_run_make(model, &options, &made));
    assert_ok(svmp_run_go(made, &outcome));
    assert_int_equal(outcome, SVMP_CONVERGED);
    assert_ok(svmp_run_particles(made, &particles));
    assert_int_equal(svmp_particles_variables(particles), VARIABLES);
    for (size_t i = 1; i < VARIABLES; i++) {
        const double *x = svmp_particles_values(particles) + i * N;
        double mean = 0, square = 0;
        for (size_t l = 0; l < N; l++) mean += x[l] / N;
        for (size_t l = 0; l < N; l++) square += (x[l] - mean) * (x[l] - mean) / (N - 1);
        assert_true(fabs(mean) <= 0.15 * exp(0.25));             /* converged: errors of at most 3.5 %, */
        assert_true(fabs(sqrt(square) / exp(0.25) - 1) <= 0.15); /* tolerance of 3.5 standard errors */
    }
    svmp_particles_free(particles);
    svmp_run_free(made);
    svmp_model_free(model);
    svmp_context_free(context);
}

typedef struct script {
    const char *coordinates;
    svmp_particles *alone;
} script;

static void run_part(test_process *p) {
    const script *s = p->script;
    const svmp_reading how = {.coordinates = s->coordinates};
    svmp_model *model = NULL;
    svmp_particles *own = NULL, *all = NULL;
    p->status = svmp_model_read_split(p->context, 2, (const char *[]){"m.bug", "m.R"}, &how, &model, NULL);
    if (p->status == SVMP_OK) own = run(model, NULL, 4);
    if (p->status == SVMP_OK) p->status = svmp_particles_first(own, 100, &all);
    if (p->status == SVMP_OK && memcmp(svmp_particles_values(all), s->alone->values, 10 * 7 * sizeof(double)) != 0)
        p->status = SVMP_BAD_CALL;
    svmp_particles_free(own);
    svmp_particles_free(all);
    svmp_model_free(model);
}

/* Several processes have the bits of one, in all coordinates. */
static void several_processes(void **unused) {
    (void)unused;
    static const char *const ways[] = {"centred", "noncentred", "auto"};
    for (size_t k = 0; k < 3; k++) {
        svmp_context *context = test_context(1);
        svmp_model *model = read_as(context, schools, schools_data, ways[k]);
        const script s = {ways[k], run(model, NULL, 4)};
        for (size_t processes = 2; processes <= 3; processes++) {
            test_process group[MOST_PROCESSES];
            run_processes(processes, run_part, &s, group);
            for (size_t p = 0; p < processes; p++)
                if (group[p].status != SVMP_OK)
                    fail_msg("%s, process %zu of %zu: %d %s", ways[k], p, processes, (int)group[p].status,
                             svmp_context_error(group[p].context));
            end_processes(processes, group);
        }
        svmp_particles_free(s.alone);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* Any failing allocation is survived. */
static void scarce(void **unused) {
    (void)unused;
    write_text("m.bug", "model { s ~ dgamma(2, 1)\n x ~ dnorm(0, s)\n y ~ dnorm(x, 1) }");
    write_text("m.R", "y <- 1");
    svmp_status status = SVMP_NO_MEMORY;
    for (long left = 0; status != SVMP_OK; left += 1 + left / 60) {
        scarce_memory memory = {1000000};
        svmp_context *context = scarce_context(&memory);
        svmp_model *model = NULL;
        memory.left = left;
        status = svmp_model_read(context, 2, (const char *[]){"m.bug", "m.R"}, &(svmp_reading){.coordinates = "auto"},
                                 &model);
        assert_true(status == SVMP_OK || status == SVMP_NO_MEMORY);
        memory.left = 1000000;
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_density),
        cmocka_unit_test(data_make_nodes_standard_normal),
        cmocka_unit_test(scopes_of_noncentred_nodes),
        cmocka_unit_test(prior_draws),
        cmocka_unit_test(chosen_data_precision),
        cmocka_unit_test(chosen_coordinates),
        cmocka_unit_test(from_memory),
        cmocka_unit_test(scale_of_the_text),
        cmocka_unit_test(starts_are_natural),
        cmocka_unit_test(several_processes),
        cmocka_unit_test(averages_of_the_text),
        cmocka_unit_test(continued),
        cmocka_unit_test(scarce),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
