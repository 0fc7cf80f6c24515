// The median of the distances that a warp has in its registers (tile_term.cuh): counting below one pivot after the other
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

// The pairs of a lane that are set, each as lane | element << 5, from `place` on.
template <int T>
static __device__ __forceinline__ void tile_list(const unsigned (&set)[2], unsigned place, unsigned short *list) {
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; half++)
        for (unsigned word = set[half]; word;) {
            const unsigned bit = 31 - __clz(word);
            const unsigned e = half == 0 ? tile_mask<T>::FIRST - 1 - bit : T * T - 1 - bit;
            list[place++] = (unsigned short)(lane | e << 5);
            word ^= 1u << bit;
        }
}

// What the search keeps from iteration to iteration: the last median, where it was going, and how dense distances are
// there. They affect its time alone.
struct tile_guess {
    float last, moved, density;

    __device__ __forceinline__ void read(const double *kept) {
        const float2 two = *(const float2 *)kept;
        last = two.x;
        moved = two.y;
        density = ((const float *)kept)[2];
        if (!(density > 0)) density = 0.45f;
    }
    __device__ __forceinline__ void write(double *kept) const {
        *(float2 *)kept = make_float2(last, moved);
        ((float *)kept)[2] = density;
    }
};

// Where the median is expected, and the pivots around it: all that is between them shall be few, and the median among
// it.
static __device__ __forceinline__ float tile_expected(const pair_args &a, unsigned u, const tile_guess &guess) {
    const float at =
        guess.last > 0 ? fmaxf(guess.last + guess.moved, 0.5f * guess.last) : (float)(0.9 * mean_distance(a, u));
    return at > 0 && at < TILE_FAR ? at : 1;
}

// Of the few values that are left, one a lane, that of a rank: `less` others are below it. The largest `less` that is
// not above the rank belongs to it, also where values are equal.
static __device__ __forceinline__ float tile_ranked(float value, unsigned less, unsigned rank) {
    const unsigned all = 0xffffffffu, mine = less <= rank ? less + 1 : 0;
    return __shfl_sync(all, value, __ffs(__ballot_sync(all, mine == warp_max(mine))) - 1);
}

// The distances of the two middle ranks. `unit`: what they are counted in, 2 for products.
template <int T>
static __device__ __forceinline__ void tile_middle(const pair_args &a, unsigned u, tile_guess &guess,
                                                   const uint32_t *domain, unsigned rows,
                                                   const float (&near)[TILE_STAGED][tile_room<T>::STRIDE],
                                                   tile_room<T> &room, const float (&d)[T][T], bool products,
                                                   float &lower, float &upper) {
    enum { REACH = 6, FEW = 32 }; // distances on either side of the median; those that are ranked
    const unsigned lane = threadIdx.x % 32, all = 0xffffffffu, n = (unsigned)a.n, pairs = n * (n - 1) / 2;
    const unsigned rank = (unsigned)(a.lower == SIZE_MAX ? a.upper : a.lower);
    const float unit = products ? 2 : 1, expected = (products ? 0.5f : 1.0f) * tile_expected(a, u, guess);
    const float each = __fdividef(expected, guess.density * (float)pairs), reach = REACH * each;
    bracket<float> s = {0, from_bits(bits_type<float>::infinity), 0, pairs, rank, (unsigned)a.upper, pairs, 0, 0, 0};
    tile_mask<T> at_low, at_high;
    s.first = fmaxf(expected - reach, 0.5f * expected);
    s.second = expected + reach;
    at_low.below(d, s.first);
    at_high.below(d, s.second);
    const unsigned counts = warp_sum(at_low.count() | at_high.count() << 16), one = counts & 0xffffu,
                   two = counts >> 16;
    bool ranked = one <= s.lower && two > s.upper && two - one <= FEW;
    if (ranked) {
        s.low = s.first, s.below = one;
        s.high = s.second, s.upto = two;
    } else { // one pivot after the other
        const tile_mask<T> masks[2] = {at_low, at_high};
        tile_mask<T> mask;
        float pivot = 0;
        bool between = false;
        at_low.word[0] = at_low.word[1] = at_high.word[0] = at_high.word[1] = 0;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const float low = s.low, high = s.high;
            if (between) break;
            pivot = k == 0 ? s.first : s.second;
            between = search_take(s, pivot, k == 0 ? one : two);
            if (s.low != low) at_low = masks[k];
            if (s.high != high) at_high = masks[k];
        }
        for (; !between; s.passes++) {
            if (search_ended(s)) break;
            if (s.upto - s.below <= FEW && to_bits(s.high) != bits_type<float>::infinity) break;
            const float low = s.low, high = s.high;
            pivot = tile_pivot(s, each);
            mask.below(d, pivot);
            between = search_take(s, pivot, warp_sum(mask.count()));
            if (s.low != low) at_low = mask;
            if (s.high != high) at_high = mask;
        }
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
        } else if (search_ended(s)) {
            lower = upper = s.low;
        } else {
            ranked = true;
        }
    }
    const unsigned left = s.upto - s.below;
    if (ranked) {
        const unsigned set[2] = {at_high.word[0] & ~at_low.word[0], at_high.word[1] & ~at_low.word[1]};
        const unsigned mine = __popc(set[0]) + __popc(set[1]);
        const unsigned before = (1u << lane) - 1;
        unsigned place = 0, less = 0;
#pragma unroll
        for (int bit = 0; bit < 6; bit++) { // how many come before: their numbers, a bit at a time
            if (bit == 3 && __ballot_sync(all, mine > 7) == 0) break;
            place += __popc(__ballot_sync(all, mine >> bit & 1) & before) << bit;
        }
        tile_list<T>(set, place, room.list);
        __syncwarp();
        float value = from_bits(bits_type<float>::infinity);
        if (lane < left) {
            const unsigned id = room.list[lane], e = id >> 5, r = e / T, q = e - r * T;
            const tile_lane has(id & 31u);
            const tile_pair pair = {r <= q ? has.row_a : has.row_b, r, r <= q ? has.column_a : has.column_b, q};
            value = fmaxf(tile_again(a, domain, rows, near, room, products, pair), 0);
        }
        room.value[lane] = value;
        __syncwarp();
#pragma unroll
        for (unsigned k = 0; k < FEW; k += 4) {
            if (k >= left) break;
            const float4 four = *(const float4 *)&room.value[k];
            less += (four.x < value) + (four.y < value) + (four.z < value) + (four.w < value);
        }
        lower = tile_ranked(value, less, s.lower - s.below);
        upper = s.upper == s.lower ? lower : tile_ranked(value, less, s.upper - s.below);
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
