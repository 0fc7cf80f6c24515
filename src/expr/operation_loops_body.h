/* The loops themselves, compiled once for each set of instructions: the includer defines KERNEL_TARGET, the attribute
 * that chooses them. Each operation is rounded as in IEEE arithmetic, so the bits are the same in all sets. Only
 * included by operation_loops*.c. */
#include "expr/operation_loops.h"
#include "maths/special.h"

/* Bits of `scalars`. */
enum { A = 1, B = 2, C = 4 };

/* One loop. An operand is p[l], one number per lane, or a scalar read before the loop. */
#define LOOP(name, a_, b_, c_, value)                                                                                  \
    KERNEL_TARGET __attribute__((unused)) static void name(size_t count, double *out, const double *pa,                \
                                                           const double *pb, const double *pc) {                       \
        const double sa = *pa, sb = *pb, sc = *pc;                                                                     \
        (void)sa, (void)sb, (void)sc;                                                                                  \
        _Pragma("omp simd") for (size_t l = 0; l < count; l++) {                                                       \
            double a = a_, b = b_, c = c_;                                                                             \
            (void)b, (void)c;                                                                                          \
            out[l] = value;                                                                                            \
        }                                                                                                              \
    }
#define OP1(name, value, da) LOOP(name##_v, pa[l], sa, sa, value)
#define OP2(name, value, da, db)                                                                                       \
    LOOP(name##_vv, pa[l], pb[l], sa, value)                                                                           \
    LOOP(name##_sv, sa, pb[l], sa, value)                                                                              \
    LOOP(name##_vs, pa[l], sb, sa, value)
#define LOOPS3(name, value)                                                                                            \
    LOOP(name##_vvv, pa[l], pb[l], pc[l], value)                                                                       \
    LOOP(name##_svv, sa, pb[l], pc[l], value)                                                                          \
    LOOP(name##_vsv, pa[l], sb, pc[l], value)                                                                          \
    LOOP(name##_ssv, sa, sb, pc[l], value)                                                                             \
    LOOP(name##_vvs, pa[l], pb[l], sc, value)                                                                          \
    LOOP(name##_svs, sa, pb[l], sc, value)                                                                             \
    LOOP(name##_vss, pa[l], sb, sc, value)
#define OP3(name, value, da, db, dc) LOOPS3(name, value)
#include "expr/operations.def"
#undef OP1
#undef OP2
#undef OP3

/* Operations with a vectorised form for most arguments, used if all arguments of the block are among these. */
#define NEAR_LIST(X)                                                                                                   \
    X(sin, SVMP_NEAR_ANGLE(a), svmp_near_sin(a))                                                                       \
    X(cos, SVMP_NEAR_ANGLE(a), svmp_near_cos(a))                                                                       \
    X(tan, SVMP_NEAR_ANGLE(a), svmp_near_tan(a))                                                                       \
    X(loggam, a > 0, svmp_positive_log_gamma(a))                                                                       \
    X(gamma, a > 0, svmp_positive_gamma(a))                                                                            \
    X(logfact, a + 1 > 0, svmp_positive_log_gamma(a + 1))                                                              \
    X(digamma, a > 0, svmp_positive_digamma(a))                                                                        \
    X(trigamma, a > 0, svmp_positive_trigamma(a))

#define NEAR_LOOP(name, fits, value)                                                                                   \
    LOOP(name##_near, pa[l], sa, sa, value)                                                                            \
    KERNEL_TARGET static void name##_any(size_t count, double *out, const double *pa, const double *pb,                \
                                         const double *pc) {                                                           \
        double others = 0;                                                                                             \
        _Pragma("omp simd reduction(+ : others)") for (size_t l = 0; l < count; l++) {                                 \
            const double a = pa[l];                                                                                    \
            others += fits ? 0 : 1;                                                                                    \
        }                                                                                                              \
        (others > 0 ? name##_v : name##_near)(count, out, pa, pb, pc);                                                 \
    }
NEAR_LIST(NEAR_LOOP)

/* Compilers do not vectorise these if an operand is a scalar, because their branches are then the same for all lanes:
 * the scalar is repeated. */
#define REPEAT_LOOP(name, suffix, first, a_, b_)                                                                       \
    KERNEL_TARGET static void name##_repeated_##suffix(size_t count, double *out, const double *pa, const double *pb,  \
                                                       const double *pc) {                                             \
        double same[64];                                                                                               \
        for (size_t l = 0; l < 64; l++) same[l] = *first;                                                              \
        for (size_t l = 0; l < count; l += 64) name##_vv(count - l < 64 ? count - l : 64, out + l, a_, b_, pc);        \
    }
#define REPEAT_LOOPS(name) REPEAT_LOOP(name, sv, pa, same, pb + l) REPEAT_LOOP(name, vs, pb, pa + l, same)
REPEAT_LOOPS(power)
REPEAT_LOOPS(xlogy)
REPEAT_LOOPS(xlog1my)
#define power_sv   power_repeated_sv
#define power_vs   power_repeated_vs
#define xlogy_sv   xlogy_repeated_sv
#define xlogy_vs   xlogy_repeated_vs
#define xlog1my_sv xlog1my_repeated_sv
#define xlog1my_vs xlog1my_repeated_vs

static expr_kernel op_kernel(expr_op op, unsigned scalars) {
    static const expr_kernel table[OP_COUNT][8] = {
#define OP1(name, value, da)     [OP_##name] = {name##_v},
#define OP2(name, value, da, db) [OP_##name] = {[0] = name##_vv, [A] = name##_sv, [B] = name##_vs},
#define OP3(name, value, da, db, dc)                                                                                   \
    [OP_##name] = {[0] = name##_vvv, [A] = name##_svv,     [B] = name##_vsv,    [A | B] = name##_ssv,                  \
                   [C] = name##_vvs, [A | C] = name##_svs, [B | C] = name##_vss},
#include "expr/operations.def"
#undef OP1
#undef OP2
#undef OP3
    };
    switch (op) {
#define NEAR_ROW(name, fits, value)                                                                                    \
    case OP_##name: return scalars ? NULL : name##_any;
        NEAR_LIST(NEAR_ROW)
#undef NEAR_ROW
    default: return table[op][scalars];
    }
}

#define PAIR_LOOPS(first, second, value) LOOPS3(first##_##second, value)
PAIR_LIST(PAIR_LOOPS)

static expr_kernel pair_kernel(pair_op pair, unsigned scalars) {
    static const expr_kernel table[PAIR_COUNT][8] = {
#define PAIR_ROW(first, second, value)                                                                                 \
    [PAIR_##first##_##                                                                                                 \
        second] = {[0] = first##_##second##_vvv,     [A] = first##_##second##_svv, [B] = first##_##second##_vsv,       \
                   [A | B] = first##_##second##_ssv, [C] = first##_##second##_vvs, [A | C] = first##_##second##_svs,   \
                   [B | C] = first##_##second##_vss},
        PAIR_LIST(PAIR_ROW)
#undef PAIR_ROW
    };
    return table[pair][scalars];
}

LOOP(copy_v, pa[l], sa, sa, a)
LOOP(copy_s, sa, sa, sa, a)

static expr_kernel copy_kernel(unsigned scalars) { return scalars & A ? copy_s : copy_v; }

const kernel_set KERNEL_SET = {op_kernel, pair_kernel, copy_kernel};
