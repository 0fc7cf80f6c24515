/* Numbers to text that reads back to the same bits: the shortest of "%.15g", "%.16g" and "%.17g" that does, without
 * printing and reading each of them.
 *
 * A number v = m 2^e between 1e-32 and 1e17 is scaled to 17 digits before the point: v 10^k = m 5^k / 2^s, where 5^k
 * has at most 117 bits. The product is an exact integer, so that rounding to 17, 16 and 15 digits is exact, and so is
 * the test whether the digits are within half the distance to the neighbouring number, that is, read back to v. Other
 * numbers are formatted by printf. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static size_t format_by_printing(double value, char text[NUMBER_TEXT]) {
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
        if (digits == 17 || strtod(text, NULL) == value) break;
    }
    return (size_t)length;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

enum { MOST_DIGITS = 17, LEAST_DIGITS = 15, LARGEST_POWER = 48, HALF_POWER = LARGEST_POWER / 2, MANTISSA = 53 };

/* |v| 10^k in units of 2^-shift: whole + fraction / 2^shift, with whole < 10^17; `ulp` is the distance of v to the next
 * number in these units, and 10^16 <= whole unless the decimal exponent was guessed too large. */
typedef struct scaled {
    uint64_t mantissa, whole;
    wide fraction, ulp;
    int shift;
} scaled;

/* clang-format off */
static const uint64_t power_of_ten[MOST_DIGITS + 1] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
    1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000};

static const uint64_t power_of_five[HALF_POWER + 1] = {
    1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625, 1220703125, 6103515625,
    30517578125, 152587890625, 762939453125, 3814697265625, 19073486328125, 95367431640625, 476837158203125,
    2384185791015625, 11920928955078125, 59604644775390625};
/* clang-format on */

static wide low_bits(wide value, int count) { return count ? value & (~(wide)0 >> (128 - count)) : 0; }

/* v 10^(16 - exponent), for a positive v = mantissa 2^binary. */
static scaled scale(uint64_t mantissa, int binary, int exponent) {
    const int k = MOST_DIGITS - 1 - exponent;
    const wide five = (wide)power_of_five[k / 2] * power_of_five[k - k / 2];
    const wide low = (wide)mantissa * (uint64_t)five, high = (wide)mantissa * (uint64_t)(five >> 64) + (low >> 64);
    const uint64_t last = (uint64_t)low;
    scaled s = {.mantissa = mantissa, .ulp = five, .shift = -(binary + k)};
    if (s.shift <= 0) { /* a whole number */
        s.whole = last << -s.shift;
        s.ulp <<= -s.shift;
        s.shift = 0;
    } else if (s.shift < 64) {
        s.whole = (uint64_t)(high << (64 - s.shift)) | last >> s.shift;
        s.fraction = low_bits(last, s.shift);
    } else {
        s.whole = (uint64_t)(high >> (s.shift - 64));
        s.fraction = low_bits(high, s.shift - 64) << 64 | last;
    }
    return s;
}

/* The whole part rounded to a multiple of `unit`, half to even, as printf does. */
static uint64_t round_to(const scaled *s, uint64_t unit) {
    const uint64_t quotient = s->whole / unit, rest = s->whole % unit;
    int above, half; /* the half of a unit */
    if (unit == 1) {
        const wide middle = s->shift ? (wide)1 << (s->shift - 1) : 1; /* a whole number has no fraction */
        above = s->fraction > middle;
        half = s->fraction == middle;
    } else {
        above = rest > unit / 2 || (rest == unit / 2 && s->fraction > 0);
        half = rest == unit / 2 && s->fraction == 0;
    }
    return (quotient + (uint64_t)(above || (half && quotient % 2))) * unit;
}

/* Whether the number nearest to `digits` is v. The numbers below a power of two are twice as dense. No number of 16
 * digits is halfway between two doubles: an odd multiple of half an ulp has 17 digits or more. */
static int reads_back(const scaled *s, uint64_t digits) {
    enum { FAR = 16 }; /* half an ulp is 11.1 at most */
    const int below = digits <= s->whole;
    const uint64_t apart = below ? s->whole - digits : digits - s->whole;
    if (apart > FAR) return 0;
    const wide whole = (wide)apart << s->shift, distance = below ? whole + s->fraction : whole - s->fraction;
    const int denser = below && s->mantissa == (uint64_t)1 << (MANTISSA - 1);
    return distance << (denser ? 2 : 1) < s->ulp;
}

/* The `count` digits of a number, from the left. */
static void put_digits(uint64_t number, int count, char *text) {
    for (; count > 0; number /= 10) text[--count] = (char)('0' + number % 10);
}

/* As "%.{precision}g" lays out digits, the first of which stands for 10^exponent. */
static size_t lay_out(const char *digits, int count, int exponent, int precision, char *text) {
    char *to = text;
    while (count > 1 && digits[count - 1] == '0') count--;
    if (exponent < -4 || exponent >= precision) {
        *to++ = digits[0];
        if (count > 1) *to++ = '.';
        memcpy(to, digits + 1, (size_t)count - 1);
        to += count - 1;
        *to++ = 'e';
        *to++ = exponent < 0 ? '-' : '+';
        put_digits((uint64_t)abs(exponent), 2, to);
        return (size_t)(to + 2 - text);
    }
    if (exponent < 0) {
        *to++ = '0';
        *to++ = '.';
        for (int k = exponent + 1; k < 0; k++) *to++ = '0';
        memcpy(to, digits, (size_t)count);
        return (size_t)(to + count - text);
    }
    for (int k = 0; k < count || k <= exponent; k++) {
        if (k == exponent + 1) *to++ = '.';
        *to++ = k < count ? digits[k] : '0';
    }
    return (size_t)(to - text);
}

static size_t format_exactly(double size, char *text) {
    int binary, precision = LEAST_DIGITS;
    char digits[MOST_DIGITS];
    const uint64_t mantissa = (uint64_t)ldexp(frexp(size, &binary), MANTISSA); /* size = mantissa 2^(binary - 53) */
    int exponent = (binary * 1233 + 4096 * 1233) / 4096 - 1233; /* floor(binary log10 2): right, or one too large */
    binary -= MANTISSA;
    scaled s = scale(mantissa, binary, exponent);
    if (s.whole < power_of_ten[MOST_DIGITS - 1]) s = scale(mantissa, binary, --exponent);
    uint64_t rounded = 0;
    for (; precision <= MOST_DIGITS; precision++) {
        rounded = round_to(&s, power_of_ten[MOST_DIGITS - precision]);
        if (precision == MOST_DIGITS || reads_back(&s, rounded)) break;
    }
    if (rounded == power_of_ten[MOST_DIGITS]) {
        rounded /= 10;
        exponent++;
    }
    put_digits(rounded, MOST_DIGITS, digits);
    return lay_out(digits, MOST_DIGITS, exponent, precision, text);
}

size_t svmp_number_format(double value, char text[NUMBER_TEXT]) {
    const double size = fabs(value);
    if (!(size >= 1e-31 && size < 1e16)) {
        if (value != 0) return format_by_printing(value, text);
        memcpy(text, "-0", 3);
        if (!signbit(value)) memcpy(text, "0", 2);
        return strlen(text);
    }
    *text = '-';
    const size_t sign = value < 0, length = sign + format_exactly(size, text + sign);
    text[length] = '\0';
    return length;
}
#else
size_t svmp_number_format(double value, char text[NUMBER_TEXT]) { return format_by_printing(value, text); }
#endif
