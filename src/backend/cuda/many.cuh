// A term of a kernel for up to 64 particles in single precision, whose units have many rows or several members, where
// units are many: a warp for each of them, with distances from tensor cores, all of which it keeps in registers. As in
// tensor.cuh a coordinate is the sum of two numbers of half precision, y = h + l, in units of a power of two, and
//
//     |y - y'|^2 / 2 = |y|^2/2 + |y'|^2/2 - (h.h' + h.l' + l.h')
//
// takes three products for 16 rows of the domain, which are read as the products want them; |y|^2 is y.y from the same
// products, so that distances of particles that coincide, and of a particle to itself, are 0. The unit is that of the
// first 16 rows: should others be thousands of times as large, or should particles be far from the mean for the
// bandwidth, distances are sums of squared differences.
//
// Particles are NT blocks of 8. Lane 4 g + q has of row block r and column block j >= r the row g and the columns 2 q
// and 2 q + 1.

enum {
    MANY_DEPTH = 16, // rows of a domain that a product has
    MANY_UNIT = 2    // the exponent of the largest number of the first of them
};

template <int NT> struct alignas(16) many_room {
    enum {
        PLACES = 8 * NT,
        BLOCKS = (NT + 1) / 2, // of 16 rows
        // strides that keep banks apart
        COLUMNS = NT % 2 ? 4 * NT : 4 * NT + 4,
        ROWS = PLACES + 4,
        STRIDE = NT == 7 ? PLACES : PLACES + 8
    };
    union {
        struct {
            float4 column[8][COLUMNS]; // two sums of each particle, in slots of their own
            float2 row[4][ROWS];
        };
        struct {
            float column_of[8][STRIDE], row_of[4][STRIDE]; // the same of one sum
        };
        struct {
            float half[16 * BLOCKS]; // |y|^2 / 2
            float value[32];         // pairs that are ranked
        };
    };
    float pull[PLACES], push[PLACES];
    double score[PLACES], x[PLACES], first[PLACES], second[PLACES]; // of a member, and the state of its step
    float place[PLACES];
    double lower, upper, guess[3];
    unsigned variable[TILE_MEMBERS]; // the members of this unit
    alignas(16) unit_header head;    // of the next one
    size_t members;                  // where its members begin
};

#if __CUDA_ARCH__ >= 800
// Stores a number in shared memory where a bit is set, and goes on to the next place.
static __device__ __forceinline__ void store_if(unsigned word, unsigned bit, unsigned &to, float x) {
    asm volatile("{.reg .pred p; .reg .u32 t; and.b32 t, %2, %3; setp.ne.u32 p, t, 0; @p st.shared.f32 [%0], %1;"
                 "@p add.u32 %0, %0, 4;}"
                 : "+r"(to)
                 : "f"(x), "r"(word), "r"(bit)
                 : "memory");
}
#else // never launched
static __device__ __forceinline__ void store_if(unsigned, unsigned, unsigned &, float) {}
#endif

// Centred rows: in places of their own, where those that no particle has are 0, or one after the other.
template <int NT, bool PLACED> struct many_source {
    const float *z;
    unsigned n;

    __device__ __forceinline__ many_source(const pair_args &a, const whole_args &w)
        : z(PLACED ? w.placed : (const float *)a.z), n((unsigned)a.n) {}
    __device__ __forceinline__ const float *row(unsigned i, unsigned l) const {
        return (const float *)bytes_on(z + l, i, PLACED ? 4 * quick_stride<NT> : 4 * n);
    }
};

// Four rows of a domain, of the particles 8 b + g of a lane.
template <int NT> struct many_rows {
    enum { FULL = NT == 7 ? 4 : NT == 8 ? 7 : NT / 2 }; // blocks all of whose particles are there
    float x[NT][4];

    // `mine`: a row of each lane, of 32.
    template <bool PLACED>
    __device__ __forceinline__ void read(const many_source<NT, PLACED> &from, unsigned mine, unsigned first,
                                         unsigned count, unsigned g, unsigned q) {
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            const unsigned row = __shfl_sync(0xffffffffu, mine, first + 4 * q + k);
            const float *at = from.row(row, g);
#pragma unroll
            for (int b = 0; b < NT; b++) x[b][k] = PLACED || b < FULL || 8 * b + g < from.n ? at[8 * b] : 0;
        }
        if (first + MANY_DEPTH <= count) return;
#pragma unroll
        for (unsigned k = 0; k < 4; k++)
#pragma unroll
            for (int b = 0; b < NT; b++)
                if (first + 4 * q + k >= count) x[b][k] = 0;
    }
    // The largest number of the warp, as bits. NaN is the largest.
    __device__ __forceinline__ unsigned peak() const {
        unsigned most = 0;
#pragma unroll
        for (int b = 0; b < NT; b++)
#pragma unroll
            for (int k = 0; k < 4; k++) most = max(most, to_bits(x[b][k]) & 0x7fffffffu);
        return warp_max(most);
    }
};

// The pairs of a lane: tiles of 16 rows and 8 columns on and above the diagonal. Number 2 (j (j + 1) / 2 + r) + c is
// that of row block r, column block j and column c.
template <int NT> struct many_pairs {
    enum {
        BLOCKS = many_room<NT>::BLOCKS,
        TILES = BLOCKS * NT - BLOCKS * (BLOCKS - 1),
        COUNT = NT * (NT + 1),
        WORDS = (COUNT + 31) / 32
    };
    float tile[TILES][4];

    static __device__ __forceinline__ constexpr int tile_of(int m, int j) { return m * NT - m * (m - 1) + j - 2 * m; }
    __device__ __forceinline__ float &at(int r, int j, int c) { return tile[tile_of(r / 2, j)][2 * (r % 2) + c]; }
    __device__ __forceinline__ float at(int r, int j, int c) const { return tile[tile_of(r / 2, j)][2 * (r % 2) + c]; }

    // Row block, column block, column and the distance of each pair.
    template <class What> __device__ __forceinline__ void each(What what) {
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int r = 0; r <= j; r++) what(r, j, 0, at(r, j, 0)), what(r, j, 1, at(r, j, 1));
    }

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int t = 0; t < TILES; t++) tile[t][0] = tile[t][1] = tile[t][2] = tile[t][3] = 0;
    }

    // Products of 16 rows. What stands on both sides of them is in registers of its own on either side: `nothing` is 0,
    // of which the compiler does not know.
    __device__ __forceinline__ void multiply(const many_rows<NT> &rows, float scale, unsigned nothing) {
        unsigned high[BLOCKS][4], low[BLOCKS][4];
#pragma unroll
        for (int b = 0; b < NT; b++)
#pragma unroll
            for (int k = 0; k < 2; k++) {
                const float one = rows.x[b][2 * k], two = rows.x[b][2 * k + 1];
                const unsigned word = to_halves(scale * one, scale * two);
                const float2 h = from_halves(word);
                high[b / 2][2 * k + b % 2] = word;
                low[b / 2][2 * k + b % 2] = to_halves(__fmaf_rn(scale, one, -h.x), __fmaf_rn(scale, two, -h.y));
            }
        if (NT % 2) high[BLOCKS - 1][1] = high[BLOCKS - 1][3] = low[BLOCKS - 1][1] = low[BLOCKS - 1][3] = 0;
#pragma unroll
        for (int j = 0; j < NT; j++) {
            const uint2 h = make_uint2(high[j / 2][j % 2] ^ nothing, high[j / 2][2 + j % 2] ^ nothing),
                        l = make_uint2(low[j / 2][j % 2] ^ nothing, low[j / 2][2 + j % 2] ^ nothing);
#pragma unroll
            for (int m = 0; 2 * m <= j; m++) wide_multiply(tile[tile_of(m, j)], high[m], l.x, l.y);
#pragma unroll
            for (int m = 0; 2 * m <= j; m++) wide_multiply(tile[tile_of(m, j)], low[m], h.x, h.y);
#pragma unroll
            for (int m = 0; 2 * m <= j; m++) wide_multiply(tile[tile_of(m, j)], high[m], h.x, h.y);
        }
    }

    // Products become halves of squared distances. Returns the largest |y|^2 / 2.
    __device__ __forceinline__ float finish(unsigned g, unsigned q, unsigned n, many_room<NT> &room) {
        unsigned most = 0;
        __syncwarp(); // all have read the sums
        if (q == g / 2) {
#pragma unroll
            for (int b = 0; b < NT; b++) {
                const unsigned l = 8 * b + g;
                const float half = 0.5f * (g % 2 ? at(b, b, 1) : at(b, b, 0));
                if (l < n) most = max(most, to_bits(half)); // NaN is the largest
                room.half[l] = l < n ? half : TILE_FAR;
            }
        }
        most = warp_max(most);
        __syncwarp();
        float row[NT];
#pragma unroll
        for (int r = 0; r < NT; r++) row[r] = room.half[8 * r + g];
#pragma unroll
        for (int j = 0; j < NT; j++) {
            const float2 of = *(const float2 *)&room.half[8 * j + 2 * q];
#pragma unroll
            for (int r = 0; r <= j; r++)
#pragma unroll
                for (int c = 0; c < 2; c++) at(r, j, c) = __fadd_rn(__fadd_rn(row[r], c ? of.y : of.x), -at(r, j, c));
        }
        return from_bits(most);
    }

    // Squared distances from differences.
    template <bool PLACED>
    __device__ __forceinline__ void subtract(const many_source<NT, PLACED> &from, const uint32_t *domain, unsigned rows,
                                             unsigned g, unsigned q) {
        const unsigned n = from.n, last = n - 1;
        clear();
#pragma unroll 1
        for (unsigned e = 0; e < rows; e++) {
            const float *x = from.row(domain[e], 0);
            float row[NT];
#pragma unroll
            for (int r = 0; r < NT; r++) row[r] = x[min(8 * r + g, last)];
#pragma unroll
            for (int j = 0; j < NT; j++) {
                const float of[2] = {x[min(8 * j + 2 * q, last)], x[min(8 * j + 2 * q + 1, last)]};
#pragma unroll
                for (int r = 0; r <= j; r++)
#pragma unroll
                    for (int c = 0; c < 2; c++) at(r, j, c) = fused_add(row[r] - of[c], at(r, j, c));
            }
        }
#pragma unroll
        for (int j = many_rows<NT>::FULL; j < NT; j++)
#pragma unroll
            for (int r = 0; r <= j; r++)
#pragma unroll
                for (int c = 0; c < 2; c++)
                    if (8 * j + 2 * q + c >= n) at(r, j, c) = TILE_FAR;
    }
};

// ---- the search -----------------------------------------------------------------------------------------------------

// Bits of the pairs of a lane, the first one first in each word.
template <int NT> struct many_mask {
    enum { COUNT = many_pairs<NT>::COUNT, WORDS = many_pairs<NT>::WORDS };
    unsigned word[WORDS];

    // The pairs that there are: those above the diagonal, of particles that are there.
    __device__ __forceinline__ void pairs(unsigned g, unsigned q, unsigned n) {
#pragma unroll
        for (int w = 0; w < WORDS; w++) word[w] = 0;
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int r = 0; r <= j; r++)
#pragma unroll
                for (int c = 0; c < 2; c++) {
                    const bool there = 8 * j + 2 * q + c < n && (r < j || 2 * q + c > g);
                    unsigned &to = word[(j * (j + 1) + 2 * r + c) / 32];
                    to = to << 1 | (there ? 1u : 0);
                }
    }
    __device__ __forceinline__ void below(const many_pairs<NT> &d, float value, const many_mask &valid) {
#pragma unroll
        for (int w = 0; w < WORDS; w++) word[w] = 0;
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int r = 0; r <= j; r++)
#pragma unroll
                for (int c = 0; c < 2; c++) push_sign(word[(j * (j + 1) + 2 * r + c) / 32], d.at(r, j, c) - value);
#pragma unroll
        for (int w = 0; w < WORDS; w++) word[w] &= valid.word[w];
    }
    __device__ __forceinline__ unsigned count() const {
        unsigned sum = 0;
#pragma unroll
        for (int w = 0; w < WORDS; w++) sum += __popc(word[w]);
        return sum;
    }
    static __device__ __forceinline__ constexpr unsigned bit(int k) { // in word k / 32
        return 1u << ((COUNT - k / 32 * 32 < 32 ? COUNT - k / 32 * 32 : 32) - 1 - k % 32);
    }
    __device__ __forceinline__ bool has(int k) const { return word[k / 32] & bit(k); }
};

// The largest number below the pivot, and the smallest above it.
template <int NT>
static __device__ __forceinline__ void many_around(const many_pairs<NT> &d, const many_mask<NT> &valid, float pivot,
                                                   float &lower, float &upper) {
    unsigned below = 0, above = bits_type<float>::infinity;
#pragma unroll
    for (int j = 0; j < NT; j++)
#pragma unroll
        for (int r = 0; r <= j; r++)
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const float v = d.at(r, j, c);
                const bool counts = valid.has(j * (j + 1) + 2 * r + c);
                if (counts && v < pivot && v > 0) below = max(below, to_bits(v));
                if (counts && v >= pivot) above = min(above, to_bits(v));
            }
    lower = from_bits(warp_max(below));
    upper = from_bits(warp_min(above));
}

// The numbers of two ranks among those in `set`, of which there are few.
template <int NT>
static __device__ __forceinline__ void many_rank(const many_pairs<NT> &d, const many_mask<NT> &set, unsigned left,
                                                 unsigned first, unsigned second, many_room<NT> &room, float &lower,
                                                 float &upper) {
    const unsigned lane = threadIdx.x % 32, all = 0xffffffffu, mine = set.count(), before = (1u << lane) - 1;
    unsigned place = 0, less = 0;
#pragma unroll
    for (int bit = 0; bit < 6; bit++) { // how many come before: their numbers, a bit at a time
        if (bit == 2 && __ballot_sync(all, mine > 3) == 0) break;
        place += __popc(__ballot_sync(all, mine >> bit & 1) & before) << bit;
    }
    room.value[lane] = from_bits(bits_type<float>::infinity);
    unsigned to = number_of(&room.value[place]);
    __syncwarp();
#pragma unroll
    for (int j = 0; j < NT; j++)
#pragma unroll
        for (int r = 0; r <= j; r++)
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const int k = j * (j + 1) + 2 * r + c;
                store_if(set.word[k / 32], many_mask<NT>::bit(k), to, d.at(r, j, c));
            }
    __syncwarp();
    const float value = room.value[lane];
#pragma unroll 1
    for (unsigned k = 0; k < left; k += 4) {
        const float4 four = *(const float4 *)&room.value[k];
        less += (four.x < value) + (four.y < value) + (four.z < value) + (four.w < value);
    }
    lower = fmaxf(tile_ranked(value, less, first), 0);
    upper = second == first ? lower : fmaxf(tile_ranked(value, less, second), 0);
}

// The squared distances of the two middle ranks. `unit`: what they are counted in.
template <int NT>
static __device__ __forceinline__ void many_middle(const pair_args &a, unsigned u, tile_guess &guess, float unit,
                                                   const many_pairs<NT> &d, const many_mask<NT> &valid,
                                                   many_room<NT> &room, float &lower, float &upper) {
    enum { REACH = 6, FEW = 32 }; // distances on either side of the median; those that are ranked
    const unsigned n = (unsigned)a.n, pairs = n * (n - 1) / 2;
    const unsigned rank = (unsigned)(a.lower == SIZE_MAX ? a.upper : a.lower);
    const float expected = __fdividef(tile_expected(a, u, guess), unit);
    const float each = __fdividef(expected, guess.density * (float)pairs), reach = REACH * each;
    bracket<float> s = {0, from_bits(bits_type<float>::infinity), 0, pairs, rank, (unsigned)a.upper, pairs, 0, 0, 0};
    s.first = fmaxf(expected - reach, 0.5f * expected);
    s.second = expected + reach;
    many_mask<NT> at_low, at_high;
    at_low.below(d, s.first, valid);
    at_high.below(d, s.second, valid);
    const unsigned counts = warp_sum(at_low.count() | at_high.count() << 16), one = counts & 0xffffu,
                   two = counts >> 16;
    bool between = false, ranked = one <= s.lower && two > s.upper && two - one <= FEW;
    float pivot = 0;
    if (ranked) {
        s.low = s.first, s.below = one;
        s.high = s.second, s.upto = two;
    } else { // one pivot after the other
        const many_mask<NT> masks[2] = {at_low, at_high};
        at_low = many_mask<NT>();
        at_high = valid;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const float low = s.low, high = s.high;
            if (between) break;
            pivot = k == 0 ? s.first : s.second;
            between = search_take(s, pivot, k == 0 ? one : two);
            if (s.low != low) at_low = masks[k];
            if (s.high != high) at_high = masks[k];
        }
#pragma unroll 1
        for (; !between; s.passes++) {
            ranked = s.upto - s.below <= FEW && to_bits(s.high) != bits_type<float>::infinity;
            if (ranked || search_ended(s)) break;
            const float low = s.low, high = s.high;
            many_mask<NT> mask;
            pivot = tile_pivot(s, each);
            mask.below(d, pivot, valid);
            between = search_take(s, pivot, warp_sum(mask.count()));
            if (s.low != low) at_low = mask;
            if (s.high != high) at_high = mask;
        }
    }
    const unsigned left = s.upto - s.below;
    if (ranked) {
#pragma unroll
        for (int w = 0; w < many_mask<NT>::WORDS; w++) at_high.word[w] &= ~at_low.word[w];
        many_rank(d, at_high, left, s.lower - s.below, s.upper - s.below, room, lower, upper);
    } else if (between) {
        many_around(d, valid, pivot, lower, upper);
    } else {
        lower = upper = s.low;
    }
    lower *= unit;
    upper *= unit;
    if (left > 4 && s.high < TILE_FAR) {
        const float seen = __fdividef((float)left * upper, unit * (s.high - s.low) * (float)pairs);
        guess.density = 0.9f * guess.density + 0.1f * fminf(fmaxf(seen, 0.1f), 1.0f);
    }
    guess.moved = guess.last > 0 ? 0.8f * (upper - guess.last) : 0;
    guess.last = upper;
}

// ---- velocities -----------------------------------------------------------------------------------------------------

// Squared distances in `unit` become k, or 0 where there is no pair.
template <int NT, int SHAPE>
static __device__ __forceinline__ void many_kernel(float h, float inverse, float unit, unsigned g, unsigned q,
                                                   many_pairs<NT> &d) {
    const float by = unit * (SHAPE == SHAPE_RBF ? -1.4426950408889634f * inverse : inverse);
    if (h > 0 && h < 1e30f)
        d.each([&](int, int, int, float &v) { v = SHAPE == SHAPE_RBF || v < TILE_FAR ? kernel_of(v, by, SHAPE) : 0; });
    else // the limit, who coincides; or the particles ran away, beyond what single precision can square
        d.each([&](int, int, int, float &v) { v = h == 0 ? (v == 0 ? 1.0f : 0.0f) : NAN; });
#pragma unroll
    for (int j = 0; j < NT; j++) {
        if (2 * q <= g) d.at(j, j, 0) = 0;
        if (2 * q + 1 <= g) d.at(j, j, 1) = 0;
    }
}

// The sums of k and of k (s - c x), or of r and of k s - r c x, over all pairs, in slots, for the FIRST member; of
// others those that are their own. pull and push are in the room.
template <int NT, int SHAPE, bool FIRST>
static __device__ __forceinline__ void many_sums(unsigned g, unsigned q, const many_pairs<NT> &d, many_room<NT> &room) {
    float row[2][NT], pull[NT], push[NT];
    __syncwarp();
#pragma unroll
    for (int r = 0; r < NT; r++) {
        row[0][r] = row[1][r] = 0;
        pull[r] = room.pull[8 * r + g];
        if (SHAPE != SHAPE_RBF) push[r] = room.push[8 * r + g];
    }
#pragma unroll
    for (int j = 0; j < NT; j++) {
        const unsigned at = 8 * j + 2 * q;
        const float2 pulls = *(const float2 *)&room.pull[at];
        const float2 pushes = SHAPE != SHAPE_RBF ? *(const float2 *)&room.push[at] : pulls;
        float column[2][2] = {};
#pragma unroll
        for (int r = 0; r <= j; r++)
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const float k = d.at(r, j, c), repulsion = SHAPE == SHAPE_RBF ? k : __fmul_rn(__fmul_rn(k, k), k);
                if (FIRST) row[0][r] += repulsion, column[c][0] += repulsion;
                row[1][r] = drawn<SHAPE>(k, repulsion, c ? pulls.y : pulls.x, c ? pushes.y : pushes.x, row[1][r]);
                column[c][1] = drawn<SHAPE>(k, repulsion, pull[r], push[r], column[c][1]);
            }
        if (FIRST)
            room.column[g][4 * j + q] = make_float4(column[0][0], column[0][1], column[1][0], column[1][1]);
        else
            *(float2 *)&room.column_of[g][at] = make_float2(column[0][1], column[1][1]);
    }
#pragma unroll
    for (int r = 0; r < NT; r++)
        if (FIRST)
            room.row[q][8 * r + g] = make_float2(row[0][r], row[1][r]);
        else
            room.row_of[q][8 * r + g] = row[1][r];
    __syncwarp();
}

// A member's scores and places, and what its step begins with: under way until copies_arrive().
static __device__ __noinline__ void many_scores(const whole_args &w, unsigned i, unsigned scores) {
    double *to = &numbered<double>(scores);
    for (unsigned l = threadIdx.x % 32; l < w.score.n; l += 32) to[l] = add_list(&w.score, i, l, w.score.constant[i]);
}

template <int NT, bool WHOLE>
static __device__ __forceinline__ void many_fetch(const pair_args &a, const whole_args &w,
                                                  const many_source<NT, WHOLE> &from, unsigned i, unsigned lane,
                                                  many_room<NT> &room) {
    const unsigned n = (unsigned)a.n;
    const size_t row = times(i, n);
    if (WHOLE && !w.scored) many_scores(w, i, number_of(room.score));
#pragma unroll
    for (unsigned half = 0; half < tile_room<NT>::HALVES; half++) {
        const unsigned l = lane + 32 * half;
        if (l >= n) continue;
        if (!WHOLE || w.scored) copy_8(&room.score[l], a.score + row + l);
        copy_4(&room.place[l], from.row(i, l));
        if (WHOLE) copy_8(&room.x[l], w.step.x + row + l);
        if (WHOLE && w.step.first) copy_8(&room.first[l], w.step.first + row + l);
        if (WHOLE && w.step.second) copy_8(&room.second[l], w.step.second + row + l);
    }
    if (WHOLE && lane == 0) copy_8(&room.lower, w.step.lower + i);
    if (WHOLE && lane == 1) copy_8(&room.upper, w.step.upper + i);
    copies_part();
}

// A member moves, as in tile_move.
template <int NT>
static __device__ __forceinline__ void many_move(const whole_args &w, unsigned i, unsigned n, unsigned lane,
                                                 const double (&velocity)[2], many_room<NT> &room, double &largest,
                                                 int &wrong) {
    double to[2] = {0, 0};
    const size_t row = times(i, n);
#pragma unroll
    for (unsigned half = 0; half < tile_room<NT>::HALVES; half++) {
        const unsigned l = lane + 32 * half;
        if (l >= n) continue;
        double first = room.first[l], second = room.second[l];
        to[half] = boxed(room.x[l] + moves_by(&w.step, i, &first, &second, velocity[half], &largest), room.lower,
                         room.upper, &wrong);
        w.step.phi[row + l] = to[half];
        if (w.step.first) w.step.first[row + l] = first;
        if (w.step.second) w.step.second[row + l] = second;
    }
    const double begin = __shfl_sync(0xffffffffu, to[0], 0);
    const unsigned at = 2 * lane;
    float *moved = &room.column_of[0][0];
#pragma unroll
    for (unsigned half = 0; half < tile_room<NT>::HALVES; half++) {
        to[half] = lane + 32 * half < n ? to[half] - begin : 0;
        moved[lane + 32 * half] = (float)to[half];
    }
    __syncwarp();
    const double offset = single_offset(__fadd_rn(at < n ? moved[at] : 0, at + 1 < n ? moved[at + 1] : 0), n);
    float *centred = (float *)bytes_on(w.placed_next + lane, i, 4 * quick_stride<NT>);
    if (lane < n) centred[0] = (float)(to[0] - offset);
    if (lane + 32 < n) centred[32] = (float)(to[1] - offset);
}

// The velocity of a lane's particles. `repulsion`: the sums of k, or of its third power, which the first member finds.
template <int NT, int SHAPE, bool FIRST>
static __device__ __forceinline__ void many_velocity(float c, unsigned lane, const many_pairs<NT> &d,
                                                     many_room<NT> &room, float (&repulsion)[2], float (&velocity)[2]) {
    const unsigned g = lane / 4, q = lane % 4;
    float score[2] = {0, 0}, place[2] = {0, 0};
    copies_arrive<0>();
#pragma unroll
    for (int half = 0; half < tile_room<NT>::HALVES; half++) {
        const unsigned l = lane + 32 * half;
        if (l >= 8 * NT) continue;
        score[half] = (float)room.score[l], place[half] = room.place[l];
        room.pull[l] = SHAPE == SHAPE_RBF ? fmaf(-c, place[half], score[half]) : score[half];
        if (SHAPE != SHAPE_RBF) room.push[l] = c * place[half];
    }
    many_sums<NT, SHAPE, FIRST>(g, q, d, room);
#pragma unroll
    for (int half = 0; half < tile_room<NT>::HALVES; half++) {
        const unsigned l = lane + 32 * half < 8 * NT ? lane + 32 * half : 0;
        float sum[2] = {0, 0};
#pragma unroll
        for (int p = 0; p < 12; p++) {
            if (FIRST) {
                const float2 both = p < 8 ? ((const float2 *)room.column[p])[l] : room.row[p - 8][l];
                sum[0] += both.x, sum[1] += both.y;
            } else {
                sum[1] += p < 8 ? room.column_of[p][l] : room.row_of[p - 8][l];
            }
        }
        if (FIRST) repulsion[half] = sum[0];
        velocity[half] = tile_end(c, score[half], place[half], repulsion[half], sum[1]);
    }
    __syncwarp(); // all have read the sums
}

// ---- units ----------------------------------------------------------------------------------------------------------

// What a unit reads first: its domain, its first member, and a row of the domain for each lane.
struct many_index {
    unsigned begin, rows, members, row;

    // `head` and where its members begin are known; these are under way until copies_arrive().
    template <int NT>
    __device__ __forceinline__ void read(const pair_args &a, const unit_header &head, size_t first, unsigned lane,
                                         many_room<NT> &room) {
        begin = head.begin, rows = head.rows, members = head.members;
        row = lane < rows ? a.domain[begin + lane] : 0;
        if (lane < members) copy_4(&room.variable[lane], a.term_variable + first + lane);
        copies_part();
    }
};

// The header of a unit, ahead of time.
template <int NT>
static __device__ __forceinline__ void many_prepare(const pair_args &a, unsigned u, unsigned lane,
                                                    many_room<NT> &room) {
    if (lane < 2) copy_16((uint4 *)&room.head + lane, (const uint4 *)(a.header + a.first + u) + lane);
    if (lane == 2) copy_8(&room.members, a.member_start + a.first + u);
}

// The distances of a unit, and its bandwidth.
template <int NT, bool PLACED>
static __device__ __forceinline__ float many_bandwidth(const pair_args &a, const many_source<NT, PLACED> &from,
                                                       unsigned u, unsigned lane, const many_index &index,
                                                       const many_mask<NT> &valid, many_room<NT> &room,
                                                       many_pairs<NT> &d, float &unit) {
    const unsigned g = lane / 4, q = lane % 4, n = (unsigned)a.n, count = index.rows;
    const uint32_t *domain = a.domain + index.begin;
    const bool ranked = a.rule != RULE_FIXED;
    const unsigned nothing = (unsigned)(a.n >> 32);
    unsigned here = index.row, exponent = 0; // of the unit, with the bias of 127
    float scale = 1;
    d.clear();
#pragma unroll 1
    for (unsigned e = 0; e < count; e += MANY_DEPTH) {
        many_rows<NT> rows;
        if (e > 0 && e % 32 == 0) here = e + lane < count ? domain[e + lane] : 0;
        rows.read(from, here, e, count, g, q);
        if (e == 0) {
            exponent = min(max(rows.peak() >> 23, 100u), 200u) - MANY_UNIT; // not that of squares that overflow
            scale = from_bits((254 - exponent) << 23);
        }
        d.multiply(rows, scale, nothing);
    }
    const float down = from_bits(exponent << 23), large = d.finish(g, q, n, room), furthest = 2 * down * down * large;
    tile_guess guess;
    copies_arrive<0>();
    guess.read(room.guess);
    unit = 2 * down * down;
    for (bool products = large > 4 && tries_products(furthest);; products = false) {
        float lower = 0, upper = 0;
        if (!products) d.subtract(from, domain, count, g, q), unit = 1;
        if (ranked) many_middle<NT>(a, u, guess, unit, d, valid, room, lower, upper);
        if (products && !(furthest <= PRODUCT_REACH * (ranked ? upper : (float)a.fixed))) continue; // a small bandwidth
        if (ranked && lane == 0) guess.write(a.guess + 3 * (size_t)(a.first + u));
        if (!ranked) return (float)a.fixed;
        return a.rule == RULE_MEDIAN ? tile_scale(a, u, lower, upper) : quick_scale(a, u, lower, upper);
    }
}

// All of one unit, by one warp. `index` becomes that of the next one.
template <int NT, int SHAPE, bool WHOLE>
static __device__ __forceinline__ void many_unit(const pair_args &a, const whole_args &w, unsigned u, unsigned next,
                                                 unsigned lane, const many_mask<NT> &valid, many_index &index,
                                                 many_room<NT> &room, double &largest, int &wrong) {
    const many_source<NT, WHOLE> from(a, w);
    const unsigned n = (unsigned)a.n, members = index.members;
    many_pairs<NT> d;
    float unit, repulsion[2] = {0, 0};
    copies_arrive<0>();
    if (lane < 3) copy_8(&room.guess[lane], a.guess + 3 * (size_t)(a.first + u) + lane);
    if (next < a.units && a.header) many_prepare(a, next, lane, room);
    copies_part();
    if (members) many_fetch<NT, WHOLE>(a, w, from, room.variable[0], lane, room);
    const float h = many_bandwidth<NT>(a, from, u, lane, index, valid, room, d, unit), inverse = tile_inverse(h);
    many_kernel<NT, SHAPE>(h, inverse, unit, lane / 4, lane % 4, d);
#pragma unroll 1
    for (unsigned e = 0; e < members; e++) {
        const unsigned i = room.variable[e];
        float c = (SHAPE == SHAPE_RBF ? 2 : 1) * inverse, drawn[2] = {0, 0};
        if (a.in_sd) c = (float)((SHAPE == SHAPE_RBF ? 2 : 1) * (double)inverse * a.inverse[i]);
        if (e == 0)
            many_velocity<NT, SHAPE, true>(c, lane, d, room, repulsion, drawn);
        else
            many_velocity<NT, SHAPE, false>(c, lane, d, room, repulsion, drawn);
        if (WHOLE) {
            const double velocity[2] = {a.share * drawn[0], a.share * drawn[1]};
            many_move<NT>(w, i, n, lane, velocity, room, largest, wrong);
        } else {
            if (lane < n) put_velocity(a, times(i, n) + lane, drawn[0]);
            if (lane + 32 < n) put_velocity(a, times(i, n) + lane + 32, drawn[1]);
        }
        __syncwarp(); // all have read what is fetched
        if (e + 1 < members) many_fetch<NT, WHOLE>(a, w, from, room.variable[e + 1], lane, room);
    }
    if (next >= a.units) return;
    if (a.header)
        index.read(a, room.head, room.members, lane, room);
    else
        index.read(a, header_of(a, w, next), a.member_start[a.first + next], lane, room);
}

// Blocks of threads on a multiprocessor, by the registers that they need.
template <int NT, int SHAPE> static constexpr int many_blocks() {
    return NT <= 4 ? TILE_AT_ONCE + 2 : SHAPE == SHAPE_RBF && NT < 8 ? TILE_AT_ONCE : TILE_AT_ONCE - 1;
}

// The last block tells the host about the step before.
template <int NT, int SHAPE, bool WHOLE>
static __global__ void __launch_bounds__(32 * TILE_WARPS, many_blocks<NT, SHAPE>())
    fused_many(const __grid_constant__ pair_args a, const __grid_constant__ whole_args w, const step_gate gate) {
    __shared__ many_room<NT> rooms[TILE_WARPS];
    const unsigned warps = blockDim.x / 32, blocks = gridDim.x - (WHOLE ? 1 : 0), units = (unsigned)a.units;
    const unsigned stride = blocks * warps, first = blockIdx.x * warps + threadIdx.x / 32, lane = lane_number();
    many_room<NT> &room = rooms[threadIdx.x / 32];
    many_index index;
    many_mask<NT> valid;
    double largest = 0;
    int wrong = 0;
    valid.pairs(lane / 4, lane % 4, (unsigned)a.n);
    for (unsigned l = lane; l < 8 * NT; l += 32) // of those that are not there, and of steps without a state
        room.score[l] = room.place[l] = room.first[l] = room.second[l] = 0;
    __syncwarp();
    const auto find = [&] { index.read(a, header_of(a, w, first), a.member_start[a.first + first], lane, room); };
    if (first < units && a.header) find();
    wait_for_kernels();
    if (blockIdx.x == blocks) {
        if (threadIdx.x == 0) gate.tell(gate.step - 1);
        return;
    }
    if (first < units && !a.header) find();
    if (gate.closed()) return;
#pragma unroll 1
    for (unsigned u = first; u < units; u += stride)
        many_unit<NT, SHAPE, WHOLE>(a, w, u, u + stride, lane, valid, index, room, largest, wrong);
    if (WHOLE) gate.note(largest, wrong, blocks);
}
