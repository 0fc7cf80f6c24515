// A term of a kernel in one launch: distances, their exact median, the kernel and the velocities of a unit, without a
// matrix in memory. For units whose rows fit in the multiprocessor; others take the kernels of pairs.h.
//
//     fused_warp     up to 64 particles in single precision: a warp for each unit, all distances in registers
//     fused_block    a block for each unit; distances are computed again whenever they are needed, in tiles of 4 by 4
//
// The order statistics are exact: counting passes narrow a bracket of values, that starts where the last iteration
// leads to expect them, until few are left, which are ranked. A distance has the same bits in every pass, since it is
// the same chain of fused multiply-adds, so that counts never contradict each other; and both ends of the bracket keep
// what they promise (at most `lower` below the one, more than `upper` below the other), so that the search ends
// whatever the numbers are.

static __device__ __forceinline__ float from_bits(unsigned bits) { return __uint_as_float(bits); }
static __device__ __forceinline__ double from_bits(unsigned long long bits) {
    return __longlong_as_double((long long)bits);
}
static __device__ __forceinline__ unsigned to_bits(float x) { return __float_as_uint(x); }
static __device__ __forceinline__ unsigned long long to_bits(double x) {
    return (unsigned long long)__double_as_longlong(x);
}
static __device__ __forceinline__ float fused_add(float apart, float sum) { return __fmaf_rn(apart, apart, sum); }
static __device__ __forceinline__ double fused_add(double apart, double sum) { return __fma_rn(apart, apart, sum); }

static __device__ __forceinline__ float quick_exp2(float x) {
    float value;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
    return value;
}

static __device__ __forceinline__ float kernel_of(float distance, float by, int shape) {
    return shape == SHAPE_RBF ? quick_exp2(by * distance) : rsqrtf(__fmaf_rn(by, distance, 1.0f));
}
static __device__ __forceinline__ double kernel_of(double distance, double by, int shape) {
    return shape == SHAPE_RBF ? exp(by * distance) : rsqrt(fma(by, distance, 1.0));
}

// Of whole numbers, over a warp.
#if __CUDA_ARCH__ >= 800
static __device__ __forceinline__ unsigned warp_sum(unsigned x) { return __reduce_add_sync(0xffffffffu, x); }
static __device__ __forceinline__ unsigned warp_max(unsigned x) { return __reduce_max_sync(0xffffffffu, x); }
static __device__ __forceinline__ unsigned warp_min(unsigned x) { return __reduce_min_sync(0xffffffffu, x); }
#else
static __device__ __forceinline__ unsigned warp_sum(unsigned x) {
    for (int apart = 16; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffffu, x, apart);
    return x;
}
static __device__ __forceinline__ unsigned warp_max(unsigned x) {
    for (int apart = 16; apart > 0; apart /= 2) x = max(x, __shfl_xor_sync(0xffffffffu, x, apart));
    return x;
}
static __device__ __forceinline__ unsigned warp_min(unsigned x) {
    for (int apart = 16; apart > 0; apart /= 2) x = min(x, __shfl_xor_sync(0xffffffffu, x, apart));
    return x;
}
#endif

template <class Real> struct bits_type;
template <> struct bits_type<float> {
    typedef unsigned type;
    static constexpr type infinity = 0x7f800000u;
};
template <> struct bits_type<double> {
    typedef unsigned long long type;
    static constexpr type infinity = 0x7ff0000000000000ull;
};

// Where particles stand that are not there: far from all others, and from each other.
template <class Real> static __device__ __forceinline__ Real nowhere(size_t k) {
    return (Real)(sizeof(Real) == 4 ? 1e17 : 1e150) * (Real)(k + 1);
}

// ---- the search -----------------------------------------------------------------------------------------------------

// The bracket: numbers below `low` are `below` <= lower, those below `high` are `upto` > upper. All threads that search
// together have the same.
template <class Real> struct bracket {
    Real low, high;
    unsigned below, upto, lower, upper, pairs;
    int passes;
    Real first, second; // the next pivots
};

// The mean squared distance of a domain.
static __device__ double mean_distance(const pair_args &a, size_t u) {
    double sum = 0;
    if (a.in_sd) return 2.0 * (double)(a.end[u] - a.begin[u]);
    for (size_t e = a.begin[u]; e < a.end[u]; e++) sum += a.variance[a.domain[e]];
    return 2 * sum;
}

// Where to begin: at the last value and where it was going, or at the mean distance.
template <class Real>
static __device__ void search_begin(bracket<Real> &s, const pair_args &a, size_t u, const double *guess,
                                    unsigned pairs) {
    const Real last = (Real)guess[0], moved = (Real)guess[1], wrong = (Real)guess[2], least = (Real)16 / (Real)pairs;
    const Real centre = last > 0 ? last + moved : (Real)(0.9 * mean_distance(a, u));
    Real reach = last > 0 ? (Real)1.5 * wrong / last + least : (Real)0.25;
    reach = reach < (Real)0.5 ? reach : (Real)0.5;
    s.low = 0;
    s.high = from_bits(bits_type<Real>::infinity);
    s.below = 0;
    s.upto = s.pairs = pairs;
    s.lower = (unsigned)(a.lower == SIZE_MAX ? a.upper : a.lower);
    s.upper = (unsigned)a.upper;
    s.passes = 0;
    s.first = centre - centre * reach;
    s.second = centre + centre * reach;
    if (!(s.first > 0 && s.second < s.high)) s.first = s.second = (Real)1;
}

// Takes the counts below a pivot. Returns whether the pivot stands between the two ranks.
template <class Real> static __device__ __forceinline__ bool search_take(bracket<Real> &s, Real pivot, unsigned count) {
    if (count <= s.lower) {
        if (pivot > s.low) s.low = pivot, s.below = count;
        return false;
    }
    if (count > s.upper) {
        if (pivot < s.high) s.high = pivot, s.upto = count;
        return false;
    }
    return true;
}

// The next pivots: around where the rank would be if numbers were spread evenly, or the middle of the bits.
template <class Real> static __device__ void search_on(bracket<Real> &s) {
    typedef typename bits_type<Real>::type bits;
    const bits low = to_bits(s.low), high = to_bits(s.high);
    s.passes++;
    s.first = s.second = from_bits((bits)(low + (high - low) / 2));
    if (s.passes > 5 && s.passes % 2 == 0) return;
    if (high == bits_type<Real>::infinity ||
        s.below == 0) { // one end is open: about half of all lie within half the median
        const bool up = high == bits_type<Real>::infinity;
        const Real left = (Real)((up ? s.lower - s.below : s.upto - s.lower) + 8) / (Real)s.pairs, by = up ? 2 : -2;
        const Real end = up ? s.low : s.high, near = end * (1 + by * (Real)0.7 * left),
                   far = end * (1 + by * (Real)1.6 * left);
        s.first = up ? near : far;
        s.second = up ? far : near;
    } else {
        const Real each = (s.high - s.low) / (Real)(s.upto - s.below), reach = each * (Real)8;
        const Real centre = s.low + each * ((Real)(s.lower - s.below) + (Real)0.5);
        s.first = centre - reach > s.low ? centre - reach : s.low;
        s.second = centre + reach < s.high ? centre + reach : s.high;
    }
    if (!(s.first >= s.low && s.second <= s.high && s.first <= s.second))
        s.first = s.second = from_bits((bits)(low + (high - low) / 2));
}

// All numbers that are left are one number.
template <class Real> static __device__ __forceinline__ bool search_ended(const bracket<Real> &s) {
    return to_bits(s.low) + 1 >= to_bits(s.high);
}

// What the next iteration shall expect: the last value, how far it moved, and by how much that was expected wrongly.
// One thread.
static __device__ __forceinline__ void search_note(double *guess, double found) {
    const double wrong = fabs(found - (guess[0] + guess[1])), faded = 0.7 * guess[2];
    guess[2] = guess[0] > 0 ? (wrong > faded ? wrong : faded) : 0.05 * found;
    guess[1] = guess[0] > 0 ? found - guess[0] : 0;
    guess[0] = found;
}

// h of the unit from its two middle distances. One thread.
static __device__ double found_scale(const pair_args &a, size_t u, double lower, double upper) {
    a.middle[2 * u] = a.lower == SIZE_MAX ? 0 : lower;
    a.middle[2 * u + 1] = upper;
    return unit_scale(&a, u);
}

// ---- a warp for each unit -------------------------------------------------------------------------------------------

enum { WARP_UNITS = 4, WARP_PARTICLES = 64, WARP_ROWS = 128 }; // of a block; of a unit, and rows of its domain

// Which distances are below a value, a bit each, the first row first. Of pairs of particles of different halves only
// one of the two is looked at, in `once`; in the others, each stands twice.
struct below_mask {
    unsigned once, twice[2];
};

static __device__ __forceinline__ void push_sign(unsigned &word, float difference) {
    word = __funnelshift_l(__float_as_uint(difference), word, 1);
}

template <int ROWS, int COLUMNS>
static __device__ __forceinline__ below_mask mask_below(const float (&d)[ROWS][COLUMNS], float value) {
    below_mask mask = {0, {0, 0}};
#pragma unroll
    for (int l = 0; l < ROWS; l++) {
        if (l < 32) push_sign(mask.twice[0], d[l][0] - value);
        if (COLUMNS == 2 && l < 32) push_sign(mask.once, d[l][COLUMNS - 1] - value);
        if (COLUMNS == 2 && l >= 32) push_sign(mask.twice[1], d[l][COLUMNS - 1] - value);
    }
    return mask;
}

// How many pairs that is, over the warp.
static __device__ __forceinline__ unsigned count_pairs(const below_mask &mask, unsigned n) {
    const unsigned all = warp_sum(2 * __popc(mask.once) + __popc(mask.twice[0]) + __popc(mask.twice[1]));
    return all > n ? (all - n) / 2 : 0; // without the particles themselves
}

// The pairs of a lane that are below the one and not below the other, each once: writes l | m << 8 from `place` on.
template <int ROWS> struct pair_walk {
    static constexpr int first = ROWS < 32 ? ROWS : 32, rest = ROWS - 32; // rows of the words
    unsigned once, twice[2];
    __device__ __forceinline__ pair_walk(const below_mask &high, const below_mask &low, int lane) {
        once = high.once & ~low.once;
        twice[0] = high.twice[0] & ~low.twice[0] & (lane >= first ? ~0u : lane == 0 ? 0 : ~0u << (first - lane));
        twice[1] = 0;
        if (rest > 0)
            twice[1] = high.twice[1] & ~low.twice[1] & (lane >= rest ? ~0u : lane == 0 ? 0 : ~0u << (rest - lane));
    }
    __device__ __forceinline__ unsigned count() const { return __popc(once) + __popc(twice[0]) + __popc(twice[1]); }
    __device__ __forceinline__ void write(unsigned lane, unsigned place, unsigned short *list) {
        for (; once; once &= once - 1) list[place++] = (unsigned short)((32 - __ffs(once)) | (lane + 32) << 8);
        for (; twice[0]; twice[0] &= twice[0] - 1)
            list[place++] = (unsigned short)((first - __ffs(twice[0])) | lane << 8);
        for (; twice[1]; twice[1] &= twice[1] - 1)
            list[place++] = (unsigned short)((ROWS - __ffs(twice[1])) | (lane + 32) << 8);
    }
};

// A distance again, from the same numbers in the same order: the same bits.
static __device__ __forceinline__ float distance_again(const pair_args &a, size_t u, unsigned l, unsigned m) {
    const float *z = (const float *)a.z;
    float sum = 0;
    for (size_t e = a.begin[u]; e < a.end[u]; e++) {
        const float *row = z + a.domain[e] * a.n;
        sum = fused_add(row[l] - row[m], sum);
    }
    return sum;
}

template <int ROWS, int COLUMNS, int SHAPE, bool RANKED, int WARP_BLOCKS>
static __global__ void __launch_bounds__(32 * WARP_UNITS, WARP_BLOCKS) fused_warp(const pair_args a) {
    __shared__ float4 rows[WARP_UNITS][2][WARP_PARTICLES / 4]; // a row of the domain; or scores and places of a member
    __shared__ unsigned short list[WARP_UNITS][32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, all = 0xffffffffu;
    const size_t u = (size_t)blockIdx.x * WARP_UNITS + warp, n = a.n;
    const float *z = (const float *)a.z;
    float *row = (float *)rows[warp][0], *other = (float *)rows[warp][1];
    float d[ROWS][COLUMNS];
    if (u >= a.units) return;

        // Distances of every particle (a row) to those of the lane, m = lane + 32c.
#pragma unroll
    for (int l = 0; l < ROWS; l++)
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) d[l][c] = 0;
    for (size_t e = a.begin[u]; e < a.end[u]; e++) {
        const float *from = z + a.domain[e] * n;
        float mine[COLUMNS];
        __syncwarp();
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            const size_t m = lane + 32 * c;
            row[m] = m < n ? from[m] : nowhere<float>(m);
            mine[c] = m < n ? row[m] : -row[m];
        }
        __syncwarp();
#pragma unroll
        for (int l = 0; l < ROWS; l += 4) {
            const float4 four = ((const float4 *)row)[l / 4];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                d[l][c] = fused_add(four.x - mine[c], d[l][c]);
                d[l + 1][c] = fused_add(four.y - mine[c], d[l + 1][c]);
                d[l + 2][c] = fused_add(four.z - mine[c], d[l + 2][c]);
                d[l + 3][c] = fused_add(four.w - mine[c], d[l + 3][c]);
            }
        }
    }

    // The median, by counting.
    double h = a.fixed;
    if (RANKED) {
        double *guess = a.guess + 3 * (a.first + u);
        bracket<float> s;
        below_mask at_low = {0, {0, 0}}, at_high = {~0u, {~0u, ~0u}};
        float lower = 0, upper = 0;
        search_begin(s, a, u, guess, (unsigned)(n * (n - 1) / 2));
        for (;;) {
            bool between = false;
            float pivot = 0;
#pragma unroll
            for (int which = 0; which < 2; which++) {
                const float at = which ? s.second : s.first, low = s.low, high = s.high;
                const below_mask mask = mask_below<ROWS, COLUMNS>(d, at);
                if (search_take(s, at, count_pairs(mask, (unsigned)n))) between = true, pivot = at;
                if (s.low != low) at_low = mask;
                if (s.high != high) at_high = mask;
            }
            if (between) { // the largest below, and the smallest above
                unsigned below = 0, above = bits_type<float>::infinity;
#pragma unroll
                for (int l = 0; l < ROWS; l++)
#pragma unroll
                    for (int c = 0; c < COLUMNS; c++) {
                        if (d[l][c] < pivot) below = max(below, to_bits(d[l][c]));
                        if (d[l][c] >= pivot) above = min(above, to_bits(d[l][c]));
                    }
                lower = from_bits(warp_max(below));
                upper = from_bits(warp_min(above));
                break;
            }
            if (search_ended(s)) {
                lower = upper = s.low;
                break;
            }
            const unsigned left = s.upto - s.below;
            if (left <= 32 && to_bits(s.high) != bits_type<float>::infinity) { // few are left: rank them
                pair_walk<ROWS> walk(at_high, at_low, (int)lane);
                const unsigned mine = walk.count();
                unsigned place = mine, rank = 0;
#pragma unroll
                for (int apart = 1; apart < 32; apart *= 2) {
                    const unsigned earlier = __shfl_up_sync(all, place, apart);
                    if (lane >= apart) place += earlier;
                }
                __syncwarp();
                walk.write(lane, place - mine, list[warp]);
                __syncwarp();
                const unsigned id = lane < left ? list[warp][lane] : 0;
                const float value =
                    lane < left ? distance_again(a, u, id & 255u, id >> 8) : from_bits(bits_type<float>::infinity);
                for (unsigned k = 0; k < left; k++) {
                    const float there = __shfl_sync(all, value, k);
                    rank += there < value || (there == value && k < lane);
                }
                if (lane >= left) rank = 64;
                lower = __shfl_sync(all, value, __ffs(__ballot_sync(all, rank == s.lower - s.below)) - 1);
                upper = __shfl_sync(all, value, __ffs(__ballot_sync(all, rank == s.upper - s.below)) - 1);
                break;
            }
            search_on(s);
        }
        if (lane == 0) search_note(guess, upper);
        if (a.rule == RULE_MEDIAN) { // the usual one, in the precision of the distances
            const float median = 0.5f * (sqrtf(lower) + sqrtf(upper)), square = median * median;
            h = square < 1e-37f ? 0 : square;
        } else {
            if (lane == 0) h = found_scale(a, u, lower, upper);
            h = __shfl_sync(all, h, 0);
        }
    }

    // k of rbf, or of imq, whose repulsion goes with its third power.
    const float inverse = h > 0 ? 1 / (float)h : 0, ratio = SHAPE == SHAPE_RBF ? 2 * inverse : inverse;
    const float by = SHAPE == SHAPE_RBF ? -1.4426950408889634f * inverse : inverse;
    if (h > 0 && h < 1e30) {
#pragma unroll
        for (int l = 0; l < ROWS; l++)
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                float k = kernel_of(d[l][c], by, SHAPE);
                if (SHAPE != SHAPE_RBF && l >= (int)n) k = 0; // of rbf it is 0 where nobody stands
                d[l][c] = k;
            }
    } else { // the limit, who coincides; or the particles ran away, beyond what single precision can square
#pragma unroll
        for (int l = 0; l < ROWS; l++)
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) d[l][c] = h == 0 ? (l < (int)n && d[l][c] == 0 ? 1.0f : 0.0f) : NAN;
    }

    for (size_t e = a.member_start[a.first + u]; e < a.member_start[a.first + u + 1]; e++) {
        const size_t i = a.term_variable[e];
        float sum[COLUMNS], push[COLUMNS], here[COLUMNS];
        __syncwarp();
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            const size_t m = lane + 32 * c;
            row[m] = m < n ? (float)a.score[i * n + m] : 0;
            other[m] = here[c] = m < n ? z[i * n + m] : 0;
            sum[c] = push[c] = 0;
        }
        __syncwarp();
#pragma unroll
        for (int l = 0; l < ROWS; l++) {
            const float s = row[l], at = other[l];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                const float k = d[l][c];
                sum[c] = fmaf(k, s, sum[c]);
                push[c] = fmaf(SHAPE == SHAPE_RBF ? k : k * k * k, here[c] - at, push[c]);
            }
        }
        const double slope = a.in_sd ? a.inverse[i] : 1;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            const size_t m = lane + 32 * c;
            const double velocity = a.share * ((double)sum[c] + (double)ratio * (double)push[c] * slope);
            if (m < n) a.phi[i * n + m] = (a.adds ? a.phi[i * n + m] : 0) + velocity;
        }
    }
}

// ---- a block for each unit ------------------------------------------------------------------------------------------

template <class Real> struct alignas(4 * sizeof(Real)) four { Real v[4]; };

// The squared distances of 4 particles to 4 others.
template <class Real>
static __device__ __forceinline__ void tile_distances(const Real *rows, unsigned stride, unsigned count, unsigned l,
                                                      unsigned m, Real d[4][4]) {
#pragma unroll
    for (int p = 0; p < 4; p++)
#pragma unroll
        for (int q = 0; q < 4; q++) d[p][q] = 0;
    const Real *of_l = rows + l, *of_m = rows + m;
    for (unsigned e = 0; e < count; e++, of_l += stride, of_m += stride) {
        const four<Real> x = *(const four<Real> *)of_l, y = *(const four<Real> *)of_m;
#pragma unroll
        for (int p = 0; p < 4; p++)
#pragma unroll
            for (int q = 0; q < 4; q++) d[p][q] = fused_add(x.v[p] - y.v[q], d[p][q]);
    }
}

enum { BLOCK_LIST = 256 };

template <class Real, int THREADS_> struct block_room {
    Real list[BLOCK_LIST];
    unsigned counts[2], listed;
    typename bits_type<Real>::type below, above;
    double h;
    Real found[2];
};

// Gives `what` the distances of all pairs of different particles, a tile at a time, shared out among the threads.
template <class Real, int THREADS_, class What>
static __device__ __forceinline__ void each_tile(const Real *rows, unsigned stride, unsigned count, What what) {
    const unsigned tiles = stride / 4;
    unsigned r = 0, c = threadIdx.x; // of the upper triangle, rows first: row r has the columns r ... tiles - 1
    for (;; c += THREADS_) {
        Real d[4][4];
        while (r < tiles && c >= tiles) r++, c -= tiles - r;
        if (r >= tiles) break;
        tile_distances(rows, stride, count, 4 * r, 4 * c, d);
        if (r == c) {
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q <= p; q++) d[p][q] = from_bits(bits_type<Real>::infinity); // in no count
        }
        what(d);
    }
}

template <class Real, int THREADS_>
static __device__ void block_middle(const pair_args &a, size_t u, const Real *rows, unsigned stride, unsigned count,
                                    block_room<Real, THREADS_> &room) {
    typedef typename bits_type<Real>::type bits;
    const unsigned pairs = (unsigned)(a.n * (a.n - 1) / 2);
    double *guess = a.guess + 3 * (a.first + u);
    bracket<Real> s;
    search_begin(s, a, u, guess, pairs);
    __syncthreads(); // all have read the guess
    for (;;) {
        unsigned one = 0, two = 0;
        if (threadIdx.x == 0)
            room.counts[0] = room.counts[1] = room.listed = 0, room.below = 0, room.above = bits_type<Real>::infinity;
        __syncthreads();
        const Real first = s.first, second = s.second;
        each_tile<Real, THREADS_>(rows, stride, count, [&](const Real(&d)[4][4]) {
            unsigned here = 0, there = 0;
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q < 4; q++) here += d[p][q] < first, there += d[p][q] < second;
            one += here;
            two += there;
            if (here == there) return;
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q < 4; q++)
                    if (d[p][q] >= first && d[p][q] < second) {
                        const unsigned at = atomicAdd(&room.listed, 1u);
                        if (at < BLOCK_LIST) room.list[at] = d[p][q];
                    }
        });
        one = warp_sum(one);
        two = warp_sum(two);
        if (threadIdx.x % 32 == 0) atomicAdd(&room.counts[0], one), atomicAdd(&room.counts[1], two);
        __syncthreads();
        one = room.counts[0], two = room.counts[1];
        const unsigned left = room.listed;
        const bool first_between = search_take(s, first, one), second_between = search_take(s, second, two);
        if (first_between || second_between) { // the largest below, and the smallest above
            const Real pivot = first_between ? first : second;
            bits below = 0, above = bits_type<Real>::infinity;
            each_tile<Real, THREADS_>(rows, stride, count, [&](const Real(&d)[4][4]) {
#pragma unroll
                for (int p = 0; p < 4; p++)
#pragma unroll
                    for (int q = 0; q < 4; q++) {
                        if (d[p][q] < pivot) below = max(below, to_bits(d[p][q]));
                        if (d[p][q] >= pivot) above = min(above, to_bits(d[p][q]));
                    }
            });
            atomicMax(&room.below, below);
            atomicMin(&room.above, above);
            __syncthreads();
            if (threadIdx.x == 0) room.found[0] = from_bits(room.below), room.found[1] = from_bits(room.above);
            break;
        }
        if (search_ended(s)) {
            if (threadIdx.x == 0) room.found[0] = room.found[1] = s.low;
            break;
        }
        if (s.low == first && s.high == second && left <= BLOCK_LIST) { // all that are left are listed, in any order
            for (unsigned k = threadIdx.x; k < left; k += THREADS_) {
                const Real value = room.list[k];
                unsigned rank = 0;
                for (unsigned j = 0; j < left; j++) rank += room.list[j] < value || (room.list[j] == value && j < k);
                if (rank == s.lower - s.below) room.found[0] = value;
                if (rank == s.upper - s.below) room.found[1] = value;
            }
            break;
        }
        search_on(s);
        __syncthreads(); // all have read the counts
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        search_note(guess, room.found[1]);
        room.h = found_scale(a, u, room.found[0], room.found[1]);
    }
    __syncthreads();
}

// Velocities of one member: threads have 4 columns and a strip of the rows each; strips are added up in their order.
template <class Real, int THREADS_, int SHAPE, bool NORMAL>
static __device__ void block_velocity(const pair_args &a, double h, const Real *rows, unsigned stride, unsigned count,
                                      const Real *score, const Real *place, double *sums, size_t i) {
    const unsigned n = (unsigned)a.n, tiles = stride / 4, wide = tiles < THREADS_ ? tiles : THREADS_;
    const unsigned strips = THREADS_ / wide, strip = threadIdx.x / wide, within = threadIdx.x - strip * wide;
    const double ratio = h > 0 ? (SHAPE == SHAPE_RBF ? 2 : 1) / h : 0, slope = a.in_sd ? a.inverse[i] : 1;
    const double log2e = 1.4426950408889634;
    const Real by = (Real)(SHAPE == SHAPE_RBF ? -(sizeof(Real) == 4 ? log2e : 1.0) / h : 1 / h);
    for (unsigned from = 0; from < tiles; from += wide) {
        const unsigned column = strip < strips ? from + within : tiles;
        double sum[2][4] = {};
        const four<Real> here = column < tiles ? *(const four<Real> *)(place + 4 * column) : four<Real>{};
        for (unsigned base = strip; column < tiles && base < tiles; base += strips * 16) {
            Real part[2][4] = {}; // of at most 64 rows
            for (unsigned r = base; r < tiles && r < base + strips * 16; r += strips) {
                Real d[4][4];
                const four<Real> s = *(const four<Real> *)(score + 4 * r), at = *(const four<Real> *)(place + 4 * r);
                tile_distances(rows, stride, count, 4 * r, 4 * column, d);
#pragma unroll
                for (int p = 0; p < 4; p++)
#pragma unroll
                    for (int q = 0; q < 4; q++) {
                        Real k = NORMAL   ? kernel_of(d[p][q], by, SHAPE)
                                 : h == 0 ? (Real)(d[p][q] == 0)                      // the limit: who coincides
                                          : (Real)NAN;                                // the particles ran away
                        if ((SHAPE != SHAPE_RBF || !NORMAL) && 4 * r + p >= n) k = 0; // of rbf it is 0 anyway
                        part[0][q] += k * s.v[p];
                        part[1][q] += (SHAPE == SHAPE_RBF ? k : k * k * k) * (here.v[q] - at.v[p]);
                    }
            }
#pragma unroll
            for (int w = 0; w < 2; w++)
#pragma unroll
                for (int q = 0; q < 4; q++) sum[w][q] += (double)part[w][q];
        }
        __syncthreads();
#pragma unroll
        for (int w = 0; w < 2; w++)
#pragma unroll
            for (int q = 0; q < 4; q++) sums[(w * 4 + q) * THREADS_ + threadIdx.x] = sum[w][q];
        __syncthreads();
        if (strip == 0 && column < tiles)
            for (int q = 0; q < 4; q++) {
                const unsigned m = 4 * column + q;
                double all[2] = {};
                for (unsigned p = 0; p < strips; p++)
                    for (int w = 0; w < 2; w++) all[w] += sums[(w * 4 + q) * THREADS_ + p * wide + within];
                const double velocity = a.share * (all[0] + ratio * all[1] * slope);
                if (m < n) a.phi[i * a.n + m] = (a.adds ? a.phi[i * a.n + m] : 0) + velocity;
            }
        __syncthreads();
    }
}

template <class Real> static size_t block_stride(size_t n) { return (n + 3) / 4 * 4; }

// Bytes of shared memory: sums of strips, the rows of the domain, scores and places of a member.
template <class Real> static size_t block_bytes(size_t n, size_t rows, int threads) {
    return 8 * (size_t)threads * sizeof(double) + (rows + 2) * block_stride<Real>(n) * sizeof(Real);
}

template <class Real, int THREADS_, int SHAPE, bool RANKED>
static __global__ void __launch_bounds__(THREADS_) fused_block(const pair_args a, unsigned stride) {
    extern __shared__ double dynamic[];
    __shared__ block_room<Real, THREADS_> room;
    const size_t n = a.n;
    const Real *z = (const Real *)a.z;
    Real *rows = (Real *)(dynamic + 8 * THREADS_);
    for (size_t u = blockIdx.x; u < a.units; u += gridDim.x) {
        const size_t begin = a.begin[u];
        const unsigned count = (unsigned)(a.end[u] - begin);
        Real *score = rows + count * stride, *place = score + stride;
        __syncthreads();
        for (unsigned e = 0; e < count; e++) {
            const Real *from = z + a.domain[begin + e] * n;
            for (unsigned m = threadIdx.x; m < stride; m += THREADS_)
                rows[e * stride + m] = m < n ? from[m] : nowhere<Real>(m);
        }
        __syncthreads();
        if (RANKED) block_middle<Real, THREADS_>(a, u, rows, stride, count, room);
        const double h = RANKED ? room.h : a.fixed, scale = isfinite(h) ? h : NAN;
        for (size_t e = a.member_start[a.first + u]; e < a.member_start[a.first + u + 1]; e++) {
            const size_t i = a.term_variable[e];
            __syncthreads();
            for (unsigned m = threadIdx.x; m < stride; m += THREADS_) {
                score[m] = m < n ? (Real)a.score[i * n + m] : 0;
                place[m] = m < n ? z[i * n + m] : 0;
            }
            __syncthreads();
            if (scale > 0 && scale < (sizeof(Real) == 4 ? 1e30 : 1e290))
                block_velocity<Real, THREADS_, SHAPE, true>(a, scale, rows, stride, count, score, place, dynamic, i);
            else
                block_velocity<Real, THREADS_, SHAPE, false>(a, scale, rows, stride, count, score, place, dynamic, i);
        }
    }
}

// ---- launches -------------------------------------------------------------------------------------------------------

enum { FUSED_MEMBERS = 4 }; // of a unit: more share a matrix better

static int fused_threads(size_t n) { return n <= 96 ? 64 : n <= 160 ? 128 : 256; }

static int takes_warp(int bits, const pair_args *a) { return bits == 32 && a->n <= WARP_PARTICLES; }

static int fuses(const device *d, int bits, const pair_args *a) {
    if (a->shape == SHAPE_LINEAR || a->n < 2 || a->n > 16384 || a->most_members > FUSED_MEMBERS) return 0;
    if (takes_warp(bits, a)) return a->longest <= WARP_ROWS;
    const int threads = fused_threads(a->n);
    const size_t bytes =
        bits == 32 ? block_bytes<float>(a->n, a->longest, threads) : block_bytes<double>(a->n, a->longest, threads);
    return 2 * (bytes + sizeof(block_room<double, 256>) + 1024) <= (size_t)d->shared_most; // two shall fit
}

template <int ROWS, int COLUMNS, int SHAPE> static void run_warp(device *d, const pair_args *a) {
    constexpr int at_once = COLUMNS == 1 ? 5 : SHAPE == SHAPE_RBF ? 3 : 2; // blocks, by their registers
    const unsigned blocks = (unsigned)((a->units + WARP_UNITS - 1) / WARP_UNITS);
    auto *kernel = a->rule == RULE_FIXED ? fused_warp<ROWS, COLUMNS, SHAPE, false, at_once>
                                         : fused_warp<ROWS, COLUMNS, SHAPE, true, at_once>;
    kernel<<<blocks, 32 * WARP_UNITS, 0, d->stream>>>(*a);
}

template <int SHAPE> static void choose_warp(device *d, const pair_args *a) {
    if (a->n <= 16)
        run_warp<16, 1, SHAPE>(d, a);
    else if (a->n <= 32)
        run_warp<32, 1, SHAPE>(d, a);
    else if (a->n <= 52)
        run_warp<52, 2, SHAPE>(d, a);
    else
        run_warp<64, 2, SHAPE>(d, a);
}

template <class Real, int THREADS_, int SHAPE> static int run_block(device *d, const pair_args *a) {
    auto *kernel =
        a->rule == RULE_FIXED ? fused_block<Real, THREADS_, SHAPE, false> : fused_block<Real, THREADS_, SHAPE, true>;
    const size_t bytes = block_bytes<Real>(a->n, a->longest, THREADS_), stride = block_stride<Real>(a->n);
    const size_t most = (size_t)d->processors * 32;
    const unsigned blocks = (unsigned)(a->units < most ? a->units : most);
    if (check(d, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes))) return 1;
    kernel<<<blocks, THREADS_, bytes, d->stream>>>(*a, (unsigned)stride);
    return 0;
}

template <class Real, int SHAPE> static int choose_block(device *d, const pair_args *a) {
    switch (fused_threads(a->n)) {
    case 64: return run_block<Real, 64, SHAPE>(d, a);
    case 128: return run_block<Real, 128, SHAPE>(d, a);
    default: return run_block<Real, 256, SHAPE>(d, a);
    }
}

static int fused(device *d, int bits, const pair_args *a) {
    int failed = 0;
    const bool rbf = a->shape == SHAPE_RBF;
    if (takes_warp(bits, a))
        rbf ? choose_warp<SHAPE_RBF>(d, a) : choose_warp<SHAPE_IMQ>(d, a);
    else if (bits == 32)
        failed = rbf ? choose_block<float, SHAPE_RBF>(d, a) : choose_block<float, SHAPE_IMQ>(d, a);
    else
        failed = rbf ? choose_block<double, SHAPE_RBF>(d, a) : choose_block<double, SHAPE_IMQ>(d, a);
    return failed ? 1 : check(d, cudaGetLastError());
}
