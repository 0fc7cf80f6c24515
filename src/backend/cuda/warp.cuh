// A term of a kernel, a warp for each unit and all distances of it in registers: the square of 16, 32 or 64 particles.

enum { WARP_UNITS = 4, WARP_PARTICLES = 64, WARP_ROWS = 128 }; // of a block; of a unit, and rows of its domain

// Which distances are below a value, a bit each, the first row first. Of pairs of particles of different halves only
// one of the two is looked at, in `once`; in the others, each stands twice.
struct below_mask {
    unsigned once, twice[2];
};

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
static __global__ void __launch_bounds__(32 * WARP_UNITS, WARP_BLOCKS)
    fused_warp(const pair_args a, const unsigned *halted) {
    __shared__ float4 rows[WARP_UNITS][2][WARP_PARTICLES / 4]; // a row of the domain; or scores and places of a member
    __shared__ unsigned short list[WARP_UNITS][32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, all = 0xffffffffu;
    const size_t u = (size_t)blockIdx.x * WARP_UNITS + warp, n = a.n;
    const float *z = (const float *)a.z;
    float *row = (float *)rows[warp][0], *other = (float *)rows[warp][1];
    float d[ROWS][COLUMNS];
    if (u >= a.units || *halted) return;

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
            if (m < n) put_velocity(a, i * n + m, (double)sum[c] + (double)ratio * (double)push[c] * slope);
        }
    }
}
