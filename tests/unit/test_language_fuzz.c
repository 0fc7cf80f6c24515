/* Random models and data: valid ones with bytes changed, removed or repeated, and words inserted. The result is OK or
 * an error with its place; the sanitizers check the rest. The random numbers have a fixed seed. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "unit/compile_text.h"

enum { ROUNDS = 4000, LARGEST = 4096 };

static uint64_t below(uint64_t round, uint64_t place, uint64_t bound) {
    return svmp_random_below((random_stream){.seed = 2, .purpose = RANDOM_TEST, .a = round}, place, bound);
}

static void insert(char bytes[LARGEST], size_t *size, size_t place, const char *word, size_t length) {
    if (*size + length > LARGEST) return;
    memmove(bytes + place + length, bytes + place, *size - place);
    memcpy(bytes + place, word, length);
    *size += length;
}

/* One to six changes of a text. */
static void mutate(uint64_t round, char bytes[LARGEST], size_t *size) {
    static const char *const words[] = {"~",      "<-",      "[",       "]",     "(",    ")",       "{",      "}",
                                        ",",      "1:3",     " i ",     "x",     "y[2]", "x[i]",    "T(0,)",  "I(,1)",
                                        "-",      "^",       " %*% ",   "A",     "0",    "1e300",   "dpois(", "dnorm(",
                                        "dwish(", "ddirch(", "inverse", "sort(", "sum(", "factor(", "c(",     "NA",
                                        "1e9",    "-1",      ".Dim",    "null",  "\"",   "#",       "/*",     "mean("};
    uint64_t changes = 1 + below(round, 0, 6);
    for (uint64_t c = 0; c<changes && * size> 0; c++) {
        size_t place = (size_t)below(round, 5 * c + 1, *size), length = (size_t)below(round, 5 * c + 2, 20) + 1;
        if (length > *size - place) length = *size - place;
        const char *word = words[below(round, 5 * c + 3, sizeof words / sizeof *words)];
        switch (below(round, 5 * c + 4, 5)) {
        case 0: bytes[place] = (char)below(round, 5 * c + 5, 256); break;
        case 1:
            memmove(bytes + place, bytes + place + length, *size - place - length);
            *size -= length;
            break;
        case 2: { /* a piece repeated at another place */
            char piece[20];
            memcpy(piece, bytes + place, length);
            insert(bytes, size, (size_t)below(round, 5 * c + 5, *size), piece, length);
            break;
        }
        default: insert(bytes, size, place, word, strlen(word));
        }
    }
}

static void assert_named(const svmp_context *context, const char *path) {
    const char *error = svmp_context_error(context);
    if (strncmp(error, path, strlen(path)) != 0) fail_msg("no place: %s", error);
}

static const char *const texts[] = {
    "model { for (i in 1:N) { mu[i] <- a + b * x[i]\n y[i] ~ dnorm(mu[i], tau) }\n a ~ dnorm(0, 1)\n b ~ dunif(-1, a)\n"
    " tau ~ dgamma(1, 1) }",
    "var z[3];\ndata { m <- mean(y[1:2]) }\nmodel { z[1:3] ~ ddirch(w[])\n S[1:2,1:2] ~ dwish(A[,], 2)\n"
    " q[1:2] ~ dmnorm(w[1:2], S[,])\n factor(sum(q %*% inverse(S)) - m * logdet(A)) }",
    "model { for (i in 1:3) { for (j in 1:2) { u[i,j] ~ dt(0, 1, 3) T(0,) } }\n for (i in 1:2) { logit(p[i]) <- "
    "u[i,1]\n"
    " k[i] ~ dbin(p[i], 5) }\n factor(-sum(sort(u[,2])^2)) }",
    "model { x1 ~ dflat()\n for (e in 1:length(w)) { factor(-w[e] * v[from[e]] * v[to[e]]) }\n"
    " for (i in 1:3) { v[i] ~ dnorm(x1, 1 / pow(x1, 2) + 1) } }",
};

static void test_models(void **state) {
    (void)state;
    static const char dump[] = "N <- 4 x <- c(1, 2, 3, 4) y <- c(0.5, 1, NA, 2) w <- c(1, 2, 3) from <- c(1, 2, 3)\n"
                               "to <- c(2, 3, 1) A <- structure(c(2, 1, 1, 2), .Dim = c(2, 2)) k <- c(3, 4)";
    for (uint64_t round = 0; round < ROUNDS; round++) {
        char bytes[LARGEST + 1];
        const char *good = texts[round % (sizeof texts / sizeof *texts)];
        size_t size = strlen(good);
        memcpy(bytes, good, size);
        if (round >= sizeof texts / sizeof *texts) mutate(round, bytes, &size);
        svmp_context *context = test_context(1);
        data_set *data = NULL;
        lowered_model *lowered = NULL;
        bytes[size] = '\0';
        assert_ok(svmp_data_create(context, &data));
        assert_ok(svmp_data_read_text(data, "fuzz.R", dump, strlen(dump)));
        svmp_status status = compile_text(context, bytes, data, NULL, &(choices){.centring = 1}, &lowered);
        assert_true(status == SVMP_OK || status == SVMP_BAD_INPUT);
        assert_true((status == SVMP_OK) == (lowered != NULL));
        if (status != SVMP_OK) assert_named(context, "m.bug:");
        if (status != SVMP_OK && round < sizeof texts / sizeof *texts) fail_msg("%s", svmp_context_error(context));
        svmp_lowered_free(lowered);
        svmp_data_free(data);
        svmp_context_free(context);
    }
}

static void test_data(void **state) {
    (void)state;
    static const char *const files[][2] = {
        {"fuzz.json", "{\"N\": 3, \"x\": [1.5, null, -2e-3],\n \"m\": [[1,2,3],[4,5,6]], \"s\": []}"},
        {"fuzz.csv", "a, \"b\",c\r\n1,NA,3\r\n-4,,1e5\r\n"},
        {"fuzz.R",
         "N <- 3L\n`x` <- c(1, NA, -2e-3, 1:4)\nm <- structure(c(1,2,3,4), .Dim = c(2L, 2L), .Dimnames = list(\n"
         "NULL, c(\"a\", \"b\")))\n# end\n"},
    };
    for (uint64_t round = 0; round < 5 * ROUNDS; round++) {
        char bytes[LARGEST];
        const char *const *file = files[round % 3];
        size_t size = strlen(file[1]);
        memcpy(bytes, file[1], size);
        mutate(round, bytes, &size);
        svmp_context *context = test_context(1);
        data_set *data = NULL;
        assert_ok(svmp_data_create(context, &data));
        svmp_status status = svmp_data_read_text(data, file[0], bytes, size);
        if (status == SVMP_UNSUPPORTED) status = SVMP_OK; /* JSON, in a build without it */
        assert_true(status == SVMP_OK || status == SVMP_BAD_INPUT);
        if (status != SVMP_OK) assert_named(context, file[0]);
        svmp_data_free(data);
        svmp_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
