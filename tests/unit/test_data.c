/* Data files: the three formats give the same arrays, and every error is reported with its place. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/data_set.h"

#ifdef SVMP_HAVE_JANSSON
static int can_read(const char *path) { return path != NULL; }
#else
static int can_read(const char *path) { return strstr(path, ".json") == NULL; }
#endif

static svmp_status read_text(data_set *data, const char *path, const char *text) {
    return svmp_data_read_text(data, path, text, strlen(text));
}

static void assert_array(const data_set *data, const char *name, size_t rank, const size_t *dimensions,
                         const double *values) {
    const data_array *array = svmp_data_find(data, name);
    assert_non_null(array);
    assert_int_equal(array->rank, rank);
    size_t count = 1;
    for (size_t k = 0; k < rank; k++) {
        assert_int_equal(array->dimensions[k], dimensions[k]);
        count *= dimensions[k];
    }
    assert_int_equal(array->count, count);
    for (size_t k = 0; k < count; k++)
        assert_true(array->values[k] == values[k] || (isnan(array->values[k]) && isnan(values[k])));
}

/* The same arrays in every format that can express them: a scalar, a vector with a missing value, a 2 x 3 matrix with
 * rows 1 2 3 and 4 5 6, and an empty vector. */
static void test_formats_agree(void **state) {
    (void)state;
    static const struct {
        const char *path, *text;
    } files[] = {
        {"a.json", "{\"N\": 3, \"tau.c\": [1.5, null, -2e-3],\n \"m\": [[1,2,3],[4,5,6]], \"none\": []}"},
        {"a.R",
         "# comment\n`N` <- 3L; \"tau.c\" <-\nc(1.5, NA, -2e-3)\nm = structure(c(1, 4, 2, 5, 3, 6), .Dim = 2:3)\n"
         "none <- numeric(0)"},
        {"a.txt", "N<-3 'tau.c'<-c(1.5,NA_real_,-.002) m<-structure(c(1,4,2,5,3,6),.Dim=c(2L,3L),.Dimnames=list(NULL,\n"
                  "c(\"a\",\"b)\",\"c\"))) none<-c()"},
        {"b.R", "\xEF\xBB\xBFN <- as.integer(3.7)\ntau.c <- c(a = 1.5, b = c(NA), `c d` = -2e-3)\n"
                "m <- matrix(c(1, 2, 3, 4, 5, 6), nrow = 2, byrow = TRUE)\nnone <- integer(0)\n"
                ".RNG.name <- \"base::Wichmann-Hill\"\n.RNG.state <- NULL"},
        {"c.R", "list(N=3,tau.c=c(1.5,NA,-2.0E-3),m=structure(.Data=c(1,2,3,4,5,6),.Dim=c(2,3)),none=NULL)"},
        {"d.R", "data <- list(N = 3L, tau.c = structure(c(1.5, NA, -0.002), .Names = c(\"a\", \"b\", \"c\")),\n"
                "m = structure(c(1, 4, 2, 5, 3, 6), dim = 2:3), none = logical(0))"},
        {"e.R",
         "N <- as.numeric(structure(c(u = 3), class = \"x\")); tau.c <- -c(-1.5, NA, 2e-3)\n"
         "m <- array(as.integer(c(rep(1, 1), 4L, 2, 5, 3, 6)), dim = c(2, 3), dimnames = NULL)\nnone <- rep(1, 0)"},
        {"g.R", "structure(list(N = 3L, tau.c = c(1.5, NA, -0.002)), .Names = c(\"N\", \"tau.c\"))\n"
                "frame <- structure(list(none = numeric(0)), row.names = integer(0), class = \"data.frame\");\n"
                "m <- structure(c(1, 4, 2, 5, 3, 6), dim = 2:3)"},
        {"f.dat", "list(N = 3)\r\ntau.c[] # a table\r\n1.5\r\nNA\r\n-2.0E-3\r\nEND\r\n"
                  "m[,1] m[,3] m[ ,2]\n1 3 2\n4 6 5\nEND\n\nnone <- c()"},
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        if (!can_read(files[k].path)) continue;
        svmp_context *context = test_context(1);
        data_set *data = NULL;
        assert_ok(svmp_data_create(context, &data));
        assert_ok(read_text(data, files[k].path, files[k].text));
        assert_int_equal(data->count, svmp_data_find(data, ".RNG.state") ? 5 : 4);
        assert_array(data, "N", 1, (size_t[]){1}, (double[]){3});
        assert_array(data, "tau.c", 1, (size_t[]){3}, (double[]){1.5, NAN, -0.002});
        assert_array(data, "m", 2, (size_t[]){2, 3}, (double[]){1, 4, 2, 5, 3, 6});
        assert_array(data, "none", 1, (size_t[]){0}, NULL);
        assert_null(svmp_data_find(data, "M"));
        svmp_data_free(data);
        svmp_context_free(context);
    }
}

static void assert_place(const data_set *data, const char *name, size_t element, const char *expected) {
    char place[40];
    assert_string_equal(svmp_data_place(data, svmp_data_find(data, name), element, place, sizeof place), expected);
}

static void test_csv_columns(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    data_set *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(read_text(data, "a.csv", "\xEF\xBB\xBFx, \"y\",z\r\n1,NA, -3.5\r\n+2,,\"1e2\"\r\n\r\n"));
    assert_array(data, "x", 1, (size_t[]){2}, (double[]){1, 2});
    assert_array(data, "y", 1, (size_t[]){2}, (double[]){NAN, NAN});
    assert_array(data, "z", 1, (size_t[]){2}, (double[]){-3.5, 100});
    assert_ok(read_text(data, "one.csv", "single\n1\n\n3")); /* in one column, an empty line is a missing value */
    assert_array(data, "single", 1, (size_t[]){3}, (double[]){1, NAN, 3});
    assert_ok(read_text(data, "gaps.csv", "\"u,v\",w\n1,2\n\n \n3,4\n"));
    /* columns of a matrix, in any order; other brackets are names */
    assert_ok(read_text(data, "m.csv", "X[2],t,\"X[,1]\",X[3],t[0],q[1]\n12,1,11,13,7,5\n22,2,NA,23,8,6\n"));
    assert_array(data, "X", 2, (size_t[]){2, 3}, (double[]){11, NAN, 12, 22, 13, 23});
    assert_array(data, "t", 1, (size_t[]){2}, (double[]){1, 2});
    assert_array(data, "t[0]", 1, (size_t[]){2}, (double[]){7, 8});
    assert_array(data, "q", 2, (size_t[]){2, 1}, (double[]){5, 6});
    assert_place(data, "X", 3, "m.csv:3");
    assert_place(data, "X", 4, "m.csv:2");
    assert_place(data, "z", 1, "a.csv:3");
    assert_place(data, "single", 2, "one.csv:4");
    assert_place(data, "w", 0, "gaps.csv:2");
    assert_place(data, "w", 1, "gaps.csv:5");
    assert_ok(read_text(data, "a.R", "\nr <- c(1,\n2)"));
    assert_place(data, "r", 1, "a.R:2");
    svmp_data_free(data);
    svmp_context_free(context);
}

static void test_ranges_and_infinities(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    data_set *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(read_text(data, "a.R", "a <- 1:3\nb <- c(2:-1, -Inf, Inf, TRUE)\n"));
    assert_array(data, "a", 1, (size_t[]){3}, (double[]){1, 2, 3});
    assert_array(data, "b", 1, (size_t[]){7}, (double[]){2, 1, 0, -1, -INFINITY, INFINITY, 1});
    svmp_data_free(data);
    svmp_context_free(context);
}

/* An array of three dimensions: JSON nests them row by row, the values are column-major. */
static void test_json_three_dimensions(void **state) {
    (void)state;
    if (!can_read("a.json")) skip();
    svmp_context *context = test_context(1);
    data_set *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(read_text(data, "a.json", "{\"a\": [[[111,112],[121,122],[131,132]],[[211,212],[221,222],[231,232]]]}"));
    const data_array *array = svmp_data_find(data, "a");
    assert_int_equal(array->rank, 3);
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < 2; k++)
                assert_true(array->values[i + 2 * (j + 3 * k)] == (double)(111 + 100 * i + 10 * j + k));
    svmp_data_free(data);
    svmp_context_free(context);
}

/* Columns of text are codes of their levels; one with numbers among the text is refused when it is used. */
static void test_csv_text(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_data *data;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(read_text(data, "t.csv",
                        "name,x,X[1],X[2],\"say \"\"hi\"\"\",mixed,truth\nc,1,2,3,0,a,TRUE\n\"a, "
                        "\"\"b\"\"\",2,1,NaN,0,7,false\nNA,3,1,1,0,b,NA\n"));
    const data_array *x = svmp_data_find(data, "x");
    assert_non_null(x);
    assert_true(x->count == 3 && x->values[0] == 1 && x->values[1] == 2);
    assert_array(data, "name", 1, (size_t[]){3}, (double[]){2, 1, NAN});
    assert_array(data, "truth", 1, (size_t[]){3}, (double[]){1, 0, NAN});
    assert_string_equal(svmp_data_level(data, "name", 0), "a, \"b\"");
    assert_string_equal(svmp_data_level(data, "name", 1), "c");
    assert_null(svmp_data_level(data, "name", 2));
    assert_null(svmp_data_level(data, "truth", 0));
    assert_null(svmp_data_find(data, "mixed"));
    assert_null(svmp_data_find(data, "X"));
    assert_ok(svmp_data_refuse_text(data, "x"));
    assert_ok(svmp_data_refuse_text(data, "y"));
    assert_int_equal(svmp_data_refuse_text(data, "mixed"), SVMP_BAD_INPUT);
    assert_string_equal(svmp_context_error(context), "t.csv:2:11: error: 'a' in column 'mixed' is not a number\n"
                                                     "    c,1,2,3,0,a,TRUE\n              ^");
    assert_int_equal(svmp_data_refuse_text(data, "X"), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context),
                           "t.csv:3:16: error: 'NaN' in column 'X[2]' is not a number; write NA for a missing value"));
    assert_int_equal(read_text(data, "u.csv", "label,z\na,1\nb\n"), SVMP_BAD_INPUT); /* adds nothing */
    assert_ok(svmp_data_refuse_text(data, "label"));
    assert_null(svmp_data_level(data, "label", 0));
    svmp_data_free(data);
    svmp_context_free(context);
}

/* Levels that were set before have the first codes, others come behind them in order. */
static void test_levels(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_data *data;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_set_levels(data, "g", 2, (const char *const[]){"York", "Leeds"}));
    assert_ok(svmp_data_add_text(data, "g", 5, (const char *const[]){"Leeds", "Ulm", NULL, "Bath", "York"}));
    assert_array(data, "g", 1, (size_t[]){5}, (double[]){2, 4, NAN, 3, 1});
    assert_string_equal(svmp_data_level(data, "g", 2), "Bath");
    assert_int_equal(svmp_data_set_levels(data, "g", 1, (const char *const[]){"a"}), SVMP_BAD_CALL);
    assert_int_equal(svmp_data_set_levels(data, "h", 1, (const char *const[]){""}), SVMP_BAD_CALL);
    assert_int_equal(svmp_data_add_text(data, "g", 1, (const char *const[]){"a"}), SVMP_BAD_CALL);
    assert_ok(svmp_data_replace(data, "g", 5, (double[]){1, 1, 1, 1, 2}));
    assert_array(data, "g", 1, (size_t[]){5}, (double[]){1, 1, 1, 1, 2});
    assert_int_equal(svmp_data_replace(data, "g", 4, (double[]){1, 1, 1, 1}), SVMP_BAD_CALL);
    assert_int_equal(svmp_data_replace(data, "k", 1, (double[]){1}), SVMP_BAD_CALL);
    svmp_data_free(data);
    svmp_context_free(context);
}

static const struct {
    const char *path, *text, *error;
} wrong[] = {
    {"d.json", "{\"x\": [1, 2,\n  3, oops]}",
     "d.json:2:9: error: expected a number, null or an array, not 'oops'\n      3, oops]}\n            ^"},
    {"d.json", "[1, 2]", "d.json:1:1: error: expected one object, {\"name\": value, ...}\n    [1, 2]\n    ^"},
    {"d.json", "{\"x\": \"a\"}",
     "d.json:1:7: error: expected a number, null or an array\n    {\"x\": \"a\"}\n          ^"},
    {"d.json", "{\"x\": [[1,2],\n[3]]}",
     "d.json:2:1: error: the array is ragged: this row has 1 elements, the first row has 2\n    [3]]}\n"
     "    ^"},
    {"d.json", "{\"x\": [[1,2], 3]}",
     "d.json:1:15: error: the array is ragged: expected an array, not a number\n    {\"x\": [[1,2], 3]}\n"
     "                  ^"},
    {"d.json", "{\"x\": [1, [3]]}",
     "d.json:1:11: error: the array is ragged: expected a number, not an array\n"
     "    {\"x\": [1, [3]]}\n              ^"},
    {"d.json", "{\"x\": 1, \"x\": 2}",
     "d.json:1:12: error: the name '\"x\"' appears twice\n    {\"x\": 1, \"x\": 2}\n               ^"},
    {"d.json", "{\"x\": [[[[[[[[[1]]]]]]]]]}",
     "d.json:1:7: error: an array can have at most 8 dimensions\n    {\"x\": [[[[[[[[[1]]]]]]]]]}\n"
     "          ^"},
    {"d.csv", "", "d.csv:1:1: error: expected a header row of names\n    \n    ^"},
    {"d.csv", "x,y\n", "d.csv:1:1: error: no rows below the header\n    x,y\n    ^"},
    {"d.csv", "x,y\n1,2\n3\n",
     "d.csv:3:1: error: the last row has 1 field, but the header has 2: was the file cut short?\n    3\n    ^"},
    {"d.csv", "x,y\n1,2\n3\n4,5\n", "d.csv:3:1: error: the row has 1 field, but the header has 2\n    3\n    ^"},
    {"d.csv", "x,y\na,2 3\n", "d.csv:2:1: error: 'a' in column 'x' is not a number\n    a,2 3\n    ^"},
    {"d.csv", "x,y\n1,\"2\"3\n",
     "d.csv:2:6: error: expected a comma or the end of the line after a quoted field\n    1,\"2\"3\n         ^"},
    {"d.csv", "x;y\n1;2\n",
     "d.csv:2:1: error: '1;2' in column 'x;y' is not a number; use commas, not semicolons, between columns and points "
     "in decimals\n"
     "    1;2\n    ^"},
    {"d.csv", "x;y\n1,5;2\n",
     "d.csv:2:1: error: the row has 2 fields, but the header has 1; use commas, not semicolons, between columns and "
     "points in decimals\n"
     "    1,5;2\n    ^"},
    {"d.csv", "x\ty\n1\t2\n",
     "d.csv:2:1: error: '1 2' in column 'x y' is not a number; use commas, not tabs, between columns\n"
     "    1 2\n    ^"},
    {"d.csv", "X[1],X[3]\n1,2\n",
     "d.csv:1:1: error: there is a column 'X[3]' of a matrix, but no 'X[2]'\n    X[1],X[3]\n    ^"},
    {"d.csv", "X[1],a,X[1]\n1,2,3\n",
     "d.csv:1:8: error: the column 'X[1]' is there twice\n    X[1],a,X[1]\n           ^"},
    {"d.csv", "X,X[1]\n1,2\n", "d.csv:1:3: error: 'X' is already defined at d.csv:1\n    X,X[1]\n      ^"},
    {"d.csv", "x,-2.5\n1,2\n",
     "d.csv:1:3: error: expected a header row of names; '-2.5' is a number\n    x,-2.5\n      ^"},
    {"d.csv", "x\n1e999\n", "d.csv:2:1: error: '1e999' in column 'x' is not a number\n    1e999\n    ^"},
    {"d.R", "x <- 1e999", "d.R:1:6: error: the number is too large\n    x <- 1e999\n         ^"},
    {"d.csv", "x\nNaN\n",
     "d.csv:2:1: error: 'NaN' in column 'x' is not a number; write NA for a missing value\n    NaN\n    ^"},
    {"d.csv", "\"\",\"x\"\n\"1\",2\n",
     "d.csv:1:2: error: column 1 has no name; if these are row names from R's write.csv, use row.names = FALSE\n"
     "    \"\",\"x\"\n     ^"},
    {"d.csv", "x,\n1,2\n", "d.csv:1:3: error: column 2 has no name\n    x,\n      ^"},
    {"d.csv", "x,x\n1,2\n", "d.csv:1:3: error: 'x' is already defined at d.csv:1\n    x,x\n      ^"},
    {"d.csv", "\"x\n1\n", "d.csv:1:1: error: the quote is not closed on this line\n    \"x\n    ^"},
    {"d.R", "x <- c(1, two)", "d.R:1:11: error: 'two' is not a number\n    x <- c(1, two)\n              ^"},
    {"d.R", "x <- c(1, NaN)",
     "d.R:1:11: error: NaN is not a number; write NA for a missing value\n    x <- c(1, NaN)\n              ^"},
    {"d.R", "x <- 1:1e12",
     "d.R:1:6: error: the range 1:1000000000000 contains more than 10000000 numbers\n    x <- 1:1e12\n"
     "         ^"},
    {"d.R", "x <- structure(c(1,2,3), .Dim=c(2,2))",
     "d.R:1:1: error: 'x' has 3 numbers, which does not match its dimensions\n"
     "    x <- structure(c(1,2,3), .Dim=c(2,2))\n    ^"},
    {"d.R", "x <- structure(1, .Dim=c(1,-1))",
     "d.R:1:24: error: a dimension must be a whole number, at least 0, not -1\n"
     "    x <- structure(1, .Dim=c(1,-1))\n                           ^"},
    {"d.R", "x <- c(1,\n2", "d.R:2:2: error: expected ')' after the numbers of c(\n    2\n     ^"},
    {"d.R", "list(x = 1", "d.R:1:11: error: expected ')' at the end of list(\n    list(x = 1\n              ^"},
    {"d.R", "x <- list(1)", "d.R:1:11: error: expected a name\n    x <- list(1)\n              ^"},
    {"d.R", "x <- c(1, list(2))",
     "d.R:1:11: error: a list() within the data is not supported; write one array for each part\n"
     "    x <- c(1, list(2))\n              ^"},
    {"d.R", "x <- matrix(1:4, 3)",
     "d.R:1:13: error: 4 numbers do not fill an array of 3\n    x <- matrix(1:4, 3)\n                ^"},
    {"d.R", "x 1", "d.R:1:3: error: expected '<-' after the name\n    x 1\n      ^"},
    {"d.R", "x <- 1e5Q", "d.R:1:9: error: unexpected 'Q' after a number\n    x <- 1e5Q\n            ^"},
    {"d.R", "x <- 1\n'x' <- 2", "d.R:2:2: error: 'x' is already defined at d.R:1\n    'x' <- 2\n     ^"},
    {"d.dat", "",
     "d.dat: error: unknown kind of data file; expected .json, .csv, .R, .txt or .dump, or a text "
     "such as 'y <- c(1, 2)' or 'list(y = c(1, 2))'."},
    {"d.R", "N <- length(y)",
     "d.R:1:6: error: 'length()' is not read in data files; write the numbers, as R's dump() does\n"
     "    N <- length(y)\n         ^"},
    {"d.R", "y <- c(1, 2) / 2",
     "d.R:1:14: error: formulas are not read in data files; write the numbers, as R's dump() does\n"
     "    y <- c(1, 2) / 2\n                 ^"},
    {"d.R", "y <- c(1, .)", "d.R:1:11: error: write NA for a missing value\n    y <- c(1, .)\n              ^"},
    {"d.txt", "# a\nmodel { }",
     "d.txt: error: this is a model, not data; the model is the first file: svmp run MODEL DATA..."},
    {"d.txt", "y[] x[,1]\n1 2\n3\nEND",
     "d.txt:3:1: error: the row has 1 number, but the table has 2 columns\n    3\n    ^"},
    {"d.txt", "y[] x[,1]\n1\n2 3 4\nEND",
     "d.txt:2:1: error: the row has 1 number, but the table has 2 columns\n    1\n    ^"},
    {"d.txt", "y[]\n1 # one\n 2 3 4 END",
     "d.txt:3:2: error: the row has 3 numbers, but the table has 1 column\n     2 3 4 END\n     ^"},
    {"d.txt", "y[]\n1.2.3\nEND",
     "d.txt:2:1: error: expected a number, NA, or END after the last row of the table\n    1.2.3\n    ^"},
    {"d.txt", "y[] x[]\n1-2\nEND",
     "d.txt:2:1: error: expected a number, NA, or END after the last row of the table\n    1-2\n    ^"},
    {"d.txt", "y[] x[]\n1 2020-01\nEND",
     "d.txt:2:3: error: expected a number, NA, or END after the last row of the table\n    1 2020-01\n      ^"},
    {"d.txt", "y[] x[]\nNA-2\nEND",
     "d.txt:2:1: error: expected a number, NA, or END after the last row of the table\n    NA-2\n    ^"},
    {"d.txt", "y[] x[] y[]\n1 2 3\nEND",
     "d.txt:1:9: error: the table already has this column\n    y[] x[] y[]\n            ^"},
    {"d.txt", "y[,1] y[,2] y[,1]\n1 2 3\nEND",
     "d.txt:1:13: error: the table already has this column\n    y[,1] y[,2] y[,1]\n                ^"},
    {"d.txt", "3[]\n1\nEND", "d.txt:1:1: error: expected a name at the head of a column\n    3[]\n    ^"},
    {"d.txt", "y[] x\n1 2\nEND", "d.txt:1:5: error: expected a column of the table, such as x[]\n    y[] x\n        ^"},
    {"d.txt", "y[1] x[]\n1 2\nEND",
     "d.txt:1:2: error: expected subscripts such as [] or [,2] at the head of a column\n    y[1] x[]\n     ^"},
    {"d.txt", "y[] x[]\n1 two\nEND",
     "d.txt:2:3: error: expected a number, NA, or END after the last row of the table\n    1 two\n      ^"},
    {"d.txt", "y[] y[,2]\n1 2\nEND",
     "d.txt:1:5: error: the columns of this name have different numbers of subscripts\n    y[] y[,2]\n        ^"},
};

static void test_errors_name_the_place(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        if (!can_read(wrong[k].path)) continue;
        svmp_context *context = test_context(1);
        data_set *data = NULL;
        assert_ok(svmp_data_create(context, &data));
        assert_int_equal(read_text(data, wrong[k].path, wrong[k].text), SVMP_BAD_INPUT);
        assert_string_equal(svmp_context_error(context), wrong[k].error);
        svmp_data_free(data);
        svmp_context_free(context);
    }
}

/* Tables as users write them: a comment after a number, END in the last row, names that begin with a dot. */
static void test_tables(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    data_set *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(read_text(data, "a.dat", "y[] .x[]\r\n.5 -.25#half\r\n\r\n  +2 NA\r\n# no row\r\n1e1 3 END\r\n"));
    assert_array(data, "y", 1, (size_t[]){3}, (double[]){0.5, 2, 10});
    assert_array(data, ".x", 1, (size_t[]){3}, (double[]){-0.25, NAN, 3});
    svmp_data_free(data);
    svmp_context_free(context);
}

/* A '~' in a comment or a string is ignored, and a CSV column may have any name. */
static void test_kinds(void **state) {
    (void)state;
    static const struct {
        const char *text;
        data_kind kind;
    } cases[] = {
        {"# y ~ x\nlist(y = c(1, 2))", DATA_DUMP},
        {"m <- 0.3 # ~ start", DATA_DUMP},
        {"/* m ~ 1 */ m <- 0.3", DATA_DUMP},
        {"m <- \"y ~ \\\" ~ x\"\nn <- 'a ~ b'", DATA_DUMP},
        {"{\"~\": 1}", DATA_JSON},
        {"y[] # ~\n1\nEND", DATA_DUMP},
        {"x <- 1\ny ~ dnorm(x, 1)", DATA_OTHER},
        {"x <- 1 # it's\ny ~ dnorm(x, 1)", DATA_OTHER},
        {"x <- 'a'\ny ~ dnorm(x, 1)", DATA_OTHER},
        {"var x;\nmodel { }", DATA_MODEL},
        {"model rats;\n{ }", DATA_MODEL},
        {"var\n3.2\n4", DATA_OTHER},
        {"model\n3.2\n4", DATA_OTHER},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        if (svmp_data_kind(cases[k].text, strlen(cases[k].text)) != cases[k].kind) fail_msg("'%s'", cases[k].text);
    svmp_context *context = test_context(1);
    data_set *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(read_text(data, "c.dat", "# y ~ x\nlist(y = c(1,2))"));
    assert_ok(read_text(data, "v.csv", "var\n3.2\n4\n"));
    assert_ok(read_text(data, "m.csv", "model\nNA\n4\n"));
    assert_array(data, "var", 1, (size_t[]){2}, (double[]){3.2, 4});
    assert_array(data, "model", 1, (size_t[]){2}, (double[]){NAN, 4});
    svmp_data_free(data);
    svmp_context_free(context);
}

/* A 0 within a text in memory is an unexpected byte, not an operator. */
static void test_zero_byte(void **state) {
    (void)state;
    static const char text[] = "x <- 1 \0y <- 2";
    svmp_context *context = test_context(1);
    data_set *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_int_equal(svmp_data_read_text(data, "a.R", text, sizeof text - 1), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "a.R:1:8: error: expected a name"));
    svmp_data_free(data);
    svmp_context_free(context);
}

static void test_same_name_in_two_files(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    data_set *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(read_text(data, "one.R", "a <- 1\nN <- 2"));
    assert_int_equal(read_text(data, "two.csv", "M,N\n1,2\n"), SVMP_BAD_INPUT);
    assert_string_equal(svmp_context_error(context),
                        "two.csv:1:3: error: 'N' is already defined at one.R:2\n    M,N\n      ^");
    assert_int_equal(svmp_data_read(data, "/no/such/file.R"), SVMP_CANNOT_READ);
    svmp_data_free(data);
    svmp_context_free(context);
}

static void test_deep_nesting(void **state) {
    (void)state;
    if (!can_read("a.json")) skip();
    enum { DEPTH = 200000 };
    char *text = malloc(DEPTH + 10);
    memcpy(text, "{\"x\":", 5);
    memset(text + 5, '[', DEPTH);
    svmp_context *context = test_context(1);
    data_set *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_int_equal(svmp_data_read_text(data, "a.json", text, DEPTH + 5), SVMP_BAD_INPUT);
    svmp_data_free(data);
    svmp_context_free(context);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats_agree),
        cmocka_unit_test(test_csv_columns),
        cmocka_unit_test(test_csv_text),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_ranges_and_infinities),
        cmocka_unit_test(test_json_three_dimensions),
        cmocka_unit_test(test_errors_name_the_place),
        cmocka_unit_test(test_same_name_in_two_files),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_zero_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
