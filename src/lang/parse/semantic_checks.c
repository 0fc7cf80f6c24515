/* Checks that need only the text: functions, distributions and links exist and have the right number of arguments;
 * every name that is used is defined. */
#include "lang/functions/language_functions.h"

#include <string.h>

#include "base/name_distance.h"
#include "base/name_list.h"

typedef struct model_checker {
    model_lowering *lowering;
    ast_model *ast;
    name_table known; /* names that have a definition */
    bool in_data;     /* in data { } */
    bool takes_text;  /* codes of categories may stand here: in subscripts, and in calls that compare or count */
} model_checker;

/* ---- suggestions ---------------------------------------------------------------------------- */

typedef struct suggestion {
    const char *text;
    int distance;
} suggestion;

static void consider(suggestion *best, const char *written, const char *candidate) {
    int distance = svmp_name_distance(written, strlen(written), candidate);
    if (distance > 0 && (best->text == NULL || distance < best->distance)) *best = (suggestion){candidate, distance};
}

/* "", or "; did you mean 'sigma'?" */
static const char *did_you_mean(const suggestion *best, char text[ELEMENT_TEXT]) {
    text[0] = 0;
    if (best->text) snprintf(text, ELEMENT_TEXT, "; did you mean '%s'?", best->text);
    return text;
}

/* The name of a function of other languages in this one, or what to write instead; NULL if unknown. */
static const char *function_advice(const char *name) {
    static const char *const words[][2] = {
        {"lgamma", "write loggam()"},
        {"gammaln", "write loggam()"},
        {"lfactorial", "write logfact()"},
        {"logfactorial", "write logfact()"},
        {"inv.logit", "write ilogit()"},
        {"invlogit", "write ilogit()"},
        {"inv_logit", "write ilogit()"},
        {"expit", "write ilogit()"},
        {"Phi", "write phi()"},
        {"floor", "write trunc(); for negative numbers x %/% 1"},
        {"ceiling", "write -((-x) %/% 1)"},
        {"log10", "write log(x) / log(10)"},
        {"log2", "write log(x) / log(2)"},
        {"log1p", "write log(1 + x)"},
        {"square", "write pow(x, 2)"},
        {"var", "write pow(sd(x), 2)"},
        {"cut", "feedback cannot be cut; infer the first part by itself and give its result as data"},
        {"abs.value", "write abs()"},
        {"mexp", "matrix exponentials (JAGS' module msm) are not available"},
        {"identity", "leave it out"},
        {"dot_product", "write inprod()"},
        {"if_else", "write ifelse()"},
    };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(words[k][0], name) == 0) return words[k][1];
    return NULL;
}

static svmp_status unknown_function(model_checker *checker, uint32_t offset, const char *name) {
    suggestion best = {0};
    char text[ELEMENT_TEXT];
    size_t count;
    const language_function *functions = svmp_function_table(&count);
    for (size_t k = 0; k < count; k++) consider(&best, name, functions[k].name);
    if (svmp_distribution_find(name))
        return svmp_diagnose(checker->lowering->diagnostics, offset,
                             "'%s' is a distribution: write '~' before it, not '<-' or '='", name);
    const char *advice = function_advice(name);
    if (advice) return svmp_diagnose(checker->lowering->diagnostics, offset, "unknown function '%s'; %s", name, advice);
    return svmp_diagnose(checker->lowering->diagnostics, offset, "unknown function '%s'%s", name,
                         did_you_mean(&best, text));
}

/* The name here of a distribution that other languages call otherwise; NULL if unknown. */
static const char *translated(const char *name) {
    static const char *const words[][2] = {
        {"normal", "dnorm"},
        {"gaussian", "dnorm"},
        {"dnormal", "dnorm"},
        {"uniform", "dunif"},
        {"duniform", "dunif"},
        {"beta", "dbeta"},
        {"gamma", "dgamma"},
        {"exponential", "dexp"},
        {"student_t", "dt"},
        {"dstudent", "dt"},
        {"cauchy", "dt"},
        {"dcauchy", "dt"},
        {"lognormal", "dlnorm"},
        {"weibull", "dweib"},
        {"logistic", "dlogis"},
        {"double_exponential", "ddexp"},
        {"dlaplace", "ddexp"},
        {"pareto", "dpar"},
        {"dpareto", "dpar"},
        {"inv_gamma", "dinvgamma"},
        {"digamma", "dinvgamma"},
        {"bernoulli", "dbern"},
        {"dbernoulli", "dbern"},
        {"binomial", "dbin"},
        {"dbinomial", "dbin"},
        {"poisson", "dpois"},
        {"dpoisson", "dpois"},
        {"neg_binomial", "dnegbin"},
        {"categorical", "dcat"},
        {"multinomial", "dmulti"},
        {"multi_normal", "dmnorm"},
        {"dmvnorm", "dmnorm"},
        {"dirichlet", "ddirch"},
        {"ddirichlet", "ddirch"},
        {"wishart", "dwish"},
        {"dwishart", "dwish"},
        {"half_cauchy", "dhalfcauchy"},
    };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(words[k][0], name) == 0) return words[k][1];
    return NULL;
}

/* What to write instead of distributions of JAGS and BUGS that are not supported. */
static const char *distribution_advice(const char *name) {
    static const char *const words[][2] = {
        {"dsample", "write a dbern() for each element, and a dsum() of them"},
        {"car.l1", "write factor(-tau * abs(x[i] - x[j])) for each pair of neighbours"},
        {"mv.car", "write factor() for each pair of neighbours"},
        {"spatial.exp", "write dmnorm.vcov() with the covariance matrix computed from the distances"},
        {"dgpar", "write it with factor(); its log density is -log(s) - (1/k + 1) log(1 + k (x - m)/s)"},
        {"dgev",
         "write it with factor(); its log density is -log(s) - (1/k + 1) log(z) - z^(-1/k) with z = 1 + k (x - m)/s"},
        {"dloglik", "write factor(e) for dummy ~ dloglik(e)"},
        {"dgeneric", "write factor(e)"},
        {"ode", "differential equations are not supported"},
    };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(words[k][0], name) == 0) return words[k][1];
    return NULL;
}

static svmp_status unknown_distribution(model_checker *checker, uint32_t offset, const char *name) {
    const char *advice = distribution_advice(name);
    if (advice) return svmp_diagnose(checker->lowering->diagnostics, offset, "'%s' is not supported: %s", name, advice);
    suggestion best = {translated(name), 0};
    char text[ELEMENT_TEXT];
    size_t count;
    const distribution *distributions = svmp_distribution_table(&count);
    for (size_t k = 0; k < count; k++) consider(&best, name, distributions[k].name);
    return svmp_diagnose(checker->lowering->diagnostics, offset, "unknown distribution '%s'%s", name,
                         did_you_mean(&best, text));
}

/* Whether a loop below `statement` counts in `symbol`. */
static bool counts_somewhere(const ast_statement *statement, uint32_t symbol) {
    for (; statement; statement = statement->next)
        if (statement->kind == AST_FOR && (statement->counter == symbol || counts_somewhere(statement->body, symbol)))
            return true;
    return false;
}

/* ", and no data were given", or where it was looked for. */
static const char *not_in_data(const data_set *data, char text[ELEMENT_TEXT]) {
    const char *first = data->source_count > 0 ? data->sources[0].path : "the data";
    const char *others = data->source_count > 1 ? " or the other data files" : "";
    if (data->source_count == 0 && data->count == 0) return ", and no data were given";
    snprintf(text, ELEMENT_TEXT, ", and not in %.100s%s", first, others);
    return text;
}

static svmp_status unknown_name(model_checker *checker, const ast_expression *variable, const ast_statement *loop) {
    const name_table *names = &checker->lowering->ast->names;
    const char *name = names->text[variable->symbol];
    suggestion best = {0};
    char text[ELEMENT_TEXT];
    if (counts_somewhere(checker->lowering->ast->model, variable->symbol))
        return svmp_diagnose(checker->lowering->diagnostics, variable->offset,
                             "'%s' is a loop counter, used outside its loop", name);
    for (; loop; loop = loop->parent) consider(&best, name, names->text[loop->counter]);
    for (size_t k = 0; k < checker->known.count; k++) consider(&best, name, checker->known.text[k]);
    return svmp_diagnose(checker->lowering->diagnostics, variable->offset, "'%s' is not defined%s", name,
                         best.text ? did_you_mean(&best, text) : not_in_data(checker->lowering->data, text));
}

/* ---- expressions ---------------------------------------------------------------------------- */

static bool is_known(const model_checker *checker, uint32_t symbol) {
    const char *name = checker->lowering->ast->names.text[symbol];
    return svmp_names_find(&checker->known, name, strlen(name)) != NAMES_NONE;
}

static void check_expression(model_checker *checker, ast_expression *expression, const ast_statement *loop);

/* Text is stored as codes of its levels, which are not numbers to compute with. */
static void check_text(model_checker *checker, const ast_expression *variable) {
    const char *name = checker->lowering->ast->names.text[variable->symbol];
    const name_table *levels = svmp_data_levels(checker->lowering->data, name);
    if (levels == NULL || checker->takes_text) return;
    svmp_diagnose(checker->lowering->diagnostics, variable->offset,
                  "'%s' is text, not numbers: its %zu levels ('%.40s'%s) can be subscripts, u[%s[i]], or be compared",
                  name, levels->count, levels->count > 0 ? levels->text[0] : "", levels->count > 1 ? ", ..." : "",
                  name);
}

static bool call_takes_text(const char *name) {
    static const char *const names[] = {"max", "length", "dim", "==", "!=", "equals", "ifelse"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k], name) == 0) return true;
    return false;
}

static void check_operands(model_checker *checker, ast_expression *expression, const ast_statement *loop) {
    for (size_t k = 0; k < expression->count; k++) {
        check_expression(checker, expression->operands[k], loop);
        expression->varies |= expression->operands[k]->varies;
    }
}

static void check_subscripts(model_checker *checker, ast_expression *variable, const ast_statement *loop) {
    const bool before = checker->takes_text;
    checker->takes_text = true;
    check_operands(checker, variable, loop);
    checker->takes_text = before;
}

static void check_call(model_checker *checker, ast_expression *call, const ast_statement *loop) {
    const char *name = checker->lowering->ast->functions.text[call->symbol];
    size_t arguments = 0;
    call->function = svmp_function_find(name, call->count);
    if (call->function == NULL) call->function = svmp_distribution_function(name, &arguments);
    if (call->function == NULL || (arguments != 0 && call->count + 1 == arguments && svmp_distribution_find(name))) {
        unknown_function(checker, call->offset, name);
    } else if (arguments != 0) {
        if (call->count != arguments)
            svmp_diagnose(checker->lowering->diagnostics, call->offset,
                          "'%s' takes %zu arguments, not %zu: the value, then the arguments of the distribution", name,
                          arguments, call->count);
    } else if (call->count < call->function->least || call->count > call->function->most) {
        size_t wanted = call->count < call->function->least ? call->function->least : call->function->most;
        svmp_diagnose(checker->lowering->diagnostics, call->offset, "'%s' takes %s%zu argument%s, not %zu", name,
                      call->function->least == call->function->most ? ""
                      : wanted > call->count                        ? "at least "
                                                                    : "at most ",
                      wanted, wanted == 1 ? "" : "s", call->count);
    }
    const bool before = checker->takes_text;
    checker->takes_text = call_takes_text(name);
    check_operands(checker, call, loop);
    checker->takes_text = before;
    call->place = call->varies ? NOTHING : checker->ast->calls++;
}

static void check_expression(model_checker *checker, ast_expression *expression, const ast_statement *loop) {
    switch (expression->kind) {
    case AST_CALL: check_call(checker, expression, loop); break;
    case AST_VARIABLE:
        for (const ast_statement *around = loop; around; around = around->parent)
            if (around->counter == expression->symbol) {
                expression->counter = around->depth;
                expression->varies = 1;
                if (expression->indexed)
                    svmp_diagnose(checker->lowering->diagnostics, expression->offset,
                                  "'%s' is a loop counter and has no elements",
                                  checker->lowering->ast->names.text[expression->symbol]);
                return;
            }
        if (!is_known(checker, expression->symbol)) unknown_name(checker, expression, loop);
        check_text(checker, expression);
        check_subscripts(checker, expression, loop);
        break;
    default: break;
    }
}

/* ---- statements ----------------------------------------------------------------------------- */

static void check_left(model_checker *checker, const ast_statement *statement) {
    for (const ast_statement *around = statement->parent; around; around = around->parent)
        if (around->counter == statement->left->symbol)
            svmp_diagnose(checker->lowering->diagnostics, statement->left->offset,
                          "'%s' is a loop counter and cannot be defined",
                          checker->lowering->ast->names.text[statement->left->symbol]);
    check_subscripts(checker, statement->left, statement->parent);
}

static void check_stochastic(model_checker *checker, ast_statement *statement) {
    diagnostics *noted = checker->lowering->diagnostics;
    const char *name = checker->lowering->ast->functions.text[statement->function];
    statement->distribution = svmp_distribution_find(name);
    if (statement->distribution == NULL) {
        unknown_distribution(checker, statement->function_offset, name);
        return;
    }
    checker->takes_text = strcmp(name, "dcat") == 0;
    check_text(checker, statement->left);
    checker->takes_text = false;
    if (statement->argument_count != statement->distribution->arguments)
        svmp_diagnose(noted, statement->function_offset, "'%s' takes %zu argument%s, not %zu", name,
                      statement->distribution->arguments, statement->distribution->arguments == 1 ? "" : "s",
                      statement->argument_count);
    if (statement->bounds != AST_UNBOUNDED && !svmp_distribution_truncatable(statement->distribution))
        svmp_diagnose(noted, statement->bounds_offset, "'%s' cannot be truncated", name);
}

static void check_deterministic(model_checker *checker, const ast_statement *statement) {
    if (statement->function == NAMES_NONE) return;
    const char *name = checker->lowering->ast->functions.text[statement->function];
    expr_op inverse;
    suggestion best = {0};
    char text[ELEMENT_TEXT], links[64];
    if (svmp_link_inverse(name, &inverse)) return;
    for (size_t k = 0; svmp_link_name(k); k++) consider(&best, name, svmp_link_name(k));
    svmp_diagnose(checker->lowering->diagnostics, statement->function_offset, "unknown link '%s': expected %s%s", name,
                  svmp_list_names(svmp_link_name, "or", links, sizeof links), did_you_mean(&best, text));
}

static void check_loop(model_checker *checker, const ast_statement *loop) {
    for (const ast_statement *around = loop->parent; around; around = around->parent)
        if (around->counter == loop->counter)
            svmp_diagnose(checker->lowering->diagnostics, loop->offset,
                          "'%s' is already the counter of an enclosing loop",
                          checker->lowering->ast->names.text[loop->counter]);
    check_expression(checker, loop->range, loop->parent);
}

static void check_statements(model_checker *checker, ast_statement *statement, ast_statement *parent, int depth) {
    for (; statement; statement = statement->next) {
        statement->parent = parent;
        statement->depth = depth;
        statement->place = checker->ast->statements++;
        if (statement->kind == AST_FOR) {
            check_loop(checker, statement);
            check_statements(checker, statement->body, statement, depth + 1);
            continue;
        }
        if (statement->left) check_left(checker, statement);
        if (statement->kind == AST_STOCHASTIC) check_stochastic(checker, statement);
        if (statement->kind == AST_DETERMINISTIC) check_deterministic(checker, statement);
        if (statement->kind == AST_FACTOR && checker->in_data)
            svmp_diagnose(checker->lowering->diagnostics, statement->offset, "factors are not allowed in data { }");
        for (size_t k = 0; k < statement->argument_count; k++)
            check_expression(checker, statement->arguments[k], parent);
        if (statement->lower) check_expression(checker, statement->lower, parent);
        if (statement->upper) check_expression(checker, statement->upper, parent);
    }
}

/* ---- names ---------------------------------------------------------------------------------- */

static svmp_status add_known(model_checker *checker, const char *name) {
    uint32_t ignored;
    return svmp_names_add(checker->lowering->context, &checker->known, name, strlen(name), &ignored);
}

static svmp_status collect_left(model_checker *checker, const ast_statement *statement) {
    for (; statement; statement = statement->next) {
        if (statement->kind == AST_FOR)
            SVMP_TRY(collect_left(checker, statement->body));
        else if (statement->left)
            SVMP_TRY(add_known(checker, checker->lowering->ast->names.text[statement->left->symbol]));
    }
    return SVMP_OK;
}

static svmp_status check_all(model_checker *checker) {
    const data_set *data = checker->lowering->data;
    ast_model *ast = checker->ast;
    ast->statements = ast->calls = 0;
    for (size_t k = 0; k < data->count; k++) SVMP_TRY(add_known(checker, data->arrays[k].name));
    for (ast_declaration *declared = ast->declarations; declared; declared = declared->next)
        check_operands(checker, declared->variable, NULL);
    SVMP_TRY(collect_left(checker, ast->data));
    checker->in_data = true;
    check_statements(checker, ast->data, NULL, 0);
    checker->in_data = false;
    SVMP_TRY(collect_left(checker, ast->model));
    check_statements(checker, ast->model, NULL, 0);
    return SVMP_OK;
}

svmp_status svmp_check(model_lowering *lowering, ast_model *ast) {
    model_checker checker = {.lowering = lowering, .ast = ast};
    svmp_status status = check_all(&checker);
    svmp_names_free(lowering->context, &checker.known);
    return status;
}
