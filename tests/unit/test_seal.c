/* The protection of agents' datagrams: what is opened is what was closed, every damage is refused, and nothing of an
 * encrypted payload is in the clear, nor is a nonce used twice. */
#include <stdlib.h>
#include <string.h>

#include "agents/seal.h"
#include "unit/support.h"

enum { HEAD = 72, PAYLOAD = 200, MOST = HEAD + SEAL_NONCE + PAYLOAD + SEAL_TAG };

typedef struct sealed {
    unsigned char key[SEAL_KEY], payload[PAYLOAD], bytes[MOST];
    size_t all;
} sealed;

static sealed close_one(int encrypts, size_t size) {
    sealed s = {.all = 0};
    for (size_t k = 0; k < SEAL_KEY; k++) s.key[k] = (unsigned char)(7 * k + 1);
    for (size_t k = 0; k < HEAD; k++) s.bytes[k] = (unsigned char)k;
    for (size_t k = 0; k < PAYLOAD; k++) s.payload[k] = (unsigned char)(3 * k);
    s.all = seal_close(encrypts, s.key, HEAD, size, s.payload, s.bytes);
    return s;
}

static void what_is_opened_was_closed(void **state) {
    (void)state;
    for (int encrypts = 0; encrypts < 2; encrypts++)
        for (size_t size = 0; size <= PAYLOAD; size += 20) {
            size_t got = 1;
            sealed s = close_one(encrypts, size);
            assert_int_equal(s.all, HEAD + (encrypts ? SEAL_NONCE : 0) + size + SEAL_TAG);
            const unsigned char *payload = seal_open(encrypts, s.key, HEAD, s.all, s.bytes, &got);
            assert_non_null(payload);
            assert_int_equal(got, size);
            assert_memory_equal(payload, s.payload, size);
        }
}

static void every_damage_is_refused(void **state) {
    (void)state;
    size_t got;
    for (int encrypts = 0; encrypts < 2; encrypts++) {
        const sealed whole = close_one(encrypts, PAYLOAD);
        for (size_t bit = 0; bit < 8 * whole.all; bit++) {
            sealed s = whole;
            s.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            assert_null(seal_open(encrypts, s.key, HEAD, s.all, s.bytes, &got));
        }
        for (size_t size = HEAD; size < whole.all; size++) {
            sealed s = whole;
            assert_null(seal_open(encrypts, s.key, HEAD, size, s.bytes, &got));
        }
        sealed s = whole;
        s.key[5] ^= 1;
        assert_null(seal_open(encrypts, s.key, HEAD, s.all, s.bytes, &got));
        s = whole; /* one that asks for encryption takes nothing else, and the reverse */
        assert_null(seal_open(!encrypts, s.key, HEAD, s.all, s.bytes, &got));
    }
}

static void nothing_is_in_the_clear(void **state) {
    (void)state;
    enum { RUN = 8 };
    const sealed plain = close_one(0, PAYLOAD), secret = close_one(1, PAYLOAD);
    assert_memory_equal(plain.bytes + HEAD, plain.payload, PAYLOAD);
    for (size_t at = HEAD; at + RUN <= secret.all; at++)
        for (size_t from = 0; from + RUN <= PAYLOAD; from++)
            assert_memory_not_equal(secret.bytes + at, secret.payload + from, RUN);
}

static int by_bytes(const void *a, const void *b) { return memcmp(a, b, SEAL_NONCE); }

/* Two processes that start alike, as from the same backup, must not repeat a nonce either, so none is counted. */
static void no_nonce_occurs_twice(void **state) {
    (void)state;
    enum { MANY = 20000 };
    static unsigned char nonces[MANY][SEAL_NONCE];
    for (size_t k = 0; k < MANY; k++) {
        const sealed s = close_one(1, 0);
        memcpy(nonces[k], s.bytes + HEAD, SEAL_NONCE);
    }
    qsort(nonces, MANY, SEAL_NONCE, by_bytes);
    for (size_t k = 1; k < MANY; k++) {
        assert_memory_not_equal(nonces[k - 1], nonces[k], SEAL_NONCE);
        assert_memory_not_equal(nonces[k - 1] + SEAL_NONCE - 8, nonces[k] + SEAL_NONCE - 8, 8);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_opened_was_closed),
        cmocka_unit_test(every_damage_is_refused),
        cmocka_unit_test(nothing_is_in_the_clear),
        cmocka_unit_test(no_nonce_occurs_twice),
    };
    if (!seal_available()) return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
