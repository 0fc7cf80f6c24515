// The median of the distances that a warp has in its registers (tile.cuh): counting below one pivot after the other
// until few are left, which are ranked.

// Which distances are below a value, a bit each, the first row first.
template <int T> struct tile_mask {
    enum { FIRST = T * T < 32 ? T * T : 32, REST = T * T - FIRST };
    unsigned word[2];

    __device__ __forceinline__ void below(const float (&d)[T][T], float value) {
        word[0] = word[1] = 0;
#pragma unroll
        for (int e = 0; e < FIRST; e++) {
            push_sign(word[0], d[e / T][e % T] - value);
            if (e < REST) push_sign(word[1], d[(e + FIRST) / T % T][(e + FIRST) % T] - value);
        }
    }
    __device__ __forceinline__ unsigned count() const { return __popc(word[0]) + __popc(word[1]); }
};

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

// The pairs of a lane that are set, each as l | m << 8, from `place` on.
template <int T>
static __device__ __forceinline__ void tile_list(const unsigned (&set)[2], const tile_lane &has, unsigned place,
                                                 unsigned short *list) {
#pragma unroll
    for (int half = 0; half < 2; half++)
        for (unsigned word = set[half]; word; word &= word - 1) {
            const unsigned e = half == 0 ? tile_mask<T>::FIRST - __ffs(word) : T * T - __ffs(word), r = e / T,
                           q = e % T;
            const unsigned row = r <= q ? has.row_a : has.row_b, column = r <= q ? has.column_a : has.column_b;
            list[place++] = (unsigned short)((T * row + r) | (T * column + q) << 8);
        }
}

// What the search keeps from iteration to iteration: the last median, where it was going, and how dense distances are
// there. They affect its time alone.
struct tile_guess {
    float last, moved, density;
};

static __device__ __forceinline__ tile_guess read_guess(const double *guess) {
    return {(float)guess[0], (float)guess[1], guess[2] > 0 ? (float)guess[2] : 0.45f};
}

// The distances of the two middle ranks.
template <int T>
static __device__ __forceinline__ void tile_middle(const pair_args &a, unsigned u, double *keep, const uint32_t *domain,
                                                   unsigned rows, tile_room<T> &room, const float (&d)[T][T],
                                                   bool products, const tile_lane &has, float &lower, float &upper) {
    const unsigned lane = threadIdx.x % 32, all = 0xffffffffu, pairs = (unsigned)(a.n * (a.n - 1) / 2);
    const tile_guess guess = read_guess(keep);
    tile_mask<T> at_low = {{0, 0}}, at_high = {{0, 0}};
    const unsigned rank = (unsigned)(a.lower == SIZE_MAX ? a.upper : a.lower);
    bracket<float> s = {0, from_bits(bits_type<float>::infinity), 0, pairs, rank, (unsigned)a.upper, pairs, 0, 0, 0};
    float pivot =
        guess.last > 0 ? fmaxf(guess.last + guess.moved, 0.5f * guess.last) : (float)(0.9 * mean_distance(a, u));
    if (!(pivot > 0 && pivot < TILE_FAR)) pivot = 1;
    const float each = __fdividef(pivot, guess.density * (float)pairs);
    for (;; s.passes++) {
        const float low = s.low, high = s.high;
        tile_mask<T> mask;
        mask.below(d, pivot);
        const bool between = search_take(s, pivot, warp_sum(mask.count()));
        if (s.low != low) at_low = mask;
        if (s.high != high) at_high = mask;
        if (between) { // the largest below, and the smallest above
            unsigned below = 0, above = bits_type<float>::infinity;
#pragma unroll
            for (int r = 0; r < T; r++)
#pragma unroll
                for (int q = 0; q < T; q++) {
                    if (d[r][q] < pivot && d[r][q] > 0) below = max(below, to_bits(d[r][q]));
                    if (d[r][q] >= pivot) above = min(above, to_bits(d[r][q]));
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
            const unsigned set[2] = {at_high.word[0] & ~at_low.word[0], at_high.word[1] & ~at_low.word[1]};
            const unsigned mine = __popc(set[0]) + __popc(set[1]);
            unsigned place = mine, before = 0;
#pragma unroll
            for (int apart = 1; apart < 32; apart *= 2) {
                const unsigned earlier = __shfl_up_sync(all, place, apart);
                if (lane >= apart) place += earlier;
            }
            __syncwarp();
            tile_list<T>(set, has, place - mine, room.list);
            __syncwarp();
            const unsigned id = lane < left ? room.list[lane] : 0;
            const float value = lane < left ? fmaxf(tile_again(a, domain, rows, room, products, id & 255u, id >> 8), 0)
                                            : from_bits(bits_type<float>::infinity);
#pragma unroll 4
            for (unsigned k = 0; k < left; k++) {
                const float there = __shfl_sync(all, value, k);
                before += there < value || (there == value && k < lane);
            }
            if (lane >= left) before = 64;
            lower = __shfl_sync(all, value, __ffs(__ballot_sync(all, before == s.lower - s.below)) - 1);
            upper = __shfl_sync(all, value, __ffs(__ballot_sync(all, before == s.upper - s.below)) - 1);
            break;
        }
        pivot = tile_pivot(s, each);
    }
    if (lane > 0) return;
    const unsigned left = s.upto - s.below;
    const float seen = __fdividef((float)left * upper, (s.high - s.low) * (float)pairs), density = guess.density;
    keep[2] = left > 4 && s.high < TILE_FAR ? 0.9f * density + 0.1f * fminf(fmaxf(seen, 0.1f), 1.0f) : density;
    keep[1] = guess.last > 0 ? 0.8f * (upper - guess.last) : 0;
    keep[0] = upper;
}
