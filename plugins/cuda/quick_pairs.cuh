// Pairs of particles for quick_term.cuh: up to 64 particles, a domain of few rows, a warp for each unit. -|y - y'|^2 / 2
// comes from tensor cores, of coordinates in halves of half precision, as in tensor_term.cuh. Particles are NT blocks of 8;
// a tile is two of them, row block r and column block j >= r, of which lane 4 g + q has row g and columns 2 q and 2 q
// + 1. The operands stay in registers, and tiles are computed twice: to count pairs, and for the sums.
//
// The median is that of sums of squared differences in single precision, exactly: pairs are counted by what tensor
// cores say, in half precision near the pivot, and a median that is too close to the ends of the bracket for that is
// not believed. Searches that end without one are done again pair by pair. So neither the median nor the sums depend on
// where the search began.

enum {
    QUICK_TWICE = 6,  // rows of a domain that fit in two products; more need a third
    QUICK_PASSES = 8, // of a search
    QUICK_REACH = 4,  // distances that are expected on either side of the median
    QUICK_FEW = 32    // those that are ranked
};

// What a sum of squares of half precision may be off by, relative to the width of the bracket.
#define QUICK_WIDTH 0.001953125f

// Places of a centred row: tile_places().
template <int NT> constexpr unsigned quick_stride = NT <= 4 ? 32 : 64;

template <int NT, int ROWS> struct alignas(16) quick_room {
    enum {
        PLACES = 8 * NT,
        OWNERS = 4 * NT, // lanes that have particles: 2 lane and 2 lane + 1
        PLANES = ROWS > QUICK_TWICE ? 5 : 4,
        // strides that keep banks apart; operands have places for all lanes, so that no branch is needed
        WORDS = (NT > 4 ? 64 : PLACES) + 8,
        COLUMNS = NT % 2 ? OWNERS : OWNERS + 4
    };
    typedef float domain[ROWS][quick_stride<NT>];
    domain rows[2]; // those of a unit, and of the next
    union {
        struct {
            unsigned high[PLANES][WORDS], low[PLANES][WORDS]; // of two coordinates; -|y|^2/2 and ones
            double score[UNIT_ENTRIES][PLACES];               // rows that it is a sum of, or itself
        };
        struct {
            float4 column[8][COLUMNS]; // two sums of each particle, in slots of their own
            float2 row[4][PLACES + 4];
        };
    };
    float pull[PLACES], push[PLACES];
    unsigned value[QUICK_FEW]; // pairs that are ranked, as bits
    unsigned short list[QUICK_FEW];
    double x[PLACES], first[PLACES], second[PLACES]; // of the particles that move
    double guess[2][2];                              // tile_guess, of this unit and the next
    unit_record record[2];                           // the same
    gate_state gate;
    bracket<float> search;                             // of more than one pass
    unsigned valid[(NT * (NT + 1) / 2 + 15) / 16][32]; // quick_mask::pairs() of each lane
};

// Shared memory by its number, for functions of its own that are rarely called: otherwise addresses of 64 bits are kept
// for them.
static __device__ __forceinline__ unsigned number_of(const void *at) { return (unsigned)__cvta_generic_to_shared(at); }
template <class T> static __device__ __forceinline__ T &numbered(unsigned number) {
    return *(T *)__cvta_shared_to_generic(number);
}

// ---- operands -------------------------------------------------------------------------------------------------------

#if __CUDA_ARCH__ >= 800
static __device__ __forceinline__ void multiply_on(float (&v)[4], const unsigned (&a)[4], uint2 b,
                                                   const float (&from)[4]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
        : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y), "f"(from[0]), "f"(from[1]), "f"(from[2]),
          "f"(from[3]));
}
#else // never launched
static __device__ __forceinline__ void multiply_on(float (&)[4], const unsigned (&)[4], uint2, const float (&)[4]) {}
#endif

// A number of shared memory in a register of its own: operands stand in groups of registers, and what is in two of them
// is read twice, as otherwise it is copied again and again.
static __device__ __forceinline__ unsigned read_once(const unsigned &from) {
    unsigned x;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(number_of(&from)));
    return x;
}

// Two numbers in halves.
static __device__ __forceinline__ uint2 split(float a, float b) {
    const unsigned high = to_halves(a, b);
    const float2 h = from_halves(high);
    return make_uint2(high, to_halves(a - h.x, b - h.y));
}

// Stores the operands of a unit. Returns the largest |x|^2; what it is multiplied by becomes `scale`, a power of 4.
template <int NT, int ROWS>
static __device__ __forceinline__ float quick_operands(const float (&rows)[ROWS][quick_stride<NT>], unsigned n,
                                                       unsigned lane, quick_room<NT, ROWS> &room, float &scale) {
    float2 y[8] = {};
    float one = 0, two = 0;
    const bool takes_part = NT > 4 || lane < quick_room<NT, ROWS>::OWNERS;
    if (takes_part) {
#pragma unroll
        for (int e = 0; e < ROWS; e++) {
            y[e] = *(const float2 *)&rows[e][2 * lane];
            one = fused_add(y[e].x, one), two = fused_add(y[e].y, two);
        }
    }
    const unsigned furthest = warp_max(max(to_bits(one), to_bits(two))); // NaN is the largest
    // the furthest |y|^2 is from 16 to 64
    const int exponent = (132 - (int)(furthest >> 23)) >> 1;
    const float length = from_bits((unsigned)(127 + exponent) << 23), half = -0.5f * length * length;
    scale = length * length;
    if (takes_part) {
#pragma unroll
        for (int k = 0; k < ROWS / 2; k++) {
            const uint2 of_one = split(length * y[2 * k].x, length * y[2 * k + 1].x),
                        of_two = split(length * y[2 * k].y, length * y[2 * k + 1].y);
            *(uint2 *)&room.high[k < 3 ? k : 4][2 * lane] = make_uint2(of_one.x, of_two.x);
            *(uint2 *)&room.low[k < 3 ? k : 4][2 * lane] = make_uint2(of_one.y, of_two.y);
        }
        const uint2 norm = split(2 * lane < n ? half * one : TENSOR_FAR, 2 * lane + 1 < n ? half * two : TENSOR_FAR);
        *(uint2 *)&room.high[3][2 * lane] =
            make_uint2(__byte_perm(norm.x, norm.y, 0x5410), __byte_perm(norm.x, norm.y, 0x7632));
        *(uint2 *)&room.low[3][2 * lane] = make_uint2(TENSOR_ONES, TENSOR_ONES);
    }
    __syncwarp();
    return from_bits(furthest);
}

// The operands of all tiles in registers: those of rows, h and l, and those of columns, h twice. Lanes of the plane of
// norms have -|y|^2/2 for h and 1 for l, and 0 for the first h of columns.
template <int NT, int ROWS> struct quick_pairs {
    enum { EVEN = NT + NT % 2 }; // row blocks; of one that is not there, products are not looked at
    unsigned high[EVEN], low[EVEN], third[EVEN], third_column[NT];
    uint2 column[NT];

    __device__ __forceinline__ void load(const quick_room<NT, ROWS> &room, unsigned g, unsigned q) {
#pragma unroll
        for (int r = 0; r < EVEN; r++) {
            const unsigned at = 8 * (r < NT ? r : NT - 1) + g;
            if (r < NT) {
                high[r] = read_once(room.high[q][at]);
                low[r] = read_once(room.low[q][at]);
                column[r].y = read_once(room.high[q][at]);
                column[r].x = q == 3 ? 0 : column[r].y;
            } else { // whatever is there
                asm volatile("" : "=r"(high[r]), "=r"(low[r]));
            }
            if (ROWS > QUICK_TWICE) {
                const unsigned h = room.high[quick_room<NT, ROWS>::PLANES - 1][at],
                               l = room.low[quick_room<NT, ROWS>::PLANES - 1][at];
                third[r] = q == 3 ? 0 : q == 2 ? l : h;
                if (r < NT) third_column[r] = q == 1 ? l : h;
            }
        }
    }

    // from - |y - y'|^2 / 2 of row blocks 2 m and 2 m + 1: h.h' + l.h', then h.l'
    __device__ __forceinline__ void multiply(int m, int j, const float (&from)[4], float (&v)[4]) const {
        const int r = 2 * m, s = r + 1;
        const unsigned a[4] = {high[r], high[s], low[r], low[s]};
        multiply_on(v, a, column[j], from);
        multiply_8(v, high[r], high[s], low[j]);
        if (ROWS > QUICK_TWICE) multiply_8(v, third[r], third[s], third_column[j]);
    }
};

// ---- the search -----------------------------------------------------------------------------------------------------

// Bits of the pairs of a lane: tile t = 2 (8 w + k) + b and column c are bit k + 8 (2 b + c) of word w.
template <int NT> struct quick_mask {
    enum { TILES = NT * (NT + 1) / 2, GROUPS = (TILES + 1) / 2, WORDS = (GROUPS + 7) / 8 };
    unsigned word[WORDS];

    // The pairs that there are: rows above the diagonal.
    __device__ __forceinline__ void pairs(unsigned g, unsigned q) {
#pragma unroll
        for (int w = 0; w < WORDS; w++) word[w] = 0;
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int r = 0; r <= j; r++) {
                const int t = j * (j + 1) / 2 + r, k = t / 2;
                const unsigned half = r < j ? 0x0101u : (2 * q > g ? 1u : 0) | (2 * q + 1 > g ? 0x0100u : 0);
                word[k / 8] |= half << (k % 8 + 16 * (t % 2));
            }
    }
    // To shared memory, and back to registers that are free again until then.
    __device__ __forceinline__ void store(unsigned (&to)[WORDS][32], unsigned lane) const {
#pragma unroll
        for (int w = 0; w < WORDS; w++) to[w][lane] = word[w];
    }
    __device__ __forceinline__ void load(const unsigned (&from)[WORDS][32], unsigned lane) {
#pragma unroll
        for (int w = 0; w < WORDS; w++) word[w] = ((const volatile unsigned *)from[w])[lane];
    }
    // Sets where two tiles, 2 k and 2 k + 1, are negative.
    __device__ __forceinline__ void negative(int k, unsigned one, unsigned other) {
        word[k / 8] |= signs_of(one, other) & 0x01010101u << k % 8;
    }
    // Those that are not set, of what there is.
    __device__ __forceinline__ void invert(const quick_mask &valid) {
#pragma unroll
        for (int w = 0; w < WORDS; w++) word[w] = ~word[w] & valid.word[w];
    }
    __device__ __forceinline__ unsigned count() const {
        unsigned sum = 0;
#pragma unroll
        for (int w = 0; w < WORDS; w++) sum += __popc(word[w]);
        return sum;
    }
};

// Lists the pairs that are set, each as lane | bit << 5, one lane after the other.
template <int NT>
static __device__ __forceinline__ void quick_list(const quick_mask<NT> &set, unsigned lane, unsigned short *list) {
    const unsigned all = 0xffffffffu, mine = set.count(), before = (1u << lane) - 1;
    unsigned place = 0;
#pragma unroll
    for (int bit = 0; bit < 6; bit++) { // how many come before: their numbers, a bit at a time
        if (bit == 2 && __ballot_sync(all, mine > 3) == 0) break;
        place += __popc(__ballot_sync(all, mine >> bit & 1) & before) << bit;
    }
#pragma unroll
    for (int w = 0; w < quick_mask<NT>::WORDS; w++)
        for (unsigned word = set.word[w]; word; word &= word - 1)
            list[place++] = (unsigned short)(lane | (__ffs(word) - 1 + 32 * w) << 5);
    __syncwarp();
}

// The column block of tile t: the largest j with j (j + 1) / 2 <= t. No table: constants make every launch longer.
static __device__ __forceinline__ unsigned quick_triangle(unsigned t) {
    return (unsigned)fmaf(0.5f, quick_root(fmaf(8, (float)t, 1)), -0.49f);
}

// The squared distance of a pair that is listed.
template <int NT, int ROWS>
static __device__ __forceinline__ float quick_again(unsigned id, const float (&rows)[ROWS][quick_stride<NT>]) {
    const unsigned bit = id >> 5, t = 2 * (bit / 32 * 8 + bit % 8) + bit / 16 % 2, j = quick_triangle(t),
                   l = 8 * (t - j * (j + 1) / 2) + (id >> 2 & 7), m = 8 * j + bit / 8 % 2 + 2 * (id & 3);
    float sum = 0;
#pragma unroll
    for (int e = 0; e < ROWS; e++) sum = fused_add(rows[e][l] - rows[e][m], sum);
    return sum;
}

// Of the few values that are left, one a lane, that of a rank: the largest that has no more than so many below it.
static __device__ __forceinline__ float quick_ranked(unsigned value, unsigned less, unsigned rank) {
    return from_bits(warp_max(less <= rank ? value : 0));
}

// Pairs below two pivots: how many there are below the first, and below the second in the upper half of the word; those
// between them are set. `scale`: what squares are multiplied by.
template <int NT, int ROWS>
static __device__ __forceinline__ unsigned quick_count(const quick_pairs<NT, ROWS> &of, float first, float width,
                                                       float scale, const quick_mask<NT> &valid,
                                                       quick_mask<NT> &between) {
    enum { TILES = quick_mask<NT>::TILES };
    // 0.5 scale first, in four registers: scale is a power of two
    const float half = 0.5f * scale, fourth = 0.25f * scale, more = half * width;
    const float pivot[4] = {half * first, 0.5f * first * scale, fmaf(fourth, first, fourth * first),
                            0.5f * (scale * first)};
    const unsigned by = to_halves(more, more);
    quick_mask<NT> low = {}, high = {};
    unsigned tile[TILES + 1];
    tile[TILES] = 0;
#pragma unroll
    for (int j = 0; j < NT; j++) {
#pragma unroll
        for (int m = 0; 2 * m <= j; m++) {
            const int t = j * (j + 1) / 2 + 2 * m;
            float v[4];
            of.multiply(m, j, pivot, v);
            tile[t] = to_halves(v[0], v[1]);
            if (2 * m < j) tile[t + 1] = to_halves(v[2], v[3]);
        }
        const int from = j * (j + 1) / 2 / 2, to = j + 1 < NT ? (j + 1) * (j + 2) / 2 / 2 : quick_mask<NT>::GROUPS;
#pragma unroll
        for (int k = from; k < to; k++) {
            low.negative(k, tile[2 * k], tile[2 * k + 1]);
            high.negative(k, add_halves(tile[2 * k], by), add_halves(tile[2 * k + 1], by));
        }
    }
    low.invert(valid);
    high.invert(valid);
#pragma unroll
    for (int w = 0; w < quick_mask<NT>::WORDS; w++) between.word[w] = high.word[w] & ~low.word[w];
    return warp_sum(low.count() | high.count() << 16);
}

// Of those between the pivots, `below` others being less, the numbers of two ranks.
template <int NT, int ROWS>
static __device__ __forceinline__ float2 quick_rank(unsigned lower, unsigned upper, unsigned below, unsigned left,
                                                    const quick_mask<NT> &between, unsigned lane,
                                                    const float (&rows)[ROWS][quick_stride<NT>],
                                                    quick_room<NT, ROWS> &room) {
    unsigned less = 0, value = bits_type<float>::infinity;
    quick_list(between, lane, room.list);
    if (lane < left) value = to_bits(quick_again<NT, ROWS>(room.list[lane], rows));
    room.value[lane] = value;
    __syncwarp();
    // bits have the order of the numbers, and differences of them the sign
#pragma unroll 1
    for (unsigned k = 0; k < left; k += 8) {
        const uint4 some = *(const uint4 *)&room.value[k], others = *(const uint4 *)&room.value[k + 4];
        const unsigned eight[8] = {some.x, some.y, some.z, some.w, others.x, others.y, others.z, others.w};
#pragma unroll
        for (int e = 0; e < 8; e++) less += (eight[e] - value) >> 31;
    }
    const float found = quick_ranked(value, less, lower - below);
    return make_float2(found, upper == lower ? found : quick_ranked(value, less, upper - below));
}

// The next pivots, after counts below two of them; `ranked`: the numbers were found, but too close to the pivots. The
// bracket is in shared memory, as it takes registers otherwise, and one pass is nearly always enough.
static __device__ __noinline__ float2 quick_on(unsigned number, int pass, unsigned one, unsigned two, bool ranked,
                                               float first, float second, float slack, unsigned lower, unsigned upper,
                                               unsigned pairs) {
    const float width = fmaxf(second - first, slack);
    bracket<float> s = {0, from_bits(bits_type<float>::infinity), 0, pairs, lower, upper, pairs, 0, first, second};
    if (pass > 0) s = numbered<bracket<float>>(number);
    __syncwarp();
    if (ranked || search_take(s, first, one) | search_take(s, second, two)) { // or a pivot is between the ranks
        s.first = first - width, s.second = second + width;
    } else {
        search_on(s);
        s.first -= slack, s.second += slack;
    }
    s.first = fmaxf(s.first, 0);
    numbered<bracket<float>>(number) = s; // the same of all lanes
    __syncwarp();
    return make_float2(s.first, s.second);
}

// The two middle distances, of these ranks. Returns whether they are certain. `scale`: what squares are multiplied by;
// `rounding`: what distances may be off by. `first` and `second`: the pivots, `left`: how many pairs are between them.
template <int NT, int ROWS>
static __device__ __forceinline__ bool quick_middle(unsigned lower, unsigned upper, unsigned pairs, float &first,
                                                    float &second, unsigned &left, const quick_pairs<NT, ROWS> &of,
                                                    float scale, float rounding, unsigned lane,
                                                    const float (&rows)[ROWS][quick_stride<NT>],
                                                    quick_room<NT, ROWS> &room, float2 &middle) {
#pragma unroll 1
    for (int pass = 0; pass < QUICK_PASSES; pass++) {
        quick_mask<NT> between, valid;
        valid.load(room.valid, lane);
        const float width = second - first, slack = fmaf(QUICK_WIDTH, width, rounding);
        const unsigned counts = quick_count<NT, ROWS>(of, first, width, scale, valid, between);
        const unsigned one = counts & 0xffffu, two = counts >> 16;
        bool ranked = false;
        left = two - one;
        if (one <= lower && two > upper && left <= QUICK_FEW) {
            middle = quick_rank<NT, ROWS>(lower, upper, one, left, between, lane, rows, room);
            if (middle.x >= first + slack && middle.y <= second - slack) return true;
            ranked = true;
        }
        const float2 next =
            quick_on(number_of(&room.search), pass, one, two, ranked, first, second, slack, lower, upper, pairs);
        first = next.x, second = next.y;
    }
    return false;
}

// The same pair by pair, for whatever numbers there are: those of the ranks, by halving the bits.
template <int NT, int ROWS>
static __device__ __noinline__ float2 quick_slowly(unsigned n, unsigned lower, unsigned upper, unsigned number) {
    const float *rows = &numbered<float>(number);
    const unsigned lane = threadIdx.x % 32, pairs = n * (n - 1) / 2;
    unsigned own[(32 * NT * NT + 31) / 32], count = 0, low = 0, high = 0x7fffffffu, upto = 0, above = ~0u;
    for (unsigned p = lane; p < pairs; p += 32, count++) { // l and the one that is 1, 2, ... places on
        const unsigned l = p % n, on = l + p / n + 1, m = on < n ? on : on - n;
        float sum = 0;
        for (int e = 0; e < ROWS; e++)
            sum = fused_add(rows[quick_stride<NT> * e + l] - rows[quick_stride<NT> * e + m], sum);
        own[count] = to_bits(sum) & 0x7fffffffu;
    }
    while (low < high) { // the least value that is not exceeded by more than `lower`
        const unsigned middle = low + (high - low) / 2;
        unsigned some = 0;
        for (unsigned k = 0; k < count; k++) some += own[k] <= middle;
        some = warp_sum(some);
        if (some > lower)
            high = middle, upto = some;
        else
            low = middle + 1;
    }
    for (unsigned k = 0; k < count; k++)
        if (own[k] > low) above = min(above, own[k]);
    above = warp_min(above);
    return make_float2(from_bits(low), from_bits(upto > upper ? low : above));
}

// ---- sums -----------------------------------------------------------------------------------------------------------

// k of -|y - y'|^2 / 2; by: what makes an exponent of it, or, of imq, 1 less of it.
template <int SHAPE> static __device__ __forceinline__ float quick_kernel(float v, float by) {
    return SHAPE == SVMP_SHAPE_RBF ? quick_exp2(by * v) : rsqrtf(__fmaf_rn(by, v, 1.0f));
}

// The limit, who coincides; or the particles ran away, beyond what single precision can square.
template <int SHAPE> static __device__ __forceinline__ float quick_kernel(float v, float by, float h) {
    return h > 0 && h < 1e30f ? quick_kernel<SHAPE>(v, by) : h == 0 ? (v == 0 ? 1.0f : 0.0f) : NAN;
}

// The sums of k and of k (s - c x), or of r and of k s - r c x, over all pairs, in slots; pull and push are in the
// room. FAR: distances are sums of squared differences.
template <int NT, int ROWS, int SHAPE, bool FAR>
static __device__ __forceinline__ void quick_sums(unsigned n, unsigned lane, float h, float by, const float *rows,
                                                  const quick_pairs<NT, ROWS> &of, quick_room<NT, ROWS> &room) {
    const unsigned g = lane / 4, q = lane % 4;
    constexpr bool COUNTS = SHAPE == SVMP_SHAPE_RBF && !FAR; // k of those that are not there is 0
    const bool above[2] = {2 * q > g, 2 * q + 1 > g};
    float row[2][NT], pull[NT], push[NT];
    __syncwarp();
#pragma unroll
    for (int r = 0; r < NT; r++) {
        row[0][r] = row[1][r] = 0;
        pull[r] = room.pull[8 * r + g];
        if (SHAPE != SVMP_SHAPE_RBF) push[r] = room.push[8 * r + g];
    }
#pragma unroll
    for (int j = 0; j < NT; j++) {
        const unsigned at = 8 * j + 2 * q;
        const float2 pulls = *(const float2 *)&room.pull[at];
        const float2 pushes = SHAPE != SVMP_SHAPE_RBF ? *(const float2 *)&room.push[at] : pulls;
        const float pull_of[2] = {pulls.x, pulls.y}, push_of[2] = {pushes.x, pushes.y},
                    there[2] = {at < n ? 1.0f : 0, at + 1 < n ? 1.0f : 0};
        float column[2][2] = {};
#pragma unroll
        for (int m = 0; 2 * m <= j; m++) {
            float v[4];
            if (!FAR) {
                const float none[4] = {};
                of.multiply(m, j, none, v);
            } else {
                v[0] = v[1] = v[2] = v[3] = 0;
#pragma unroll 1
                for (int e = 0; e < ROWS; e++) {
                    const float *x = rows + quick_stride<NT> * e;
#pragma unroll
                    for (int k = 0; k < 4; k++) {
                        const unsigned l = 16 * m + 8 * (k / 2) + g;
                        v[k] = fused_add(x[l < 8 * NT ? l : 0] - x[at + k % 2], v[k]);
                    }
                }
#pragma unroll
                for (int k = 0; k < 4; k++) v[k] *= -0.5f;
            }
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int r = 2 * m + e / 2, c = e % 2;
                if (r > j) continue;
                float k = FAR ? quick_kernel<SHAPE>(v[e], by, h) : quick_kernel<SHAPE>(v[e], by);
                if (r == j) k = above[c] ? k : 0;
                const float repulsion = SHAPE == SVMP_SHAPE_RBF ? k : __fmul_rn(__fmul_rn(k, k), k);
                const bool begins = r == j && c == 0;
                row[0][r] = !COUNTS  ? __fmaf_rn(repulsion, there[c], row[0][r])
                            : begins ? repulsion
                                     : row[0][r] + repulsion;
                row[1][r] = drawn<SHAPE>(k, repulsion, pull_of[c], push_of[c], row[1][r]);
                column[c][0] = r == 0 ? repulsion : column[c][0] + repulsion;
                column[c][1] = drawn<SHAPE>(k, repulsion, pull[r], push[r], column[c][1]);
            }
        }
        room.column[g][4 * j + q] = make_float4(column[0][0], column[0][1], column[1][0], column[1][1]);
    }
#pragma unroll
    for (int r = 0; r < NT; r++) room.row[q][8 * r + g] = make_float2(row[0][r], row[1][r]);
    __syncwarp();
}

template <int NT, int ROWS, int SHAPE>
static __device__ __noinline__ void quick_far(unsigned n, float h, float by, unsigned rows, unsigned room) {
    quick_sums<NT, ROWS, SHAPE, true>(n, threadIdx.x % 32, h, by, &numbered<float>(rows), quick_pairs<NT, ROWS>(),
                                      numbered<quick_room<NT, ROWS>>(room));
}

// Those of the particles of a lane.
template <int NT, int ROWS>
static __device__ __forceinline__ float4 quick_total(unsigned lane, const quick_room<NT, ROWS> &room) {
    float4 sum = room.column[0][lane];
#pragma unroll
    for (int p = 1; p < 12; p++) {
        const float4 some = p < 8 ? room.column[0][p * quick_room<NT, ROWS>::COLUMNS + lane]
                                  : *(const float4 *)&room.row[0][(p - 8) * (8 * NT + 4) + 2 * lane];
        sum.x += some.x, sum.y += some.y, sum.z += some.z, sum.w += some.w;
    }
    return sum;
}
