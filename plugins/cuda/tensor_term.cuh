// A term of a kernel for more than 64 particles in single precision, a block of threads for each unit, with distances
// from tensor cores. A coordinate is the sum of two numbers of half precision, y = h + l, in units of a power of two,
// and
//
//     -|y - y'|^2 / 2 = h.h' + h.l' + l.h' - |y|^2/2 - |y'|^2/2
//
// is what a product of 16 x 16 by 16 x 8 and one of 16 x 8 by 8 x 8 give for 128 pairs; |y|^2 is two numbers of half
// precision as well, among the coordinates. Pairs are those of the upper triangle, 64 rows by 8 columns at a time; a
// warp has a run of them, with its rows in registers. As in ring_term.cuh they are computed twice, to count them and for the
// sums.
//
// The median is that of distances in single precision, exactly: those from tensor cores, which are rounded to half
// precision near the pivot, only say which pairs are below the bracket, which above, and which few are in it, and a
// median that is too close to the bracket's ends for that is not believed. A search that takes many passes, since
// distances coincide or have gaps, is left to that of a ring, which finds the same numbers: the bits do not depend on
// where a search began. Units that this does not suit, where a particle is far from the others, are done by a ring; the
// particles alone decide that.

enum {
    TENSOR_ROWS = 6,    // of a domain
    TENSOR_GROUP = 64,  // rows of pairs at once
    TENSOR_RUN = 16,    // pairs of tiles whose rows are added up in one number
    TENSOR_PASSES = 8,  // after which a search is left to that of a ring
    TENSOR_LEFT = 64,   // distances that one warp ranks
    TENSOR_MOST = 2048, // particles
    TENSOR_FEW = 64,    // threads of a unit of up to 256 particles and up to so many rows:
    TENSOR_FEW_ROWS = 12,
    TENSOR_SOME = 128,
    TENSOR_SOME_ROWS = 28,
};

// The first bracket of a search, in units of what was wrong before: few candidates, or few second passes.
static __device__ __forceinline__ float tensor_width(size_t n) { return n <= 256 ? 1.5f : 2.5f; }

// -|y|^2/2 of particles that are not there, |y|^2 being below 64, so that k is 0.
#define TENSOR_FAR -60000.0f

#define TENSOR_ONES 0x3c003c00u // two of half precision

// What a distance may be off by, in units of the largest |y|^2: 16 roundings of single precision in each product.
#define TENSOR_ROUNDING 1.52587890625e-5f

struct tensor_shape {
    unsigned places, tiles, steps; // particles, in groups of 64; pairs of tiles of 8 columns; those of all groups
    unsigned full;                 // pairs of which both tiles have particles
    unsigned chunks;               // of 16 coordinates, in wide rooms
    int once;                      // whether sums in half precision are rounded once
};

// ---- operands -------------------------------------------------------------------------------------------------------

static __device__ __forceinline__ unsigned to_halves(float a, float b) {
    const __half2 both = __floats2half2_rn(a, b);
    return *(const unsigned *)&both;
}
static __device__ __forceinline__ float2 from_halves(unsigned word) { return __half22float2(*(const __half2 *)&word); }

// A number as two of half precision.
static __device__ __forceinline__ unsigned split_number(float x) {
    const float one = __half2float(__float2half_rn(x));
    return to_halves(one, x - one);
}

// h and l of two coordinates; adds their squares to the norm.
static __device__ __forceinline__ void split_two(float a, float b, unsigned &high, unsigned &low, float &norm) {
    high = to_halves(a, b);
    const float2 h = from_halves(high);
    low = to_halves(a - h.x, b - h.y);
    norm = fused_add(a, norm);
    norm = fused_add(b, norm);
}
static __device__ __forceinline__ float2 join_two(unsigned high, unsigned low, float by) {
    const float2 h = from_halves(high), l = from_halves(low);
    return make_float2(by * (h.x + l.x), by * (h.y + l.y));
}
static __device__ __forceinline__ unsigned split_norm(bool there, float norm, float by, float from = 0) {
    return split_number(there ? from - 0.5f * by * norm : TENSOR_FAR);
}

// Four signs at a time: bytes of ones where numbers of half precision are negative.
static __device__ __forceinline__ unsigned signs_of(unsigned a, unsigned b) {
    unsigned signs;
    asm("prmt.b32 %0, %1, %2, 0xfdb9;" : "=r"(signs) : "r"(a), "r"(b));
    return signs;
}
static __device__ __forceinline__ unsigned add_halves(unsigned a, unsigned b) {
    const __half2 sum = __hadd2(*(const __half2 *)&a, *(const __half2 *)&b);
    return *(const unsigned *)&sum;
}

// v += a b of 16 x 16 by 16 x 8, or of 16 x 8 by 8 x 8.
#if __CUDA_ARCH__ >= 800
static __device__ __forceinline__ void multiply_16(float *v, uint4 a, unsigned b, unsigned b2) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b), "r"(b2));
}
static __device__ __forceinline__ void multiply_8(float *v, unsigned a, unsigned a2, unsigned b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3])
        : "r"(a), "r"(a2), "r"(b));
}
// The same in half precision: a b, and v += a b.
static __device__ __forceinline__ uint2 halves_16(uint4 a, unsigned b, unsigned b2) {
    uint2 v;
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%8};"
        : "=r"(v.x), "=r"(v.y)
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b), "r"(b2), "r"(0));
    return v;
}
static __device__ __forceinline__ void halves_8(uint2 &v, uint2 a, unsigned b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
        : "+r"(v.x), "+r"(v.y)
        : "r"(a.x), "r"(a.y), "r"(b));
}
#else // never launched
static __device__ __forceinline__ void multiply_16(float *, uint4, unsigned, unsigned) {}
static __device__ __forceinline__ void multiply_8(float *, unsigned, unsigned, unsigned) {}
static __device__ __forceinline__ uint2 halves_16(uint4, unsigned, unsigned) { return make_uint2(0, 0); }
static __device__ __forceinline__ void halves_8(uint2 &, uint2, unsigned) {}
#endif

// Counts rely on sums of products in half precision that are rounded once, at their end, as they are on compute
// capability 9.0. Newer devices run the same code and are tested; where sums are not rounded once, products are in
// single precision, and rounded afterwards, which takes longer. A module has no constants for such an answer: they
// make every launch 0.7 us longer. One warp: 64 and -64 in all pairs of places, with 2^-10 in the others, and with them
// in the sum so far. Any rounding in between would lose the small ones.
static __global__ void kernel_try_halves(volatile unsigned long long *once) {
    const unsigned g = threadIdx.x / 4, q = threadIdx.x % 4, ones = to_halves(1, 1);
    const float large = 64, small = 1 / 1024.0f;
    bool good = true;
    for (unsigned p = 0; p < 16; p++) {
        // row i of the first operand, for places k and k + 1
        const auto row = [&](unsigned i, unsigned k, unsigned places) {
            const auto at = [&](unsigned place) {
                return place == p % places ? large : place == i % places ? -large : small;
            };
            return to_halves(at(k), at(k + 1));
        };
        const auto sum_of = [&](unsigned i, unsigned places) { // the sum of a row
            return i % places == p % places ? large + (float)(places - 1) * small : (float)(places - 2) * small;
        };
        const uint2 v = halves_16(
            make_uint4(row(g, 2 * q, 16), row(g + 8, 2 * q, 16), row(g, 2 * q + 8, 16), row(g + 8, 2 * q + 8, 16)),
            ones, ones);
        const float one = sum_of(g, 16), two = sum_of(g + 8, 16);
        good = good && v.x == to_halves(one, one) && v.y == to_halves(two, two);
        const unsigned parts[] = {to_halves(small, small), to_halves(-large, -large)};
        for (unsigned k = 0; k < 2; k++) {
            uint2 more = make_uint2(parts[k], parts[k]);
            halves_8(more, make_uint2(row(g, 2 * q, 8), row(g + 8, 2 * q, 8)), ones);
            const float before = k ? -large : small, first = before + sum_of(g, 8), second = before + sum_of(g + 8, 8);
            good = good && more.x == to_halves(first, first) && more.y == to_halves(second, second);
        }
    }
    good = __all_sync(0xffffffffu, good);
    if (threadIdx.x == 0) *once = good;
}

struct tensor_rows;
struct tensor_halves;

// Particles m and m + 8 of each 16 share 4 words of 16 bytes: h of two coordinates of the one and of the other, then l;
// the last has ones in place of h and -|y|^2/2 in place of l. They are operands of rows and of columns alike. Before,
// coordinates of single precision are there, two of the one and two of the other.
struct tensor_room {
    enum { WIDE = 0, EACH = 32 }; // bytes of a particle
    typedef tensor_rows rows;
    typedef tensor_halves halves;
    uint4 *words;
    float *place, *pull;
    float2 *sums; // of each warp

    __device__ __forceinline__ tensor_room(const tensor_shape &shape, void *memory)
        : words((uint4 *)memory), place((float *)(words + 2 * shape.places)), pull(place + shape.places),
          sums((float2 *)(pull + shape.places)) {}

    // What distances may be off by, in units of the largest |y|^2.
    static __device__ __forceinline__ float rounding(const tensor_shape &) { return TENSOR_ROUNDING; }

    // The rows of a domain.
    struct source {
        const float *row[TENSOR_ROWS];
        unsigned count;
        __device__ __forceinline__ source(const float *z, const uint32_t *domain, unsigned rows, unsigned n)
            : count(rows) {
#pragma unroll
            for (unsigned e = 0; e < TENSOR_ROWS; e++) row[e] = z + times(e < rows ? domain[e] : 0, n);
        }
    };

    // Reads a particle; and keeps it, which returns |x|^2.
    struct values {
        float x[TENSOR_ROWS];
    };
    __device__ __forceinline__ values fetch(const source &from, unsigned m, bool there) const {
        values of = {};
        if (there) {
#pragma unroll
            for (unsigned e = 0; e < TENSOR_ROWS; e++)
                if (e < from.count) of.x[e] = from.row[e][m];
        }
        return of;
    }
    __device__ __forceinline__ float keep(const values &of, unsigned m) const {
        float2 *to = (float2 *)(words + 4 * (m / 16 * 8 + m % 8)) + m / 8 % 2;
        float square = 0;
#pragma unroll
        for (unsigned k = 0; k < TENSOR_ROWS / 2; k++) {
            to[2 * k] = make_float2(of.x[2 * k], of.x[2 * k + 1]);
            square = fused_add(of.x[2 * k], square);
            square = fused_add(of.x[2 * k + 1], square);
        }
        return square;
    }

    // Two particles times `by`, in place: coordinates of single precision (RAW) or of halves become halves. Half of a
    // pivot is added to -|y|^2/2.
    template <bool RAW> __device__ __forceinline__ void put(unsigned pair, unsigned n, float by, float half) const {
        const unsigned m = pair / 8 * 16 + pair % 8;
        uint4 *to = words + 4 * pair;
        float one = 0, other = 0;
#pragma unroll
        for (unsigned k = 0; k < TENSOR_ROWS / 2; k++) {
            const uint4 word = to[k];
            float2 x = make_float2(by * from_bits(word.x), by * from_bits(word.y)),
                   y = make_float2(by * from_bits(word.z), by * from_bits(word.w));
            if (!RAW) x = join_two(word.x, word.z, by), y = join_two(word.y, word.w, by);
            uint4 made;
            split_two(x.x, x.y, made.x, made.z, one);
            split_two(y.x, y.y, made.y, made.w, other);
            to[k] = made;
        }
        to[3] = make_uint4(TENSOR_ONES, TENSOR_ONES, split_norm(m < n, one, 1, half),
                           split_norm(m + 8 < n, other, 1, half));
    }
    // All particles in other units.
    template <int TH, bool RAW>
    __device__ __forceinline__ void scale(const tensor_shape &shape, unsigned n, float by, float pivot) const {
#pragma unroll 1
        for (unsigned pair = threadIdx.x; pair < shape.places / 2; pair += TH) put<RAW>(pair, n, by, 0.5f * pivot);
    }
    // Another pivot, which is so much larger.
    template <int TH> __device__ __forceinline__ void aim(const tensor_shape &shape, float larger) const {
#pragma unroll 1
        for (unsigned k = threadIdx.x; k < shape.places; k += TH) {
            unsigned *norm = &((unsigned *)&words[4 * (k / 2) + 3])[2 + k % 2];
            const float2 halves = from_halves(*norm);
            *norm = split_number(halves.x + halves.y + 0.5f * larger);
        }
    }
};

// The lane, in a register that is not given up: otherwise it is read again and again where registers are scarce.
static __device__ __forceinline__ unsigned kept_lane() {
    unsigned lane = threadIdx.x % 32;
    asm volatile("" : "+r"(lane));
    return lane;
}

// The rows of a group in the registers of a warp. Lane 4 g + q has rows g, g + 8, ... and of a tile the columns 2 q and
// 2 q + 1; number 2 r + c of a tile is row 8 r + g and column 2 q + c: -|y - y'|^2 / 2.
struct tensor_rows {
    uint4 row[4], next; // columns that come next
    unsigned lane;

    __device__ __forceinline__ void load(const tensor_room &at, unsigned group, unsigned pair, unsigned own) {
        lane = own;
        next = at.words[32 * pair + lane];
#pragma unroll
        for (int b = 0; b < 4; b++) row[b] = at.words[32 * (4 * group + b) + lane];
    }
    // 16 rows and the columns whose h and l these are
    __device__ __forceinline__ void multiply(int b, unsigned high, unsigned low, float *v) const {
        v[0] = v[1] = v[2] = v[3] = 0;
        multiply_16(v, row[b], lane % 4 == 3 ? 0 : high, high); // h.h' + l.h'
        multiply_8(v, row[b].x, row[b].y, low);                 // h.l'
    }
    // The columns of a pair of tiles; that after it comes next, or nothing that is used.
    __device__ __forceinline__ uint4 columns_of(const tensor_room &at, unsigned pair) {
        const uint4 columns = next;
        next = at.words[32 * (pair + 1) + lane];
        return columns;
    }
};

// The same in half precision, two columns in a word: pivot - |y - y'|^2 / 2, the pivot being in the norms. The first
// product has all but h.l', so that what is rounded before that is added is small near the pivot.
struct tensor_halves {
    uint4 row[4], next;
    uint2 high[4]; // h, without ones
    unsigned lane;

    __device__ __forceinline__ void load(const tensor_room &at, unsigned group, unsigned pair, unsigned own, float) {
        lane = own;
        next = at.words[32 * pair + lane];
#pragma unroll
        for (int b = 0; b < 4; b++) {
            row[b] = at.words[32 * (4 * group + b) + lane];
            high[b] = lane % 4 == 3 ? make_uint2(0, 0) : make_uint2(row[b].x, row[b].y);
            asm volatile("" : "+r"(high[b].x), "+r"(high[b].y)); // in registers of their own, not found again each time
        }
    }
    __device__ __forceinline__ void multiply(const tensor_room &at, unsigned pair, const tensor_shape &shape,
                                             uint2 (&v)[4], uint2 (&w)[4]) {
        const uint4 columns = next;
        const unsigned one = lane % 4 == 3 ? columns.z : columns.x,
                       two = lane % 4 == 3 ? columns.w : columns.y; // norms of columns in place of ones
        next = at.words[32 * (pair + 1) + lane];
#if __CUDA_ARCH__ >= 900
        if (shape.once) {
#pragma unroll
            for (int b = 0; b < 4; b++)
                v[b] = halves_16(row[b], one, columns.x), w[b] = halves_16(row[b], two, columns.y);
#pragma unroll
            for (int b = 0; b < 4; b++) halves_8(v[b], high[b], columns.z), halves_8(w[b], high[b], columns.w);
            return;
        }
#endif
#pragma unroll
        for (int b = 0; b < 4; b++) {
            v[b] = rounded(b, one, columns.x, columns.z);
            w[b] = rounded(b, two, columns.y, columns.w);
        }
    }
    __device__ __forceinline__ uint2 rounded(int b, unsigned one, unsigned two, unsigned low) const {
        float sum[4] = {0, 0, 0, 0};
        multiply_16(sum, row[b], one, two);
        multiply_8(sum, high[b].x, high[b].y, low);
        return make_uint2(to_halves(sum[0], sum[1]), to_halves(sum[2], sum[3]));
    }
};

// The run of a warp, in pieces: `what` gets the group, its first pair of tiles, where the diagonal ends, and the end.
template <int TH, class What> static __device__ __forceinline__ void tensor_walk(const tensor_shape &shape, What what) {
    const unsigned warp = threadIdx.x / 32, last = (warp + 1) * shape.steps / (TH / 32);
    unsigned step = warp * shape.steps / (TH / 32), group = 0, tile = step;
    while (tile >= shape.tiles) tile -= shape.tiles - 4 * (group + 1), group++; // a group begins at its diagonal
#pragma unroll 1
    while (step < last) {
        const unsigned end = min(min(shape.tiles, tile + TENSOR_RUN), tile + last - step);
        what(group, tile, min(end, 4 * group + 4), end);
        step += end - tile;
        tile = end;
        if (tile == shape.tiles) tile = 4 * ++group;
    }
}
