/* The parser: precedence as in JAGS, every statement, and several errors in one pass. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "lang/parse/syntax_tree.h"

/* ---- models as text: f(a,b) for every call and operator --------------------------------------- */

typedef struct printer {
    const ast_model *model;
    char text[4096];
} printer;

static void print(printer *out, const char *text) {
    assert_true(strlen(out->text) + strlen(text) < sizeof out->text);
    strcat(out->text, text);
}

static void print_expression(printer *out, const ast_expression *e) {
    char number[40];
    switch (e->kind) {
    case AST_NUMBER:
        snprintf(number, sizeof number, "%g", e->number);
        print(out, number);
        return;
    case AST_EMPTY: return;
    case AST_VARIABLE: print(out, out->model->names.text[e->symbol]); break;
    case AST_CALL: print(out, out->model->functions.text[e->symbol]); break;
    }
    if (e->kind == AST_VARIABLE && !e->indexed) return;
    print(out, e->kind == AST_CALL ? "(" : "[");
    for (size_t k = 0; k < e->count; k++) {
        if (k > 0) print(out, ",");
        print_expression(out, e->operands[k]);
    }
    print(out, e->kind == AST_CALL ? ")" : "]");
}

static void print_statements(printer *out, const ast_statement *s) {
    for (; s; s = s->next) {
        switch (s->kind) {
        case AST_FOR:
            print(out, "for ");
            print(out, out->model->names.text[s->counter]);
            print(out, " in ");
            print_expression(out, s->range);
            print(out, " { ");
            print_statements(out, s->body);
            print(out, "} ");
            continue;
        case AST_STOCHASTIC:
            print_expression(out, s->left);
            print(out, " ~ ");
            print(out, out->model->functions.text[s->function]);
            break;
        case AST_DETERMINISTIC:
            if (s->function != NAMES_NONE) {
                print(out, out->model->functions.text[s->function]);
                print(out, " ");
            }
            print_expression(out, s->left);
            print(out, " <- ");
            break;
        case AST_FACTOR: print(out, "factor"); break;
        }
        print(out, "(");
        for (size_t k = 0; k < s->argument_count; k++) {
            if (k > 0) print(out, ",");
            print_expression(out, s->arguments[k]);
        }
        print(out, ")");
        if (s->bounds) {
            print(out, s->bounds == AST_TRUNCATED ? " T(" : " I(");
            if (s->lower) print_expression(out, s->lower);
            print(out, ",");
            if (s->upper) print_expression(out, s->upper);
            print(out, ")");
        }
        print(out, "; ");
    }
}

typedef struct parsed {
    svmp_context *context;
    text_source source;
    diagnostics *diagnostics;
    ast_model model;
} parsed;

static void parse(parsed *p, const char *text, size_t length) {
    memset(p, 0, sizeof *p);
    p->context = test_context(1);
    assert_ok(svmp_source_copy(p->context, "m.bug", text, length, &p->source));
    assert_ok(svmp_diagnostics_create(p->context, &p->source, &p->diagnostics));
    assert_ok(svmp_parse_text(p->diagnostics, &p->model));
}

static void end(parsed *p) {
    svmp_ast_free(p->context, &p->model);
    svmp_diagnostics_free(p->diagnostics);
    svmp_source_free(p->context, &p->source);
    svmp_context_free(p->context);
}

static void assert_parses(const char *text, const char *expected) {
    parsed p;
    parse(&p, text, strlen(text));
    if (p.diagnostics->count > 0) fail_msg("%s", p.diagnostics->items[0].text);
    printer out = {.model = &p.model};
    print_statements(&out, p.model.data);
    if (p.model.data) print(&out, "| ");
    print_statements(&out, p.model.model);
    assert_string_equal(out.text, expected);
    end(&p);
}

static void test_precedence(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"a + b * c", "+(a,*(b,c))"},
        {"a - b - c", "-(-(a,b),c)"},
        {"a / b / c", "/(/(a,b),c)"},
        {"a ^ b ^ c", "^(a,^(b,c))"},
        {"-a^2", "-(^(a,2))"},
        {"2^-1", "^(2,-(1))"},
        {"--a", "-(-(a))"},
        {"+a", "a"},
        {"-1:n", ":(-(1),n)"},
        {"1:n-1", "-(:(1,n),1)"},
        {"a %*% b * c", "*(%*%(a,b),c)"},
        {"a * b %/% c", "*(a,%/%(b,c))"},
        {"1:a %*% b", "%*%(:(1,a),b)"},
        {"a < b + 1 && !c == d || e", "||(&&(<(a,+(b,1)),!(==(c,d))),e)"},
        {"(a + b) * c", "*(+(a,b),c)"},
        {"f(a, g(), -b)", "f(a,g(),-(b))"},
        {"x[i, , 2:5]", "x[i,,:(2,5)]"},
        {"x[]", "x[]"},
        {"beta[group[i]]", "beta[group[i]]"},
        {"tau.c_1 * 1.5e-3", "*(tau.c_1,0.0015)"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[200], expected[200];
        snprintf(text, sizeof text, "model { y <- %s }", cases[k][0]);
        snprintf(expected, sizeof expected, "y <- (%s); ", cases[k][1]);
        assert_parses(text, expected);
    }
}

static void test_statements(void **state) {
    (void)state;
    assert_parses("model{}", "");
    assert_parses("var x[10,2], y;\nmodel { y = 1; x[1,] ~ dflat(); }", "y <- (1); x[1,] ~ dflat(); ");
    assert_parses("data { z <- 2 }\nmodel { y <- z }", "z <- (2); | y <- (z); ");
    assert_parses("model { for (i in 1:N) { for (j in idx) { y[i] ~ dnorm(mu, tau) } } }",
                  "for i in :(1,N) { for j in idx { y[i] ~ dnorm(mu,tau); } } ");
    assert_parses("model { a ~ dnorm(0,1) T(0,) b ~ dnorm(0,1)T(,c+1) c ~ dt(0,1,2) I(-1,1) d ~ dexp(1) T(,) }",
                  "a ~ dnorm(0,1) T(0,); b ~ dnorm(0,1) T(,+(c,1)); c ~ dt(0,1,2) I(-(1),1); d ~ dexp(1) T(,); ");
    assert_parses("model { logit(p[i]) <- a # comment\n log(m) = /* b ; } */ b }", "logit p[i] <- (a); log m <- (b); ");
    assert_parses("model { factor(-w*x*y) factor[1] ~ dflat() T ~ dflat() I <- T }",
                  "factor(*(*(-(w),x),y)); factor[1] ~ dflat(); T ~ dflat(); I <- (T); ");
}

/* Every error of a text, in the order of the text. */
static void assert_errors(const char *text, size_t count, const char *const *expected) {
    parsed p;
    parse(&p, text, strlen(text));
    assert_int_equal(svmp_diagnostics_report(p.diagnostics), SVMP_BAD_INPUT);
    for (size_t k = 0; k < count && k < p.diagnostics->count; k++)
        assert_string_equal(p.diagnostics->items[k].text, expected[k]);
    assert_int_equal(p.diagnostics->count, count);
    assert_string_equal(svmp_context_error(p.context), expected[0]);
    end(&p);
}

static void test_errors(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "m.bug:1:1: error: expected a block 'model { }', not the end of the file\n    \n    ^"},
        {"modle { }", "m.bug:1:1: error: expected 'model', 'data' or 'var', not 'modle'; did you mean 'model'?\n"
                      "    modle { }\n    ^"},
        {"data {\n  int N; // parameters {\n}\nparameters {\n  real m;\n}\nmodel {\n  m ~ normal(0, 1);\n}\n",
         "m.bug:4:1: error: this is a Stan program, but svmp reads the BUGS language; see \"Coming from Stan\" in "
         "docs/language.md\n    parameters {\n    ^"},
        {"# a model\nmodel <- function() { x ~ dnorm(0, 1) }",
         "m.bug:2:1: error: this is R code; put only the model into the file, as 'model { ... }'\n"
         "    model <- function() { x ~ dnorm(0, 1) }\n    ^"},
        {"model { x ~ dnorm(0, 1) }\nlist(y = 1)",
         "m.bug:2:1: error: this is data, or initial values: put them into files of their own; the option 'init' names "
         "that of initial values\n    list(y = 1)\n    ^"},
        {"MODEL { x ~ dnorm(0, 1) }",
         "m.bug:1:1: error: expected 'model', 'data' or 'var', not 'MODEL'; did you mean 'model'?\n"
         "    MODEL { x ~ dnorm(0, 1) }\n    ^"},
        {"text = \"model { x ~ dnorm(0, 1) }\"",
         "m.bug:1:1: error: this is R code; put only the model into the file, as 'model { ... }'\n"
         "    text = \"model { x ~ dnorm(0, 1) }\"\n    ^"},
        {"model { x ~ dnorm(0, 1) } }\ny[1] ~ dnorm(x, 1)\n}",
         "m.bug:1:27: error: expected 'model', 'data' or 'var', not '}'\n    model { x ~ dnorm(0, 1) } }\n"
         "                              ^"},
        {"model { x ~ dnorm(0, 1) }\ny[1] ~ dnorm(x, 1)\n}",
         "m.bug:2:1: error: this statement is not in a block: enclose the statements in 'model { ... }', and check for "
         "an extra '}'\n    y[1] ~ dnorm(x, 1)\n    ^"},
        {"for (i in 1:3) { x[i] ~ dnorm(0, 1) }",
         "m.bug:1:1: error: this statement is not in a block: enclose the statements in 'model { ... }', and check for "
         "an extra '}'\n    for (i in 1:3) { x[i] ~ dnorm(0, 1) }\n    ^"},
        {"model { } model { }",
         "m.bug:1:11: error: there is more than one block 'model'\n    model { } model { }\n              ^"},
        {"model {\n  x ~ dnorm(0, 1)\n", "m.bug:1:7: error: '{' is not closed\n    model {\n          ^"},
        {"model { x ~ }", "m.bug:1:13: error: expected a distribution, not '}'\n    model { x ~ }\n                ^"},
        {"model { x ~ dnorm(0, }", "m.bug:1:22: error: expected an expression, not '}'\n    model { x ~ dnorm(0, }\n"
                                   "                         ^"},
        {"model { x dnorm(0,1) }",
         "m.bug:1:11: error: expected '~' or '<-' after the node, not 'dnorm'\n    model { x dnorm(0,1) }\n"
         "              ^"},
        {"model { x ~ dnorm(0,1) T[0,]\n y ~ dnorm(0,1) }",
         "m.bug:1:24: error: write the bounds of a distribution in parentheses: T(lower, upper)\n"
         "    model { x ~ dnorm(0,1) T[0,]\n                           ^"},
        {"model { log(x) ~ dnorm(0,1) }",
         "m.bug:1:16: error: a link can only be used with '<-'; with '~' write the node itself\n"
         "    model { log(x) ~ dnorm(0,1) }\n                   ^"},
        {"model { y <- 1 < 2 < 3 }", "m.bug:1:20: error: these operators cannot be chained; use parentheses\n"
                                     "    model { y <- 1 < 2 < 3 }\n                       ^"},
        {"model { y <- 3x }",
         "m.bug:1:14: error: '3x' is neither a number nor a name\n    model { y <- 3x }\n                 ^"},
        {"model { abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm <- 1 }",
         "m.bug:1:9: error: a name can have at most 64 characters\n"
         "    model { abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm <- 1 }\n            ^"},
        {"model { /* y }", "m.bug:1:9: error: the comment is not closed\n    model { /* y }\n            ^"},
        {"model { x ~ dnorm(0,1) T(0) }",
         "m.bug:1:27: error: expected ',' between the bounds, not ')'\n    model { x ~ dnorm(0,1) T(0) }\n"
         "                              ^"},
        {"model { y <- 1 @ }",
         "m.bug:1:16: error: unexpected character '@'\n    model { y <- 1 @ }\n                   ^"},
        {"model { \xCE\xBC <- 1; y <- é }",
         "m.bug:1:9: error: unexpected byte 0xCE\n    model { \xCE\xBC <- 1; y <- é }\n            ^"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        parsed p;
        parse(&p, cases[k][0], strlen(cases[k][0]));
        assert_int_equal(svmp_diagnostics_report(p.diagnostics), SVMP_BAD_INPUT);
        assert_string_equal(svmp_context_error(p.context), cases[k][1]);
        end(&p);
    }
}

static void test_several_errors_in_one_pass(void **state) {
    (void)state;
    assert_errors(
        "model {\n  a ~ dnorm(0, 1\n  b <- 2\n  c ~ dnorm(0,1)\n  for (i in 1:N {\n    d[i] <- * 2\n    e <- 1\n  }\n"
        "  f <- )\n}\n",
        4,
        (const char *const[]){
            "m.bug:3:3: error: expected ')' after the arguments, not 'b'\n      b <- 2\n      ^",
            "m.bug:5:17: error: expected ')' after the range, not '{'\n      for (i in 1:N {\n"
            "                    ^",
            "m.bug:6:13: error: expected an expression, not '*'\n        d[i] <- * 2\n                ^",
            "m.bug:9:8: error: expected an expression, not ')'\n      f <- )\n           ^",
        });
}

static void test_at_most_twenty(void **state) {
    (void)state;
    char text[4096] = "model {\n";
    for (int k = 0; k < 50; k++) strcat(text, "x <- *\n");
    strcat(text, "}");
    parsed p;
    parse(&p, text, strlen(text));
    assert_int_equal(p.diagnostics->count, DIAGNOSTICS_MOST);
    end(&p);
}

/* Constructs repeated or nested a hundred thousand times cause no overflow. */
static void test_nesting_is_bounded(void **state) {
    (void)state;
    static const char *const pieces[] = {"(",      "-", "!", "a[", "f(", "1+", "1^", "for (i in 1:2) {",
                                         "x <- {", "{", "a:"};
    enum { TIMES = 100000 };
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
        size_t length = strlen(pieces[k]);
        char *text = malloc(TIMES * length + 100);
        strcpy(text, length > 6 ? "model { " : "model { y <- ");
        char *at = text + strlen(text);
        for (int j = 0; j < TIMES; j++, at += length) memcpy(at, pieces[k], length);
        parsed p;
        parse(&p, text, (size_t)(at - text));
        assert_true(p.diagnostics->count > 0);
        end(&p);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence),     cmocka_unit_test(test_statements),
        cmocka_unit_test(test_errors),         cmocka_unit_test(test_several_errors_in_one_pass),
        cmocka_unit_test(test_at_most_twenty), cmocka_unit_test(test_nesting_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
