/* Random input for the readers: valid files with bytes changed, removed or repeated. A reader returns OK or an error
 * with its place; the sanitizers check the rest. The random numbers have a fixed seed. */
#include "files.h"

#include "base/random.h"
#include "data/matrix_market.h"

enum { ROUNDS = 8000, LARGEST = 512 };

static svmp_context *context;

static uint64_t below(uint64_t round, uint64_t place, uint64_t bound) {
    return svmp_random_below((random_stream){.seed = 1, .purpose = RANDOM_TEST, .a = round}, place, bound);
}

/* One to four changes; special bytes are more frequent than others. */
static size_t mutate(uint64_t round, const char *good, char bytes[LARGEST]) {
    static const char interesting[] = "0123456789+-.,eE#%_\n\r \t\"xN";
    size_t size = (size_t)snprintf(bytes, LARGEST, "%s", good);
    uint64_t changes = 1 + below(round, 0, 4);
    for (uint64_t c = 0; c < changes; c++) {
        size_t place = (size_t)below(round, 4 * c + 1, size);
        size_t length = (size_t)below(round, 4 * c + 2, 12) + 1;
        if (length > size - place) length = size - place;
        char byte = (char)below(round, 4 * c + 3, 256);
        switch (below(round, 4 * c + 4, 4)) {
        case 0: bytes[place] = byte; break;
        case 1: bytes[place] = interesting[(unsigned char)byte % (sizeof interesting - 1)]; break;
        case 2: /* cut out */
            memmove(bytes + place, bytes + place + length, size - place - length);
            size -= length;
            break;
        case 3: /* repeat */
            if (size + length > LARGEST) break;
            memmove(bytes + place + length, bytes + place, size - place);
            size += length;
            break;
        }
        if (size == 0) break;
    }
    return size;
}

static void assert_names_place(const char *path) {
    assert_int_equal(strncmp(svmp_context_error(context), path, strlen(path)), 0);
    assert_int_equal(svmp_context_error(context)[strlen(path)], ':');
}

static void test_particles(void **state) {
    (void)state;
    static const char good[] = "# svmp 99.0\n# seed = 1\n# i[i] = 1 2 4\n# phi[i] = 0.5 nan "
                               "1e-3\nx.2,x.1,lp__\n0.25,-1e-3,7\n1,2,nan\r\n\n-0,17.5,3\n# end\n";
    char bytes[LARGEST];
    for (uint64_t round = 0; round < ROUNDS; round++) {
        write_bytes("fuzz.csv", bytes, mutate(round, good, bytes));
        svmp_particles *read = NULL;
        svmp_status status = svmp_particles_read(context, "fuzz.csv", &read);
        assert_true(status == SVMP_OK || status == SVMP_BAD_INPUT);
        assert_true((status == SVMP_OK) == (read != NULL));
        if (status != SVMP_OK) assert_names_place("fuzz.csv");
        svmp_particles_free(read);
    }
}

static void test_matrices(void **state) {
    (void)state;
    static const char *const good[] = {
        "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 5\n1 1 2\n2 1 -1\n2 2 2.5\n3 2 -1e0\n3 3 2\n",
        "%%MatrixMarket matrix array integer general\n2 2\n4\n-1\n-1\n4\n",
    };
    char bytes[LARGEST];
    for (uint64_t round = 0; round < ROUNDS; round++) {
        write_bytes("fuzz.mtx", bytes, mutate(round, good[round % 2], bytes));
        matrix read = {0};
        svmp_status status = svmp_matrix_read(context, "fuzz.mtx", NULL, NULL, &read);
        assert_true(status == SVMP_OK || status == SVMP_BAD_INPUT);
        if (status != SVMP_OK) assert_names_place("fuzz.mtx");
        for (size_t k = 0; k < read.count; k++)
            assert_true(read.entries[k].row < read.rows && read.entries[k].column < read.columns);
        svmp_matrix_free(context, &read);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_particles),
        cmocka_unit_test(test_matrices),
    };
    context = test_context(1);
    int failed = cmocka_run_group_tests(tests, enter_folder, leave_folder);
    svmp_context_free(context);
    return failed;
}
