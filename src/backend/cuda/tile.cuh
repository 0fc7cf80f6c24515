// A term of a kernel for 33 to 56 particles in single precision: a warp for each unit. The particles are 7 blocks of 8,
// and a lane has the 64 distances between two blocks I and J = I + k, k = 0 ... 3, in a ring of 7: every pair of blocks
// once, and so every pair of particles, but those within a block (k = 0), which stand twice and count once.
//
// Squared distances are |x|^2 + |y|^2 - 2 x.y where no particle is far from the mean, for the mean distance and for the
// bandwidth, which costs one instruction a row instead of two and rounds by a few ulp of the bandwidth; else they are
// sums of squared differences. Which of them is decided by the particles alone, so that a run that is resumed has the
// same bits.

enum {
    TILE = 8,
    TILE_BLOCKS = 7,
    TILE_PARTICLES = TILE * TILE_BLOCKS,
    TILE_LEAST = 33, // particles
    TILE_SLOTS = 7,  // partial sums of a particle: as a row of k = 0 ... 3, as a column of k = 1 ... 3
    TILE_STAGED = 8  // rows of a domain at once
};

// Products are used while no particle is further from the mean than this, squared, in units of the mean of that, and of
// the bandwidth.
enum { PRODUCT_REACH = 8 };

template <class Real> static __device__ __forceinline__ bool uses_products(Real furthest, Real mean) {
    return furthest <= PRODUCT_REACH * mean && mean > (Real)1e-20 && mean < (Real)1e20;
}

struct alignas(16) tile_room {
    float rows[TILE_STAGED][TILE_PARTICLES], norm[TILE_PARTICLES];
    float score[TILE_PARTICLES], place[TILE_PARTICLES];
    float slot[2][TILE_SLOTS][TILE_PARTICLES];
    unsigned short list[32];
};

// Where a particle is in the rows above: lanes that read blocks side by side read 16 bytes side by side.
static __device__ __forceinline__ unsigned tile_place(unsigned l) {
    return (l % TILE / 4 * TILE_BLOCKS + l / TILE) * 4 + l % 4;
}

static __device__ __forceinline__ void load_block(const float *row, unsigned block, float (&to)[TILE]) {
#pragma unroll
    for (int g = 0; g < 2; g++) {
        const float4 v = ((const float4 *)row)[g * TILE_BLOCKS + block];
        to[4 * g] = v.x, to[4 * g + 1] = v.y, to[4 * g + 2] = v.z, to[4 * g + 3] = v.w;
    }
}

static __device__ __forceinline__ void store_block(float *row, unsigned block, const float (&from)[TILE]) {
#pragma unroll
    for (int g = 0; g < 2; g++)
        ((float4 *)row)[g * TILE_BLOCKS + block] =
            make_float4(from[4 * g], from[4 * g + 1], from[4 * g + 2], from[4 * g + 3]);
}

// Which distances are below a value, a bit each, the first row first.
struct tile_mask {
    unsigned word[2];
};

static __device__ __forceinline__ tile_mask tile_below(const float (&d)[TILE][TILE], float value,
                                                       const tile_mask &valid) {
    tile_mask mask = {{0, 0}};
#pragma unroll
    for (int e = 0; e < 32; e++) {
        push_sign(mask.word[0], d[e / TILE][e % TILE] - value);
        push_sign(mask.word[1], d[4 + e / TILE][e % TILE] - value);
    }
    mask.word[0] &= valid.word[0];
    mask.word[1] &= valid.word[1];
    return mask;
}

// A distance again, from the same numbers in the same order: the same bits.
static __device__ __forceinline__ float tile_again(const pair_args &a, size_t u, const tile_room &room, bool staged,
                                                   bool products, unsigned l, unsigned m) {
    if (!staged) return distance_again(a, u, l, m);
    const unsigned count = (unsigned)(a.end[u] - a.begin[u]);
    float sum = products ? room.norm[tile_place(l)] + room.norm[tile_place(m)] : 0;
    for (unsigned e = 0; e < count; e++) {
        const float x = room.rows[e][tile_place(l)], y = room.rows[e][tile_place(m)];
        sum = products ? __fmaf_rn(-2 * x, y, sum) : fused_add(x - y, sum);
    }
    return sum;
}

// Stages rows of the domain, ROWS of them from the first on, that lanes have as `mine`. Returns whether products are
// used, if they are asked for: all rows are staged at once then, and `furthest` is the largest |x|^2.
template <unsigned ROWS>
static __device__ __forceinline__ bool tile_stage(const pair_args &a, unsigned mine, unsigned first, unsigned count,
                                                  bool ask, tile_room &room, float &furthest) {
    const unsigned lane = threadIdx.x % 32, n = (unsigned)a.n, second = lane + 32, all = 0xffffffffu;
    const float *z = (const float *)a.z;
    float one[ROWS], two[ROWS], norm[2] = {0, 0};
    bool products = false;
#pragma unroll
    for (unsigned e = 0; e < ROWS; e++) {
        const float *from = z + (size_t)__shfl_sync(all, mine, e) * n + lane;
        one[e] = first + e < count ? from[0] : 0;
        two[e] = first + e < count && second < n ? from[32] : 0;
    }
    if (ask) {
#pragma unroll
        for (unsigned e = 0; e < ROWS; e++) norm[0] = fused_add(one[e], norm[0]), norm[1] = fused_add(two[e], norm[1]);
        float mean = norm[0] + norm[1];
#pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) mean += __shfl_xor_sync(all, mean, apart);
        furthest = from_bits(warp_max(max(to_bits(norm[0]), to_bits(norm[1])))); // NaN is the largest
        products = uses_products(furthest, mean / (float)n);
    }
    __syncwarp();
    const unsigned place = tile_place(lane), next = tile_place(second);
#pragma unroll
    for (unsigned e = 0; e < ROWS; e++) {
        room.rows[e][place] = one[e];
        if (second < TILE_PARTICLES) room.rows[e][next] = second < n || products ? two[e] : nowhere<float>(second);
    }
    if (products) {
        room.norm[place] = norm[0];
        if (second < TILE_PARTICLES) room.norm[next] = second < n ? norm[1] : 1e30f;
    }
    __syncwarp();
    return products;
}

static __device__ __forceinline__ void tile_products(const tile_room &room, unsigned rows, unsigned block,
                                                     unsigned other, float (&d)[TILE][TILE]) {
    float x[TILE], y[TILE];
    load_block(room.norm, block, x);
    load_block(room.norm, other, y);
#pragma unroll
    for (int r = 0; r < TILE; r++)
#pragma unroll
        for (int q = 0; q < TILE; q++) d[r][q] = x[r] + y[q];
    for (unsigned e = 0; e < rows; e++) {
        load_block(room.rows[e], block, x);
        load_block(room.rows[e], other, y);
#pragma unroll
        for (int r = 0; r < TILE; r++) {
            const float by = -2 * x[r];
#pragma unroll
            for (int q = 0; q < TILE; q++) d[r][q] = __fmaf_rn(by, y[q], d[r][q]);
        }
    }
}

template <bool BEGINS>
static __device__ __forceinline__ void tile_differences(const tile_room &room, unsigned rows, unsigned block,
                                                        unsigned other, float (&d)[TILE][TILE]) {
    float x[TILE], y[TILE];
    if (BEGINS) {
#pragma unroll
        for (int r = 0; r < TILE; r++)
#pragma unroll
            for (int q = 0; q < TILE; q++) d[r][q] = 0;
    }
    for (unsigned e = 0; e < rows; e++) {
        load_block(room.rows[e], block, x);
        load_block(room.rows[e], other, y);
#pragma unroll
        for (int r = 0; r < TILE; r++)
#pragma unroll
            for (int q = 0; q < TILE; q++) d[r][q] = fused_add(x[r] - y[q], d[r][q]);
    }
}

// The numbers of all lanes in ascending order, by their bits.
static __device__ __forceinline__ int warp_sort(int value) {
    const int lane = (int)threadIdx.x % 32;
#pragma unroll
    for (int size = 2; size <= 32; size *= 2)
#pragma unroll
        for (int apart = size / 2; apart > 0; apart /= 2) {
            const int other = __shfl_xor_sync(0xffffffffu, value, apart);
            value = ((lane & apart) == 0) == ((lane & size) == 0) ? min(value, other) : max(value, other);
        }
    return value;
}

// The next pivot: where few are left between it and the end of the bracket that is nearer to the ranks; the middle of
// the bits if that fails several times. `each`: a guess of how far apart distances are.
static __device__ __forceinline__ float tile_pivot(const bracket<float> &s, float each) {
    const unsigned low = to_bits(s.low), high = to_bits(s.high);
    float at;
    if (high == bits_type<float>::infinity) {
        at = s.low + ((float)(s.upper + 1 - s.below) * 1.25f + 2) * each;
    } else if (low == 0) {
        at = fmaxf(s.high - ((float)(s.upto - s.lower) * 1.25f + 2) * each, 0.25f * s.high);
    } else {
        each = __fdividef(s.high - s.low, (float)(s.upto - s.below));
        at = s.lower - s.below < s.upto - s.upper ? s.low + ((float)(s.upper + 1 - s.below) * 1.1f + 2) * each
                                                  : s.high - ((float)(s.upto - s.lower) * 1.1f + 2) * each;
    }
    return s.passes < 8 && at > s.low && at < s.high ? at : from_bits(low + (high - low) / 2);
}

// The distances of the two middle ranks, by counting below one pivot after the other. `guess` has the last median,
// where it was going, and how dense distances are there.
static __device__ __forceinline__ void tile_middle(const pair_args &a, unsigned u, double *guess, tile_room &room,
                                                   const float (&d)[TILE][TILE], const tile_mask &valid, bool staged,
                                                   bool products, unsigned block, unsigned other, float &lower,
                                                   float &upper) {
    const unsigned lane = threadIdx.x % 32, all = 0xffffffffu, pairs = (unsigned)(a.n * (a.n - 1) / 2);
    tile_mask at_low = {{0, 0}}, at_high = valid;
    const float last = (float)guess[0], moved = (float)guess[1], density = guess[2] > 0 ? (float)guess[2] : 0.45f;
    const unsigned rank = (unsigned)(a.lower == SIZE_MAX ? a.upper : a.lower);
    bracket<float> s = {0, from_bits(bits_type<float>::infinity), 0, pairs, rank, (unsigned)a.upper, pairs, 0, 0, 0};
    float pivot = last > 0 ? fmaxf(last + moved, 0.5f * last) : (float)(0.9 * mean_distance(a, u));
    if (!(pivot > 0 && pivot < s.high)) pivot = 1;
    const float each = __fdividef(pivot, density * (float)pairs);
    for (;; s.passes++) {
        const float low = s.low, high = s.high;
        const tile_mask mask = tile_below(d, pivot, valid);
        const bool between = search_take(s, pivot, warp_sum(__popc(mask.word[0]) + __popc(mask.word[1])));
        if (s.low != low) at_low = mask;
        if (s.high != high) at_high = mask;
        if (between) { // the largest below, and the smallest above
            unsigned below = 0, above = bits_type<float>::infinity;
#pragma unroll
            for (int r = 0; r < TILE; r++)
#pragma unroll
                for (int q = 0; q < TILE; q++) {
                    const bool counts = (valid.word[r / 4] >> (31 - (r % 4 * TILE + q)) & 1u) != 0;
                    if (counts && d[r][q] < pivot && d[r][q] > 0) below = max(below, to_bits(d[r][q]));
                    if (counts && d[r][q] >= pivot) above = min(above, to_bits(d[r][q]));
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
            unsigned word[2] = {at_high.word[0] & ~at_low.word[0], at_high.word[1] & ~at_low.word[1]};
            const unsigned mine = __popc(word[0]) + __popc(word[1]);
            unsigned place = mine;
#pragma unroll
            for (int apart = 1; apart < 32; apart *= 2) {
                const unsigned earlier = __shfl_up_sync(all, place, apart);
                if (lane >= apart) place += earlier;
            }
            place -= mine;
            __syncwarp();
#pragma unroll
            for (int half = 0; half < 2; half++)
                for (; word[half]; word[half] &= word[half] - 1) {
                    const unsigned e = 32 - __ffs(word[half]);
                    room.list[place++] =
                        (unsigned short)((TILE * block + 4 * half + e / TILE) | (TILE * other + e % TILE) << 8);
                }
            __syncwarp();
            const unsigned id = lane < left ? room.list[lane] : 0;
            const float value = lane < left ? fmaxf(tile_again(a, u, room, staged, products, id & 255u, id >> 8), 0)
                                            : from_bits(bits_type<float>::infinity);
            const int sorted = warp_sort(__float_as_int(value));
            lower = __int_as_float(__shfl_sync(all, sorted, s.lower - s.below));
            upper = __int_as_float(__shfl_sync(all, sorted, s.upper - s.below));
            break;
        }
        pivot = tile_pivot(s, each);
    }
    if (lane > 0) return;
    const unsigned left = s.upto - s.below;
    const float seen = __fdividef((float)left * upper, (s.high - s.low) * (float)pairs);
    guess[2] = left > 4 && s.high < 1e30f ? 0.9f * density + 0.1f * fminf(fmaxf(seen, 0.1f), 1.0f) : density;
    guess[1] = last > 0 ? 0.8f * (upper - last) : 0;
    guess[0] = upper;
}

// What a whole iteration has beside a term.
struct whole_args {
    sum_args score;
    step_args step;
    float *z;
    int scored;
    step_report *report;
    volatile unsigned long long *told;
};

// Scores and places of a member. A whole iteration has the sum of body_sum, for two particles at once.
template <bool WHOLE>
static __device__ __forceinline__ void tile_member(const pair_args &a, const whole_args &w, unsigned i,
                                                   tile_room &room) {
    const unsigned n = (unsigned)a.n, lane = threadIdx.x % 32, second = lane + 32;
    const float *z = (const float *)a.z + (size_t)i * n;
    double score[2] = {0, 0};
    if (WHOLE && !w.scored) {
        const unsigned from = (unsigned)w.score.start[i], to = (unsigned)w.score.start[i + 1];
        score[0] = score[1] = w.score.constant[i];
        for (unsigned e = from; e < to; e++) {
            const double *x = w.score.rows + (size_t)w.score.column[e] * n + lane, weight = -w.score.weight[e];
            score[0] = fma(weight, x[0], score[0]);
            if (second < n) score[1] = fma(weight, x[32], score[1]);
        }
    } else {
        score[0] = a.score[(size_t)i * n + lane];
        if (second < n) score[1] = a.score[(size_t)i * n + second];
    }
    room.score[tile_place(lane)] = (float)score[0];
    room.place[tile_place(lane)] = z[lane];
    if (second < TILE_PARTICLES) {
        room.score[tile_place(second)] = second < n ? (float)score[1] : 0;
        room.place[tile_place(second)] = second < n ? z[second] : 0;
    }
}

// A member moves, and its centred row is that of body_centre.
static __device__ __forceinline__ void tile_move(const whole_args &w, unsigned i, unsigned n,
                                                 const double (&velocity)[2], double &largest, int &wrong) {
    const unsigned lane = threadIdx.x % 32;
    const size_t row = (size_t)i * n;
    const double *x = w.step.phi + row;
#pragma unroll
    for (int c = 0; c < 2; c++)
        if (lane + 32 * c < n) step_by(&w.step, row + lane + 32 * c, velocity[c], &largest, &wrong);
    __syncwarp();
    const bool both = lane + 32 < n;
    const double begin = x[0], one = x[lane] - begin, two = both ? x[lane + 32] - begin : 0;
    const double offset = team_sum(one + two) / (double)n;
    w.z[row + lane] = (float)(one - offset);
    if (both) w.z[row + lane + 32] = (float)(two - offset);
}

// The velocities of a member: partial sums go to slots of their own, that are added up in a fixed order.
template <int SHAPE>
static __device__ __forceinline__ void tile_velocity(const pair_args &a, unsigned i, float ratio, tile_room &room,
                                                     const float (&d)[TILE][TILE], unsigned k, unsigned block,
                                                     unsigned other, double (&velocity)[2]) {
    float score[TILE], place[TILE], column[2][TILE] = {};
    load_block(room.score, other, score);
    load_block(room.place, other, place);
#pragma unroll
    for (int g = 0; g < 2; g++) { // four rows at a time
        const float4 s4 = ((const float4 *)room.score)[g * TILE_BLOCKS + block],
                     p4 = ((const float4 *)room.place)[g * TILE_BLOCKS + block];
        const float score_row[4] = {s4.x, s4.y, s4.z, s4.w}, place_row[4] = {p4.x, p4.y, p4.z, p4.w};
        float row[2][4] = {};
#pragma unroll
        for (int r = 0; r < 4; r++)
#pragma unroll
            for (int q = 0; q < TILE; q++) {
                const float value = d[4 * g + r][q], apart = place_row[r] - place[q];
                const float push = SHAPE == SHAPE_RBF ? value : value * value * value;
                row[0][r] = fmaf(value, score[q], row[0][r]);
                row[1][r] = fmaf(push, apart, row[1][r]);
                column[0][q] = fmaf(value, score_row[r], column[0][q]);
                column[1][q] = fmaf(-push, apart, column[1][q]);
            }
#pragma unroll
        for (int w = 0; w < 2 && k < 4; w++)
            ((float4 *)room.slot[w][k])[g * TILE_BLOCKS + block] =
                make_float4(row[w][0], row[w][1], row[w][2], row[w][3]);
    }
#pragma unroll
    for (int w = 0; w < 2; w++)
        if (k > 0 && k < 4) store_block(room.slot[w][3 + k], other, column[w]);
    __syncwarp();
    const double slope = a.in_sd ? a.inverse[i] : 1;
#pragma unroll
    for (int c = 0; c < 2; c++) {
        const unsigned l = threadIdx.x % 32 + 32 * c;
        float sum[2] = {0, 0};
#pragma unroll
        for (int p = 0; p < TILE_SLOTS && l < TILE_PARTICLES; p++)
            sum[0] += room.slot[0][p][tile_place(l)], sum[1] += room.slot[1][p][tile_place(l)];
        velocity[c] = (double)sum[0] + (double)ratio * (double)sum[1] * slope;
    }
}

// All of one unit, by one warp.
template <int SHAPE, bool RANKED, bool WHOLE>
static __device__ __forceinline__ void tile_unit(const pair_args &a, const whole_args &w, unsigned u, tile_room &room,
                                                 double &largest, int &wrong) {
    const unsigned lane = threadIdx.x % 32, n = (unsigned)a.n, all = 0xffffffffu;
    const unsigned k = lane / TILE_BLOCKS, block = lane % TILE_BLOCKS,
                   other = (block + k) % TILE_BLOCKS; // the last 4 lanes, k = 4, have nothing of their own to do
    const tile_mask valid = {{k == 0 ? 0x7f3f1f0fu : k < 4 ? ~0u : 0, k == 0 ? 0x07030100u : k < 4 ? ~0u : 0}};
    const size_t first_member = a.member_start[a.first + u], last_member = a.member_start[a.first + u + 1];
    const uint32_t *domain = a.domain + a.begin[u];
    const unsigned count = (unsigned)(a.end[u] - a.begin[u]);
    const bool staged = count <= TILE_STAGED;
    double *guess = a.guess + 3 * (a.first + u), h = a.fixed;
    float d[TILE][TILE];
    if (first_member < last_member) tile_member<WHOLE>(a, w, a.term_variable[first_member], room);

    for (bool ask = staged;; ask = false) {
        float furthest = 0, lower = 0, upper = 0;
        bool products = false;
        if (staged) {
            products = tile_stage<TILE_STAGED>(a, lane < count ? domain[lane] : 0, 0, count, ask, room, furthest);
            if (products)
                tile_products(room, count, block, other, d);
            else
                tile_differences<true>(room, count, block, other, d);
        } else { // a row at a time, beside all distances
            tile_stage<1>(a, domain[0], 0, count, false, room, furthest);
            tile_differences<true>(room, 1, block, other, d);
            for (unsigned first = 1; first < count; first++) {
                tile_stage<1>(a, domain[first], first, count, false, room, furthest);
                tile_differences<false>(room, 1, block, other, d);
            }
        }
        if (RANKED) tile_middle(a, u, guess, room, d, valid, staged, products, block, other, lower, upper);
        if (products && !(furthest <= PRODUCT_REACH * (RANKED ? upper : (float)a.fixed))) continue; // a small bandwidth
        if (RANKED && a.rule == RULE_MEDIAN) { // the usual one, in the precision of the distances
            const float median = 0.5f * (sqrtf(lower) + sqrtf(upper)), square = median * median;
            h = square < 1e-37f ? 0 : square;
        } else if (RANKED) {
            if (lane == 0) h = found_scale(a, u, lower, upper);
            h = __shfl_sync(all, h, 0);
        }
        break;
    }

    // k of rbf, or of imq, whose repulsion goes with its third power.
    const float inverse = h > 0 ? 1 / (float)h : 0, ratio = SHAPE == SHAPE_RBF ? 2 * inverse : inverse;
    const float by = SHAPE == SHAPE_RBF ? -1.4426950408889634f * inverse : inverse;
    if (h > 0 && h < 1e30) {
#pragma unroll
        for (int r = 0; r < TILE; r++)
#pragma unroll
            for (int q = 0; q < TILE; q++) d[r][q] = kernel_of(d[r][q], by, SHAPE);
    } else { // the limit, who coincides; or the particles ran away, beyond what single precision can square
#pragma unroll
        for (int r = 0; r < TILE; r++)
#pragma unroll
            for (int q = 0; q < TILE; q++) d[r][q] = h == 0 ? (d[r][q] == 0 ? 1.0f : 0.0f) : NAN;
    }
    if (SHAPE != SHAPE_RBF) { // of rbf it is 0 where nobody stands
#pragma unroll
        for (int r = 0; r < TILE; r++)
#pragma unroll
            for (int q = 0; q < TILE; q++)
                if (TILE * block + r >= n || TILE * other + q >= n) d[r][q] = 0;
    }
    for (size_t e = first_member; e < last_member; e++) {
        const unsigned i = a.term_variable[e];
        double velocity[2];
        if (e > first_member) {
            __syncwarp();
            tile_member<WHOLE>(a, w, i, room);
            __syncwarp();
        }
        tile_velocity<SHAPE>(a, i, ratio, room, d, k, block, other, velocity);
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const unsigned l = lane + 32 * c;
            if (WHOLE)
                velocity[c] *= a.share;
            else if (l < n)
                put_velocity(a, (size_t)i * n + l, velocity[c]);
        }
        if (WHOLE) tile_move(w, i, n, velocity, largest, wrong);
    }
    __syncwarp();
}

enum { TILE_AT_ONCE = 4 }; // blocks on a multiprocessor, by their registers; imq needs more of them

template <int SHAPE, bool RANKED, bool WHOLE>
static __global__ void __launch_bounds__(32 * WARP_UNITS, SHAPE == SHAPE_RBF ? TILE_AT_ONCE : TILE_AT_ONCE - 1)
    fused_tile(const pair_args a, const whole_args w) {
    __shared__ tile_room rooms[WARP_UNITS];
    const unsigned warps = blockDim.x / 32, stride = gridDim.x * warps, units = (unsigned)a.units;
    double largest = 0;
    int wrong = 0;
    if (WHOLE) wait_for_kernels();
    if (w.report->halted) return;
    for (unsigned u = blockIdx.x * warps + threadIdx.x / 32; u < units; u += stride)
        tile_unit<SHAPE, RANKED, WHOLE>(a, w, u, rooms[threadIdx.x / 32], largest, wrong);
    if (WHOLE) tell_host(largest, wrong, w.report, w.told);
}
